// Serves MCP over streamable HTTP at /mcp (specification 2026-07-28 and 2025-11-25). Stateless: each request has its key and its own server object.
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { draftLink } from '@callsign/contract/tools/draft-link'
import { type Toolset, toolsets } from '@callsign/contract/tools/tool'
import type { ToolCall } from '@callsign/contract/tools/tool-run'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiCalls, ApiClient } from '../../core/api-call.ts'
import type { Caller, RequestClient } from '../../core/caller.ts'
import { ApiError, forbidden, invalid } from '../../core/errors.ts'
import { type McpCaller, type ResultForm, resultForms } from './caller.ts'
import type { createHandler, HandlerOptions } from './handler.ts'

export const mcpPath = '/mcp'

/** A body is one JSON-RPC message. Attachments are not sent by tools. */
const bodyBytesMax = 4 * 1024 * 1024

export type McpOptions = HandlerOptions & {
  publicUrl: () => string
  /** Further names of this server in Host. */
  hostNames: readonly string[]
  authenticate: (bearerToken: string, client: RequestClient) => Promise<McpAccess | null> | null
  /** The caller limited to these agents. Rejects with 403 for an agent of another key, and with 404 for one that does not exist. */
  narrow: (caller: Caller, handles: string[]) => Promise<Caller>
  /** The value of WWW-Authenticate for a request without a valid token. */
  challenge: (hasToken: boolean) => string
  tools: McpTools
}

/** The checks and operations of the API. */
export type McpTools = {
  apiCalls: ApiCalls
  admitBody(request: FastifyRequest, reply: FastifyReply, bytesMax: number): ApiError | undefined
  readToken<T>(request: FastifyRequest, find: (token: string, client: RequestClient) => Promise<T | null> | null): Promise<T | ApiError>
  limitCaller(request: FastifyRequest, caller: Caller): ApiError | undefined
  openToPages(app: FastifyInstance, path: string, methods: string[]): (reply: FastifyReply) => void
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

const methods = ['GET', 'POST', 'DELETE']

export function mountMcp(app: FastifyInstance, options: McpOptions): void {
  const { tools } = options
  app.decorateRequest('mcpAccess', null)
  const load = createLoader(options)

  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.pattern = mcpPath
    checkHost(request, options)
    const access = await readAccess(request, options)
    request.caller = access.caller
    const refused =
      tools.limitCaller(request, access.caller) ?? (request.method === 'POST' ? tools.admitBody(request, reply, bodyBytesMax) : undefined)
    if (refused) throw refused
    request.mcpAccess = await narrowAccess(request, access, options)
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
    const callAs = (as: Caller) => toolCallOf(tools.apiCalls.as(as, gone.signal))
    const answer = await load()
    const response = await answer({
      request: webRequest,
      body: request.body,
      caller: {
        agents: caller.agents?.map(({ handle }) => handle) ?? null,
        ...readSelection(request, access),
        call: callAs(caller),
        draftLink: (agent, draftId) => draftLink(options.publicUrl(), agent, draftId),
      },
      approve: access.grant?.mailApproval === 'ask' ? callAs(approverOf(caller)) : null,
      authInfo: { token: '', clientId: caller.keyId, scopes: [...caller.scopes] },
    })
    return send(reply, response)
  }

  // Some clients add a slash to the address that they are given.
  for (const url of [mcpPath, `${mcpPath}/`]) {
    const open = tools.openToPages(app, url, methods)
    app.route({
      method: methods,
      url,
      onRequest: (request, reply) => {
        open(reply)
        return admit(request, reply)
      },
      handler: serve,
    })
  }
}

