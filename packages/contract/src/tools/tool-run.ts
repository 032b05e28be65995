// Runs one tool: checks its arguments, calls the API, and returns a result in which everything that a stranger wrote is inside a fence.
import { errorSentences } from '../error-sentences.ts'
import type { ErrorCode } from '../errors.ts'
import { getIdentity, listIdentities } from '../operations/account/identities.ts'
import { createFence, type Fence, fenceAll, fenceNotice, plainLine } from './foreign-text.ts'
import { foreign, type Reply, type Tool, type ToolInput, type ToolOutput, type ToolRequest } from './tool.ts'
import { invalidArguments, readArguments } from './tool-arguments.ts'

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
  /** For a model: the summary, then the fields. It has everything that `structured` has. */
  text: string
  /** The same as data. Foreign texts are fences here too. */
  structured: ToolOutput
}

/** Never rejects: a model reads the reason of a failure in the result. */
export async function runTool(tool: Tool, given: unknown, options: ToolOptions): Promise<ToolResult> {
  const fence = options.fence ?? createFence()
  try {
    return toResult(await attempt(tool, await readInput(tool, given, options), options), fence, false)
  } catch (error) {
    return toFailure(error, fence)
  }
}

/** The result of a call that failed with this error. */
export const toFailure = (error: unknown, fence = createFence()): ToolResult => toResult(describeFailure(error), fence, true)

/** The arguments with the agent that the tool acts for, '' where it needs none. */
async function readInput(tool: Tool, given: unknown, options: ToolOptions): Promise<ToolInput> {
  const { agent, fields } = readArguments(tool, given)
  const { agents } = options
  if (!tool.takesAgent && agent !== undefined && agents?.[0] !== agent) throw invalidArguments(`${tool.name} does not take agent.`)
  if (!tool.takesAgent || (agent !== undefined && agents === null)) return { agent: agent ?? '', ...fields }
  if (agent === undefined && agents?.length === 1) return { agent: agents[0] as string, ...fields }
  if (agent === undefined && tool.name === 'whoami') return { agent: '', ...fields }
  if (agent !== undefined && agents?.includes(agent)) return { agent, ...fields }
  throw invalidArguments(`${agent === undefined ? 'agent is required' : 'agent is not one of yours'}. ${await choiceOf(options)}`)
}

/** The agents to choose from, in a sentence. */
async function choiceOf({ agents, call }: ToolOptions): Promise<string> {
  const handles = agents ?? (await call({ operation: listIdentities, query: { limit: 50 } }, {})).data.map(handleOf)
  if (handles.length === 0) return 'The organization has no agent yet. Create one in the console.'
  const more = handles.length > shownAgentsMax ? ', and others that whoami lists' : ''
  return `Choose one of ${handles.slice(0, shownAgentsMax).join(', ')}${more}.`
}

const shownAgentsMax = 20
const handleOf = ({ agent_handle }: Reply): string => agent_handle

async function attempt(tool: Tool, input: ToolInput, options: ToolOptions): Promise<ToolOutput> {
  const { call, draftLink } = options
  const keyed = typeof input.idempotency_key === 'string' ? { idempotencyKey: input.idempotency_key } : {}
  try {
    const reply = await call(tool.request(input), keyed)
    const next = tool.next?.(input, reply) ?? null
    return tool.result(input, reply, next ? await call(next, {}) : undefined)
  } catch (error) {
    if (codeOf(error) === 'not_found') await checkAgent(tool, input, options)
    if (codeOf(error) !== 'approval_required') throw error
    if (!tool.draft) throw withLink(error, input, draftLink)
    const draft = await call(tool.draft(input), keyed)
    return { ...tool.result(input, draft), ...(draftLink ? { approve_at: draftLink(input.agent, draft.id) } : {}) }
  }
}

/** The refusal to send a draft, with the address at which a person approves it. */
function withLink(error: unknown, { agent, draft_id }: ToolInput, draftLink: ToolOptions['draftLink']): unknown {
  if (!draftLink || !(error instanceof Error) || typeof draft_id !== 'string') return error
  return Object.assign(new Error(`${error.message} A person approves it at ${draftLink(agent, draft_id)}`), { code: 'approval_required' })
}

/** Throws with the agents to choose from, where a call found nothing because its agent does not exist. */
async function checkAgent(tool: Tool, { agent }: ToolInput, options: ToolOptions): Promise<void> {
  if (!tool.takesAgent || agent === '' || options.agents !== null) return
  const found = await options.call({ operation: getIdentity, params: { handle: agent } }, {}).catch((error: unknown) => error)
  if (codeOf(found) === 'not_found') throw invalidArguments(`No agent has this handle. ${await choiceOf(options)}`)
}

const codeOf = (error: unknown): string | null => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : null
}

/** Errors whose message repeats the words of people or systems outside: an address of a correspondent, or the answer of a provider. */
const quotingCodes = new Set<string>([
  'recipient_not_allowed',
  'recipient_not_connected',
  'recipient_suppressed',
  'upstream_provider_error',
  'verification_failed',
] satisfies ErrorCode[])

const messageCharactersMax = 1000

/** The server's own message as it is. A message that may repeat words of strangers is inside the fence, after the meaning of its code. */
function describeFailure(error: unknown): ToolOutput {
  const code = codeOf(error) ?? 'failure'
  const message = (error instanceof Error ? error.message : '').slice(0, messageCharactersMax)
  const meaning = errorSentences[code as ErrorCode]
  if (meaning !== undefined && message !== '' && !quotingCodes.has(code)) return { summary: plainLine(message), code }
  return { summary: meaning ?? 'The call failed.', code, ...(message === '' ? {} : { detail: foreign(message) }) }
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
