// Sends a captured request again: the same exchange that visitors have, with nobody at the other end.
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { RepeatedRequest, RequestRecord, TunnelRoute } from '../../features/tunnels/model.ts'
import type { ExchangeHost } from './proxied-request-host.ts'
import { readRequestHead } from './request-head.ts'
import { serveParsed } from './serve-parsed.ts'

/** Said by the exchange itself for the body that it has now. */
const framing = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade'])

/** Programs and proxies before the API give up after a minute. */
const listenMsMax = 55_000
/** Silence is told by the exchange itself, which looks every second. */
const graceMs = 2000

/** Resolves with how it went: of an answer that goes on and on, after as long as a target may take to begin one, as if the visitor had left then. */
export function repeatRequest(host: ExchangeHost, route: TunnelRoute, repeated: RepeatedRequest): Promise<RequestRecord> {
  const nobody = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as unknown as Socket
  const request = new IncomingMessage(nobody)
  request.method = repeated.method
  request.url = repeated.path
  request.httpVersion = '1.1'
  request.httpVersionMajor = 1
  request.httpVersionMinor = 1
  const headers = repeated.headers.filter(([name]) => !framing.has(name.toLowerCase()))
  if (repeated.body.length > 0) headers.push(['Content-Length', String(repeated.body.length)])
  request.rawHeaders = headers.flat()
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    // What Connection names is left out once more.
    request.headers[lower] = lower === 'connection' && request.headers.connection ? `${request.headers.connection},${value}` : value
  }
  if (repeated.body.length > 0) request.push(repeated.body)
  request.push(null)
  request.complete = true
  const response = new ServerResponse(request)
  response.assignSocket(nobody)
  const visitor = { address: '127.0.0.1', protocol: 'http' as const, port: 0, isTrusted: false, trusts: () => false }
  return new Promise((resolve) => {
    const head = readRequestHead(request, visitor, false)
    const timer = setTimeout(() => response.emit('close'), Math.min(listenMsMax, host.answerMsMax + graceMs))
    const record = (one: RequestRecord) => {
      clearTimeout(timer)
      resolve(one)
    }
    serveParsed({ ...host, record }, route, head, request, response, repeated.replayOf)
  })
}
