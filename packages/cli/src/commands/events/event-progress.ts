// The progress of a consumer of events in a file, so that a restart continues without a gap.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { writePrivate } from '../../session/private-file.ts'
import { UsageError } from '../../usage-error.ts'

/** `after` is the last event before which all are done. `done` are later ones that are done already. */
type State = { after: string; done: string[] }

/** An event is recorded as done after its work, so that a crash repeats work and never skips it. */
export class EventProgress {
  readonly file: string
  #after: string | undefined
  readonly #done: Set<string>
  /** Ids of read events, in the order of the stream, from the first that is not done. */
  #open: string[] = []
  #saving: Promise<void> = Promise.resolve()
  #isSaveDue = false

  private constructor(file: string, state: State | null) {
    this.file = file
    this.#after = state?.after
    this.#done = new Set(state?.done)
  }

  /** Reads the file and locks it for this process. Throws UsageError if it is not valid or another process uses it. */
  static async open(file: string): Promise<EventProgress> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await lock(`${file}.lock`)
    return new EventProgress(file, await readState(file))
  }

  /** The event to continue after. undefined before the first start. */
  get after(): string | undefined {
    return this.#after
  }

  /** Continues after another event, because the server has lost the last one. */
  async reset(after: string): Promise<void> {
    this.#after = after
    this.#open = []
    await this.#save()
  }

  isDone(id: string): boolean {
    return this.#done.has(id)
  }

  /** Records the starting point of the first start. */
  async begin(after: string): Promise<void> {
    this.#after ??= after
    await this.#save()
  }

  /** Records that an event was read. */
  read(id: string): void {
    this.#open.push(id)
    if (this.#done.has(id)) this.#advance()
  }

  /** Records that the work for events is done. */
  async finish(ids: string[]): Promise<void> {
    for (const id of ids) this.#done.add(id)
    this.#advance()
    await this.#save()
  }

  /** Waits for the last write and unlocks the file. */
  async close(): Promise<void> {
    await this.#saving
    await rm(`${this.file}.lock`, { force: true })
  }

  #advance(): void {
    const left = this.#open.findIndex((id) => !this.#done.has(id))
    const finished = this.#open.splice(0, left < 0 ? this.#open.length : left)
    for (const id of finished) this.#done.delete(id)
    this.#after = finished.at(-1) ?? this.#after
  }

  /** Writes the state. Calls during a write share the next one. */
  #save(): Promise<void> {
    if (!this.#isSaveDue) {
      this.#isSaveDue = true
      this.#saving = this.#saving.then(() => {
        this.#isSaveDue = false
        return this.#write()
      })
    }
    return this.#saving
  }

  async #write(): Promise<void> {
    if (this.#after === undefined) return
    await writePrivate(`${this.file}.new`, `${JSON.stringify({ after: this.#after, done: [...this.#done] })}\n`, 'w')
    await rename(`${this.file}.new`, this.file)
  }
}

async function readState(file: string): Promise<State | null> {
  try {
    const { after, done } = JSON.parse(await readFile(file, 'utf8')) as Partial<State>
    if (typeof after === 'string' && Array.isArray(done) && done.every((id) => typeof id === 'string')) return { after, done }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  }
  throw new UsageError(`${file} is not a valid state file. Give another one with --state, or delete it to start with new events.`)
}

/** Creates a lock file with the id of this process. A lock of a process that has ended is taken over. */
async function lock(file: string): Promise<void> {
  for (;;) {
    try {
      return await writeFile(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''))
    if (holder > 0 && holder !== process.pid && isRunning(holder))
      throw new UsageError(
        `Process ${holder} handles these events already. Stop it, or give another file with --state. If it is another program, delete ${file}.`,
      )
    await rm(file, { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
