// Reads the text of attachments, and reports about domains, on worker threads of their own, so that a hostile file delays neither mail nor other requests.
import { availableParallelism } from 'node:os'
import type { Log } from '../../core/log.ts'
import type { FileFailure, FileReader } from '../../features/mail/attachments/provider.ts'
import type { ReportReader } from '../../features/mail/reports/provider.ts'
import type { FileResult, FileResults, FileTask } from './protocol.ts'
import { LimitExceeded, ThreadFailure, TooManyTasks, TurnEnded } from './thread-failure.ts'
import { copyOf, createThreadPool } from './thread-pool.ts'

export type FileReaderSettings = {
  log: Log
  /** One of them is free for an owner that has no file on the others. */
  threadsMax?: number
  /** A file that is not read by then is too complex. */
  taskMsMax?: number
  /** The time that files of one owner can use up while others wait, and the least that each of them has. */
  ownerMsMax?: number
  ownerTaskMsMin?: number
  /** Memory of one thread with its buffers. */
  memoryBytesMax?: number
  idleMs?: number
  /** Files that are read or wait, in all and per owner. An owner without any can always add one. */
  filesMax?: number
  filesPerOwnerMax?: number
}

const megabyte = 1024 * 1024
/** Far above `memoryBytesMax`: V8 can abort the whole process when a heap grows past its limit in one step. */
const heapMegabytesMax = 2048

/** Creates a reader. Its threads start with the first file. */
export function createFileReader(
  settings: FileReaderSettings,
): FileReader & ReportReader & { close: () => Promise<void>; threads: () => number } {
  const { log, filesMax = 40, filesPerOwnerMax = 10 } = settings
  const threadsMax = settings.threadsMax ?? Math.max(2, Math.min(4, availableParallelism() - 1))
  const pool = createThreadPool<FileTask, FileResult>({
    file: new URL('./file-thread.ts', import.meta.url),
    threadsMax,
    tasksPerThreadMax: 1,
    // A parser that failed may take its thread down later, during the next file.
    triesMax: 2,
    taskMsMax: settings.taskMsMax ?? 15_000,
    idleMs: settings.idleMs ?? 60_000,
    heapMegabytesMax,
    memoryBytesMax: settings.memoryBytesMax ?? 384 * megabyte,
    turns: {
      runningPerOwnerMax: Math.max(1, threadsMax - 1),
      ownerMsMax: settings.ownerMsMax ?? 5_000,
      taskMsMin: settings.ownerTaskMsMin ?? 500,
    },
    open: { perOwnerMax: filesPerOwnerMax, allMax: filesMax },
  })

  async function perform<Kind extends FileTask['kind']>(
    owner: string,
    toTask: () => Promise<Extract<FileTask, { kind: Kind }>>,
  ): Promise<FileResults[Kind] | { failure: FileFailure }> {
    try {
      return await pool.perform<FileResults[Kind] | { failure: Exclude<FileFailure, 'busy'> }>(owner, toTask)
    } catch (error) {
      if (error instanceof TurnEnded || error instanceof TooManyTasks) return { failure: 'busy' }
      if (error instanceof LimitExceeded) return { failure: 'too_complex' }
      if (!(error instanceof ThreadFailure)) throw error
      log.error({ err: error }, 'a file could not be read on its thread')
      return { failure: 'damaged' }
    }
  }

  return {
    read: ({ bytes, owner, ...file }) =>
      perform<'text'>(owner, async () => ({ kind: 'text', ...file, bytes: copyOf(Buffer.isBuffer(bytes) ? bytes : await bytes()) })),
    async readReport(bytes, owner) {
      const report = await perform<'report'>(owner, async () => ({ kind: 'report', bytes: copyOf(bytes) }))
      if (!('failure' in report)) return report
      return report.failure === 'busy' ? 'busy' : null
    },
    threads: pool.threads,
    close: pool.close,
  }
}
