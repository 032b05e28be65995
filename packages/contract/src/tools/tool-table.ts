// The table of tools, and the part of it that a caller gets.
import Type, { type TObject, type TSchema } from 'typebox'
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
 * The JSON Schema of a tool's arguments. With one agent there is not a `agent`, with several it is one of them, and with `null` (an organization
 * key) it is any handle.
 */
export function inputOf(tool: Tool, agents: readonly string[] | null): TObject {
  const needsAgent = tool.takesAgent && (agents === null || agents.length > 1)
  const agent: TSchema =
    agents === null
      ? Type.String({ minLength: 1, maxLength: 64, description: 'The handle of the agent to act for.' })
      : (Type.Unsafe<string>({ type: 'string', enum: [...agents], description: 'The agent to act for.' }) as TSchema)
  return Type.Object({ ...(needsAgent ? { agent } : {}), ...tool.input.properties }, { additionalProperties: false }) as TObject
}
