// Parses and authenticates messages. Large messages and long headers go to worker threads, so that they do not block the event loop for others.
import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { checkSender, type SmtpClient, uncheckedVerdicts } from '@callsign/mail/authentication/sender-checks'
import { readFinishedContent } from '@callsign/mail/compose/finished-content'
import { readHeader, readMail } from '@callsign/mail/content/reading'
import { readSubmission } from '@callsign/mail/content/submission'
import type { Resolver } from '@callsign/mail/dns'
import { isPlainText } from '@callsign/mail/mime/parts'
import { nowMs } from '../../core/clock.ts'
import { ApiError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import type { MailReader } from '../../features/mail/inbound/provider.ts'
import type { SubmissionReader } from '../../features/mail/outbound/provider.ts'
import { toBuffer } from './content-work.ts'
import type { DnsQuestion, MailResult, MailResults, MailTask } from './protocol.ts'
import { copyOf, createThreadPool } from './thread-pool.ts'

export type ReaderSettings = {
  resolver: Resolver
  /** The name that trace fields bear. */
  hostname: string
  log: Log
  /** Messages and headers up to these sizes are read on the main thread: below them the worst that bytes can do takes a few milliseconds. */
  smallBytesMax?: number
  smallHeaderBytesMax?: number
  /** The same for a message that is one plain text: of most of it only the bytes are gone through, and handing it over costs as much as that. */
  plainBytesMax?: number
  /** Messages up to this size are checked on the main thread, if their header is small: there the worst takes 0.1 ms a KB, the detour 0.2 ms. */
  checkedBytesMax?: number
  threadsMax?: number
  /** A thread that is not done by then is given up. DNS takes at most a fifth of it. */
  taskMsMax?: number
  /** A thread without work goes after this time. */
  idleMs?: number
}

const headerEndMark = '\r\n\r\n'

/** Mail is not read per owner: every thread takes all messages at once. */
const anyone = ''

/** JavaScript heap limit of a thread. Message bytes are outside the heap. */
const heapMegabytesMax = 512

/** Creates a reader. Its threads start with the first large message. */
export function createMailReader(
  settings: ReaderSettings,
): MailReader & SubmissionReader & { close: () => Promise<void>; threads: () => number } {
  const {
    resolver,
    hostname,
    log,
    smallBytesMax = 64 * 1024,
    smallHeaderBytesMax = 16 * 1024,
    plainBytesMax = 128 * 1024,
    checkedBytesMax = 256 * 1024,
  } = settings
  const pool = createThreadPool<MailTask, MailResult, DnsQuestion>({
    file: new URL('./thread.ts', import.meta.url),
    threadsMax: settings.threadsMax ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
    tasksPerThreadMax: Number.POSITIVE_INFINITY,
    triesMax: 3,
    taskMsMax: settings.taskMsMax ?? 40_000,
    idleMs: settings.idleMs ?? 60_000,
    heapMegabytesMax,
    onQuestion({ type, name }, answer) {
      resolver[type](name).then(answer, (error: Error) => answer({ kind: 'failure', reason: error.message }))
    },
  })

  function isSmall(bytes: Buffer): boolean {
    if (bytes.length > Math.max(smallBytesMax, plainBytesMax)) return false
    const headerEnd = smallHeaderEnd(bytes)
    if (headerEnd < 0) return false
    return bytes.length <= smallBytesMax || isPlainText(bytes.subarray(0, headerEnd))
  }

  const isSoonChecked = (bytes: Buffer): boolean => bytes.length <= checkedBytesMax && smallHeaderEnd(bytes) >= 0

  /** Length of a small header with its empty line, or of a whole small message. -1 when the header is too long. */
  function smallHeaderEnd(bytes: Buffer): number {
    if (bytes.length <= smallHeaderBytesMax) return bytes.length
    const end = bytes.subarray(0, smallHeaderBytesMax + headerEndMark.length).indexOf(headerEndMark)
    return end < 0 ? -1 : end + headerEndMark.length
  }

  const give = (error: unknown, what: string): void => log.error({ err: error }, `a message could not be ${what} on its thread`)

  return {
    async check(envelopeFrom: string, client: SmtpClient, raw: Buffer) {
      if (isSoonChecked(raw)) {
        const sha256 = digestOf(raw)
        return { verdicts: await checkSender({ envelopeFrom, client, raw }, { resolver, hostname, nowMs }), sha256, isMade: true }
      }
      try {
        const { verdicts, sha256 } = await pool.perform<MailResults['check']>(anyone, () => ({
          kind: 'check',
          envelopeFrom,
          client,
          hostname,
          bytes: copyOf(raw),
        }))
        return { verdicts, sha256: Buffer.from(sha256), isMade: true }
      } catch (error) {
        give(error, 'checked')
        return { verdicts: uncheckedVerdicts(envelopeFrom, client), sha256: digestOf(raw), isMade: false }
      }
    },

    async digest(raw: Buffer) {
      if (raw.length <= checkedBytesMax) return digestOf(raw)
      try {
        return Buffer.from((await pool.perform<MailResults['digest']>(anyone, () => ({ kind: 'digest', bytes: copyOf(raw) }))).sha256)
      } catch (error) {
        give(error, 'digested')
        return digestOf(raw)
      }
    },

    async read(stored: Buffer) {
      if (isSmall(stored)) return readMail(stored)
      try {
        return await pool.perform<MailResults['read']>(anyone, () => ({ kind: 'read', bytes: copyOf(stored) }))
      } catch (error) {
        give(error, 'read')
        return readHeader(stored)
      }
    },

    async readSubmission(raw: Buffer, recipients: string[]) {
      if (isSmall(raw)) return readSubmission(raw, recipients)
      try {
        const task = () => ({ kind: 'submission' as const, recipients, bytes: copyOf(raw) })
        const { content, attachments, ...fields } = await pool.perform<MailResults['submission']>(anyone, task)
        return {
          ...fields,
          attachments: attachments.map((file) => ({ ...file, bytes: toBuffer(file.bytes) })),
          content: content && readFinishedContent(raw),
        }
      } catch (error) {
        give(error, 'read')
        throw new ApiError('unavailable', 'The message could not be read. Send it again later.', { headers: { 'Retry-After': '5' } })
      }
    },

    threads: pool.threads,
    close: pool.close,
  }
}

const digestOf = (raw: Buffer): Buffer => hash('sha256', raw, 'buffer')
