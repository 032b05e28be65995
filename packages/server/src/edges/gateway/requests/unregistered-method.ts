// Lets methods that Node's parser does not know reach a tunnel: the parser is shown POST in their place. The only code that looks at the
// bytes of a public request.
import { type IncomingMessage, METHODS } from 'node:http'
import type { Socket } from 'node:net'
import { readField } from '../responses/field-line.ts'
import { isRefusedMethod } from './request-head.ts'

export interface UnregisteredMethods {
  /** Looks at the first bytes of a connection, and passes it on with those bytes unread. */
  onConnection(socket: Socket, handOver: (socket: Socket) => void): void
  /** Gives a request that was read as POST its real method. True if it had one. The connection must not serve another request. */
  restore(request: IncomingMessage): boolean
  /** Closes the connections that have sent nothing. */
  closeIdle(): void
  /** Closes the connections that were not passed on yet. */
  closeAll(): void
}

/** Milliseconds within which the head of the first request has to arrive. */
const headMsMax = 20_000
const headBytesMax = 16 * 1024
const startLinePattern = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) \/[!"$-~]* HTTP\/1\.1$/
const methodPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32} /
const registered = new Set(METHODS)

/** `isTunnel` is true for the host name of a tunnel. */
export function createUnregisteredMethods(isTunnel: (host: string) => boolean): UnregisteredMethods {
  const methods = new WeakMap<Socket, string>()
  const waiting = new Set<Socket>()

  function onConnection(socket: Socket, handOver: (socket: Socket) => void): void {
    let seen: Buffer = Buffer.alloc(0)
    const timer = setTimeout(() => socket.destroy(), headMsMax).unref()
    const onData = (bytes: Buffer) => {
      seen = seen.length === 0 ? bytes : Buffer.concat([seen, bytes])
      const found = readUnregisteredMethod(seen.toString('latin1'), isTunnel)
      if (found?.isWhole === false) return
      forget()
      socket.off('data', onData)
      socket.off('end', onEnd)
      socket.off('error', onError)
      socket.off('close', forget)
      if (found) methods.set(socket, found.method)
      // Without a pause the socket would lose bytes until the next listener is added.
      socket.pause()
      socket.unshift(found ? Buffer.concat([Buffer.from('POST'), seen.subarray(found.method.length)]) : seen)
      handOver(socket)
      socket.resume()
    }
    const onEnd = () => socket.destroySoon()
    /** A close event follows. */
    const onError = () => {}
    const forget = () => {
      clearTimeout(timer)
      waiting.delete(socket)
    }
    waiting.add(socket)
    socket.on('data', onData)
    socket.on('end', onEnd)
    socket.on('error', onError)
    socket.on('close', forget)
  }

  return {
    onConnection,

    restore(request) {
      const method = methods.get(request.socket)
      if (method === undefined) return false
      methods.delete(request.socket)
      request.method = method
      return true
    },

    closeIdle() {
      for (const socket of waiting) if (socket.bytesRead === 0) socket.destroy()
    },

    closeAll() {
      for (const socket of waiting) socket.destroy()
    },
  }
}

/**
 * The method at the start of `text`, with one character per byte, if Node's parser does not know it and the request is for a tunnel.
 * `isWhole` is false when more of the head has to arrive. Null leaves the request to Node as it is.
 */
export function readUnregisteredMethod(text: string, isTunnel: (host: string) => boolean): { method: string; isWhole: boolean } | null {
  const method = methodPattern.exec(text.slice(0, 34))?.[0].slice(0, -1)
  if (method === undefined || registered.has(method) || isRefusedMethod(method)) return null
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return text.length > headBytesMax ? null : { method, isWhole: false }
  const [start, ...lines] = text.slice(0, end).split('\r\n')
  if (end > headBytesMax || !startLinePattern.test(start as string)) return null
  const fields = lines.map(readField)
  const hosts = fields.filter((field) => field?.[0].toLowerCase() === 'host')
  if (fields.includes(null) || hosts.length !== 1) return null
  return isTunnel(hosts[0]?.[1] as string) ? { method, isWhole: true } : null
}
