// What a visitor's request becomes on its way to the target: the head with what holds for one connection only left out, and what a proxy has to say put in.
import type { IncomingMessage } from 'node:http'
import { forwarding, type Visitor } from './forwarding.ts'

/** A request that is refused; `status` is of the 4xx and 5xx. */
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

/** What of a request decides how it goes on: Node's messages have it, and so have those that were read without Node. */
export type PlainRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'httpVersionMinor'> & {
  method?: string | undefined
  url?: string | undefined
}

/** The fields of a request on their way to the target; the same for requests of one visitor that have the same header lines. */
export type RequestFields = {
  /** What the visitor asked for: the name and the port. */
  readonly askedHost: string
  /** The lines behind Host, the last of them empty. */
  readonly lines: string
  readonly body: 'none' | 'length' | 'chunked'
  readonly expectsContinue: boolean
  readonly visitorAddress: string
  /** Names and values by turns, as the visitor sent them. */
  readonly raw: string[]
}

export class RequestHead {
  readonly method: string
  /** The request target: a path with its query. */
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

  /** The head as bytes; `hostHeader` stands in Host, null for what the visitor asked for. */
  toBytes(hostHeader: string | null): Buffer {
    const { askedHost, lines } = this.fields
    return Buffer.from(`${this.method} ${this.target} HTTP/1.1\r\nHost: ${hostHeader ?? askedHost}\r\n${lines}`, 'latin1')
  }
}

/** More than so many gateways in a row: the request goes in circles. */
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
/** Said by us alone; `proxy` is no header of HTTP, but what CGI programs take for the address of one (CVE-2016-5385). */
const ours = new Set(['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port', 'x-real-ip', 'proxy'])
/** The word of a proxy, as all of X-Forwarded-* is: gone on with when it is ours. */
const proxyWords = new Set(['x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'])

/** Whether a header or trailer of a visitor, by its name in lower case, goes no further. Some servers take `_` for `-`. */
function isDropped(name: string, isTrusted: boolean): boolean {
  const plain = name.includes('_') ? name.replaceAll('_', '-') : name
  if (hopByHop.has(plain) || ours.has(plain)) return true
  if (plain !== name && plain === 'content-length') return true
  return !isTrusted && (plain.startsWith('x-forwarded-') || proxyWords.has(plain))
}

/** They say who asks, where the message ends or how it is to be read. */
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

/** Throws BadRequest. `isUpgrade`: the request asks for a WebSocket. */
export function readRequestHead(request: PlainRequest, visitor: Visitor, isUpgrade: boolean): RequestHead {
  const { method = '', url: target = '', httpVersionMinor } = request
  if (method === 'TRACE') throw new BadRequest(405, 'method_not_allowed', 'TRACE does not pass through a tunnel.')
  if (!target.startsWith('/') && !(target === '*' && method === 'OPTIONS'))
    throw new BadRequest(400, 'bad_request', 'The request target has to be a path.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x20\x7f#]/.test(target))
    throw new BadRequest(400, 'bad_request', 'The request target holds characters that have to be escaped.')
  return new RequestHead(method, target, httpVersionMinor, readFields(request, visitor, isUpgrade))
}

/** Throws BadRequest. */
export function readFields(request: PlainRequest, visitor: Visitor, isUpgrade: boolean): RequestFields {
  const { rawHeaders, headers, httpVersionMinor } = request
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || headers['content-length'] !== undefined))
    throw new BadRequest(coding.toLowerCase() === 'chunked' ? 400 : 501, 'bad_request', 'The length of the request is not clear.')
  // RFC 9112 section 6.1: chunks are newer than HTTP/1.0, so somebody on the way may have taken the body for the next request.
  if (coding !== undefined && httpVersionMinor === 0) throw new BadRequest(400, 'bad_request', 'HTTP/1.0 has no Transfer-Encoding.')
  const announced = headers['content-length']
  const body = coding !== undefined ? 'chunked' : announced !== undefined && announced !== '0' ? 'length' : 'none'
  if (isUpgrade && body !== 'none') throw new BadRequest(400, 'bad_request', 'A request to upgrade has no body.')

  const connection = headers.connection
  const named =
    connection === undefined || connection === 'keep-alive' || connection === 'close'
      ? null
      : new Set(
          connection
            .toLowerCase()
            .split(',')
            .map((name) => name.trim()),
        )
  let fields = ''
  let hosts = 0
  let via = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const lower = name.toLowerCase()
    if (lower === 'host') hosts++
    if (isDropped(lower, visitor.isTrusted)) continue
    const value = rawHeaders[i + 1] as string
    if (lower === 'via') {
      via += `${value}, `
      continue
    }
    if (named?.has(lower) && lower !== 'content-length' && !(isUpgrade && lower.startsWith('sec-websocket-'))) continue
    fields += `${name}: ${value}\r\n`
  }
  if (hosts !== 1) throw new BadRequest(400, 'bad_request', 'A request has exactly one Host header.')
  if (via !== '' && via.split(pseudonym).length - 1 >= hopsMax)
    throw new BadRequest(508, 'loop_detected', 'The request goes round in circles: does the target point back at its own tunnel?')

  const host = headers.host as string
  const port = host.slice(host.lastIndexOf(':') + 1)
  // Behind the colon it would be a part of addresses that targets make of it.
  if (port.length < host.length && (!/^\d{0,5}$/.test(port) || Number(port) > 65_535))
    throw new BadRequest(400, 'bad_request', 'Host holds a port that is none.')
  const expectsContinue = headers.expect !== undefined && httpVersionMinor > 0
  if (coding !== undefined) fields += 'Transfer-Encoding: chunked\r\n'
  if (expectsContinue) fields += 'Expect: 100-continue\r\n'
  if (isUpgrade) fields += 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  else if (headers.te !== undefined && /(^|,)\s*trailers\s*($|[,;])/i.test(headers.te as string))
    fields += 'TE: trailers\r\nConnection: TE\r\n'
  const { lines, address } = forwarding(headers, visitor, host)
  fields += `${lines}Via: ${via}1.${httpVersionMinor} ${pseudonym}\r\n\r\n`
  return { askedHost: host, lines: fields, body, expectsContinue, visitorAddress: address, raw: rawHeaders }
}

/** The trailers of a visitor that go on: what is for headers only, or for proxies to say, could be taken for a header (RFC 9110 section 6.5.1). */
export function trailersOf(raw: string[]): string {
  let lines = ''
  for (let i = 0; i < raw.length; i += 2) {
    const lower = (raw[i] as string).toLowerCase()
    if (!isDropped(lower, false) && !headersOnly.has(lower)) lines += `${raw[i]}: ${raw[i + 1]}\r\n`
  }
  return lines
}

export function pairsOf(raw: string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string])
  return pairs
}
