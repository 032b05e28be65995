// What a visitor's request becomes on its way to the target: the head with what holds for one connection only left out, and what a proxy has to say put in.
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** Who asks, as far as the gateway can know. */
export type Visitor = {
  address: string
  protocol: 'http' | 'https'
  port: number
  /** True when the peer is a proxy of ours, whose word on the visitor holds. */
  isTrusted: boolean
}

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

export type RequestHead = {
  /** The head as bytes; `hostHeader` stands in Host, null for what the visitor asked for. */
  toBytes(hostHeader: string | null): Buffer
  body: 'none' | 'length' | 'chunked'
  expectsContinue: boolean
  visitorAddress: string
  /** Names and values as the visitor sent them. */
  pairs: () => [string, string][]
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
/** Said by us alone, or by a proxy that we trust. Some servers take `_` for `-`. */
const ours = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-forwarded-scheme',
  'x-real-ip',
])

/** Throws BadRequest. `isUpgrade`: the request asks for a WebSocket. */
export function readRequestHead(request: IncomingMessage, visitor: Visitor, isUpgrade: boolean): RequestHead {
  const { rawHeaders, headers } = request
  const method = request.method as string
  const target = request.url as string
  if (method === 'TRACE') throw new BadRequest(405, 'method_not_allowed', 'TRACE does not pass through a tunnel.')
  if (!target.startsWith('/') && !(target === '*' && method === 'OPTIONS'))
    throw new BadRequest(400, 'bad_request', 'The request target has to be a path.')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x20\x7f#]/.test(target))
    throw new BadRequest(400, 'bad_request', 'The request target holds characters that have to be escaped.')

  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || headers['content-length'] !== undefined))
    throw new BadRequest(coding.toLowerCase() === 'chunked' ? 400 : 501, 'bad_request', 'The length of the request is not clear.')
  const announced = headers['content-length']
  const body = coding !== undefined ? 'chunked' : announced !== undefined && announced !== '0' ? 'length' : 'none'
  if (isUpgrade && body !== 'none') throw new BadRequest(400, 'bad_request', 'A request to upgrade has no body.')

  const connection = headers.connection
  const named =
    connection === undefined || connection.length < 11
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
    if (hopByHop.has(lower) || ours.has(lower.includes('_') ? lower.replaceAll('_', '-') : lower)) continue
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
  const expectsContinue = headers.expect !== undefined && request.httpVersionMinor > 0
  if (coding !== undefined) fields += 'Transfer-Encoding: chunked\r\n'
  if (expectsContinue) fields += 'Expect: 100-continue\r\n'
  if (isUpgrade) fields += 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  else if (headers.te !== undefined && /(^|,)\s*trailers\s*($|[,;])/i.test(headers.te as string))
    fields += 'TE: trailers\r\nConnection: TE\r\n'
  const { lines, address } = forwarding(headers, visitor, host)
  fields += `${lines}Via: ${via}${request.httpVersion} ${pseudonym}\r\n`
  const start = `${method} ${target} HTTP/1.1\r\nHost: `
  return {
    toBytes: (hostHeader) => Buffer.from(`${start}${hostHeader ?? host}\r\n${fields}\r\n`, 'latin1'),
    body,
    expectsContinue,
    visitorAddress: address,
    pairs: () => pairsOf(rawHeaders),
  }
}

export function pairsOf(raw: string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string])
  return pairs
}

/** Forwarded (RFC 7239) and its older cousins, made anew unless a proxy of ours has begun them. */
function forwarding(headers: IncomingMessage['headers'], visitor: Visitor, askedHost: string): { lines: string; address: string } {
  const said = (name: string): string | null => {
    const value = visitor.isTrusted ? headers[name] : undefined
    return typeof value === 'string' && value !== '' ? value : null
  }
  const chain = said('x-forwarded-for')
  const protocol = said('x-forwarded-proto') ?? visitor.protocol
  const host = said('x-forwarded-host') ?? askedHost
  const port = said('x-forwarded-port') ?? String(visitor.port)
  const earlier = said('forwarded')
  // The first of a chain is who stands before all proxies.
  const address = chain?.split(',')[0]?.trim() || visitor.address
  const name = isIPv6(visitor.address) ? `"[${visitor.address}]"` : visitor.address
  const element = `for=${name};host="${askedHost.replace(/["\\]/g, '')}";proto=${visitor.protocol}`
  const lines =
    `X-Forwarded-For: ${chain === null ? '' : `${chain}, `}${visitor.address}\r\nX-Forwarded-Proto: ${protocol}\r\n` +
    `X-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${port}\r\nX-Real-IP: ${address}\r\nForwarded: ${earlier === null ? '' : `${earlier}, `}${element}\r\n`
  return { lines, address: address.slice(0, 100) }
}
