// Checks a request before its body is read: authentication, authorization, rate limits and the size of the body.
import type { IncomingMessage } from 'node:http'
import type { Operation } from '@callsign/contract/operation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReceivedRequest } from '../../core/api-call.ts'
import type { BusinessEvents } from '../../core/business-events.ts'
import { type Authenticate, type Caller, limitIdOf, missingScope, type RequestClient, scopeMissing } from '../../core/caller.ts'
import { clientGroup, type createClientReader } from '../../core/client-address.ts'
import { nowMs } from '../../core/clock.ts'
import { ApiError, forbidden } from '../../core/errors.ts'
import type { Route } from '../../core/route.ts'
import { pathUnknown, payloadTooLarge, unsupportedMediaType } from './failure.ts'
import { BodyMemory } from './input/body-reader.ts'

/** Requests per second and burst, by type of key. 0 per second disables the limit. */
export type RateLimits = {
  organizationKeyPerSecond: number
  organizationKeyBurst: number
  agentKeyPerSecond: number
  agentKeyBurst: number
}

/** Bytes per request body, unless the operation sets its own limit. */
const defaultBodyBytesMax = 1024 * 1024

const tokenBytesMax = 4096

/** Failed attempts of one address above this get 429. Valid keys from the same address, for example behind one proxy, are not affected. */
const failuresPerSecond = 20
const failuresBurst = 200

type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

export type AdmissionParts = {
  authenticate: Authenticate
  /** The caller of a token that opens event sockets only. */
  authenticateSocket: Authenticate
  /** True for a request that opens an event socket. */
  opensSocket: (request: IncomingMessage) => boolean
  readClient: ReturnType<typeof createClientReader>
  limits: RateLimits
  businessEvents: BusinessEvents
}

/** A request as its refusals are logged and counted: its id, and the address that it came from. */
type From = { id: string; address: string | undefined }

/** Returns null at once for text that cannot be a token, and resolves with null for an unknown one. */
export type FindByToken<T> = (token: string, client: RequestClient) => Promise<T | null> | null

export type Admission = {
  /** Builds the admission check of a route for HTTP. */
  of: (route: Route) => Hook
  /** Resolves with the result of `find` for the bearer token of a request, or with the refusal, which counts for the address. */
  readToken: <T>(request: ReceivedRequest, id: string, find: FindByToken<T>) => Promise<T | ApiError> | ApiError
  /** The caller of a request's key, or the refusal. `tryFirst` recognises further kinds of tokens. */
  readCaller: (request: ReceivedRequest, id: string, tryFirst?: Authenticate | null) => Promise<Caller | ApiError> | ApiError
  /** The refusal of an authenticated caller by access, scope or rate limit. */
  refuseCaller: (route: Route, caller: Caller, id: string) => ApiError | undefined
  /** Counts a request of a key. Returns 429 above the limit. */
  limitCaller: (caller: Caller, id: string) => ApiError | undefined
  /** Counts a wrong secret of an address. Returns 429 above the limit. */
  countWrongSecret: (from: From) => ApiError | undefined
}

export function createAdmission({
  authenticate,
  authenticateSocket,
  opensSocket,
  readClient,
  limits,
  businessEvents,
}: AdmissionParts): Admission {
  const organizationKeys = new TokenBuckets(limits.organizationKeyPerSecond, limits.organizationKeyBurst)
  const agentKeys = new TokenBuckets(limits.agentKeyPerSecond, limits.agentKeyBurst)
  const failures = new TokenBuckets(failuresPerSecond, failuresBurst)

  const refuseKey = (from: From, reason: 'missing' | 'malformed' | 'unknown'): ApiError => {
    businessEvents.keyRefused({ request_id: from.id, reason })
    return countWrongSecret(from) ?? new ApiError('unauthorized', refusals[reason], { headers: { 'WWW-Authenticate': 'Bearer' } })
  }

  const countWrongSecret = ({ id, address }: From): ApiError | undefined => {
    const waitMs = failures.take(clientGroup(address), nowMs())
    return waitMs > 0 ? throttled(id, null, waitMs) : undefined
  }

  const throttled = (id: string, keyId: string | null, waitMs: number): ApiError => {
    businessEvents.requestThrottled({ request_id: id, by: keyId === null ? 'address' : 'key', key_id: keyId })
    return new ApiError('rate_limited', 'Too many requests. Retry after the seconds in Retry-After.', {
      headers: { 'Retry-After': retryAfterSeconds(waitMs) },
    })
  }

  const readToken: Admission['readToken'] = (request, id, find) => {
    const from = { id, address: request.socket.remoteAddress }
    const { authorization } = request.headers
    if (authorization === undefined) return refuseKey(from, 'missing')
    const token = typeof authorization === 'string' ? bearerToken(authorization) : null
    if (token === null) return refuseKey(from, 'malformed')
    const asked = find(token, readClient(request))
    return asked === null ? refuseKey(from, 'unknown') : asked.then((found) => found ?? refuseKey(from, 'unknown'))
  }

  const readCaller: Admission['readCaller'] = (request, id, tryFirst = null) =>
    readToken(request, id, tryFirst ? firstOf(tryFirst, authenticate) : authenticate)

  const refuseCaller: Admission['refuseCaller'] = ({ shape, access }, caller, id) => {
    const isAgent = caller.agents !== null
    if (isAgent && access === 'organization')
      return forbidden('This operation requires an organization key. An agent key accesses its own agent only.')
    const missing = missingScope(caller, shape.scopes)
    if (missing !== null) return scopeMissing(caller, missing)
    return limitCaller(caller, id)
  }

  const limitCaller: Admission['limitCaller'] = (caller, id) => {
    const waitMs = (caller.keyType === 'organization' ? organizationKeys : agentKeys).take(limitIdOf(caller), nowMs())
    return waitMs > 0 ? throttled(id, caller.keyId, waitMs) : undefined
  }

  const of: Admission['of'] = (route) => {
    const { path, open, raw = false } = route.shape
    const bodyBytesMax = bodyBytesMaxOf(route.shape)
    const hasParams = path.includes('{')

    const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller): ApiError | undefined => {
      request.caller = caller
      const refused = refuseCaller(route, caller, request.id)
      if (refused) return refused
      return bodyBytesMax > 0 ? admitBody(request, reply, bodyBytesMax, raw) : undefined
    }

    return (request, reply, done) => {
      request.pattern = path
      request.operation = route.shape
      // The router matches `/notes/` as `/notes/{id}` with an empty id.
      if (hasParams && Object.values(request.params as object).includes('')) {
        done(pathUnknown())
        return
      }
      if (open) {
        done(bodyBytesMax > 0 ? admitBody(request, reply, bodyBytesMax, raw) : undefined)
        return
      }
      const isSocket = request.headers.upgrade !== undefined && opensSocket(request.raw)
      const asked = readCaller(request.raw, request.id, isSocket ? authenticateSocket : null)
      if (asked instanceof ApiError) {
        done(asked)
        return
      }
      asked.then((caller) => done(caller instanceof ApiError ? caller : admit(request, reply, caller)), done)
    }
  }

  return { of, readToken, readCaller, refuseCaller, limitCaller, countWrongSecret }
}

