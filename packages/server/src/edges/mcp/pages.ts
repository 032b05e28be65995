// Serves MCP over streamable HTTP at /mcp (specification 2026-07-28 and 2025-11-25). Stateless: each request has its key and its own server object.
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { type Toolset, toolsets } from '@callsign/contract/tools/tool'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../core/caller.ts'
import { ApiError, forbidden, invalid } from '../../core/errors.ts'
import { createApiCalls } from './api-calls.ts'
import { createMcpServer, type McpCaller } from './server.ts'

export const mcpPath = '/mcp'

/** A body is one JSON-RPC message. Attachments are not sent by tools. */
const bodyBytesMax = 4 * 1024 * 1024

export type McpOptions = {
  version: string
  publicUrl: () => string
  authenticate: (bearerToken: string) => Promise<Caller | null> | null
  admitBody: (request: FastifyRequest, reply: FastifyReply, bytesMax: number) => ApiError | undefined
}

/** The context of a request, for the server object that is created for it. */
type Bound = { caller: McpCaller }

export function mountMcp(app: FastifyInstance, options: McpOptions): void {
  const bound = new WeakMap<Request, Bound>()
  const handler = createMcpHandler(({ requestInfo }) => {
    const found = requestInfo && bound.get(requestInfo)
    if (!found) throw new Error('a request to /mcp has no caller')
    return createMcpServer(options.version, found.caller)
  })

  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.pattern = mcpPath
    const publicUrl = options.publicUrl()
    checkHost(request, publicUrl)
    checkOrigin(request, publicUrl)
    request.caller = await authenticateBearer(request, options.authenticate)
    const refused = request.method === 'POST' ? options.admitBody(request, reply, bodyBytesMax) : undefined
    if (refused) throw refused
  }

  const serve = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.body instanceof Error) throw request.body
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const authorization = String(request.headers.authorization)
    const webRequest = new Request(new URL(request.url, options.publicUrl()), {
      method: request.method,
      headers: headersOf(request),
      signal: gone.signal,
      ...(request.method === 'POST' ? { body: JSON.stringify(request.body ?? null) } : {}),
    })
    const caller = request.caller as Caller
    bound.set(webRequest, {
      caller: {
        ...readSelection(request, caller),
        call: createApiCalls(app, authorization, gone.signal),
        draftLink: (agent, draftId) =>
          `${options.publicUrl()}/console/approvals/${encodeURIComponent(agent)}/${encodeURIComponent(draftId)}`,
      },
    })
    const authInfo = { token: authorization.slice('Bearer '.length), clientId: caller.keyId, scopes: caller.scopes }
    const response = await handler.fetch(webRequest, { authInfo, parsedBody: request.body })
    return send(reply, response)
  }

  app.route({ method: ['GET', 'POST', 'DELETE'], url: mcpPath, onRequest: admit, handler: serve })
}

/** The tools that the address asks for, and the agents that the key may act for. */
function readSelection(request: FastifyRequest, caller: Caller): Pick<McpCaller, 'agents' | 'selection'> {
  const { toolsets: sets, read_only: readOnly, agent } = request.query as Record<string, string | undefined>
  const wanted = sets?.split(',').filter(Boolean)
  const unknown = wanted?.find((name) => !toolsets.includes(name as Toolset))
  if (unknown !== undefined) throw invalid('/toolsets', `toolsets has to be some of ${toolsets.join(', ')}, separated by commas`)
  const named = agent?.split(',').filter(Boolean)
  if (caller.agent && named?.some((name) => name !== caller.agent?.handle)) throw forbidden('This key is limited to another agent.')
  return {
    agents: caller.agent ? [caller.agent.handle] : named && named.length > 0 ? named : null,
    selection: { toolsets: wanted as Toolset[] | undefined, readOnly: readOnly === '1' || readOnly === 'true' },
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

async function authenticateBearer(request: FastifyRequest, authenticate: McpOptions['authenticate']): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const caller = token === undefined ? null : await authenticate(token)
  if (caller) return caller
  throw new ApiError('unauthorized', 'Send an API key as a bearer token.', { headers: { 'WWW-Authenticate': 'Bearer' } })
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
