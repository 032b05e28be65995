// Searches composed messages for secrets. Long messages, and those of identities with patterns, go to a worker thread, on which owners take turns.

import {
  type MailFlag,
  notScanned,
  type SecretSearch,
  scannedCharactersMax,
  scannedFileBytesMax,
  searchForSecrets,
} from '@callsign/mail/content/secrets/message-search'
import type { Log } from '../../core/log.ts'
import type { FindPatternProblem } from '../../features/account/identities/provider.ts'
import type { ComposedSearch, SecretSearcher } from '../../features/mail/outbound/provider.ts'
import type { SecretResult, SecretResults, SecretTask } from './protocol.ts'
import { LimitExceeded, rethrowAsBusy, ThreadFailure, TooManyTasks, TurnEnded } from './thread-failure.ts'
import { createThreadPool } from './thread-pool.ts'

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
): SecretSearcher & { findPatternProblem: FindPatternProblem; close: () => Promise<void>; threads: () => number } {
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
    open: { perOwnerMax: searchesPerOwnerMax },
  })
  let charactersLeft = mainCharactersMax

  /** Takes the length from what the main thread may search in this iteration of its event loop. */
  function mayRunHere(length: number): boolean {
    if (length > charactersLeft) return false
    if (charactersLeft === mainCharactersMax)
      setImmediate(() => {
        charactersLeft = mainCharactersMax
      })
    charactersLeft -= length
    return true
  }

  /** Reads the files of a search when a thread is free, unless all of it is short. */
  async function perform(owner: string, { patterns, fields, fileBytes, readFiles }: ComposedSearch): Promise<MailFlag[]> {
    const characters = fields.reduce((sum, { text }) => sum + text.length, 0)
    let read = () => readFiles(scannedFileBytesMax)
    if (patterns.length === 0 && characters + fileBytes <= mainCharactersMax) {
      const files = await read()
      if (mayRunHere(files.reduce((sum, { bytes }) => sum + bytes.length, characters))) return searchForSecrets({ patterns, fields, files })
      read = async () => files
    }
    return pool.perform<SecretResults['search']>(owner, async () => toTask({ patterns, fields, files: await read() }))
  }

  return {
    async search(owner, search) {
      try {
        return await perform(owner, search)
      } catch (error) {
        if (!(error instanceof ThreadFailure)) throw error
        if (error instanceof TooManyTasks)
          return [notScanned('The search for secrets was left out: too many messages of the organization wait for it.')]
        if (error instanceof TurnEnded) return [notScanned('The search for secrets was given up: other organizations waited.')]
        if (error instanceof LimitExceeded)
          return [notScanned(`The search for secrets was given up: it takes more than ${taskMsMax / 1000} seconds.`)]
        log.error({ err: error }, 'a message could not be searched on its thread')
        return [notScanned('The search for secrets failed.')]
      }
    },

    findPatternProblem: (owner, patterns) =>
      pool.perform<SecretResults['patterns']>(owner, () => ({ kind: 'patterns', patterns })).catch(rethrowAsBusy),

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
  return { kind: 'search', patterns, fields: cut, files: ranges, bytes }
}
