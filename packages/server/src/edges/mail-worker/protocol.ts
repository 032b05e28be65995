// Messages between the main thread and its worker threads, and the tasks of the threads that read mail.
import type { SigningKey } from '@callsign/mail/authentication/dkim/signing'
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { MessageDraft } from '@callsign/mail/compose/message-draft'
import type { ForwardBodies, ForwardSource } from '@callsign/mail/compose/reply'
import type { ReadMail } from '@callsign/mail/content/reading'
import type { MailFlag, SearchedBytes, SecretSearch } from '@callsign/mail/content/secrets/message-search'
import type { PatternProblem } from '@callsign/mail/content/secrets/patterns'
import type { Submission } from '@callsign/mail/content/submission'
import type { PageMessage } from '@callsign/mail/html/message-page'
import type { ReviewedHtml } from '@callsign/mail/html/review'
import type { FileFailure, FileText } from '../../features/mail/attachments/provider.ts'
import type { ReportContent } from '../../features/mail/reports/model.ts'

/** `end` means that nothing follows and nothing is in flight. */
export type ToThread<Task> = { what: 'task'; id: number; task: Task } | { what: 'answer'; id: number; answer: unknown } | { what: 'end' }

export type FromThread<Result, Question = never> =
  | { what: 'done'; id: number; result: Result }
  | { what: 'failed'; id: number; reason: string }
  | { what: 'question'; id: number; question: Question }

export type MailTask =
  | { kind: 'check'; envelopeFrom: string; client: SmtpClient; hostname: string; bytes: ArrayBuffer }
  | { kind: 'digest'; bytes: ArrayBuffer }
  | { kind: 'read'; bytes: ArrayBuffer }
  | { kind: 'submission'; recipients: string[]; bytes: ArrayBuffer }

export type MailResults = {
  check: { verdicts: Verdicts; sha256: Uint8Array }
  digest: { sha256: Uint8Array }
  read: ReadMail
  submission: Submission
}
export type MailResult = MailResults[MailTask['kind']]

export type DnsQuestion = { type: 'txt' | 'mx' | 'a' | 'aaaa' | 'cname' | 'ptr'; name: string }

export type FileTask =
  | { kind: 'text'; bytes: ArrayBuffer; filename: string; contentType: string; charactersMax: number }
  | { kind: 'report'; bytes: ArrayBuffer }

export type FileResults = { text: FileText; report: ReportContent }
export type FileResult = FileResults[FileTask['kind']] | { failure: Exclude<FileFailure, 'busy'> }

/** The files of a search are ranges of `bytes`. */
export type SecretTask =
  | (Pick<SecretSearch, 'patterns' | 'fields'> & {
      kind: 'search'
      files: (Omit<SearchedBytes, 'bytes'> & { start: number; end: number })[]
      bytes: ArrayBuffer
    })
  | { kind: 'patterns'; patterns: string[] }
export type SecretResults = { search: MailFlag[]; patterns: PatternProblem | null }
export type SecretResult = SecretResults[SecretTask['kind']]

/** Parts of `ContentWriter`. Results are copied to the main thread. */
export type ContentTask =
  | { kind: 'text'; html: string }
  | { kind: 'review'; html: string }
  | { kind: 'forward'; source: ForwardSource }
  | { kind: 'page'; message: PageMessage }
  | { kind: 'compose'; draft: MessageDraft; keys: SigningKey[] }

export type ContentResults = {
  text: string
  review: ReviewedHtml
  forward: ForwardBodies
  page: Uint8Array
  compose: Uint8Array
}
export type ContentResult = ContentResults[ContentTask['kind']]
