// Remembers the time of the previous command, so that a wait includes a message that arrived since then.
import { createHash } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from './private-file.ts'

/** A wait does not look back further than this, because an older code is probably used or expired. */
export const lookBackMsMax = 10 * 60_000
/** Differences of the clocks below this are not corrected. The Date header of a response has whole seconds. */
const skewMsMin = 2000

type Wait = { cursor: string; atMs: number }
type Entry = {
  /** The start of the latest command. */
  atMs: number
  /** The start of the latest command that sent or created something. */
  postedAtMs?: number
  /** The server's clock minus this machine's. */
  skewMs?: number
  /** The ends of waits, by mailbox or number. */
  waits?: Record<string, Wait>
}

/** The starting point of a wait. `sinceMs` is the time on this machine's clock, for the progress line. */
export type WaitStart = { after: string; sinceMs: number } | { cursor: string; sinceMs: number } | null

export class LastCommand {
  readonly #file: string
  #profile = ''
  #previous: Entry | null = null
  #current: Entry | null = null

  constructor(folder: string) {
    this.#file = join(folder, 'last-command.json')
  }

  /** Reads the previous command of this server and key. */
  async begin({ url, apiKey }: { url: string; apiKey: string }): Promise<void> {
    this.#profile = createHash('sha256').update(`${url}\n${apiKey}`).digest('hex').slice(0, 32)
    this.#previous = (await this.#read())[this.#profile] ?? null
    this.#current = { ...this.#previous, atMs: Date.now() }
  }

  /** Records a request and the clock of the server that answered it. */
  observe(method: string | undefined, dateHeader: string | null): void {
    const entry = this.#current
    if (!entry) return
    if (method === 'POST') entry.postedAtMs = entry.atMs
    const serverMs = dateHeader === null ? Number.NaN : Date.parse(dateHeader)
    if (Number.isNaN(serverMs)) return
    const skewMs = serverMs - Date.now()
    if (Math.abs(skewMs) >= skewMsMin) entry.skewMs = skewMs
    else delete entry.skewMs
  }

  /** The point from which a wait for this mailbox or number starts by default. null without a previous command within 10 minutes. */
  waitStart(target: string): WaitStart {
    const previous = this.#previous
    if (!previous) return null
    const earliestMs = Date.now() - lookBackMsMax
    const wait = previous.waits?.[target]
    // A wait goes on where the one before ended, also when messages were read in between.
    if (wait && wait.atMs >= (previous.postedAtMs ?? 0) && wait.atMs >= earliestMs) return { cursor: wait.cursor, sinceMs: wait.atMs }
    if (previous.atMs < earliestMs) return null
    return { after: new Date(previous.atMs + (previous.skewMs ?? 0)).toISOString(), sinceMs: previous.atMs }
  }

  /** Records the end of a wait. */
  waited(target: string, cursor: string): void {
    if (this.#current) this.#current.waits = { ...this.#current.waits, [target]: { cursor, atMs: Date.now() } }
  }

  /** Stores the start of this command. A command that failed does not count, so that a repeated wait has the same start. */
  async end(isSuccess: boolean): Promise<void> {
    if (this.#current && isSuccess) await this.#save(this.#current)
  }

  async #read(): Promise<Record<string, Entry>> {
    try {
      const entries: unknown = JSON.parse(await readFile(this.#file, 'utf8'))
      return typeof entries === 'object' && entries !== null ? (entries as Record<string, Entry>) : {}
    } catch {
      return {}
    }
  }

  /** Without a writable folder, a wait starts with new messages only. */
  async #save(current: Entry): Promise<void> {
    try {
      const entries = await this.#read()
      const isRecent = ([, { atMs }]: [string, { atMs: number }]) => atMs >= Date.now() - lookBackMsMax
      const kept = Object.entries(entries).filter(isRecent)
      const mine = { ...current, waits: Object.fromEntries(Object.entries(current.waits ?? {}).filter(isRecent)) }
      // A command that ran meanwhile, beside a long one, stays the latest.
      const latest = entries[this.#profile]
      if (latest && latest.atMs > mine.atMs) Object.assign(mine, { atMs: latest.atMs, waits: { ...latest.waits, ...mine.waits } })
      await writePrivate(`${this.#file}.${process.pid}`, `${JSON.stringify({ ...Object.fromEntries(kept), [this.#profile]: mine })}\n`, 'w')
      await rename(`${this.#file}.${process.pid}`, this.#file)
    } catch {
      // The record is a convenience.
    }
  }
}
