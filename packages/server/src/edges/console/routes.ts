// Mounts the routes of /console/api. Each row names its permitted roles. Checks origin and CSRF before the body is read.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { ApiError, forbidden } from '../../core/errors.ts'
import { type Client, isCsrf, type Session } from '../../features/account/sessions/model.ts'
import { cookieOf, createBrowserReader, originsOf, readCookie } from './client.ts'

/**
 * Permitted callers of a route. `origin`: any page of this server, for sign-in. `session`: signed in, key or member. `member`: a member.
 * `owner`: an owner, or an organization key.
 */
export type Needs = 'nothing' | 'origin' | 'session' | 'member' | 'owner'

type BodyOf<B> = B extends TSchema ? Static<B> : undefined

/** One request as a route sees it. */
export type Ask<S = Session | null, B = unknown> = {
  client: Client
  session: S
  cookie: string | null
  /** Another cookie of the request, or null. */
  readCookie: (name: string) => string | null
  body: B
  params: Record<string, string>
  query: Record<string, string>
}

/** The response. `cookie` null deletes the session cookie, and undefined leaves it. */
export type Result = { status?: number; body?: unknown; cookie?: string | null; redirect?: string; headers?: Record<string, string> }

export type ConsoleRoute = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /console/api/, parameters as `{name}`. */
  path: string
  needs: Needs
  body: TSchema | null
  run: (ask: Ask<never, never>) => Promise<Result>
}

/** A row for signed-in users. */
export const signedIn = <B extends TSchema | null>(
  needs: 'session' | 'member' | 'owner',
  method: ConsoleRoute['method'],
  path: string,
  body: B,
  run: (ask: Ask<Session, BodyOf<B>>) => Promise<Result>,
): ConsoleRoute => ({ method, path, needs, body, run })

/** A row for everyone. */
export const open = <B extends TSchema | null>(
  needs: 'nothing' | 'origin',
  method: ConsoleRoute['method'],
  path: string,
  body: B,
  run: (ask: Ask<Session | null, BodyOf<B>>) => Promise<Result>,
): ConsoleRoute => ({ method, path, needs, body, run })

export const fullPath = (path: string): string => `/console/api/${path}`

/** The parts of the HTTP server that read and check a body. */
export type BodyTools = {
  /** `isRaw` leaves the body as bytes of any content type. */
  admitBody(request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw?: boolean): ApiError | undefined
  bodyCheck(schema: TSchema): (data: unknown) => { error?: ApiError }
}

type Options = {
  publicUrl: () => string
  trustedProxies: string[]
  /** Seconds that a browser keeps the cookie. */
  cookieSeconds: number
  findSession(cookie: string, client: Client): Promise<Session | null>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on requests to /console/api. */
    browser: Omit<Ask, 'body' | 'params' | 'query'> | null
  }
}

const bodyBytesMax = 64 * 1024

/** Adds every route to the app. */
export function mountConsoleApi(app: FastifyInstance, routes: ConsoleRoute[], tools: BodyTools, options: Options): void {
  const readBrowser = createBrowserReader(options.trustedProxies)
  app.decorateRequest('browser', null)

  const admit = async (route: ConsoleRoute, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.pattern = fullPath(route.path)
    const publicUrl = options.publicUrl()
    checkOrigin(route, request, originsOf(publicUrl))
    const cookie = readCookie(request.raw, cookieOf(publicUrl).name)
    const client = readBrowser(request.raw, request.id)
    const session = cookie === null ? null : await options.findSession(cookie, client)
    checkSession(route, request, cookie, session)
    request.browser = { client, session, cookie, readCookie: (name) => readCookie(request.raw, name) }
    const refused = route.body ? tools.admitBody(request, reply, bodyBytesMax) : undefined
    if (refused) throw refused
  }

  const answer = (result: Result, reply: FastifyReply): FastifyReply => {
    if (result.cookie !== undefined) reply.header('set-cookie', cookieText(result.cookie, options))
    if (result.headers) reply.headers(result.headers)
    if (result.redirect !== undefined) return reply.redirect(result.redirect, 302)
    if (result.body === undefined) return reply.code(result.status ?? 204).send()
    return reply.code(result.status ?? 200).send(result.body)
  }

  for (const route of routes) {
    app.route({
      method: route.method,
      url: fullPath(route.path).replace(/\{(\w+)\}/g, ':$1'),
      ...(route.body ? { schema: { body: route.body }, validatorCompiler: ({ schema }) => tools.bodyCheck(schema as TSchema) } : {}),
      onRequest: (request, reply) => admit(route, request, reply),
      handler: async (request, reply) => {
        const { params, query, body } = request as { params: Record<string, string>; query: Record<string, string>; body: unknown }
        return answer(await route.run({ ...request.browser, params, query, body } as Ask<never, never>), reply)
      },
    })
  }
}

/** Refuses requests with effects that another site's page sent. Browsers put Origin on all of them (Fetch, section 3.2). */
function checkOrigin(route: ConsoleRoute, request: FastifyRequest, origins: string[]): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { origin } = request.headers
  if (origin === undefined && route.needs !== 'origin') return
  if (origin === undefined || !origins.includes(origin)) {
    throw forbidden(
      `This request needs the Origin ${origins[0]}. Open the console there, or set CALLSIGN_PUBLIC_URL to the address in use.`,
    )
  }
}

const notSignedIn = 'Sign in to the console first.'

function checkSession({ needs }: ConsoleRoute, request: FastifyRequest, cookie: string | null, session: Session | null): void {
  if (needs === 'nothing' || needs === 'origin') return
  if (!session) throw new ApiError('unauthorized', notSignedIn)
  const hasEffect = request.method !== 'GET' && request.method !== 'HEAD'
  if (hasEffect && !isCsrf(cookie as string, request.headers['x-callsign-csrf']))
    throw forbidden('X-Callsign-CSRF must be the value of `csrf` in the session. Read GET /console/api/state again.')
  if (needs === 'session') return
  if (needs === 'owner' && session.role !== 'owner') throw forbidden('This is for owners.')
  if (needs === 'member' && !session.member) throw forbidden('This is for members. An API key signed in here.')
}

function cookieText(cookie: string | null, { publicUrl, cookieSeconds }: Options): string {
  const { name, attributes } = cookieOf(publicUrl())
  return `${name}=${cookie ?? ''}; ${attributes}; Max-Age=${cookie === null ? 0 : cookieSeconds}`
}