/** Authenticates by `first`, and by `second` a token that `first` does not read. */
export const firstOf =
  (first: Authenticate, second: Authenticate): Authenticate =>
  (token, client) =>
    first(token, client) ?? second(token, client)

/** The limit of an operation's body in bytes. 0 for an operation without one. */
export const bodyBytesMaxOf = ({ body, raw = false, bodyBytesMax = defaultBodyBytesMax }: Operation): number =>
  body || raw ? bodyBytesMax : 0

const refusals = {
  missing: 'An API key is required. Send it as Authorization: Bearer svc_live_…',
  malformed: 'The Authorization header has to be Bearer, a space, and an API key.',
  unknown: 'This API key is unknown, revoked or expired.',
}

/** The token of `Bearer <token>`, RFC 6750 §2.1, or null. */
function bearerToken(header: string): string | null {
  if (header.length > tokenBytesMax || header.slice(0, 7).toLowerCase() !== 'bearer ') return null
  const token = header.slice(7).trim()
  return /^[A-Za-z0-9._~+/=-]+$/.test(token) ? token : null
}

/** Refuses a body by its headers alone, so that a client with Expect: 100-continue need not send it. */
export function admitBody(request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw: boolean): ApiError | undefined {
  const headers = request.raw.headers
  const announced = headers['content-length'] === undefined ? null : Number(headers['content-length'])
  const hasBody = announced === null ? headers['transfer-encoding'] !== undefined : announced > 0
  if (!hasBody) return undefined
  if ((!isRaw && !isJson(headers['content-type'])) || headers['content-encoding'] !== undefined) return unsupportedMediaType()
  if (announced !== null && announced > bytesMax) return payloadTooLarge(bytesMax)
  const bodyMemory = new BodyMemory(request.caller, request.raw.socket.remoteAddress)
  reply.raw.once('close', () => bodyMemory.close())
  const unfit = announced === null ? undefined : bodyMemory.refuseUnfit(announced)
  if (unfit) return unfit
  request.bodyMemory = bodyMemory
  request.bodyBytesMax = bytesMax
  request.isBodyRaw = isRaw
  if (headers.expect !== undefined && request.raw.httpVersionMinor > 0) reply.raw.writeContinue()
  return undefined
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false
  if (contentType === 'application/json') return true
  return /^application\/json[ \t]*(?:;[ \t]*charset="?utf-?8"?[ \t]*)?;?$/i.test(contentType.trim())
}

type Bucket = { tokens: number; atMs: number }

/** Above this number the oldest buckets are dropped. A dropped bucket starts full again, so nothing is refused because of it. */
const bucketsMax = 20_000

/** Buckets of one rate, by name. */
export class TokenBuckets {
  readonly #perMs: number
  readonly #burst: number
  readonly #buckets = new Map<string, Bucket>()

  /** `perSecond` 0 disables the limit. */
  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1000
    this.#burst = Math.max(1, burst)
  }

  /** Takes one token. Returns 0, or the milliseconds until one is available. */
  take(name: string, nowMs: number): number {
    if (this.#perMs === 0) return 0
    const bucket = this.#buckets.get(name) ?? this.#add(name, nowMs)
    // The wall clock may be set back.
    if (nowMs > bucket.atMs) bucket.tokens = Math.min(this.#burst, bucket.tokens + (nowMs - bucket.atMs) * this.#perMs)
    bucket.atMs = nowMs
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perMs)
    bucket.tokens--
    return 0
  }

  #add(name: string, nowMs: number): Bucket {
    if (this.#buckets.size >= bucketsMax) {
      let toDrop = bucketsMax / 10
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest)
        if (--toDrop <= 0) break
      }
    }
    const bucket = { tokens: this.#burst, atMs: nowMs }
    this.#buckets.set(name, bucket)
    return bucket
  }
}

/** Retry-After in whole seconds. */
export const retryAfterSeconds = (waitMs: number): string => String(Math.max(1, Math.ceil(waitMs / 1000)))
