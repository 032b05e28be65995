// Serves MCP over streamable HTTP at /mcp (specification 2026-07-28 and 2025-11-25). Stateless: each request has its key and its own server object.
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { draftLink } from '@callsign/contract/tools/draft-link'
import { type Toolset, toolsets } from '@callsign/contract/tools/tool'
import type { ToolCall } from '@callsign/contract/tools/tool-run'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiCalls, ApiClient } from '../../core/api-call.ts'
import type { Caller, RequestClient } from '../../core/caller.ts'
import type { createClientReader } from '../../core/client-address.ts'
import { ApiError, forbidden, invalid } from '../../core/errors.ts'
import type { McpCaller } from './caller.ts'
import type { createHandler, HandlerOptions } from './handler.ts'

export const mcpPath = '/mcp'

/** A body is one JSON-RPC message. Attachments are not sent by tools. */
const bodyBytesMax = 4 * 1024 * 1024

export type McpOptions = HandlerOptions & {
  publicUrl: () => string
  authenticate: (bearerToken: string, client: RequestClient) => Promise<McpAccess | null> | null
  readClient: ReturnType<typeof createClientReader>
  /** The value of WWW-Authenticate for a request without a valid token. */
  challenge: (hasToken: boolean) => string
  apiCalls: ApiCalls
  admitBody: (request: FastifyRequest, reply: FastifyReply, bytesMax: number) => ApiError | undefined
}

/** A caller, with the tools that a person gave to a connected app. Null for a key, which has all tools. */
export type McpAccess = {
  caller: Caller
  grant: { toolsets: readonly Toolset[]; isReadOnly: boolean; mailApproval: 'agent' | 'always' | 'ask' } | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on requests to /mcp. */
    mcpAccess: McpAccess | null
  }
}

export function mountMcp(app: FastifyInstance, options: McpOptions): void {
  app.decorateRequest('mcpAccess', null)
  let loading: Promise<ReturnType<typeof createHandler>> | null = null
  const load = () => {
    if (loading === null) {
      loading = import('./handler.ts').then((file) => file.createHandler(options))
      loading.catch(() => {
        loading = null
      })
    }
    return loading
  }

  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.pattern = mcpPath
    const publicUrl = options.publicUrl()
    checkHost(request, publicUrl)
    checkOrigin(request, publicUrl)
    request.mcpAccess = await authenticateBearer(request, options)
    request.caller = request.mcpAccess.caller
    const refused = request.method === 'POST' ? options.admitBody(request, reply, bodyBytesMax) : undefined
    if (refused) throw refused
  }

  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.body instanceof Error) throw request.body
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const webRequest = new Request(new URL(request.url, options.publicUrl()), {
      method: request.method,
      headers: headersOf(request),
      signal: gone.signal,
      ...(request.method === 'POST' ? { body: JSON.stringify(request.body ?? null) } : {}),
    })
    const access = request.mcpAccess as McpAccess
    const { caller } = access
    const callAs = (as: Caller) => toolCallOf(options.apiCalls.as(as, gone.signal))
    const selection = readSelection(request, access)
    const answer = await load()
    const response = await answer({
      request: webRequest,
      body: request.body,
      caller: {
        ...selection,
        call: callAs(caller),
        draftLink: (agent, draftId) => draftLink(options.publicUrl(), agent, draftId),
      },
      approve: access.grant?.mailApproval === 'ask' ? callAs(approverOf(caller)) : null,
      authInfo: { token: '', clientId: caller.keyId, scopes: [...caller.scopes] },
    })
    return send(reply, response)
  }

  app.route({ method: ['GET', 'POST', 'DELETE'], url: mcpPath, onRequest: admit, handler: serve })
}

/** Calls of tools, as calls of the API. */
const toolCallOf =
  ({ call }: ApiClient): ToolCall =>
  ({ operation, params, query, body }, { idempotencyKey }) =>
    call(operation, { ...(params && { params }), query: query as never, body: body as never, idempotencyKey })

/** The caller once its person approved in the app. */
const approverOf = (caller: Caller): Caller => ({
  ...caller,
  mailApproval: 'agent',
  scopes: new Set([...caller.scopes, 'drafts:read', 'drafts:approve']),
})

/** The tools that the address asks for, at most those of the grant, and the agents that the key may act for. */
function readSelection(request: FastifyRequest, { caller, grant }: McpAccess): Pick<McpCaller, 'agents' | 'selection'> {
  const { toolsets: sets, read_only: readOnly, agent } = request.query as Record<string, string | undefined>
  const wanted = sets?.split(',').filter(Boolean)
  const unknown = wanted?.find((name) => !toolsets.includes(name as Toolset))
  if (unknown !== undefined) throw invalid('/toolsets', `toolsets has to be some of ${toolsets.join(', ')}, separated by commas`)
  const named = agent?.split(',').filter(Boolean)
  const own = caller.agents?.map((one) => one.handle)
  if (own && named?.some((name) => !own.includes(name))) throw forbidden('This key is limited to another agent.')
  return {
    agents: named && named.length > 0 ? named : (own ?? null),
    selection: {
      toolsets: grant ? grant.toolsets.filter((name) => !wanted || wanted.includes(name)) : (wanted as Toolset[] | undefined),
      readOnly: grant?.isReadOnly || readOnly === '1' || readOnly === 'true',
    },
  }
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

/** Refuses other names of this machine, because a page on such a name could reach a local server through the browser (DNS rebinding). */
function checkHost(request: FastifyRequest, publicUrl: string): void {
  const name = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
  if (name === new URL(publicUrl).hostname || loopbackNames.includes(name)) return
  throw forbidden('The Host of this request is not the address of this server. Use CALLSIGN_PUBLIC_URL.')
}

/** Programs send no Origin. Pages of other sites are refused. */
function checkOrigin(request: FastifyRequest, publicUrl: string): void {
  const { origin } = request.headers
  if (origin === undefined || origin === new URL(publicUrl).origin) return
  if (URL.canParse(origin) && loopbackNames.includes(new URL(origin).hostname)) return
  throw forbidden('Pages of other sites cannot use /mcp.')
}

async function authenticateBearer(request: FastifyRequest, { authenticate, readClient, challenge }: McpOptions): Promise<McpAccess> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const access = token === undefined ? null : await authenticate(token, readClient(request.raw))
  if (access) return access
  throw new ApiError('unauthorized', 'Send an API key, or an access token of this server, as a bearer token.', {
    headers: { 'WWW-Authenticate': challenge(token !== undefined) },
  })
}

function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && name !== 'content-length' && name !== 'connection')
      headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return headers
}

function send(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  return response.body ? reply.send(Readable.fromWeb(response.body as ReadableStream)) : reply.send()
}
