// Translates the head of a public request for the target: removes hop-by-hop headers and adds those of a proxy.
import type { IncomingMessage } from 'node:http'
import { takesPages } from '../responses/error-response.ts'
import { forwarding, type PublicClient } from './forwarding.ts'
import { isProxyHeader } from './identity-headers.ts'

/** A refused request. `status` is a 4xx or 5xx. */
export class BadRequest extends Error {
  override name = 'BadRequest'
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The parts of a request that are read here. Node's messages have them, and so have requests read without Node. */
export type PlainRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersionMinor'> & {
  method?: string | undefined
  url?: string | undefined
}

/** The header fields for the target. The header fields for the target. */
export type RequestFields = {
  /** Name and port in the request's Host. */
  readonly askedHost: string
  /** The address that the public client used, such as `https://sales.tunnel.example.com`. */
  readonly publicOrigin: string
  /** The lines for a target with an origin of its own, when the request's Origin is `publicOrigin`. They leave out Origin. */
  readonly sameOriginLines: string | null
  /** True when the public client takes HTML, as browsers do. */
  readonly wantsPage: boolean
  /** The lines after Host, ending with the empty line. */
  readonly lines: string
  readonly body: 'none' | 'length' | 'chunked'
  readonly expectsContinue: boolean
  readonly publicAddress: string
  /** Alternating names and values, as received. */
  readonly raw: string[]
}

/** Address of a target: the value of Host, and its origin. */
export type TargetAddress = { readonly host: string; readonly origin: string }

export class RequestHead {
  readonly method: string
  /** The request target, which is a path with its query. */
  readonly target: string
  /** 0 for HTTP/1.0. */
  readonly versionMinor: number
  readonly fields: RequestFields

  constructor(method: string, target: string, versionMinor: number, fields: RequestFields) {
    this.method = method
    this.target = target
    this.versionMinor = versionMinor
    this.fields = fields
  }

  /**
   * The head as bytes. `target` replaces Host, and null keeps the received one. A request of the tunnel's own pages becomes one of the
   * target's own pages: frameworks compare Origin with X-Forwarded-Host or with Host to detect cross-site requests.
   */
  toBytes(target: TargetAddress | null): Buffer {
    const { askedHost, lines, sameOriginLines } = this.fields
    const start = `${this.method} ${this.target} HTTP/1.1\r\nHost: ${target?.host ?? askedHost}\r\n`
    if (target === null || sameOriginLines === null) return Buffer.from(`${start}${lines}`, 'latin1')
    return Buffer.from(`${start}Origin: ${target.origin}\r\n${sameOriginLines}`, 'latin1')
  }
}

/** Number of Callsign gateways in Via from which a request is refused as a loop. */
const hopsMax = 4
const pseudonym = 'callsign'

const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
])
/** Headers that only this gateway writes. CGI programs read `proxy` as the address of a proxy (CVE-2016-5385). */
const ours = new Set(['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port', 'x-real-ip', 'proxy'])

/** A lower-case name with every sign as `-`. Some servers read `_` as `-`, and CGI programs read all signs as one. */
const plainName = (name: string): string => (/[^a-z0-9-]/.test(name) ? name.replace(/[^a-z0-9]/g, '-') : name)

/** True for a header or trailer that is not passed on, by its lower-case name. */
function isDropped(name: string, isTrusted: boolean): boolean {
  const plain = plainName(name)
  if (hopByHop.has(plain) || ours.has(plain)) return true
  if (plain !== name && plain === 'content-length') return true
  return !isTrusted && isProxyHeader(plain)
}

/** Trailers may not set these: authentication, framing or content headers. */
const headersOnly = new Set([
  'authorization',
  'cookie',
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'trailer',
  'via',
])

