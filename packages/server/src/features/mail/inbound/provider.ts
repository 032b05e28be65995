// What mail in asks of whoever reads and checks messages for it: big or odd ones must not hold up everybody else.
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { ReadMail } from '@callsign/mail/content/reading'

export interface MailReader {
  /** The checks of the sender, and the SHA-256 of the bytes. Never rejects: checks that could not be made (`isMade` is false) are `temperror`. */
  check(envelopeFrom: string, client: SmtpClient, raw: Buffer): Promise<{ verdicts: Verdicts; sha256: Buffer; isMade: boolean }>
  /** The SHA-256 of bytes whose sender needs no check. */
  digest(raw: Buffer): Promise<Buffer>
  /** Everything that can be read. Never rejects: of a message that cannot be read to its end, at least the header is. */
  read(stored: Buffer): Promise<ReadMail>
}
