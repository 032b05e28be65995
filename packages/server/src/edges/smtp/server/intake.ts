// Receives messages. Reads the data, passes it to the receiver, and translates the verdict to a reply.
import type { Share } from '../../../core/byte-budget.ts'
import { now, nowMs } from '../../../core/clock.ts'
import { type DataProgress, DataReader } from './data-reader.ts'
import type { DialogSettings } from './dialog.ts'
import { replyToFailure } from './error-reply.ts'
import { renderReceived } from './received.ts'
import type { Envelope } from './receiver.ts'
import { replies, type SmtpReply } from './reply.ts'
import type { Spool } from './spool.ts'

/** `memory` and `spool` are the client's shares. */
export type IntakeSettings = DialogSettings & { memory: Share; spool: Spool | null }

export class Intake {
  readonly #settings: IntakeSettings
  readonly #reader: DataReader
  #isAccepting = false
  #startedMs = 0
  /** Octets read since the start of the window. */
  #count = 0

  constructor(settings: IntakeSettings) {
    this.#settings = settings
    this.#reader = new DataReader({ ...settings.limits, sizeBytesMax: settings.sizeBytesMax }, settings.memory, settings.spool)
  }

  /** True while the receiver has a message without a verdict. */
  get isAccepting(): boolean {
    return this.#isAccepting
  }

  start(): void {
    this.#reader.start()
    this.#startedMs = nowMs()
    this.#count = 0
  }

  /** Reads on. `next` is the index after the message's bytes. `refusal` is the reply when the message cannot be accepted. */
  read(chunk: Buffer, start: number): { progress: DataProgress; next: number; refusal: SmtpReply | null } {
    const progress = this.#reader.feed(chunk, start)
    const next = this.#reader.consumed
    this.#count += next - start
    return { progress, next, refusal: this.#reader.refusal }
  }

  /** Called once per window. True when too little was read since the last call, or when the message takes too long altogether. */
  isLate(): boolean {
    const { dataTimeoutMs, dataBytesPerSecondMin, dataTotalMs } = this.#settings.limits
    const isSlow = this.#count < (dataBytesPerSecondMin * dataTimeoutMs) / 1000
    this.#count = 0
    return isSlow || nowMs() - this.#startedMs >= dataTotalMs
  }

  /** The reply to a complete message. Only this place replies 250 to data, and only for a message reported as stored. */
  async finish(envelope: Envelope): Promise<SmtpReply> {
    if (this.#reader.refusal) return this.#reader.refusal
    const { receiver, hostname, limits, log } = this.#settings
    this.#isAccepting = true
    try {
      const message = await this.#reader.take(limits.memoryWaitMs)
      if (message === null) return replies.memoryFull
      const verdict = await receiver.accept(envelope, message, renderReceived(envelope, hostname, now()))
      return verdict.kind === 'stored' ? { code: 250, enhanced: '2.0.0', text: `queued as ${verdict.id}` } : verdict.reply
    } catch (error) {
      log.error({ err: error, transaction: envelope.id }, 'a message was not accepted')
      return replyToFailure(error, envelope.id)
    } finally {
      this.#isAccepting = false
      this.#reader.clear()
    }
  }

  /** Discards an unfinished message. One that the receiver has stays counted until its verdict. */
  clear(): void {
    if (!this.#isAccepting) this.#reader.clear()
  }
}
