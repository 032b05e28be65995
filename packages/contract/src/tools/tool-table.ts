// The table of tools, and the part of it that a caller gets.
import { identityTools } from './agent-identity.ts'
import { mailTools } from './reading-mail.ts'
import { sendingTools } from './sending-mail.ts'
import { phoneTools } from './text-messages.ts'
import type { Tool, Toolset } from './tool.ts'

/** Every tool, in the order of a list. */
export const tools: Tool[] = [...identityTools.slice(0, 1), ...mailTools, ...sendingTools, ...phoneTools, ...identityTools.slice(1)]

export type ToolSelection = {
  /** All toolsets unless given. `whoami` is in every selection. */
  toolsets?: readonly Toolset[] | undefined
  /** Only tools that change nothing. */
  readOnly?: boolean | undefined
}

export const selectTools = ({ toolsets, readOnly }: ToolSelection = {}): Tool[] =>
  tools.filter((tool) => (tool.name === 'whoami' || !toolsets || toolsets.includes(tool.toolset)) && (!readOnly || tool.isReadOnly))

/**
 * The JSON Schema of a tool's arguments, as a client sees it. With one agent there is not a `agent`, with several it is one of them, and with
 * `null` (an organization key) it is any handle. Lengths are left out: a model does not count characters, and the check of a call names them.
 */
export function inputOf(tool: Tool, agents: readonly string[] | null): JsonSchema {
  const input = without(lengths, JSON.parse(JSON.stringify(tool.input))) as JsonSchema & { properties: object; required?: string[] }
  if (!tool.takesAgent || agents?.length === 1) return input
  const agent = agents === null ? { type: 'string', description: 'Handle of the agent.' } : { type: 'string', enum: [...agents] }
  const required = tool.name === 'whoami' ? [] : ['agent', ...(input.required ?? [])]
  return { ...input, properties: { agent, ...input.properties }, ...(required.length > 0 && { required }) }
}

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Record<string, unknown>

const lengths = new Set(['minLength', 'maxLength', 'minItems', 'maxItems'])
const details = new Set([...lengths, 'required', 'description'])

/** The JSON Schema of a tool's result with its names and types. `summary` is in every result, so it is left out. */
export function outputSchemaOf({ output }: Tool): JsonSchema {
  const { summary: _summary, ...properties } = output.properties
  return without(details, JSON.parse(JSON.stringify({ ...output, properties }))) as JsonSchema
}

/** The schema without these keywords. Properties may have such names. */
function without(keywords: ReadonlySet<string>, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => without(keywords, one))
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([name]) => !keywords.has(name))
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'properties' ? withoutIn(keywords, value) : without(keywords, value)]),
  )
}

const withoutIn = (keywords: ReadonlySet<string>, properties: object): object =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, without(keywords, schema)]))
