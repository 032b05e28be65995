// Parses and authenticates messages. Large messages and long headers go to worker threads, so that they do not block the event loop for others.
import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { checkSender, type SmtpClient, uncheckedVerdicts } from '@callsign/mail/authentication/sender-checks'
import { readHeader, readMail } from '@callsign/mail/content/reading'
import type { Resolver } from '@callsign/mail/dns'
import { isPlainText } from '@callsign/mail/mime/parts'
import { nowMs } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { MailReader } from '../../features/mail/inbound/provider.ts'
import type { FromThread, Task, TaskResult, ToThread } from './protocol.ts'

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

type Waiting = { resolve: (result: never) => void; reject: (error: Error) => void; timer: NodeJS.Timeout; again: (() => void) | null }
type Thread = { worker: Worker; waiting: Map<number, Waiting>; idle: NodeJS.Timeout | undefined }

/** Attempts per task, when its thread crashes because of another task. */
const triesMax = 3

const headerEndMark = '\r\n\r\n'

/** JavaScript heap limit of a thread. Message bytes are outside the heap. */
const heapMegabytesMax = 512

/** Creates a reader. Its threads start with the first large message. */
export function createMailReader(settings: ReaderSettings): MailReader & { close: () => Promise<void>; threads: () => number } {
  const {
    resolver,
    hostname,
    log,
    smallBytesMax = 64 * 1024,
    smallHeaderBytesMax = 16 * 1024,
    plainBytesMax = 128 * 1024,
    checkedBytesMax = 256 * 1024,
    taskMsMax = 40_000,
    idleMs = 60_000,
  } = settings
  const threadsMax = settings.threadsMax ?? Math.max(1, Math.min(4, availableParallelism() - 1))
  const threads = new Set<Thread>()
  /** Threads that are being ended. None is started meanwhile: Node can crash when the two meet (nodejs/node#56312). */
  const endings = new Set<Promise<unknown>>()
  let tasks = 0
  let isClosed = false

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

  function startThread(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } })
    const thread: Thread = { worker, waiting: new Map(), idle: undefined }
    threads.add(thread)
    worker.on('message', (message: FromThread) => onMessage(thread, message))
    worker.on('error', (error) => discard(thread, error as Error))
    worker.on('exit', () => discard(thread, new Error('the thread ended')))
    worker.unref()
    return thread
  }

  function onMessage(thread: Thread, message: FromThread): void {
    if (message.what === 'question') {
      const answer = (text: ToThread) => thread.worker.postMessage(text)
      void resolver[message.type](message.name).then(
        (found) => answer({ what: 'answer', id: message.id, answer: found }),
        (error: Error) => answer({ what: 'answer', id: message.id, answer: { kind: 'failure', reason: error.message } }),
      )
      return
    }
    const waiting = thread.waiting.get(message.id)
    if (!waiting) return
    thread.waiting.delete(message.id)
    clearTimeout(waiting.timer)
    if (message.what === 'done') waiting.resolve(message.result as never)
    else waiting.reject(new Error(message.reason))
    if (thread.waiting.size === 0) thread.idle = setTimeout(() => letGo(thread), idleMs).unref()
  }

  /** Discards the thread and fails its tasks. */
  function discard(thread: Thread, error: Error, culprit: number | null = null): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.idle)
    const open = [...thread.waiting]
    thread.waiting.clear()
    end(thread.worker.terminate())
    for (const [id, { timer, reject, again }] of open) {
      clearTimeout(timer)
      // A message that takes a thread down must not fail the messages beside it.
      if (again && !isClosed && id !== culprit) again()
      else reject(error)
    }
  }

  /** An idle thread ends by itself. Terminating is for threads that do not finish. */
  function letGo(thread: Thread): void {
    threads.delete(thread)
    clearTimeout(thread.idle)
    const nothingMore: ToThread = { what: 'end' }
    const { worker } = thread
    worker.ref()
    end(new Promise((resolve) => worker.once('exit', resolve)))
    worker.postMessage(nothingMore)
  }

  function end(ended: Promise<unknown>): void {
    const ending = ended.finally(() => endings.delete(ending))
    endings.add(ending)
  }

  /** The least busy thread, or a new one when all are busy and the limit allows it. Null when none exists and none may start. */
  function pickThread(): Thread | null {
    if (isClosed) throw new Error('the reader is closed')
    const idlest = [...threads].reduce<Thread | null>(
      (best, one) => (best === null || one.waiting.size < best.waiting.size ? one : best),
      null,
    )
    if (idlest?.waiting.size === 0 || threads.size === threadsMax || endings.size > 0) return idlest
    return startThread()
  }

  async function perform<Kind extends Task['kind']>(toTask: () => Extract<Task, { kind: Kind }>, tries = 1): Promise<TaskResult[Kind]> {
    let thread = pickThread()
    while (thread === null) {
      await Promise.all(endings)
      thread = pickThread()
    }
    const chosen = thread
    const id = ++tasks
    clearTimeout(chosen.idle)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => discard(chosen, new Error(`not done within ${taskMsMax} ms`), id), taskMsMax)
      const again = tries < triesMax ? () => void perform(toTask, tries + 1).then(resolve, reject) : null
      chosen.waiting.set(id, { resolve, reject, timer, again })
      const task = toTask()
      const message: ToThread = { what: 'task', id, task }
      chosen.worker.postMessage(message, [task.bytes])
    })
  }

  const give = (error: unknown, what: string): void => log.error({ err: error }, `a message could not be ${what} on its thread`)

  return {
    async check(envelopeFrom: string, client: SmtpClient, raw: Buffer) {
      if (isSoonChecked(raw)) {
        const sha256 = digestOf(raw)
        return { verdicts: await checkSender({ envelopeFrom, client, raw }, { resolver, hostname, nowMs }), sha256, isMade: true }
      }
      try {
        const { verdicts, sha256 } = await perform<'check'>(() => ({ kind: 'check', envelopeFrom, client, hostname, bytes: copyOf(raw) }))
        return { verdicts, sha256: Buffer.from(sha256), isMade: true }
      } catch (error) {
        give(error, 'checked')
        return { verdicts: uncheckedVerdicts(envelopeFrom, client), sha256: digestOf(raw), isMade: false }
      }
    },

    async digest(raw: Buffer) {
      if (raw.length <= checkedBytesMax) return digestOf(raw)
      try {
        return Buffer.from((await perform<'digest'>(() => ({ kind: 'digest', bytes: copyOf(raw) }))).sha256)
      } catch (error) {
        give(error, 'digested')
        return digestOf(raw)
      }
    },

    async read(stored: Buffer) {
      if (isSmall(stored)) return readMail(stored)
      try {
        return await perform<'read'>(() => ({ kind: 'read', bytes: copyOf(stored) }))
      } catch (error) {
        give(error, 'read')
        return readHeader(stored)
      }
    },

    threads: () => threads.size,

    async close() {
      isClosed = true
      for (const thread of threads) {
        if (thread.waiting.size === 0) letGo(thread)
        else discard(thread, new Error('the server stops'))
      }
      await Promise.all(endings)
    },
  }
}

const digestOf = (raw: Buffer): Buffer => hash('sha256', raw, 'buffer')

/** Bytes that a thread can take over: one copy, and none on the way. */
function copyOf(bytes: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length)
  bytes.copy(new Uint8Array(copy))
  return copy
}
