// The target of a tunnel's requests is a local port, a URL, or a handler in this program.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { TunnelStream } from '@callsign/contract/tunnel-stream'
import { toDuplex } from './duplex.ts'
import type { FetchHandler, TunnelTarget } from './listen-options.ts'
import type { Node } from './node.ts'

/** A prepared target, which accepts streams. */
export type Destination = {
  /** The target, for display. */
  name: string
  /** The Host header sent to the target. null keeps the original Host. */
  host: string | null
  scheme: 'http' | 'https'
  take: (stream: TunnelStream) => void
  close: () => void
}

const connectMsMax = 10_000
/** Error codes of a write to a connection that the other side has closed. */
const closedByPeer = new Set(['EPIPE', 'ECONNRESET'])

export type TargetOptions = {
  allowRemote: boolean
  /** False accepts any certificate of an https:// target. */
  verify: boolean
  /** Receives errors thrown by a fetch handler. */
  onError: (error: unknown) => void
  /** Called with the reason if the target is unreachable, once per reason until it is reachable. */
  onUnreachable: (reason: string) => void
}

/** Throws TypeError for an unsuitable target, and for a remote one without `allowRemote`. */
export function openTarget(node: Node, target: TunnelTarget, options: TargetOptions): Destination {
  if (typeof target === 'function') return toHandler(node, target)
  if (typeof target === 'object' && 'fetch' in target) return toHandler(node, listenerOf(target, options.onError))
  const url = readTarget(target)
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  if (!options.allowRemote && !isLoopback(hostname))
    throw new TypeError(
      `${url.origin} is not on this machine. Every caller of the tunnel could reach it. To permit this, allow remote targets (allowRemote, --allow-remote).`,
    )
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  return { name: url.origin, host: url.host, scheme, take: toSockets(node, url, hostname, options), close: () => {} }
}

function readTarget(target: number | string | URL): URL {
  const text = String(target)
  const url = /^\d{1,5}$/.test(text) ? `http://localhost:${text}` : text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(url))
    throw new TypeError(`"${text}" is neither a port nor an address. Give a target such as 3000 or http://127.0.0.1:3000.`)
  const parsed = new URL(url)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')
    throw new TypeError('The target must be a port, or an address that begins with http:// or https://.')
  if (parsed.pathname !== '/' || parsed.search !== '' || parsed.username !== '')
    throw new TypeError('The target must be a whole server. Give its address without a path.')
  if (parsed.port === '0') throw new TypeError('Port 0 cannot be a target. Give a port from 1 to 65535.')
  return parsed
}

/** Names below localhost are on this machine (RFC 6761 section 6.3), and servers print the unspecified address when they listen on every one. */
const isLoopback = (hostname: string): boolean => isAnyLoopback(hostname) || hostname === '::1' || /^127(\.\d{1,3}){3}$/.test(hostname)

/** True when the server may listen on either loopback address. */
const isAnyLoopback = (hostname: string): boolean => /^(?:(?:.+\.)?localhost\.?|0\.0\.0\.0|::)$/.test(hostname)

/** Connects each stream to the target. */
function toSockets({ net, tls }: Node, url: URL, hostname: string, { verify, onUnreachable }: TargetOptions): Destination['take'] {
  const isTls = url.protocol === 'https:'
  // A server on this machine may listen on either address. The one that worked last is tried first.
  let addresses = isAnyLoopback(hostname) ? ['127.0.0.1', '::1'] : [hostname]
  const options = { port: Number(url.port || (isTls ? 443 : 80)), noDelay: true, allowHalfOpen: true }
  const tlsOptions = { rejectUnauthorized: verify, ...(net.isIP(hostname) ? {} : { servername: hostname }) }
  let lastReason: string | null = null

  function dial(stream: TunnelStream, early: Uint8Array[], rest: string[], before: string[]): void {
    // Buffered within the stream's window until the target is connected.
    const waiting = { onData: (bytes: Uint8Array) => void early.push(bytes), onEnd() {}, onDrain() {} }
    const [host = hostname, ...others] = rest
    const socket = isTls ? tls.connect({ ...options, ...tlsOptions, host }) : net.connect({ ...options, host })
    const timer = setTimeout(() => socket.destroy(new Error('timed out')), connectMsMax)
    const onFailure = (error: Error) => {
      clearTimeout(timer)
      const reasons = [...before, error.message]
      if (others.length > 0 && !stream.isClosed) return dial(stream, early, others, reasons)
      stream.reset(resetCodes.targetUnreachable)
      const reason = reasons.join('; ')
      if (reason === lastReason) return
      lastReason = reason
      onUnreachable(reason)
    }
    stream.listener = {
      ...waiting,
      onReset() {
        socket.off('error', onFailure)
        socket.on('error', () => {})
        socket.destroy()
        clearTimeout(timer)
      },
    }
    socket.once('error', onFailure)
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.off('error', onFailure)
      lastReason = null
      if (addresses[0] !== host) addresses = [host, ...addresses.filter((one) => one !== host)]
      join(stream, socket, early)
    })
  }

  return (stream) => {
    dial(stream, [], addresses, [])
  }
}

