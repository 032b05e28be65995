// One client connection. Passes commands and data to the dialog in strict order, batches replies, and enforces time limits.
import type { Socket } from 'node:net'
import { newId } from '../../../core/ids.ts'
import { isHttp } from './command.ts'
import { type Answer, Dialog } from './dialog.ts'
import { InputQueue } from './input-queue.ts'
import { Intake, type IntakeSettings } from './intake.ts'
import { LineReader } from './line-reader.ts'
import { renderReply, replies, type SmtpReply } from './reply.ts'
import { type ContextFor, readTlsFacts, upgradeToTls } from './tls.ts'

export type SessionSettings = IntakeSettings & { contextFor: ContextFor | null; isTlsFirst: boolean }

type Mode = 'greeting' | 'command' | 'data' | 'accepting' | 'handshake' | 'closing'

/** Limit for waiting input during a command, and for unread replies. Reading pauses above it. */
const inputBytesMax = 64 * 1024
const outputBytesMax = 64 * 1024
const errorsBeforeDelay = 5

const lineFaults = { bare: replies.bareLineEnd, nul: replies.nulByte, endless: replies.commandTooLong }

export class Session {
  readonly id = newId('request')
  readonly #settings: SessionSettings
  readonly #onClose: () => void
  readonly #dialog: Dialog
  readonly #lines: LineReader
  readonly #intake: Intake
  readonly #queue = new InputQueue()
  #socket: Socket
  #mode: Mode = 'greeting'
  #out = ''
  #isProcessing = false
  #hasInputEnded = false
  #hasSocketClosed = false
  #errors = 0
  /** Set when the session has to end at the next message boundary. */
  #closeReply: SmtpReply | null = null
  #stepTimer: NodeJS.Timeout | undefined
  #sessionTimer: NodeJS.Timeout | undefined
  #wake: (() => void) | null = null

  constructor(socket: Socket, clientAddress: string, settings: SessionSettings, onClose: () => void) {
    this.#socket = socket
    this.#settings = settings
    this.#onClose = onClose
    this.#dialog = new Dialog(settings, this.id, clientAddress)
    this.#lines = new LineReader(settings.limits.commandBytesMax, settings.limits.commandSkipBytesMax)
    this.#intake = new Intake(settings)
  }

