// Reads the arguments of a tool as models write them, and says in one sentence what is wrong with them.
import type { TObject } from 'typebox'
import Value from 'typebox/value'
import type { Tool } from './tool.ts'

/** A refusal of the arguments, with the code of the API for it. */
export const invalidArguments = (message: string): Error => Object.assign(new Error(message), { code: 'validation_error' })

/** The arguments without `agent`, and the agent that they name. */
export type ReadArguments = { agent: string | undefined; fields: Record<string, unknown> }

/**
 * Reads arguments. Models send null for an argument that they leave out, and lists, numbers and booleans as text. Throws `invalidArguments` with
 * the remedy.
 */
export function readArguments(tool: Tool, given: unknown): ReadArguments {
  const all = typeof given === 'string' ? parseJson(given) : given
  if (typeof all !== 'object' || all === null || Array.isArray(all)) throw invalidArguments('The arguments have to be a JSON object.')
  const shapes = tool.input.properties as Record<string, Shape>
  const present = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, convert(value, shapes[name])] as const]))
  const { agent, ...fields } = Object.fromEntries(present)
  if (agent !== undefined && typeof agent !== 'string') throw invalidArguments('agent has to be the handle of an agent.')
  const problem = problemOf(tool, fields)
  if (problem !== null) throw invalidArguments(problem)
  return { agent, fields }
}

type Shape = { type?: string; items?: Shape; enum?: unknown[] }

/** The value in the type that the schema asks for, where its text means one. */
function convert(value: unknown, shape: Shape | undefined): unknown {
  if (typeof value !== 'string' || shape === undefined || shape.type === 'string') return value
  const parsed = parseJson(value.trim())
  if (shape.type !== 'array') return typeof parsed === shape.type || typeof parsed === 'number' ? parsed : value
  if (Array.isArray(parsed)) return parsed
  return value.trim() === '' ? value : [value]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function problemOf({ name, input }: Tool, fields: Record<string, unknown>): string | null {
  const names = Object.keys(input.properties)
  const unknown = Object.keys(fields).filter((field) => !names.includes(field))
  if (unknown.length > 0) return `${name} does not take ${unknown.join(', ')}. It takes ${names.join(', ') || 'no arguments'}.`
  const missing = requiredOf(input).filter((field) => !(field in fields))
  if (missing.length > 0) return `${name} requires ${missing.join(', ')}.`
  // Not compiled, because browsers with a content security policy do not permit it.
  const [first] = Value.Errors(input, fields)
  if (!first) return null
  const path = first.instancePath.slice(1).split('/')
  const values = (input.properties as Record<string, Shape>)[path[0] ?? '']?.enum
  return `${path.join('.')} ${values ? `must be one of ${values.join(', ')}` : first.message}.`
}

const requiredOf = (input: TObject): string[] => (input as { required?: string[] }).required ?? []
