// Reads the text of attachments on worker threads of their own, so that a hostile file delays neither mail nor other requests.
import { availableParallelism } from 'node:os'
import type { Log } from '../../core/log.ts'
import type { FileReader } from '../../features/mail/attachments/provider.ts'
import type { FileResult, FileTask } from './protocol.ts'
import { copyOf, createThreadPool, LimitExceeded } from './thread-pool.ts'

export type FileReaderSettings = {
  log: Log
  threadsMax?: number
  /** A file that is not read by then is too complex. */
  taskMsMax?: number
  /** Memory of one thread with its buffers. */
  memoryBytesMax?: number
  idleMs?: number
  /** Files that are read or wait, in all and per owner. */
  filesMax?: number
  filesPerOwnerMax?: number
}

const megabyte = 1024 * 1024
/** Far above `memoryBytesMax`: V8 can abort the whole process when a heap grows past its limit in one step. */
const heapMegabytesMax = 2048

/** Creates a reader. Its threads start with the first file. */
export function createFileReader(settings: FileReaderSettings): FileReader & { close: () => Promise<void>; threads: () => number } {
  const { log, filesMax = 40, filesPerOwnerMax = 10 } = settings
  const pool = createThreadPool<FileTask, FileResult>({
    file: new URL('./file-thread.ts', import.meta.url),
    threadsMax: settings.threadsMax ?? Math.max(1, Math.min(2, availableParallelism() - 1)),
    tasksPerThreadMax: 1,
    // A parser that failed may take its thread down later, during the next file.
    triesMax: 2,
    taskMsMax: settings.taskMsMax ?? 15_000,
    idleMs: settings.idleMs ?? 60_000,
    heapMegabytesMax,
    memoryBytesMax: settings.memoryBytesMax ?? 384 * megabyte,
  })
  const openByOwner = new Map<string, number>()
  let open = 0

  function count(owner: string, change: 1 | -1): void {
    open += change
    const left = (openByOwner.get(owner) ?? 0) + change
    if (left > 0) openByOwner.set(owner, left)
    else openByOwner.delete(owner)
  }

  return {
    async read({ bytes, owner, ...file }) {
      if (open >= filesMax || (openByOwner.get(owner) ?? 0) >= filesPerOwnerMax) return { failure: 'busy' }
      count(owner, 1)
      try {
        return await pool.perform(() => ({ ...file, bytes: copyOf(bytes) }))
      } catch (error) {
        if (error instanceof LimitExceeded) return { failure: 'too_complex' }
        log.error({ err: error }, 'an attachment could not be read on its thread')
        return { failure: 'damaged' }
      } finally {
        count(owner, -1)
      }
    },
    threads: pool.threads,
    close: pool.close,
  }
}
