// The SMTP server: the listening socket, the limits across connections, and the drain.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { ByteBudget } from '../../../core/byte-budget.ts'
import { clientGroup } from '../../../core/client-address.ts'
import type { Log } from '../../../core/log.ts'
import { ConnectionRate } from './connection-rate.ts'
import { defaultLimits, type Limits } from './limits.ts'
import type { SignIn, SmtpReceiver } from './receiver.ts'
import { renderReply, replies, type SmtpReply } from './reply.ts'
import { Session, type SessionSettings } from './session.ts'
import { readTls, type SmtpTls } from './tls.ts'

export type SmtpServerOptions = {
  host: string
  /** 0 selects any free port. */
  port: number
  /** The name in greeting, EHLO reply and Received fields. */
  hostname: string
  /** Largest message without stuffed dots, offered as SIZE. */
  sizeBytesMax: number
  tls: SmtpTls
  log: Log
  /** Makes this a server for submission. */
  signIn?: SignIn
  /** TLS from the first byte, as submission on port 465 has it (RFC 8314 §3.3). */
  isTlsFirst?: boolean
  limits?: Partial<Limits>
  /** Folder for large messages in transfer. Without it they stay in memory. */
  spoolFolder?: string
  /** Called for every reply from 400 on. `sessionId` is null for a connection that was refused before it had one. */
  onRefusal?: (sessionId: string | null, replyCode: number) => void
  /** Free octets on the disks. Without it, space counts as sufficient. */
  freeBytes?: () => number
}

export interface SmtpServer {
  /** Rejects when the port is taken. */
  listen(): Promise<{ port: number }>
  /**
   * Stops listening and sends 421 to sessions without a message in flight. The others may finish theirs within `graceMs`.
   * Resolves when every connection is closed, at the latest after the grace and the linger time.
   */
  drain(graceMs: number): Promise<void>
  connections(): number
}

/** A server that is not listening yet. Throws on a certificate that cannot be used. */
export function createSmtpServer(options: SmtpServerOptions, receiver: SmtpReceiver): SmtpServer {
  const { hostname, sizeBytesMax, log } = options
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const contextFor = readTls(options.tls, hostname)
  const memory = new ByteBudget(limits.memoryBytesMax)
  const disk = new ByteBudget(limits.spoolBytesMax)
  const settings: Omit<SessionSettings, 'memory' | 'spool'> = {
    hostname,
    sizeBytesMax,
    limits,
    receiver,
    log,
    offersTls: contextFor !== null,
    isTlsFirst: options.isTlsFirst ?? false,
    signIn: options.signIn ?? null,
    contextFor,
    onReply: (sessionId, code) => {
      if (code >= 400) options.onRefusal?.(sessionId, code)
    },
    freeBytes: options.freeBytes ?? (() => Number.POSITIVE_INFINITY),
  }
  const sessions = new Set<Session>()
  const perClient = new Map<string, number>()
  const rate = new ConnectionRate(limits.connectionsPerMinuteMax)
  let onEmpty: (() => void) | null = null

  /** The memory and disk space that sessions of this client share. */
  function sharesOf(client: string, isLimited: boolean): Pick<SessionSettings, 'memory' | 'spool'> {
    const owner = (bytesMax: number) => (isLimited ? [{ name: client, bytesMax }] : [])
    const { spoolFolder } = options
    return {
      memory: memory.shareOf(owner(limits.memoryPerAddressBytesMax)),
      spool: spoolFolder ? { folder: spoolFolder, space: disk.shareOf(owner(limits.spoolPerAddressBytesMax)) } : null,
    }
  }

  function connect(socket: Socket): void {
    const clientAddress = readAddress(socket)
    if (clientAddress === null) {
      socket.destroy()
      return
    }
    const client = clientGroup(clientAddress)
    const fromClient = perClient.get(client) ?? 0
    const isFull = sessions.size >= limits.connectionsMax
    const isLimited = limits.isLoopbackLimited || !isLoopback(clientAddress)
    const isCrowded = limits.connectionsPerAddressMax > 0 && fromClient >= limits.connectionsPerAddressMax
    if (isFull || (isLimited && (isCrowded || !rate.take(client)))) {
      reject(socket, isFull ? replies.tooManyConnections : replies.tooManyFromAddress)
      return
    }
    perClient.set(client, fromClient + 1)
    const session = new Session(socket, clientAddress, { ...settings, ...sharesOf(client, isLimited) }, () => {
      if (!sessions.delete(session)) return
      const left = perClient.get(client)! - 1
      if (left === 0) perClient.delete(client)
      else perClient.set(client, left)
      if (sessions.size === 0) onEmpty?.()
    })
    sessions.add(session)
    session.start()
  }

  /** Sends the reply in place of the greeting. Takes neither a session nor its memory. */
  function reject(socket: Socket, reply: SmtpReply): void {
    log.info({ client: socket.remoteAddress, reply: reply.text }, 'an SMTP connection was refused')
    options.onRefusal?.(null, reply.code)
    const timer = setTimeout(() => socket.destroy(), limits.lingerMs)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => clearTimeout(timer))
    socket.end(renderReply(reply))
    socket.resume()
  }

  // Half-open, because a client may close its side after QUIT and still expect the replies.
  const server = createServer({ noDelay: true, allowHalfOpen: true }, connect)
  // Sessions and rejected sockets can linger. Further connections wait in the kernel's queue.
  server.maxConnections = limits.connectionsMax * 2

  return {
    async listen() {
      server.listen({ host: options.host, port: options.port })
      await once(server, 'listening')
      server.on('error', (error) => log.error({ err: error }, 'smtp listener failed'))
      return { port: (server.address() as AddressInfo).port }
    },

    async drain(graceMs) {
      server.close()
      if (sessions.size === 0) return
      const ended = new Promise<void>((resolve) => {
        onEmpty = resolve
      })
      const graceTimer = setTimeout(() => {
        for (const session of sessions) session.close(replies.shuttingDown)
      }, graceMs)
      const lastTimer = setTimeout(() => {
        for (const session of sessions) session.destroy()
        onEmpty?.()
      }, graceMs + limits.lingerMs)
      for (const session of sessions) session.retire(replies.shuttingDown)
      await ended
      clearTimeout(graceTimer)
      clearTimeout(lastTimer)
    },

    connections: () => sessions.size,
  }
}

/** The client's address without a scope, with IPv4 over an IPv6 socket as IPv4. Null when it has disconnected. */
function readAddress(socket: Socket): string | null {
  const address = socket.remoteAddress
  if (address === undefined) return null
  return address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
}

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')
