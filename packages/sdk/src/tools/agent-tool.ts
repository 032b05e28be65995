// The tools for agents, run over the API with one key. They are the tools of the MCP endpoint.
import { draftLink } from '@callsign/contract/tools/draft-link'
import { requestPath } from '@callsign/contract/tools/request-path'
import type { Tool, Toolset } from '@callsign/contract/tools/tool'
import { runTool, type ToolCall, type ToolResult } from '@callsign/contract/tools/tool-run'
import { inputOf, outputSchemaOf, selectTools, type ToolSelection } from '@callsign/contract/tools/tool-table'
import { Connection, type ConnectionOptions } from '../connection/request.ts'
import { type CallerInfo, getCaller } from '../resources/account.ts'

export type { ToolResult, Toolset }

export type ToolsOptions = ConnectionOptions &
  ToolSelection & {
    /** The agents to act for, with an organization key. Without it, each tool takes an `agent`. An agent key acts for its own agent. */
    agents?: readonly string[]
    /** The address at which a person approves a draft, shown to the model. Defaults to the console of the server. */
    draftLink?: (agent: string, draftId: string) => string
  }

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Record<string, unknown>

export type AgentTool = {
  name: string
  title: string
  description: string
  toolset: Toolset
  inputSchema: JsonSchema
  outputSchema: JsonSchema
  /** Changes nothing. */
  isReadOnly: boolean
  /** May send, delete or replace something that cannot be taken back. */
  isDestructive: boolean
  /** Never rejects. A failure has `isError`, and its reason in `text`. */
  execute(input: unknown, options?: { signal?: AbortSignal | undefined }): Promise<ToolResult>
}

/**
 * Returns the tools that the key may use. Asks the server once for the owner of the key. Rejects with ApiError for a key that is not valid, and
 * with ConnectionError if the server does not answer.
 */
export async function createTools(options: ToolsOptions): Promise<AgentTool[]> {
  const connection = new Connection(options)
  const me: CallerInfo = await getCaller(connection)
  const agents = me.key.agent_handle === null ? (options.agents ?? null) : [me.key.agent_handle]
  const link = options.draftLink ?? ((agent: string, draftId: string) => draftLink(connection.address, agent, draftId))
  const toAgentTool = (tool: Tool): AgentTool => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    toolset: tool.toolset,
    inputSchema: inputOf(tool, agents),
    outputSchema: outputSchemaOf(tool),
    isReadOnly: tool.isReadOnly,
    isDestructive: tool.isDestructive,
    execute: (input, { signal } = {}) => runTool(tool, input ?? {}, { agents, draftLink: link, call: callOver(connection, signal) }),
  })
  return selectTools(options).map(toAgentTool)
}

const apiPath = '/api/v1'

function callOver(connection: Connection, signal?: AbortSignal): ToolCall {
  return async (request, { idempotencyKey }) => {
    const { operation, body, query } = request
    const options = { ...(signal && { signal }), ...(idempotencyKey !== undefined && { idempotencyKey }) }
    return connection.request({
      method: operation.method,
      path: requestPath(request).slice(apiPath.length),
      query,
      body,
      isKeyed: operation.idempotent === true,
      options,
    })
  }
}
