// Checks a request before its body is read: authentication, authorization, rate limits and the size of the body.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BusinessEvents } from '../../core/business-events.ts'
import { type Authenticate, type Caller, missingScope, scopeMissing } from '../../core/caller.ts'
import type { createClientReader } from '../../core/client-address.ts'
import { nowMs } from '../../core/clock.ts'
import { ApiError, forbidden } from '../../core/errors.ts'
import type { Route } from '../../core/route.ts'
import { BodyMemory } from './body-reader.ts'
import { payloadTooLarge, unsupportedMediaType } from './failure.ts'
import { addressName, retryAfterSeconds, TokenBuckets } from './rate-limit.ts'

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

/** `of` builds the admission check of a route. `countWrongSecret` returns 429 above the limit of failed attempts of one address. */
export type Admission = { of: (route: Route) => Hook; countWrongSecret: (request: FastifyRequest) => ApiError | undefined }

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

  const refuseKey = (request: FastifyRequest, reason: 'missing' | 'malformed' | 'unknown'): ApiError => {
    businessEvents.keyRefused({ request_id: request.id, reason })
    return countWrongSecret(request) ?? new ApiError('unauthorized', refusals[reason], { headers: { 'WWW-Authenticate': 'Bearer' } })
  }

  const countWrongSecret = (request: FastifyRequest): ApiError | undefined => {
    const waitMs = failures.take(addressName(request.raw.socket.remoteAddress), nowMs())
    return waitMs > 0 ? throttled(request, 'address', waitMs) : undefined
  }

  const throttled = (request: FastifyRequest, by: 'key' | 'address', waitMs: number): ApiError => {
    businessEvents.requestThrottled({ request_id: request.id, by, key_id: request.caller?.keyId ?? null })
    return new ApiError('rate_limited', 'Too many requests. Retry after the seconds in Retry-After.', {
      headers: { 'Retry-After': retryAfterSeconds(waitMs) },
    })
  }

  const of = (route: Route): Hook => {
    const { path, open, scopes, raw = false } = route.shape
    const bodyBytesMax = route.shape.body || raw ? (route.shape.bodyBytesMax ?? defaultBodyBytesMax) : 0
    const hasParams = path.includes('{')
    const isForOrganizations = route.access === 'organization'

    const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller): ApiError | undefined => {
      request.caller = caller
      const isAgent = caller.agents !== null
      if (isAgent && isForOrganizations)
        return forbidden('This operation requires an organization key. An agent key accesses its own agent only.')
      const missing = missingScope(caller, scopes)
      if (missing !== null) return scopeMissing(caller, missing)
      const waitMs = (isAgent ? agentKeys : organizationKeys).take(caller.keyId, nowMs())
      if (waitMs > 0) return throttled(request, 'key', waitMs)
      return bodyBytesMax > 0 ? admitBody(request, reply, bodyBytesMax, raw) : undefined
    }

    return (request, reply, done) => {
      request.pattern = path
      request.operation = route.shape
      // The router matches `/notes/` as `/notes/{id}` with an empty id.
      if (hasParams && Object.values(request.params as object).includes('')) {
        done(new ApiError('not_found', 'This path does not exist. GET /openapi.json lists the paths.'))
        return
      }
      if (open) {
        done(bodyBytesMax > 0 ? admitBody(request, reply, bodyBytesMax, raw) : undefined)
        return
      }
      const header = request.raw.headers.authorization
      if (header === undefined) {
        done(refuseKey(request, 'missing'))
        return
      }
      const token = bearerToken(header)
      if (token === null) {
        done(refuseKey(request, 'malformed'))
        return
      }
      const client = readClient(request.raw)
      const asked = (opensSocket(request.raw) ? authenticateSocket(token, client) : null) ?? authenticate(token, client)
      if (asked === null) {
        done(refuseKey(request, 'unknown'))
        return
      }
      request.found = route.lookAhead?.(request.params as never)
      // The result is not used when the key is refused.
      request.found?.catch(() => {})
      asked.then((caller) => done(caller ? admit(request, reply, caller) : refuseKey(request, 'unknown')), done)
    }
  }

  return { of, countWrongSecret }
}

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
  const bodyMemory = new BodyMemory(request.caller, reply.raw)
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
