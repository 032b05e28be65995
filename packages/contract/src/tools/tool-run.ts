// Runs one tool: checks its arguments, calls the API, and returns a result in which everything that a stranger wrote is inside a fence.
import Value from 'typebox/value'
import { errorSentences } from '../error-sentences.ts'
import type { ErrorCode } from '../errors.ts'
import { createFence, type Fence, fenceAll, fenceNotice } from './foreign-text.ts'
import { foreign, type Reply, type Tool, type ToolInput, type ToolOutput, type ToolRequest } from './tool.ts'
import { inputOf } from './tool-table.ts'

/** Calls one operation. Resolves with the parsed JSON. Rejects with an error that has `code` and `message`. */
export type ToolCall = (request: ToolRequest, options: { idempotencyKey?: string }) => Promise<Reply>

export type ToolOptions = {
  call: ToolCall
  /** The agents that the caller may act for. null for any. */
  agents: readonly string[] | null
  /** The address at which a person approves a draft. */
  draftLink?: (agent: string, draftId: string) => string
  /** For tests. */
  fence?: Fence
}

export type ToolResult = {
  isError: boolean
  /** For a model: the summary, then the fields. */
  text: string
  /** The same as data. Foreign texts are fences here too. */
  structured: ToolOutput
}

/** Never rejects: a model reads the reason of a failure in the result. */
export async function runTool(tool: Tool, given: unknown, options: ToolOptions): Promise<ToolResult> {
  const fence = options.fence ?? createFence()
  const problem = problemOf(tool, given, options.agents)
  if (problem) return toResult({ summary: problem, code: 'validation_error' }, fence, true)
  const input = { agent: options.agents?.[0] ?? '', ...(given as object) } as ToolInput
  try {
    return toResult(await attempt(tool, input, options), fence, false)
  } catch (error) {
    return toResult(describeFailure(error), fence, true)
  }
}

async function attempt(tool: Tool, input: ToolInput, { call, draftLink }: ToolOptions): Promise<ToolOutput> {
  const keyed = typeof input.idempotency_key === 'string' ? { idempotencyKey: input.idempotency_key } : {}
  try {
    const reply = await call(tool.request(input), keyed)
    const next = tool.next?.(input, reply) ?? null
    return tool.result(input, reply, next ? await call(next, {}) : undefined)
  } catch (error) {
    if (!tool.draft || codeOf(error) !== 'approval_required') throw error
    const draft = await call(tool.draft(input), keyed)
    return { ...tool.result(input, draft), ...(draftLink ? { approve_at: draftLink(input.agent, draft.id) } : {}) }
  }
}

/** A sentence with the remedy, or null. */
function problemOf(tool: Tool, given: unknown, agents: readonly string[] | null): string | null {
  // Not compiled, because browsers with a content security policy do not permit it.
  const schema = inputOf(tool, agents)
  if (Value.Check(schema, given)) return null
  const [first] = Value.Errors(schema, given)
  const path = first?.instancePath.slice(1).replaceAll('/', '.') || 'The arguments'
  return `${path} ${first?.message ?? 'are not valid'}. See the input schema of ${tool.name}.`
}

const codeOf = (error: unknown): string | null => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : null
}

/** The meaning of the code outside of the fence. The message may repeat words of strangers, so it is inside. */
function describeFailure(error: unknown): ToolOutput {
  const code = codeOf(error) ?? 'failure'
  const message = error instanceof Error ? error.message : ''
  return { summary: errorSentences[code as ErrorCode] ?? 'The call failed.', code, detail: foreign(message.slice(0, 1000)) }
}

function toResult(output: ToolOutput, fence: Fence, isError: boolean): ToolResult {
  const structured = fenceAll(output, fence) as ToolOutput
  const { summary, ...fields } = structured
  const body = linesOf(fields).join('\n')
  const notice = body.includes(`<untrusted-${fence.nonce}>`) ? [fenceNotice(fence.nonce)] : []
  return { isError, text: [summary, ...notice, body].filter(Boolean).join('\n'), structured }
}

/** Fields as indented lines. Fences keep their own lines. */
function linesOf(value: unknown, indent = ''): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const [first = '', ...others] = linesOf(item, `${indent}  `)
      return [`${indent}- ${first.trimStart()}`, ...others]
    })
  }
  if (typeof value !== 'object' || value === null) return [`${indent}${String(value)}`]
  return Object.entries(value).flatMap(([name, item]) => {
    if (item === null || (Array.isArray(item) && item.length === 0)) return []
    if (typeof item === 'object') return [`${indent}${name}:`, ...linesOf(item, `${indent}  `)]
    return [`${indent}${name}: ${String(item)}`]
  })
}
