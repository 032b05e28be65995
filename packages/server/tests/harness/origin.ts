// A tunnel target and public clients. The server has every kind of answer, and requests are sent byte by byte.
import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Writable } from 'node:stream'

export type Origin = {
  port: number
  server: Server
  seen: { method: string; url: string; headers: IncomingHttpHeaders; raw: string[] }[]
  stop: () => Promise<void>
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a target on loopback, on a free port unless `port` is given. Requests are recorded before `handler` answers them. */
export async function startOrigin(handler: Handler = answerAnything, port = 0): Promise<Origin> {
  const seen: Origin['seen'] = []
  const server = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
    seen.push({ method: incoming.method as string, url: incoming.url as string, headers: incoming.headers, raw: incoming.rawHeaders })
    handler(incoming, outgoing)
  })
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => server.emit('request', incoming, outgoing))
  server.on('upgrade', echoWebSocket)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    server,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        for (const socket of upgraded) socket.destroy()
      }),
  }
}

const upgraded = new Set<Socket>()

/** Opens a WebSocket and sends back every frame unmasked, or closes with the code that the path names. */
function echoWebSocket(incoming: IncomingMessage, socket: Socket): void {
  upgraded.add(socket)
  socket.on('close', () => upgraded.delete(socket))
  socket.on('error', () => {})
  if (incoming.url?.startsWith('/refuse')) {
    socket.end('HTTP/1.1 418 No\r\nContent-Length: 3\r\nX-Why: tea\r\n\r\nno!')
    return
  }
  const accept = createHash('sha1').update(`${incoming.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const protocol = incoming.headers['sec-websocket-protocol']
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${protocol ? `Sec-WebSocket-Protocol: ${protocol.split(',')[0]}\r\n` : ''}\r\n`,
  )
  const closeCode = /^\/close\/(\d+)/.exec(incoming.url ?? '')?.[1]
  if (closeCode) {
    const code = Number(closeCode)
    socket.end(Buffer.from([0x88, 5, code >> 8, code & 255, 98, 121, 101]))
    return
  }
  let kept = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk])
    for (;;) {
      if (kept.length < 2) return
      const short = (kept[1] as number) & 127
      const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
      const start = 6 + lengthBytes
      if (kept.length < start) return
      const length = lengthBytes === 0 ? short : lengthBytes === 2 ? kept.readUInt16BE(2) : Number(kept.readBigUInt64BE(2))
      if (kept.length < start + length) return
      const mask = kept.subarray(start - 4, start)
      const payload = Buffer.from(kept.subarray(start, start + length)).map((byte, i) => byte ^ (mask[i & 3] as number))
      const header = Buffer.from(kept.subarray(0, start - 4))
      header[1] = short
      socket.write(Buffer.concat([header, payload]))
      if (((kept[0] as number) & 15) === 8) return void socket.end()
      kept = kept.subarray(start + length)
    }
  })
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Continues the answer to `/events`. The test calls it after each event has arrived. */
export let sendNextEvent = (): void => {}

