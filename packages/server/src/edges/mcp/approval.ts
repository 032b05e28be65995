// Asks the person at a connected app to approve a message, by elicitation in several rounds (revision 2026-07-28), and carries out the answer.
import { type DraftReview, reviewDraft } from '@callsign/contract/approvals'
import { rejectDraft } from '@callsign/contract/drafts'
import type { Tool } from '@callsign/contract/tools/tool'
import { runTool, type ToolResult } from '@callsign/contract/tools/tool-run'
import { tools } from '@callsign/contract/tools/tool-table'
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Static } from 'typebox'
import { approvalQuestion } from './approval-question.ts'
import type { Approval, ApprovalCodec, McpCaller, Shown } from './caller.ts'

type Review = Static<typeof DraftReview>

/** Signs the state that travels through the client, bound to its key. A person has 10 minutes to answer. */
export const createApprovalCodec = (key: Buffer): ApprovalCodec =>
  createRequestStateCodec<Shown>({ key, ttlSeconds: 600, bind: (context) => context.http?.authInfo?.clientId ?? '' })

const question = 'approve'
const draftSend = tools.find(({ name }) => name === 'draft_send') as Tool

/**
 * Runs a tool. Where its message would wait for approval and the client can ask, the result is the question. The client then calls again with
 * the answer, and its arguments are not read: the answer is about the draft that was shown.
 */
export async function runWithApproval(
  tool: Tool,
  given: unknown,
  caller: McpCaller & { approval: Approval },
  context: ServerContext,
): Promise<ToolResult | InputRequiredResult> {
  const shown = context.mcpReq.requestState<Shown>()
  if (shown) return decide(tool, shown, caller, context)
  const result = await runTool(tool, given, caller)
  const draftId = waitingDraft(tool, given, result)
  if (draftId === null || !canAsk(context)) return result
  return ask(agentOf(given, caller), draftId, caller, context)
}

/** The draft that waits for approval after this result, or null. */
function waitingDraft(tool: Tool, given: unknown, { structured }: ToolResult): string | null {
  if (structured.state === 'waiting_for_approval') return structured.id as string
  return tool === draftSend && structured.code === 'approval_required' ? (given as { draft_id: string }).draft_id : null
}

const agentOf = (given: unknown, { agents }: McpCaller): string => (given as { agent?: string }).agent ?? agents?.[0] ?? ''

function canAsk({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Record<string, { elicitation?: unknown } | undefined> | undefined
  return envelope?.[CLIENT_CAPABILITIES_META_KEY]?.elicitation !== undefined
}

async function ask(
  agent: string,
  draftId: string,
  { approval, draftLink }: Pick<McpCaller, 'draftLink'> & { approval: Approval },
  context: ServerContext,
): Promise<ToolResult | InputRequiredResult> {
  const params = { email_address: agent, draft_id: draftId }
  const review = (await approval.call({ operation: reviewDraft, params }, {})) as Review
  const message = approvalQuestion(agent, review)
  if (message === null) {
    const link = draftLink(agent, draftId)
    return toError(`The message is too long to approve here. Nothing is sent. The draft waits for approval at ${link}`, 'approval_required')
  }
  const requestState = await approval.codec.mint({ agent, draftId, version: review.version }, context)
  return inputRequired({
    requestState,
    inputRequests: { [question]: inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: {} } }) },
  })
}

async function decide(
  tool: Tool,
  { agent, draftId, version }: Shown,
  caller: McpCaller & { approval: Approval },
  context: ServerContext,
): Promise<ToolResult | InputRequiredResult> {
  const answer = inputResponse(context.mcpReq.inputResponses, question)
  // The client sent no answer to this question, so the person has not seen it.
  if (answer.kind !== 'elicit') return ask(agent, draftId, caller, context)
  const { action } = answer
  const { call } = caller.approval
  if (action === 'accept') {
    const chosen = caller.agents?.length === 1 ? {} : { agent }
    const sent = await runTool(draftSend, { ...chosen, draft_id: draftId, version }, { ...caller, call })
    if (sent.isError || tool === draftSend) return sent
    return { ...sent, structured: { ...sent.structured, state: 'queued' } }
  }
  if (action === 'decline') {
    const reason = 'The person declined in the connected app.'
    await call({ operation: rejectDraft, params: { email_address: agent, draft_id: draftId }, body: { version, reason } }, {})
    return toError('The person declined. Nothing is sent, and the draft is deleted. Do not send the message in another way.', 'declined')
  }
  const link = caller.draftLink(agent, draftId)
  return toError(`The person has not decided. Nothing is sent. The draft waits for approval at ${link}`, 'approval_required')
}

const toError = (summary: string, code: string): ToolResult => ({
  isError: true,
  text: `${summary}\ncode: ${code}`,
  structured: { summary, code },
})
