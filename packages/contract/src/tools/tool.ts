// The declaration of one tool for agents. The MCP endpoint of the server and the tools of the SDK run the same table.
import type { Static, TObject, TSchema } from 'typebox'
import type { Operation } from '../operation.ts'
import type { Scope } from '../scopes.ts'

export const toolsets = ['mail', 'phone', 'imessage', 'tunnel', 'vault', 'events'] as const
export type Toolset = (typeof toolsets)[number]

/** One call of the API. `params` fill the path. */
export type ToolRequest = {
  operation: Operation
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: Record<string, unknown>
}

/** Text that a stranger wrote. It reaches a model only inside a fence. */
export type ForeignText = { foreign: string }

/**
 * The result before it is fenced. Every string in it is the server's own, or an id, or wrapped as ForeignText. `summary` is one sentence for
 * the model.
 */
export type ToolOutput = { summary: string; [field: string]: unknown }

/** A reply of the API as parsed JSON. */
// biome-ignore lint/suspicious/noExplicitAny: replies have the types of their operations, and each mapping is tested against the server.
export type Reply = any

export type Tool = {
  /** Lower case with underscores, the area first, such as `mail_send`. */
  name: string
  title: string
  /** Two or three sentences for a model: purpose, occasion, and next step. */
  description: string
  toolset: Toolset
  /** JSON Schema of the arguments, without `agent`, which `inputOf` adds where `takesAgent` is true. */
  input: TObject
  /** Fields of the result beyond `summary`, as JSON Schema. */
  output: TObject
  /** True if the tool acts for one agent. */
  takesAgent: boolean
  /** No change of state. */
  isReadOnly: boolean
  /** May delete or replace something, or send something irrevocably. */
  isDestructive: boolean
  /** Repeating a call with the same arguments changes nothing more. */
  isIdempotent: boolean
  /** Reaches people or systems outside of the server, or shows their content. */
  isOpenWorld: boolean
  /** The scopes that the key needs, as `area:verb`. */
  scopes: readonly Scope[]
  /** The first request. */
  request(input: ToolInput): ToolRequest
  /** A second request that depends on the first reply. null if none is needed. */
  next?(input: ToolInput, reply: Reply): ToolRequest | null
  /** The request that replaces the first one when mail of the agent needs approval: a draft that waits for a person. */
  draft?(input: ToolInput): ToolRequest
  /** `second` is the reply to `next`, undefined without one. */
  result(input: ToolInput, reply: Reply, second?: Reply): ToolOutput
}

/** Validated arguments. `agent` is set where the tool takes an agent. */
// biome-ignore lint/suspicious/noExplicitAny: each tool reads the fields of its own schema.
export type ToolInput = Record<string, any> & { agent: string }

type Typed<I extends TObject> = Static<I> & { agent: string }

/** Declares a tool with its arguments typed by its schema. */
export function tool<I extends TObject>(
  shape: Omit<Tool, 'input' | 'request' | 'next' | 'draft' | 'result'> & {
    input: I
    request(input: Typed<I>): ToolRequest
    next?(input: Typed<I>, reply: Reply): ToolRequest | null
    draft?(input: Typed<I>): ToolRequest
    result(input: Typed<I>, reply: Reply, second?: Reply): ToolOutput
  },
): Tool {
  return shape as unknown as Tool
}

/** Marks text that a stranger wrote. */
export const foreign = (text: string): ForeignText => ({ foreign: text })

/** Properties of a tool that only reads content of others. */
export const reads = { isReadOnly: true, isDestructive: false, isIdempotent: true, isOpenWorld: true } as const
/** Properties of a tool that changes something inside of the server. */
export const changes = { isReadOnly: false, isDestructive: false, isIdempotent: true, isOpenWorld: false } as const
/** Properties of a tool that sends something to people, which cannot be taken back. */
export const sends = { isReadOnly: false, isDestructive: true, isIdempotent: false, isOpenWorld: true } as const

/** The annotations of MCP, without those of a tool that reads, and without defaults: not idempotent, and reaches the world outside. */
export const annotationsOf = ({ isReadOnly, isDestructive, isIdempotent, isOpenWorld }: Tool) => ({
  ...(isReadOnly ? { readOnlyHint: true } : { destructiveHint: isDestructive, ...(isIdempotent && { idempotentHint: true }) }),
  ...(!isOpenWorld && { openWorldHint: false }),
})

/** Schema of a text that is a fence in the result. */
export const FencedText = { type: 'string', description: 'Untrusted text inside a fence.' } as unknown as TSchema
