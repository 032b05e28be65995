// Repeats a captured request: the same proxied request as for public clients, with the response discarded.
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { RepeatedRequest, RequestRecord, TunnelRoute } from '../../../features/tunnels/model.ts'
import { readRequestHead } from '../requests/request-head.ts'
import { serveTunnelRequest, type TunnelRequestHost } from '../requests/serve-tunnel-request.ts'

/** Set by the proxied request itself, for the body that the repeated request has. */
const framing = new Set(['content-length', 'transfer-encoding', 'expect', 'upgrade'])

/** Programs and proxies in front of the API time out after a minute. */
const listenMsMax = 55_000
/** The proxied request itself ends a silent target, with a check every second. */
const graceMs = 2000

/** Resolves with the record. A response that does not end is cut off after `answerMsMax`, as if the public client had disconnected. */
export async function repeatRequest(host: TunnelRequestHost, route: TunnelRoute, repeated: RepeatedRequest): Promise<RequestRecord> {
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
    // Headers named by Connection are dropped again.
    request.headers[lower] = lower === 'connection' && request.headers.connection ? `${request.headers.connection},${value}` : value
  }
  if (repeated.body.length > 0) request.push(repeated.body)
  request.push(null)
  request.complete = true
  const response = new ServerResponse(request)
  response.assignSocket(nobody)
  const publicClient = { address: '127.0.0.1', protocol: 'http' as const, port: 0, isTrusted: false, trusts: () => false }
  const timer = setTimeout(() => response.emit('close'), Math.min(listenMsMax, host.answerMsMax + graceMs))
  const head = readRequestHead(request, publicClient, false)
  // The caller of the API was admitted, and stores the record.
  const own = { readHead: () => head, findTunnel: () => route, problemOf: () => null, record: () => {}, replayOf: repeated.replayOf }
  const record = await serveTunnelRequest({ ...host, ...own }, route.handle, request, response)
  clearTimeout(timer)
  return record as RequestRecord
}
