// The interface that reads and checks inbound messages, such that large or odd ones do not delay others.
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { ReadMail } from '@callsign/mail/content/reading'

export interface MailReader {
  /** The sender checks, and the SHA-256 of the bytes. Never rejects: failed checks (`isMade` is false) are `temperror`. */
  check(envelopeFrom: string, client: SmtpClient, raw: Buffer): Promise<{ verdicts: Verdicts; sha256: Buffer; isMade: boolean }>
  /** The SHA-256 of bytes whose sender needs no check. */
  digest(raw: Buffer): Promise<Buffer>
  /** The readable parts of a message. Never rejects: of an unreadable message it returns at least the header. */
  read(stored: Buffer): Promise<ReadMail>
}
