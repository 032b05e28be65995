// The interfaces of outbound mail: its transport (the simulator, a relay, or direct delivery), and the search for secrets.

import type { MailFlag, SearchedBytes, SecretSearch } from '@callsign/mail/content/secrets/message-search'
import type { Submission } from '@callsign/mail/content/submission'
import type { Outcome } from '../../../core/outcome.ts'

/** Sender and recipients of a message on the wire (RFC 5321 §2.3.1), and the extensions that its bytes require of the next hop. */
export type Envelope = {
  /** The return path; empty for the null sender. */
  from: string
  recipients: string[]
  /** A header or an address holds UTF-8 (RFC 6531). */
  smtputf8: boolean
  /** A body holds bytes above 127 (RFC 6152). */
  eightBit: boolean
  /** Asked before the end of the message is sent. False breaks the transaction off, because another worker may send the same message. */
  mayEnd?: () => boolean
}

/** The next hop, with protocol and cipher of the connection. `tls` is null for clear text. */
export type NextHop = { host: string; tls: string | null }

/** The result of an attempt for one recipient. `hop` is absent when the attempt did not reach a server. */
export type DeliveryResult = Outcome & {
  hop?: NextHop
  /** Not tried: the server was already receiving as many of our messages as it accepts at once. */
  isPostponed?: true
}

export interface MailTransport {
  /** Its name in records and logs: simulator | relay | direct. */
  name: string
  /**
   * Attempts delivery to these recipients of one message. Returns one result per recipient, in the same order. Failures of remote servers
   * are results, not rejections. `raw` has CRLF line ends only and is sent as it is.
   */
  deliver(envelope: Envelope, raw: Buffer): Promise<DeliveryResult[]>
  /** Waits for in-flight attempts, then closes every connection. */
  close(): Promise<void>
}

/** A search whose files are read when its turn comes, so that waiting ones take no memory. */
export type ComposedSearch = Pick<SecretSearch, 'patterns' | 'fields'> & {
  /** The size of all files. */
  fileBytes: number
  /** Reads the first `bytesMax` bytes of each file. */
  readFiles: (bytesMax: number) => Promise<SearchedBytes[]>
}

export interface SecretSearcher {
  /**
   * Searches a composed message such that its length, its patterns and its files delay neither other requests nor the searches of other
   * owners for long. A search that does not finish has the flag `not_scanned`. Rejects with the error of `readFiles`.
   */
  search(owner: string, search: ComposedSearch): Promise<MailFlag[]>
}

export interface SubmissionReader {
  /** `readSubmission`, on a thread for a large message. Rejects with 503 when the thread does not finish. */
  readSubmission(raw: Buffer, recipients: string[]): Promise<Submission>
}
