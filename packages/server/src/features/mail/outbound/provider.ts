// What outbound mail asks of whatever carries a message away: the simulator, a relay, or direct delivery.
import type { Outcome } from '../../../core/outcome.ts'

/** Who a message is from and to on the wire (RFC 5321 §2.3.1), and what its bytes need of the next hop. */
export type Envelope = {
  /** The return path; empty for the null sender. */
  from: string
  recipients: string[]
  /** A header or an address holds UTF-8 (RFC 6531). */
  smtputf8: boolean
  /** A body holds bytes above 127 (RFC 6152). */
  eightBit: boolean
}

/** The server that was spoken to, and protocol and cipher of the connection; null for clear text. */
export type Hop = { host: string; tls: string | null }

/** How an attempt for one recipient ended, and at which server; without one when none was reached. */
export type Handover = Outcome & {
  hop?: Hop
  /** Nothing was tried: the server had as many messages of ours as it takes at once. */
  isPostponed?: true
}

export interface MailTransport {
  /** Its name in records and logs: simulator | relay | direct. */
  name: string
  /**
   * One attempt for these recipients of one message: one Handover per recipient, in the same order; never rejects for reasons of the
   * outside world. `raw` has CRLF line ends only and is sent as it is.
   */
  deliver(envelope: Envelope, raw: Buffer): Promise<Handover[]>
  /** Lets attempts under way end, then drops every connection. */
  close(): Promise<void>
}
