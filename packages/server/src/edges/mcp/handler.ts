// Answers MCP requests with the MCP library. Loaded at the first request, because the library takes 9 MB.
import type { ToolCall } from '@callsign/contract/tools/tool-run'
import { createMcpHandler, type McpServer, type ServerNotifier } from '@modelcontextprotocol/server'
import { createApprovalCodec } from './approval.ts'
import type { McpCaller } from './caller.ts'
import { createMcpServer } from './server.ts'
import { readSkills } from './skills.ts'
import { createOffers } from './tool-list.ts'

export type HandlerOptions = {
  version: string
  /** Signs what a person is asked. */
  approvalKey: Buffer
  /** Builds the server of a request, other than the product's. For tests of this edge with the tools of a test suite. */
  createServer?: (notify: ServerNotifier) => McpServer
}

export type McpRequest = {
  request: Request
  /** The body of `request` as JSON. */
  body: unknown
  caller: Omit<McpCaller, 'approval'>
  /** Calls the API with the approval of the person, for a grant whose person is asked. */
  approve: ToolCall | null
  authInfo: { token: string; clientId: string; scopes: string[] }
}

export function createHandler({ version, approvalKey, createServer }: HandlerOptions): (request: McpRequest) => Promise<Response> {
  const codec = createApprovalCodec(approvalKey)
  const callers = new WeakMap<Request, McpCaller>()
  const offerOf = createOffers()
  let skills: ReturnType<typeof readSkills> | null = null
  const handler = createMcpHandler(async ({ requestInfo }) => {
    const caller = requestInfo && callers.get(requestInfo)
    if (!caller) throw new Error('a request to /mcp has no caller')
    if (createServer) return createServer(handler.notify)
    skills ??= readSkills()
    return createMcpServer(version, caller, offerOf(caller), await skills)
  })
  return ({ request, body, caller, approve, authInfo }) => {
    callers.set(request, { ...caller, approval: approve && { codec, call: approve } })
    return handler.fetch(request, { authInfo, parsedBody: body })
  }
}
