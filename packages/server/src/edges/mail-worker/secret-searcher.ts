// Searches composed messages for secrets. Long messages, and those of identities with patterns, go to a worker thread, on which owners take turns.

import { notScanned, type SecretSearch, scannedCharactersMax, searchForSecrets } from '@callsign/mail/content/secrets/message-search'
import type { Log } from '../../core/log.ts'
import type { SecretSearcher } from '../../features/mail/outbound/provider.ts'
import type { SecretResult, SecretTask } from './protocol.ts'
import { createThreadPool, LimitExceeded, TurnEnded } from './thread-pool.ts'

export type SecretSearcherSettings = {
  log: Log
  /** One of them is free for an owner without a search on the others. */
  threadsMax?: number
  /** A search that is not done by then is given up. */
  taskMsMax?: number
  idleMs?: number
  /** Searches of one owner that run or wait. */
  searchesPerOwnerMax?: number
  /** Characters and bytes that are searched on the main thread per iteration of its event loop: 1 µs each at worst. */
  mainCharactersMax?: number
}

const heapMegabytesMax = 512

/** Creates a searcher. Its threads start with the first long message. */
export function createSecretSearcher(
  settings: SecretSearcherSettings,
): SecretSearcher & { close: () => Promise<void>; threads: () => number } {
  const { log, searchesPerOwnerMax = 100, mainCharactersMax = 16_384, taskMsMax = 15_000, threadsMax = 2 } = settings
  const pool = createThreadPool<SecretTask, SecretResult>({
    file: new URL('./secret-thread.ts', import.meta.url),
    threadsMax,
    tasksPerThreadMax: 1,
    triesMax: 2,
    taskMsMax,
    idleMs: settings.idleMs ?? 60_000,
    heapMegabytesMax,
    turns: { runningPerOwnerMax: Math.max(1, threadsMax - 1), ownerMsMax: 10_000, taskMsMin: 1_000 },
  })
  const openByOwner = new Map<string, number>()
  let charactersLeft = mainCharactersMax

  /** Takes the length from what the main thread may search in this iteration of its event loop. */
  function mayRunHere({ patterns, fields, files }: SecretSearch): boolean {
    if (patterns.length > 0) return false
    const length = fields.reduce((sum, { text }) => sum + text.length, 0) + files.reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (length > charactersLeft) return false
    if (charactersLeft === mainCharactersMax)
      setImmediate(() => {
        charactersLeft = mainCharactersMax
      })
    charactersLeft -= length
    return true
  }

  return {
    async search(owner, search) {
      if (mayRunHere(search)) return searchForSecrets(search)
      const open = openByOwner.get(owner) ?? 0
      if (open >= searchesPerOwnerMax)
        return [notScanned('The search for secrets was left out: too many messages of the organization wait for it.')]
      openByOwner.set(owner, open + 1)
      try {
        return await pool.perform<SecretResult>(owner, () => toTask(search))
      } catch (error) {
        if (error instanceof TurnEnded) return [notScanned('The search for secrets was given up: other organizations waited.')]
        if (error instanceof LimitExceeded)
          return [notScanned(`The search for secrets was given up: it takes more than ${taskMsMax / 1000} seconds.`)]
        log.error({ err: error }, 'a message could not be searched on its thread')
        return [notScanned('The search for secrets failed.')]
      } finally {
        const left = (openByOwner.get(owner) ?? 1) - 1
        if (left > 0) openByOwner.set(owner, left)
        else openByOwner.delete(owner)
      }
    },

    threads: pool.threads,
    close: pool.close,
  }
}

/** The task for a thread, with one copy of all files. */
function toTask({ patterns, fields, files }: SecretSearch): SecretTask {
  const bytes = new ArrayBuffer(files.reduce((sum, file) => sum + file.bytes.length, 0))
  const all = new Uint8Array(bytes)
  let end = 0
  const ranges = files.map(({ bytes: own, ...file }) => {
    const start = end
    all.set(own, start)
    end += own.length
    return { ...file, start, end }
  })
  // One character more than is searched shows that a text is too long.
  const cut = fields.map((field) => ({ ...field, text: field.text.slice(0, scannedCharactersMax + 1) }))
  return { patterns, fields: cut, files: ranges, bytes }
}
