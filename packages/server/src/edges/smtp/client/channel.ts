// One connection of the SMTP client below the conversation. It has the socket, its replies in order, the timeouts and the upgrade to TLS.
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { ReplyReader, replyText, type ServerReply } from './reply-reader.ts'

/** A conversation that ended early. The message is for records, and the enhanced status code describes it (RFC 3463). */
export class ConnectionFailure extends Error {
  override name = 'ConnectionFailure'
  readonly diagnosticCode: string
  constructor(message: string, diagnosticCode: string) {
    super(message)
    this.diagnosticCode = diagnosticCode
  }
}

/** TLS settings of a session. `serverName` is sent as SNI and checked against the certificate when `verify` is on. */
export type TlsSettings = { serverName: string; verify: boolean; ca?: string | Buffer }

type Waiter = { resolve: (reply: ServerReply) => void; reject: (failure: Error) => void; timer: NodeJS.Timeout }

// Slices make the timeout of a long upload depend on progress, and let an early refusal stop it.
const sliceBytes = 256 * 1024

/** A connected channel. Every waiting method rejects with ConnectionFailure, at once when the connection is already closed. */
export class Channel {
  #socket: Socket
  #peer: string
  #reader = new ReplyReader()
  #inbox: ServerReply[] = []
  #waiter: Waiter | null = null
  #drain: (() => void) | null = null
  #expected = 0
  #failure: ConnectionFailure | null = null
  #onEnd: (() => void) | null = null

  constructor(socket: Socket, peer: string) {
    this.#socket = socket
    this.#peer = peer
    this.#attach(socket)
  }

  /** Null while the connection is usable. */
  get failure(): ConnectionFailure | null {
    return this.#failure
  }

  /** Protocol and IANA cipher name of the connection, or null for clear text. */
  get tls(): string | null {
    if (!(this.#socket instanceof TLSSocket)) return null
    // A closed socket no longer has them.
    return `${this.#socket.getProtocol() ?? 'TLS'} ${this.#socket.getCipher()?.standardName ?? ''}`.trimEnd()
  }

  /** Calls back once when the connection ends for any reason. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
  }

  /** Expects this many replies to the next write. Anything unexpected ends the connection. */
  expect(replies: number): void {
    this.#expected += replies
  }

  write(bytes: Buffer | string): void {
    if (!this.#failure) this.#socket.write(bytes)
  }

  /** The next reply, within `timeoutMs`. A reply that arrived before the connection ended is still returned. */
  async read(timeoutMs: number, what: string): Promise<ServerReply> {
    const reply = this.#inbox.shift()
    if (reply) return reply
    if (this.#failure) throw this.#failure
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.fail(`${this.#peer} did not answer ${what} within ${timeoutMs / 1000} s`, '4.4.2'), timeoutMs)
      this.#waiter = { resolve, reject, timer }
    })
  }

  /**
   * Writes message data, with `timeoutMs` per slice. Stops early and returns false when the server replies before the end. Ends the
   * connection before the last slice when `mayEnd` returns false.
   */
  async upload(bytes: Buffer, timeoutMs: number, mayEnd = () => true): Promise<boolean> {
    for (let start = 0; start < bytes.length; start += sliceBytes) {
      if (this.#inbox.length) return false
      if (this.#failure) throw this.#failure
      if (start + sliceBytes >= bytes.length && !mayEnd()) throw this.fail(notOurs, '4.3.2')
      if (!this.#socket.write(bytes.subarray(start, start + sliceBytes)) && start + sliceBytes < bytes.length)
        await this.#drained(timeoutMs)
    }
    return true
  }

  #drained(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.fail(`${this.#peer} took no data for ${timeoutMs / 1000} s`, '4.4.2'), timeoutMs)
      this.#drain = () => {
        clearTimeout(timer)
        this.#drain = null
        resolve()
      }
    })
  }