/** Loads the handler at the first request, and again after a failure. */
function createLoader(options: McpOptions): () => Promise<ReturnType<typeof createHandler>> {
  let loading: Promise<ReturnType<typeof createHandler>> | null = null
  return () => {
    if (loading === null) {
      loading = import('./handler.ts').then((file) => file.createHandler(options))
      loading.catch(() => {
        loading = null
      })
    }
    return loading
  }
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

type Query = Record<string, string | undefined>

const listIn = (text: string | undefined): string[] => text?.split(',').filter(Boolean) ?? []

/** The tools that the address asks for, at most those of the grant, and the form of their results. */
function readSelection(request: FastifyRequest, { grant }: McpAccess): Pick<McpCaller, 'selection' | 'results'> {
  const { toolsets: sets, read_only: readOnly, results = 'text' } = request.query as Query
  const wanted = sets === undefined ? undefined : listIn(sets)
  const unknown = wanted?.find((name) => !toolsets.includes(name as Toolset))
  if (unknown !== undefined) throw invalid('/toolsets', `toolsets has to be some of ${toolsets.join(', ')}, separated by commas`)
  if (!isResultForm(results)) throw invalid('/results', `results has to be one of ${resultForms.join(', ')}`)
  return {
    selection: {
      toolsets: grant ? grant.toolsets.filter((name) => !wanted || wanted.includes(name)) : (wanted as Toolset[] | undefined),
      readOnly: grant?.isReadOnly || readOnly === '1' || readOnly === 'true',
    },
    results,
  }
}

const isResultForm = (text: string): text is ResultForm => (resultForms as readonly string[]).includes(text)

/** The access limited to the agents that the address names, for every call. A list of tools would not hold for what takes no agent. */
async function narrowAccess(request: FastifyRequest, access: McpAccess, { narrow }: McpOptions): Promise<McpAccess> {
  const agents = (request.query as Record<string, string | string[] | undefined>).agent
  if (agents === undefined) return access
  const named = typeof agents === 'string' ? listIn(agents) : []
  if (named.length === 0) throw invalid('/agent', 'agent has to be given once, with handles separated by commas')
  return { ...access, caller: await narrow(access.caller, named) }
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

/**
 * Refuses other names of this machine, because a page on such a name could reach a local server through the browser (DNS rebinding). A page on
 * an address instead of a name has the address of its own server.
 */
function checkHost(request: FastifyRequest, { publicUrl, hostNames }: McpOptions): void {
  const name = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
  if (name === new URL(publicUrl()).hostname || loopbackNames.includes(name) || hostNames.includes(name) || isAddress(name)) return
  throw forbidden(`The server does not know the host name ${name}. Add it to CALLSIGN_HOST_NAMES, or use ${publicUrl()}${mcpPath}.`)
}

const isAddress = (name: string): boolean => isIP(name.replace(/^\[|\]$/g, '')) !== 0

async function readAccess(request: FastifyRequest, { authenticate, challenge, tools }: McpOptions): Promise<McpAccess> {
  const access = await tools.readToken(request, authenticate)
  if (!(access instanceof ApiError)) return access
  if (access.status !== 401) throw access
  const hasToken = /^Bearer /i.test(request.headers.authorization ?? '')
  const message = hasToken
    ? 'This API key or access token is unknown, revoked or expired.'
    : 'Send an API key, or an access token of this server, as a bearer token.'
  throw new ApiError('unauthorized', message, {
    headers: { 'WWW-Authenticate': challenge(hasToken) },
  })
}

function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && name !== 'content-length' && name !== 'connection')
      headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  // Without Accept, or with one that takes everything, a client takes both forms of an answer.
  const accept = headers.get('accept') ?? '*/*'
  if (/(^|,)\s*\*\/\*/.test(accept)) headers.set('accept', 'application/json, text/event-stream')
  return headers
}

function send(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status)
  // Connection is hop-by-hop: a stream's keep-alive would leave a client waiting that asked to close.
  for (const [name, value] of response.headers) if (name !== 'connection') reply.header(name, value)
  return response.body ? reply.send(Readable.fromWeb(response.body as ReadableStream)) : reply.send()
}
