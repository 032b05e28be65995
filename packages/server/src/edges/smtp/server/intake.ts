// Receives messages. Reads the data, passes it to the receiver, and translates the verdict to a reply.
import type { Share } from '../../../core/byte-budget.ts'
import { now, nowMs } from '../../../core/clock.ts'
import { isAddressLiteral } from './address.ts'
import { type DataProgress, DataReader } from './data-reader.ts'
import type { DialogSettings } from './dialog.ts'
import { replyToFailure } from './error-reply.ts'
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

/**
 * The field with its CRLF, folded. Its parts come from this server or from parsers that refuse line ends, spaces and parentheses
 * (recipient, cipher). A client name that is not a host name or address literal has its other characters as `?`.
 * The recipient is named only when there is one, because naming more would reveal blind copies.
 */
export function renderReceived(envelope: Envelope, hostname: string, at: Date): string {
  const { clientAddress } = envelope
  const tcpInfo = clientAddress.includes(':') ? `[IPv6:${clientAddress}]` : `[${clientAddress}]`
  const tls = envelope.tls ? `\r\n\ttls ${envelope.tls.cipher} (${envelope.tls.version})` : ''
  const recipient = envelope.recipients.length === 1 ? `\r\n\tfor <${envelope.recipients[0]}>` : ''
  return (
    `Received: from ${shownName(envelope.clientName)} (${tcpInfo})\r\n\tby ${hostname} with ${protocolKeyword(envelope)} id ${envelope.id}` +
    `${tls}${recipient};\r\n\t${at.toUTCString().replace('GMT', '+0000')}\r\n`
  )
}

/** The registered "with" keyword (RFC 3848, RFC 6531 §4.3). HELO has no keyword of its own for TLS. */
function protocolKeyword({ esmtp, smtputf8, tls, account }: Envelope): string {
  if (!esmtp) return 'SMTP'
  return `${smtputf8 ? 'UTF8SMTP' : 'ESMTP'}${tls ? 'S' : ''}${account ? 'A' : ''}`
}

/** A name that cannot be read as a comment, as another clause, or as the end of the field. */
const shownName = (name: string): string => (isAddressLiteral(name) ? name : name.replace(/[^A-Za-z0-9_.-]/g, '?'))
