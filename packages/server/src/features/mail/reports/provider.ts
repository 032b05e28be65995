// The interfaces that authenticate and read reports, such that hostile ones do not delay others.
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { ParsedMessage } from '@callsign/mail/mime/parse'
import type { ReportContent } from './model.ts'

export interface ReportMail {
  /** Authenticates the sender of a message. Never rejects. */
  check(envelopeFrom: string, client: SmtpClient, raw: Buffer): Promise<{ verdicts: Verdicts }>
  /** Parses a message. Never rejects. */
  read(raw: Buffer): Promise<{ parsed: Pick<ParsedMessage, 'attachments'> }>
}

export interface ReportReader {
  /** Reads a file that is plain, gzip or ZIP. Null for a file that is not a report. Never rejects for its content. `owner` shares the queue fairly. */
  readReport(bytes: Buffer, owner: string): Promise<ReportContent | 'busy' | null>
}