  /** Continues inside TLS. Clear-text octets after the server's reply to STARTTLS end the connection (CVE-2011-0411). */
  async startTls(settings: TlsSettings, timeoutMs: number): Promise<void> {
    if (this.#failure) throw this.#failure
    if (this.#inbox.length || this.#reader.isInside())
      throw this.fail(`${this.#peer} sent clear text after its answer to STARTTLS`, '4.7.5')
    const plain = this.#socket
    plain.removeAllListeners('data')
    try {
      const secure = await handshake({ socket: plain }, settings, timeoutMs, this.#peer)
      this.#socket = secure
      if (this.#failure) secure.destroy()
      else this.#attach(secure)
    } catch (failure) {
      this.#end(failure as ConnectionFailure)
    }
    if (this.#failure) throw this.#failure
  }

  /** Ends the connection with this failure and returns it. */
  fail(message: string, diagnosticCode: string): ConnectionFailure {
    const failure = new ConnectionFailure(message, diagnosticCode)
    this.#end(failure)
    return failure
  }

  /** Sends QUIT without waiting for the reply. */
  quit(): void {
    if (this.#failure) return
    this.#socket.end('QUIT\r\n')
    const socket = this.#socket
    setTimeout(() => socket.destroy(), 2000).unref()
    this.#end(new ConnectionFailure('the connection was closed by us', '4.4.2'), true)
  }

  #attach(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => this.#drain?.())
    // Under TLS, the TLS socket reports the errors of this socket.
    socket.on('error', (error) => {
      if (socket === this.#socket) this.fail(`the connection to ${this.#peer} failed: ${reason(error)}`, '4.4.2')
    })
    socket.on('close', () => {
      if (socket === this.#socket) this.fail(`${this.#peer} closed the connection`, '4.4.2')
    })
  }

  #receive(chunk: Buffer): void {
    if (this.#failure) return
    let replies: ServerReply[]
    try {
      replies = this.#reader.push(chunk)
    } catch (error) {
      this.fail(`${this.#peer} sent ${(error as Error).message}`, '4.5.0')
      return
    }
    for (const reply of replies) {
      if (this.#expected === 0) {
        this.fail(`${this.#peer} said unasked: ${replyText(reply)}`, reply.code === 421 ? (reply.enhanced ?? '4.3.2') : '4.5.0')
        return
      }
      this.#expected--
      const waiter = this.#waiter
      if (waiter) {
        this.#waiter = null
        clearTimeout(waiter.timer)
        waiter.resolve(reply)
      } else {
        this.#inbox.push(reply)
        this.#drain?.()
      }
    }
  }

  #end(failure: ConnectionFailure, isPolite = false): void {
    if (this.#failure) return
    this.#failure = failure
    if (!isPolite) this.#socket.destroy()
    const waiter = this.#waiter
    this.#waiter = null
    if (waiter) {
      clearTimeout(waiter.timer)
      waiter.reject(failure)
    }
    this.#drain?.()
    this.#onEnd?.()
  }
}

/** Connects, inside TLS from the first octet when `tls` is given. Rejects with ConnectionFailure. */
export async function openChannel(target: { host: string; port: number; tls: TlsSettings | null }, timeoutMs: number): Promise<Channel> {
  const peer = `${target.host}:${target.port}`
  const socket = target.tls
    ? await handshake({ host: target.host, port: target.port }, target.tls, timeoutMs, peer)
    : await connected(connectPlain({ host: target.host, port: target.port }), 'connect', timeoutMs, peer, '4.4.1')
  socket.setNoDelay(true)
  return new Channel(socket, peer)
}

function handshake(
  onto: { socket: Socket } | { host: string; port: number },
  settings: TlsSettings,
  timeoutMs: number,
  peer: string,
): Promise<TLSSocket> {
  const socket = connectTls({
    ...onto,
    // An IP address is not a server name (RFC 6066 §3). The certificate is then checked against the address itself.
    ...(isIP(settings.serverName) ? {} : { servername: settings.serverName }),
    rejectUnauthorized: settings.verify,
    ...(settings.ca ? { ca: settings.ca } : {}),
  })
  return connected(socket, 'secureConnect', timeoutMs, peer, 'socket' in onto ? '4.7.5' : '4.4.1')
}

/** Waits for the event that reports a socket as ready. */
function connected<S extends Socket>(socket: S, event: string, timeoutMs: number, peer: string, diagnosticCode: string): Promise<S> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer)
      socket.off('error', onError).off('close', onClose).off(event, onReady)
    }
    const refuse = (why: string) => {
      finish()
      socket.on('error', ignore).destroy()
      reject(new ConnectionFailure(`could not connect to ${peer}: ${why}`, diagnosticCode))
    }
    const onError = (error: Error) => refuse(reason(error))
    const onClose = () => refuse('the connection was closed')
    const onReady = () => {
      finish()
      resolve(socket)
    }
    const timer = setTimeout(() => refuse(`no answer within ${timeoutMs / 1000} s`), timeoutMs)
    socket.on('error', onError).on('close', onClose).on(event, onReady)
  })
}

const ignore = (): void => undefined

const notOurs = 'the message was not sent, because another worker may have taken it over after a pause of this one'

/** A short text for an error of Node, which is its code if it has one. */
const reason = (error: Error): string => (error as NodeJS.ErrnoException).code ?? error.message
