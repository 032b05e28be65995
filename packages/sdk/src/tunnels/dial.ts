// Opens the connection to a gateway, directly or through an HTTP proxy. It uses the protocol's own Upgrade or, where only that passes, a WebSocket.
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Wrapping } from '@callsign/contract/tunnel-connection'
import { tunnelProtocol, tunnelWebSocketProtocol } from '@callsign/contract/tunnel-frames'
import { connectThrough } from '../connection/proxy-connection.ts'
import { ApiError, ConnectionError } from '../errors.ts'
import type { Transport } from './listen-options.ts'
import type { Node } from './node.ts'

export type Dialled = { socket: Socket; wrapping: Wrapping; head: Buffer; transport: 'upgrade' | 'web-socket' }

export type DialOptions = {
  /** The address that clients connect to, such as https://callsign.example/api/v1/tunnels/sales/connect. */
  url: URL
  apiKey: string
  proxy: URL | null
  /** PEM of an additional certificate authority to trust. */
  ca: string | undefined
  transport: Transport
  signal: AbortSignal
}

const dialMsMax = 15_000
const refusalBytesMax = 64 * 1024
// RFC 6455 section 1.3.
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** Statuses of the Callsign server that a WebSocket would get as well. */
const ownAnswers = new Set([401, 403, 404, 429, 503])

/** Rejects with ApiError if the server rejects the client, and with ConnectionError if it does not answer. */
export async function dial(node: Node, options: DialOptions): Promise<Dialled> {
  if (options.transport === 'web-socket') return upgrade(node, options, true)
  if (options.transport === 'upgrade') return upgrade(node, options, false)
  try {
    return await upgrade(node, options, false)
  } catch (error) {
    // An intermediary removed or rejected the Upgrade.
    if (options.signal.aborted || (error instanceof ApiError && ownAnswers.has(error.status)) || isUnreachable(error)) throw error
    return upgrade(node, options, true)
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof ConnectionError &&
  ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'].includes((error.cause as NodeJS.ErrnoException)?.code ?? '')

async function upgrade(node: Node, options: DialOptions, isWebSocket: boolean): Promise<Dialled> {
  const { url, apiKey, signal } = options
  const key = node.crypto.randomBytes(16).toString('base64')
  const isTls = url.protocol === 'https:'
  const port = Number(url.port || (isTls ? 443 : 80))
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const plain = options.proxy ? await connectThrough(node, options.proxy, `${url.hostname}:${port}`, signal) : null
  const secure = {
    ...(options.ca === undefined ? {} : { ca: [...node.tls.rootCertificates, options.ca] }),
    ...(node.net.isIP(hostname) ? {} : { servername: hostname }),
  }
  const connect = (): Socket => {
    const target = plain ? { socket: plain } : { host: hostname, port }
    if (isTls) return node.tls.connect({ ...target, ...secure, ALPNProtocols: ['http/1.1'] })
    return plain ?? node.net.connect({ host: hostname, port })
  }
  const request: RequestOptions = {
    method: 'GET',
    host: hostname,
    port,
    path: url.pathname + url.search,
    createConnection: connect,
    headers: {
      Host: url.host,
      Authorization: `Bearer ${apiKey}`,
      Connection: 'Upgrade',
      ...(isWebSocket
        ? {
            Upgrade: 'websocket',
            'Sec-WebSocket-Version': '13',
            'Sec-WebSocket-Key': key,
            'Sec-WebSocket-Protocol': tunnelWebSocketProtocol,
          }
        : { Upgrade: tunnelProtocol }),
    },
  }
  const { socket, head, headers } = await ask(node, request, url, signal)
  const accepted = node.crypto.createHash('sha1').update(`${key}${webSocketGuid}`).digest('base64')
  const isRight = isWebSocket ? headers['sec-websocket-accept'] === accepted : headers.upgrade?.toLowerCase() === tunnelProtocol
  if (!isRight) {
    socket.destroy()
    throw new ConnectionError(
      'reply_unusable',
      `${url.origin} upgraded to another protocol. Check that the address is that of a Callsign server.`,
    )
  }
  socket.setNoDelay(true)
  return { socket, head, wrapping: isWebSocket ? 'web-socket-client' : 'bare', transport: isWebSocket ? 'web-socket' : 'upgrade' }
}

/** Sends the request and resolves with the upgraded socket. */
function ask(
  { http }: Node,
  options: RequestOptions,
  url: URL,
  signal: AbortSignal,
): Promise<{ socket: Socket; head: Buffer; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const request = http.request(options)
    const fail = (error: Error) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      request.destroy()
      reject(error)
    }
    const onAbort = () => fail(new ConnectionError('connection_failed', 'The tunnel was closed.'))
    const timer = setTimeout(() => fail(new ConnectionError('timeout', `${url.origin} did not answer in time.`)), dialMsMax)
    signal.addEventListener('abort', onAbort, { once: true })
    request.on('error', (error) =>
      fail(new ConnectionError('connection_failed', `${url.origin} did not answer: ${error.message}`, { cause: error })),
    )
    request.once('upgrade', (response, socket, head) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve({ socket: socket as Socket, head, headers: response.headers })
    })
    request.once('response', (response) => {
      readRefusal(response).then(fail, () => fail(new ConnectionError('reply_unusable', `${url.origin} answered ${response.statusCode}.`)))
    })
    request.end()
  })
}

async function readRefusal(response: IncomingMessage): Promise<ApiError> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > refusalBytesMax) break
  }
  const status = response.statusCode as number
  const seconds = Number(response.headers['retry-after'])
  const fields = {
    status,
    requestId: (response.headers['x-request-id'] as string) ?? null,
    retryAfterMs: seconds >= 0 ? seconds * 1000 : null,
  }
  let code = `http_${status}`
  let message = `The server answered ${status}.`
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } }
    if (typeof error.code === 'string' && typeof error.message === 'string') ({ code, message } = error)
  } catch {
    // Not sent by Callsign, so only the status is used.
  }
  return new ApiError({ ...fields, code, message, details: undefined })
}
