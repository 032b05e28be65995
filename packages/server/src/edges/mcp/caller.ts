// The caller of one MCP request: its agents, its tools, its way to the API, and the approval that its person can give.
import type { ToolCall } from '@callsign/contract/tools/tool-run'
import type { ToolSelection } from '@callsign/contract/tools/tool-table'
import type { RequestStateCodec } from '@modelcontextprotocol/server'

/** The draft that was shown to the person, at the version that was shown. */
export type Shown = { agent: string; draftId: string; version: number }

export type ApprovalCodec = RequestStateCodec<Shown>

/** For a grant whose person is asked. `call` has the person's approval. */
export type Approval = { codec: ApprovalCodec; call: ToolCall }

/** The forms in which a client can ask for results: text for a model, data with output schemas, or both. */
export const resultForms = ['text', 'data', 'both'] as const
export type ResultForm = (typeof resultForms)[number]

export type McpCaller = {
  /** The agents that the caller may act for. null for any. */
  agents: readonly string[] | null
  selection: ToolSelection
  results: ResultForm
  call: ToolCall
  /** The address at which a person approves a draft. */
  draftLink: (agent: string, draftId: string) => string
  /** Set for a grant whose person approves messages in the app. */
  approval: Approval | null
}