/**
 * A server that rejects a body may answer and close without reading the rest. Writing then fails before its answer has been read, and Node would
 * destroy the socket together with the answer. The rest of the body is dropped instead, and reading continues to the end of the connection.
 */
function readOnWhenClosed(socket: Socket): void {
  type Done = (error?: Error | null) => void
  const forgiving =
    (done: Done): Done =>
    (error) =>
      done(closedByPeer.has((error as NodeJS.ErrnoException | null | undefined)?.code ?? '') ? null : error)
  const { _write, _writev } = socket
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, forgiving(done))
  if (_writev) socket._writev = (chunks, done) => _writev.call(socket, chunks, forgiving(done))
}

function join(stream: TunnelStream, socket: Socket, early: Uint8Array[]): void {
  let held = 0
  readOnWhenClosed(socket)
  const give = (bytes: Uint8Array) => {
    if (socket.write(bytes)) stream.taken(bytes.length)
    else held += bytes.length
  }
  socket.on('error', () => stream.reset(resetCodes.targetLost))
  socket.on('data', (bytes) => {
    if (!stream.write(bytes)) socket.pause()
  })
  socket.on('drain', () => {
    const bytes = held
    held = 0
    stream.taken(bytes)
  })
  socket.on('end', () => stream.end())
  socket.on('close', () => {
    if (!stream.isClosed) stream.isRemoteEnded ? stream.end() : stream.reset(resetCodes.targetLost)
  })
  stream.listener = {
    onData: give,
    onEnd: () => void socket.end(),
    onReset: () => void socket.destroy(),
    onDrain: () => void socket.resume(),
  }
  for (const bytes of early) give(bytes)
  if (stream.isRemoteEnded) socket.end()
}

/** A server that does not listen and receives the streams as its connections. */
function toHandler(node: Node, listener: RequestListener): Destination {
  const server: Server = node.http.createServer({ keepAliveTimeout: 5000, requestTimeout: 0 }, listener)
  return {
    name: 'the handler',
    host: null,
    scheme: 'http',
    take: (stream) => void server.emit('connection', toDuplex(node, stream)),
    close: () => server.closeAllConnections(),
  }
}

/** Serves Node's requests with a handler of web Requests. */
function listenerOf({ fetch }: FetchHandler, onError: (error: unknown) => void): RequestListener {
  return (incoming, outgoing) => {
    answer(fetch, incoming, outgoing).catch((error: unknown) => {
      // A handler whose caller has disconnected was notified by its signal.
      if (!outgoing.destroyed) onError(error)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500).end()
    })
  }
}

async function answer(fetch: FetchHandler['fetch'], incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const headers = new Headers()
  for (let i = 0; i < incoming.rawHeaders.length; i += 2)
    headers.append(incoming.rawHeaders[i] as string, incoming.rawHeaders[i + 1] as string)
  const host = headers.get('x-forwarded-host') ?? incoming.headers.host
  // OPTIONS * applies to the whole server, so its URL does not have a path (RFC 9112 section 3.3).
  const url = `${headers.get('x-forwarded-proto') ?? 'http'}://${host}${incoming.url === '*' ? '' : incoming.url}`
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
  const controller = new AbortController()
  outgoing.once('close', () => controller.abort())
  const request = new Request(url, {
    method: incoming.method as string,
    headers,
    signal: controller.signal,
    ...(hasBody ? { body: incoming, duplex: 'half' } : {}),
  } as unknown as RequestInit)
  const response = await fetch(request)
  const pairs: string[] = []
  // Set-Cookie headers are listed one by one, all others joined.
  for (const [name, value] of response.headers) pairs.push(name, value)
  outgoing.writeHead(response.status, response.statusText || undefined, pairs as unknown as Record<string, string>)
  outgoing.flushHeaders()
  if (response.body) {
    const reader = response.body.getReader()
    outgoing.once('close', () => void reader.cancel().catch(() => {}))
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!outgoing.write(value)) await roomIn(outgoing)
      if (outgoing.destroyed) return
    }
  }
  outgoing.end()
}

/** Resolves when the response can take more, or is closed. */
const roomIn = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
