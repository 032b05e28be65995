// The outbound guard. Every request to a URL supplied by a caller uses it, on a connection with a checked peer.
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Client, Dispatcher } from 'undici'
import { type FetchedFile, FetchRefused, type FileAccess, type GuardedPost, type Web } from '../../core/web.ts'
import { createAddressRules } from './address-rules.ts'
import { BoundedBytes } from './bounded-bytes.ts'
import { lost, notHttp, tooLargeHead, unusable, withinTime } from './failures.ts'
import { findLiteralProblem, openGuarded } from './guarded-connection.ts'
import { createGuardedPost } from './guarded-post.ts'
import { createHostLookup, type Lookup } from './host-lookup.ts'
import { type OutboundTarget, parseOutboundUrl } from './outbound-url.ts'

const redirectsUsual = 3
const headerBytesMax = 16 * 1024

type Answer = { status: number; headers: Dispatcher.ResponseData['headers']; body: Readable }

/** A connection with a checked peer, and the HTTP client that uses only this connection. */
type Line = { client: Client; socket: Socket }

/** `allowCidrs` are allowed in addition to public addresses. `connectTimeoutMs` limits each of lookup, dialling and TLS handshake. */
export type WebOptions = { allowCidrs: string[]; userAgent: string; lookup?: Lookup; connectTimeoutMs?: number }

/** `close` ends the kept connections. */
export type GuardedWeb = Web & GuardedPost & { close: () => void }