/** Answers by the path. */
export async function answerAnything(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const url = new URL(incoming.url as string, 'http://origin')
  const size = Number(url.searchParams.get('size') ?? 0)
  switch (url.pathname) {
    case '/headers':
      outgoing.writeHead(200, 'Fine', [
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Odd',
        'caf\u00e9',
        'Content-Length',
        '2',
        'Connection',
        'x-gone',
        'X-Gone',
        '1',
      ])
      return void outgoing.end('ok')
    case '/status':
      outgoing.writeHead(Number(url.searchParams.get('code')), { 'x-kind': 'status' })
      return void outgoing.end(url.searchParams.get('body') ?? undefined)
    case '/echo':
      if (incoming.headers.expect) outgoing.writeContinue()
      outgoing.writeHead(200, { 'content-type': 'application/octet-stream', 'x-coding': incoming.headers['transfer-encoding'] ?? 'none' })
      incoming.on('end', () => outgoing.addTrailers(incoming.trailers as Record<string, string>))
      return void incoming.pipe(outgoing)
    case '/hash': {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of incoming) {
        hash.update(chunk)
        bytes += chunk.length
      }
      return void outgoing.end(JSON.stringify({ bytes, sha256: hash.digest('hex') }))
    }
    case '/bytes': {
      outgoing.writeHead(200, url.searchParams.has('length') ? { 'content-length': size } : {})
      const block = Buffer.alloc(64 * 1024, 'callsign')
      for (let left = size; left > 0; left -= block.length) {
        if (!outgoing.write(block.subarray(0, Math.min(left, block.length)))) await roomIn(outgoing)
        if (outgoing.destroyed) return
      }
      return void outgoing.end()
    }
    case '/events':
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let i = 0; i < 3; i++) {
        const taken = new Promise<void>((resolve) => {
          sendNextEvent = resolve
        })
        outgoing.write(`data: ${i}\n\n`)
        await taken
      }
      return void outgoing.end()
    case '/early':
      outgoing.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
      outgoing.writeProcessing()
      return void outgoing.end('after hints')
    case '/trailers':
      outgoing.writeHead(200, { trailer: 'X-Sum' })
      outgoing.write('body')
      outgoing.addTrailers({ 'X-Sum': '42' })
      return void outgoing.end()
    case '/cut':
      outgoing.writeHead(200, { 'content-length': 100 })
      outgoing.write('half')
      return void setTimeout(() => outgoing.destroy(), 50)
    case '/hang':
      return
    case '/slow':
      await wait(Number(url.searchParams.get('ms') ?? 200))
      return void outgoing.end('slow')
    case '/reject':
      outgoing.writeHead(413, { connection: 'close' })
      return void outgoing.end('too much')
    default:
      outgoing.writeHead(200, { 'content-type': 'text/plain', 'x-method': incoming.method as string })
      return void outgoing.end(`hello from ${incoming.url}`)
  }
}

export type Visit = {
  status: number
  reason: string
  headers: IncomingHttpHeaders
  raw: string[]
  body: Buffer
  trailers: Record<string, string | undefined>
  information: number[]
}

export type VisitOptions = {
  method?: string
  headers?: Record<string, string | string[]>
  body?: Buffer | string | AsyncIterable<Buffer>
  trailers?: Record<string, string>
  wait?: number
}

/** One request with Node's client to a port on loopback, with any Host. Rejects when the answer is cut. */
export function visit(port: number, host: string, path: string, options: VisitOptions = {}): Promise<Visit> {
  return new Promise((resolve, reject) => {
    const information: number[] = []
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path,
      method: options.method ?? 'GET',
      headers: { host, ...options.headers },
      agent: false,
    })
    outgoing.on('information', ({ statusCode }) => information.push(statusCode))
    outgoing.on('continue', () => information.push(100))
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode as number,
          reason: response.statusMessage as string,
          headers: response.headers,
          raw: response.rawHeaders,
          body: Buffer.concat(chunks),
          trailers: response.trailers,
          information,
        }),
      )
    })
    const { body } = options
    if (body !== undefined && typeof body === 'object' && Symbol.asyncIterator in body) {
      void (async () => {
        for await (const chunk of body) if (!outgoing.write(chunk)) await roomIn(outgoing)
        if (options.trailers) outgoing.addTrailers(options.trailers)
        outgoing.end()
      })().catch(reject)
    } else {
      if (options.trailers) {
        outgoing.write(body ?? '')
        outgoing.addTrailers(options.trailers)
        outgoing.end()
      } else outgoing.end(body)
    }
  })
}

/** Sends bytes unchanged and resolves with all received text at the close, after 5 seconds of silence, or when `isEnough` returns true. */
export function sendRaw(port: number, bytes: string | Buffer, isEnough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const timer = setTimeout(() => finish(), 5000)
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      timer.refresh()
      text += chunk.toString('latin1')
      if (isEnough(text)) finish()
    })
    socket.on('close', finish)
    socket.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? finish() : reject(error)))
  })
}

/** Resolves when the stream is writable again or closed. */
const roomIn = (outgoing: Writable): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