/** The host and the path of an absolute request target. */
const absoluteForm = /^https?:\/\/([^/?#@\\]+)([/?].*|)$/i

/** The host that a request is for: that of an absolute request target, or else Host (RFC 9112 section 3.2.2). */
export const hostOf = ({ url, headers }: Pick<PlainRequest, 'url' | 'headers'>): string | undefined =>
  (url?.startsWith('/') ? undefined : absoluteForm.exec(url ?? '')?.[1]) ?? headers.host

function pathOfTarget(target: string): string {
  const path = target.startsWith('/') ? undefined : absoluteForm.exec(target)?.[2]
  if (path === undefined) return target
  return path.startsWith('/') ? path : `/${path}`
}

/** Many targets read a method without regard to case. TRACE would return the request's headers, and CONNECT is for proxies. */
export const isRefusedMethod = (method: string): boolean => ['TRACE', 'CONNECT'].includes(method.toUpperCase())

/** Throws BadRequest. `isUpgrade` is true when the request asks for a WebSocket. */
export function readRequestHead(request: PlainRequest, publicClient: PublicClient, isUpgrade: boolean): RequestHead {
  const { method = '', httpVersionMinor } = request
  if (isRefusedMethod(method)) throw new BadRequest(405, 'method_not_allowed', `${method.toUpperCase()} does not pass through a tunnel.`)
  const target = pathOfTarget(request.url ?? '')
  if (!target.startsWith('/') && !(target === '*' && method === 'OPTIONS'))
    throw new BadRequest(400, 'bad_request', 'The request target must be a path.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  if (/[\x00-\x20\x7f#]/.test(target))
    throw new BadRequest(400, 'bad_request', 'The request target contains characters that must be percent-encoded.')
  return new RequestHead(method, target, httpVersionMinor, readFields(request, publicClient, isUpgrade))
}

/** The framing of the body. Throws BadRequest. */
function bodyOf({ headers, httpVersionMinor }: PlainRequest, isUpgrade: boolean): RequestFields['body'] {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || headers['content-length'] !== undefined))
    throw new BadRequest(coding.toLowerCase() === 'chunked' ? 400 : 501, 'bad_request', 'The length of the request is ambiguous.')
  // HTTP/1.0 does not define chunks, so a proxy on the way may have read the body as the next request (RFC 9112 section 6.1).
  if (coding !== undefined && httpVersionMinor === 0)
    throw new BadRequest(400, 'bad_request', 'Transfer-Encoding is not allowed in HTTP/1.0.')
  const announced = headers['content-length']
  const body = coding !== undefined ? 'chunked' : announced !== undefined && announced !== '0' ? 'length' : 'none'
  if (isUpgrade && body !== 'none') throw new BadRequest(400, 'bad_request', 'An upgrade request must not have a body.')
  return body
}

/** The lower-case header names in Connection. Null for the usual values. */
function namesIn(connection: string | undefined): Set<string> | null {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null
  const names = connection.toLowerCase().split(',')
  return new Set(names.map((name) => name.trim()))
}

/** Throws BadRequest. */
export function readFields(request: PlainRequest, publicClient: PublicClient, isUpgrade: boolean): RequestFields {
  const { rawHeaders, headers, httpVersionMinor } = request
  const body = bodyOf(request, isUpgrade)
  const named = namesIn(headers.connection)
  const host = hostOf(request) ?? ''
  const forwarded = forwarding(headers, publicClient, host)
  const isOwnOrigin = headers.origin?.toLowerCase() === forwarded.origin
  let fields = ''
  let origin = ''
  let hosts = 0
  let via = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const lower = name.toLowerCase()
    if (lower === 'host') hosts++
    if (isDropped(lower, publicClient.isTrusted)) continue
    const value = rawHeaders[i + 1] as string
    if (isOwnOrigin && lower === 'origin') {
      origin = `${name}: ${value}\r\n`
      continue
    }
    if (lower === 'via') {
      via += `${value}, `
      continue
    }
    if (named?.has(lower) && lower !== 'content-length' && !(isUpgrade && lower.startsWith('sec-websocket-'))) continue
    fields += `${name}: ${value}\r\n`
  }
  if (hosts !== 1) throw new BadRequest(400, 'bad_request', 'The request must have exactly one Host header.')
  if (via !== '' && via.split(pseudonym).length - 1 >= hopsMax)
    throw new BadRequest(508, 'loop_detected', 'The request is in a loop. Check that the target does not point back at its own tunnel.')

  const port = host.slice(host.lastIndexOf(':') + 1)
  // Targets build URLs from Host, so anything after the colon would become part of them.
  if (port.length < host.length && (!/^\d{0,5}$/.test(port) || Number(port) > 65_535))
    throw new BadRequest(400, 'bad_request', 'The port in Host is invalid.')
  const expectsContinue = headers.expect !== undefined && httpVersionMinor > 0
  if (body === 'chunked') fields += 'Transfer-Encoding: chunked\r\n'
  if (expectsContinue) fields += 'Expect: 100-continue\r\n'
  if (isUpgrade) fields += 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  else if (headers.te !== undefined && /(^|,)\s*trailers\s*($|[,;])/i.test(headers.te as string))
    fields += 'TE: trailers\r\nConnection: TE\r\n'
  const rest = `Via: ${via}1.${httpVersionMinor} ${pseudonym}\r\n\r\n`
  return {
    askedHost: host,
    publicOrigin: forwarded.origin,
    lines: `${origin}${fields}${forwarded.lines}${rest}`,
    sameOriginLines: isOwnOrigin ? `${fields}${forwarded.sameOriginLines()}${rest}` : null,
    body,
    expectsContinue,
    publicAddress: forwarded.address,
    wantsPage: takesPages(headers.accept),
    raw: rawHeaders,
  }
}

/**
 * The trailers that are passed on. Servers may merge trailers into the headers (RFC 9110 section 6.5.1), so those of `headersOnly` and of
 * proxies are dropped.
 */
export function trailersOf(raw: string[]): string {
  let lines = ''
  for (let i = 0; i < raw.length; i += 2) {
    const lower = (raw[i] as string).toLowerCase()
    if (!isDropped(lower, false) && !headersOnly.has(plainName(lower))) lines += `${raw[i]}: ${raw[i + 1]}\r\n`
  }
  return lines
}

export function pairsOf(raw: string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string])
  return pairs
}
