// Messages between the main thread and the threads that read mail.
import type { SmtpClient, Verdicts } from '@callsign/mail/authentication/sender-checks'
import type { ReadMail } from '@callsign/mail/content/reading'
import type { DnsAnswer } from '@callsign/mail/dns'

export type Task =
  | { kind: 'check'; envelopeFrom: string; client: SmtpClient; hostname: string; bytes: ArrayBuffer }
  | { kind: 'digest'; bytes: ArrayBuffer }
  | { kind: 'read'; bytes: ArrayBuffer }

export type TaskResult = { check: { verdicts: Verdicts; sha256: Uint8Array }; digest: { sha256: Uint8Array }; read: ReadMail }

export const questionTypes = ['txt', 'mx', 'a', 'aaaa', 'cname', 'ptr'] as const
export type QuestionType = (typeof questionTypes)[number]

/** `end` means that nothing follows and nothing is in flight. */
export type ToThread =
  | { what: 'task'; id: number; task: Task }
  | { what: 'answer'; id: number; answer: DnsAnswer<unknown> }
  | { what: 'end' }

export type FromThread =
  | { what: 'done'; id: number; result: TaskResult[keyof TaskResult] }
  | { what: 'failed'; id: number; reason: string }
  | { what: 'question'; id: number; type: QuestionType; name: string }