  /** Greets and starts. Two iterations of the event loop pass first, so that bytes that arrived with the connection are seen. */
  start(): void {
    const { limits } = this.#settings
    this.#sessionTimer = setTimeout(() => this.#onSessionTimeout(), limits.sessionTimeoutMs)
    if (this.#settings.isTlsFirst) {
      this.#startTls(() => this.#greet())
      return
    }
    this.#listen(this.#socket)
    if (limits.greetingDelayMs > 0) this.#setStepTimer(limits.greetingDelayMs, () => this.#greet())
    else setImmediate(() => setImmediate(() => this.#greet()))
  }

  /** Ends the session at once without a message in flight, otherwise after the reply to it. */
  retire(reply: SmtpReply): void {
    if (this.#mode === 'data' || this.#mode === 'accepting') this.#closeReply = reply
    else if (this.#mode === 'handshake') this.#socket.destroy()
    else this.close(reply)
  }

  /** Sends the pending replies and this one, then closes. Discards further input, because a TCP reset would discard the reply. */
  close(reply: SmtpReply | null): void {
    if (this.#mode === 'closing') return
    this.#mode = 'closing'
    this.#queue.clear()
    this.#intake.clear()
    this.#clearTimers()
    if (reply) this.#settings.onReply(this.id, reply.code)
    const out = this.#out + (reply ? renderReply(reply) : '')
    this.#out = ''
    this.#socket.end(out, 'latin1')
    this.#socket.resume()
    this.#setStepTimer(this.#settings.limits.lingerMs, () => this.#socket.destroy())
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  #listen(socket: Socket): void {
    // After STARTTLS the plain socket belongs to the TLS socket.
    const whileOurs = (action: () => void) => () => {
      if (this.#socket === socket) action()
    }
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    socket.on(
      'end',
      whileOurs(() => {
        this.#hasInputEnded = true
        if (!this.#isProcessing) this.close(null)
      }),
    )
    socket.on(
      'drain',
      whileOurs(() => void this.#processInput()),
    )
    socket.on('error', (error) => this.#settings.log.debug({ err: error, session: this.id }, 'smtp connection failed'))
    socket.on(
      'close',
      whileOurs(() => this.#onSocketClosed()),
    )
  }

  #onSocketClosed(): void {
    this.#hasSocketClosed = true
    this.#mode = 'closing'
    this.#queue.clear()
    this.#clearTimers()
    this.#intake.clear()
    // The session counts as open until the receiver's verdict, even when the client has disconnected.
    if (!this.#intake.isAccepting) this.#onClose()
  }

  #onData(chunk: Buffer): void {
    if (this.#mode === 'closing') return
    if (this.#mode === 'greeting') return void this.#refuse(replies.earlyTalker)
    this.#queue.push(chunk)
    if (!this.#isProcessing) void this.#processInput()
    else if (this.#queue.bytes > inputBytesMax) this.#socket.pause()
  }

  #greet(): void {
    if (this.#mode === 'closing') return
    this.#mode = 'command'
    this.#socket.write(`220 ${this.#settings.hostname} ESMTP Callsign\r\n`)
    this.#awaitCommand()
  }

  /** Processes the queue. Replies are collected until the input is used up, so a pipelined group is answered in one write. */
  async #processInput(): Promise<void> {
    if (this.#isProcessing) return
    this.#isProcessing = true
    try {
      while (!this.#queue.isEmpty && this.#socket.writableLength <= outputBytesMax) {
        const wait = this.#mode === 'data' ? this.#readData() : this.#mode === 'command' ? this.#readCommand() : null
        if (wait) await wait
        if (this.#mode === 'closing' || this.#mode === 'handshake') break
      }
      this.#flush()
    } catch (error) {
      this.#settings.log.error({ err: error, session: this.id }, 'an SMTP session failed')
      this.close(replies.internalFailure)
    } finally {
      this.#isProcessing = false
    }
    if (this.#mode === 'closing' || this.#mode === 'handshake') return
    if (!this.#queue.isEmpty) this.#socket.pause()
    else if (this.#hasInputEnded) this.close(null)
    else if (this.#socket.isPaused()) this.#socket.resume()
  }

  #flush(): void {
    if (this.#out === '' || this.#mode === 'closing') return
    this.#socket.write(this.#out, 'latin1')
    this.#out = ''
  }

  #readCommand(): Promise<void> | null {
    const chunk = this.#queue.first
    const step = this.#lines.read(chunk, this.#queue.offset)
    if (step.kind === 'more') {
      this.#queue.advance(chunk.length)
      return null
    }
    if (step.kind !== 'line' && step.kind !== 'too-long') return this.#refuse(lineFaults[step.kind])
    this.#queue.advance(step.next)
    if (isHttp(step.line)) return this.#refuse(replies.notHttp)
    if (step.kind === 'too-long') return this.#apply({ text: renderReply(replies.commandTooLong), next: 'command', isFault: true })
    const answer = this.#dialog.answer(step.line)
    return answer instanceof Promise ? answer.then((late) => this.#apply(late) ?? undefined) : this.#apply(answer)
  }

  #apply(answer: Answer): Promise<void> | null {
    this.#settings.onReply(this.id, Number.parseInt(answer.text, 10))
    if (answer.isFault) {
      this.#errors++
      if (this.#errors > this.#settings.limits.errorsMax) return this.#refuse(replies.tooManyErrors)
      const { errorDelayMs } = this.#settings.limits
      if (this.#errors > errorsBeforeDelay && errorDelayMs > 0) return this.#sleep(errorDelayMs).then(() => this.#send(answer))
    }
    this.#send(answer)
    return null
  }

  #send({ text, next }: Answer): void {
    if (this.#mode === 'closing') return
    if (!this.#queue.isEmpty && next !== 'command' && next !== 'close') {
      this.#refuse(next === 'tls' ? replies.earlyTls : replies.earlyData)
      return
    }
    this.#out += text
    if (next === 'close') this.close(null)
    else if (next === 'tls') this.#startTls(() => this.#awaitCommand())
    else if (next === 'data') this.#startData()
    else this.#stepTimer?.refresh()
  }

  #startData(): void {
    this.#mode = 'data'
    this.#intake.start()
    this.#setStepTimer(this.#settings.limits.dataTimeoutMs, () => {
      if (this.#intake.isLate()) this.#refuse(replies.dataTimeout)
      else this.#stepTimer?.refresh()
    })
  }

  #readData(): Promise<void> | null {
    const { progress, next, refusal } = this.#intake.read(this.#queue.first, this.#queue.offset)
    if (progress === 'unsafe' || progress === 'abort') return this.#refuse(refusal!)
    this.#queue.advance(next)
    return progress === 'end' ? this.#finishMessage() : null
  }

  async #finishMessage(): Promise<void> {
    this.#mode = 'accepting'
    clearTimeout(this.#stepTimer)
    this.#flush()
    const reply = await this.#intake.finish(this.#dialog.envelope)
    this.#settings.onReply(this.id, reply.code)
    this.#dialog.endTransaction()
    if (this.#hasSocketClosed) this.#onClose()
    if (this.#mode !== 'accepting') return
    this.#out += renderReply(reply)
    if (reply.code < 300) this.#errors = 0
    this.#mode = 'command'
    if (this.#closeReply) this.close(this.#closeReply)
    else this.#awaitCommand()
  }

  #startTls(onSecure: () => void): void {
    this.#flush()
    this.#mode = 'handshake'
    this.#setStepTimer(this.#settings.limits.commandTimeoutMs, () => this.#socket.destroy())
    const plain = this.#socket
    plain.removeAllListeners('data')
    const secure = upgradeToTls(plain, this.#settings.contextFor!, () => {
      this.#dialog.beginTls(readTlsFacts(secure))
      this.#mode = 'command'
      onSecure()
    })
    this.#socket = secure
    this.#listen(secure)
  }

  #refuse(reply: SmtpReply): null {
    this.#settings.log.info({ session: this.id, mode: this.#mode, reply: `${reply.code} ${reply.text}` }, 'SMTP session refused')
    this.close(reply)
    return null
  }

  #awaitCommand(): void {
    this.#setStepTimer(this.#settings.limits.commandTimeoutMs, () => this.#refuse(replies.commandTimeout))
  }

  /** A session with a message in flight may finish it within a second period. */
  #onSessionTimeout(): void {
    if (this.#closeReply) this.#refuse(this.#closeReply)
    else {
      this.#sessionTimer = setTimeout(() => this.#onSessionTimeout(), this.#settings.limits.sessionTimeoutMs)
      this.retire(replies.sessionTimeout)
    }
  }

  #setStepTimer(delayMs: number, onTime: () => void): void {
    clearTimeout(this.#stepTimer)
    this.#stepTimer = setTimeout(onTime, delayMs)
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#setStepTimer(delayMs, () => {
        this.#awaitCommand()
        resolve()
      })
    })
  }

  #clearTimers(): void {
    clearTimeout(this.#stepTimer)
    clearTimeout(this.#sessionTimer)
    this.#wake?.()
    this.#wake = null
  }
}