/** The guarded web. Throws an Error when a range of `allowCidrs` is malformed. Ignores the environment, including proxy settings. */
export function createWeb({ allowCidrs, userAgent, lookup = createHostLookup(), connectTimeoutMs = 5000 }: WebOptions): GuardedWeb {
  const rules = createAddressRules(allowCidrs)

  const open = (target: OutboundTarget, signal: AbortSignal): Promise<Socket> =>
    openGuarded(target, { rules, lookup, connectTimeoutMs, signal })

  const posts = createGuardedPost({ open, userAgent })
  /** Loaded at the first fetch, because undici takes 6 MB. Webhooks have a client of their own. */
  let HttpClient: typeof Client

  /** A new connection and its client, which never opens a second one by itself. */
  async function openLine(target: OutboundTarget, signal: AbortSignal): Promise<Line> {
    const socket = await open(target, signal)
    let isTaken = false
    const client = new HttpClient(target.url.origin, {
      connect: (_options, callback) => {
        if (isTaken) return callback(new FetchRefused('The server closed the connection.', 'connection_lost'), null)
        isTaken = true
        // Deferred, because the client starts the request only when it gets the connection after this call.
        queueMicrotask(() => callback(null, socket))
      },
      pipelining: 0,
      allowH2: false,
      maxHeaderSize: headerBytesMax,
      // The total time limit of the caller applies instead.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { client, socket }
  }

  /** One GET on a line and the start of its response. A line that fails is closed. */
  async function get(line: Line, { url }: OutboundTarget, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    // Ends whatever is in flight on the line, including a request that the client has not written yet.
    signal.addEventListener('abort', () => close(line), { once: true })
    try {
      const answer = await line.client.request({
        method: 'GET',
        path: url.pathname + url.search,
        headers: { 'user-agent': userAgent, 'accept-encoding': 'identity', ...headers },
        reset: true,
      })
      // Destroying an unread body emits an error that is not awaited anywhere.
      answer.body.on('error', () => {})
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    } catch (error) {
      close(line)
      throw error
    }
  }

  async function fetchFollowing(
    address: string,
    bytesMax: number,
    redirectsMax: number,
    access: FileAccess | null,
    signal: AbortSignal,
  ): Promise<FetchedFile> {
    let target = parseOutboundUrl(address)
    for (let redirects = 0; ; redirects++) {
      const opened = access?.origin === target.url.origin ? access.headers : {}
      const line = await openLine(target, signal)
      const answer = await get(line, target, { accept: '*/*', ...opened }, signal)
      try {
        const location = redirectLocation(answer)
        if (location === null) return await readFile(answer, bytesMax)
        if (redirects === redirectsMax) throw new FetchRefused(`The URL redirects more than ${redirectsMax} times.`)
        target = parseOutboundUrl(location, target.url)
      } finally {
        close(line)
      }
    }
  }

  return {
    async fetchFile(url, { bytesMax, timeoutMs, access = null, redirectsMax = redirectsUsual }) {
      HttpClient = (await import('undici')).Client
      return await withinTime(timeoutMs, (signal) =>
        fetchFollowing(url, bytesMax, redirectsMax, access, signal).catch((error) => {
          throw httpFailure(error)
        }),
      )
    },

    findUrlProblem(url) {
      try {
        return findLiteralProblem(parseOutboundUrl(url).hostname, rules)
      } catch (error) {
        if (error instanceof FetchRefused) return error
        throw error
      }
    },

    ...posts,
  }
}

/** Ends a line with the request in flight on it. */
function close({ client, socket }: Line): void {
  // Its errors were reported through the request or do not matter any more.
  client.destroy().catch(() => {})
  socket.destroy()
}

const lostPattern = /^(UND_ERR_SOCKET|UND_ERR_CLOSED|UND_ERR_DESTROYED|ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED)$/

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

function httpFailure(error: unknown): unknown {
  if (error instanceof FetchRefused || !(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLargeHead()
  if (code.startsWith('HPE_') || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return notHttp()
  if (lostPattern.test(code)) return lost()
  // A request that cannot be sent is a bug of this server. Any other coded error was caused by the remote server.
  if (code === '' || code === 'UND_ERR_INVALID_ARG') return error
  return unusable()
}

/** The target of a redirect, or null for any other response. */
function redirectLocation(answer: Answer): string | null {
  if (![301, 302, 303, 307, 308].includes(answer.status)) return null
  const location = singleHeader(answer, 'location')
  if (location === null) throw new FetchRefused('The server redirects without saying where to.')
  return location
}

async function readFile(answer: Answer, bytesMax: number): Promise<FetchedFile> {
  if (answer.status !== 200) throw new FetchRefused(`The server answered with HTTP status ${answer.status}.`)
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new FetchRefused('The server compresses its answer although it was asked not to.')
  const tooLarge = () => new FetchRefused(`The file is larger than ${bytesMax} bytes.`, 'too_large')
  if (Number(singleHeader(answer, 'content-length') ?? 0) > bytesMax) throw tooLarge()
  const { bytes, isWhole } = await readUpTo(answer.body, bytesMax)
  if (!isWhole) throw tooLarge()
  return { bytes, contentType: mediaType(singleHeader(answer, 'content-type')) }
}

/** Reads the body. `isWhole` is false for more than `bytesMax`. */
async function readUpTo(body: Readable, bytesMax: number): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const held = new BoundedBytes(bytesMax)
  for await (const chunk of body as AsyncIterable<Buffer>) if (!held.append(chunk)) return { bytes: held.bytes, isWhole: false }
  return { bytes: held.bytes, isWhole: true }
}

/** A header that must occur at most once, or null when it is missing or repeated. */
function singleHeader(answer: Answer, name: string): string | null {
  const value = answer.headers[name]
  return typeof value === 'string' ? value : null
}

const essencePattern = /^[a-z0-9!#$%&'*+.^_`|~-]{1,127}\/[a-z0-9!#$%&'*+.^_`|~-]{1,127}(?=\s*(;|$))/

/** `type/subtype` in lower case, with its charset if it has one. Anything malformed is application/octet-stream (RFC 9110 §8.3). */
function mediaType(header: string | null): string {
  const text = (header ?? '').trim().toLowerCase()
  const essence = essencePattern.exec(text)?.[0]
  if (!essence) return 'application/octet-stream'
  const charset = /;\s*charset="?([a-z0-9._:-]{1,40})"?\s*(;|$)/.exec(text)?.[1]
  return charset ? `${essence}; charset=${charset}` : essence
}
