// Runs a command for each event, with a limit of commands at once, retries, and one command at a time per thread.
import type { CallsignEvent } from '@callsign/sdk'

/** Waits between attempts, doubled up to the maximum. */
const backoffMs = { first: 1000, max: 60_000 }
/** A busy thread is handled after this many debounce times, even if more events arrive. */
const debouncesMax = 10
/** Read events that may wait for their command. */
const waitingMax = 1000

export type RunnerOptions = {
  /** Commands at once. */
  concurrency: number
  /** Milliseconds without an event of a thread before its events are handled together. 0 handles each event by itself. */
  debounceMs: number
  /** Attempts after the first one. */
  retriesMax: number
  /** Ends retries and the start of further commands. */
  signal: AbortSignal
  /** Runs the command for events of one thread, oldest first. Resolves with null, or with the reason why it failed. */
  run: (events: CallsignEvent[], attempt: number) => Promise<string | null>
  /** Records events as handled, or as given up with a reason. */
  finish: (events: CallsignEvent[], reason: string | null) => Promise<void>
}

type Thread = { events: CallsignEvent[]; firstMs: number; lastMs: number }

export class EventRunner {
  readonly #options: RunnerOptions
  readonly #threads = new Map<string, Thread>()
  readonly #work = new Set<Promise<void>>()
  #running = 0
  #waiting = 0
  #failure: Error | null = null
  #onFreed: (() => void)[] = []

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Takes an event. Resolves when there is room for the next one. Throws if an earlier event could not be recorded. */
  async add(event: CallsignEvent): Promise<void> {
    const key = threadOf(event)
    const nowMs = performance.now()
    const thread = this.#threads.get(key)
    if (thread) {
      if (thread.events.length === 0) thread.firstMs = nowMs
      thread.events.push(event)
      thread.lastMs = nowMs
    } else {
      const created = { events: [event], firstMs: nowMs, lastMs: nowMs }
      this.#threads.set(key, created)
      const work = this.#handle(key, created).catch((error: Error) => {
        this.#failure ??= error
      })
      this.#work.add(work)
      void work.then(() => {
        this.#work.delete(work)
        this.#wake()
      })
    }
    this.#waiting++
    while (this.#waiting >= waitingMax && !this.#options.signal.aborted && !this.#failure) await this.#freed()
    if (this.#failure) throw this.#failure
  }

  /** Resolves when the running commands have ended. */
  async drain(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
    if (this.#failure) throw this.#failure
  }

  async #handle(key: string, thread: Thread): Promise<void> {
    const { debounceMs, signal } = this.#options
    while (thread.events.length > 0 && !signal.aborted) {
      if (debounceMs > 0) await this.#quiet(thread)
      const events = thread.events.splice(0, debounceMs > 0 ? thread.events.length : 1)
      await this.#runUntilDone(events)
      this.#waiting -= events.length
      this.#wake()
    }
    this.#threads.delete(key)
  }

  /** Resolves when the thread has had no event for the debounce time. */
  async #quiet(thread: Thread): Promise<void> {
    const { debounceMs, signal } = this.#options
    while (!signal.aborted) {
      const dueMs = Math.min(thread.lastMs + debounceMs, thread.firstMs + debounceMs * debouncesMax)
      if (performance.now() >= dueMs) return
      await pause(dueMs - performance.now(), signal)
    }
  }

  /** Runs the command until it succeeds, no attempt is left, or the runner stops. */
  async #runUntilDone(events: CallsignEvent[]): Promise<void> {
    const { signal, concurrency } = this.#options
    for (let attempt = 1; ; attempt++) {
      while (this.#running >= concurrency && !signal.aborted) await this.#freed()
      if (signal.aborted) return
      this.#running++
      const isDone = await this.#attempt(events, attempt).finally(() => {
        this.#running--
        this.#wake()
      })
      if (isDone) return
      const waitMs = Math.min(backoffMs.max, backoffMs.first * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2)
      await pause(waitMs, signal)
    }
  }

  /** Runs the command once and records the result, so that a crash repeats at most the events of running commands. */
  async #attempt(events: CallsignEvent[], attempt: number): Promise<boolean> {
    const { retriesMax, signal, run, finish } = this.#options
    const reason = await run(events, attempt)
    if (reason !== null && (attempt <= retriesMax || signal.aborted)) return false
    await finish(events, reason)
    return true
  }

  #freed(): Promise<void> {
    const { signal } = this.#options
    return new Promise((resolve) => {
      const onFreed = () => {
        signal.removeEventListener('abort', onFreed)
        resolve()
      }
      this.#onFreed.push(onFreed)
      signal.addEventListener('abort', onFreed, { once: true })
    })
  }

  #wake(): void {
    const waiting = this.#onFreed
    this.#onFreed = []
    for (const resume of waiting) resume()
  }
}

/** The thread or conversation of an event. Other events are independent of each other. */
function threadOf({ id, data }: CallsignEvent): string {
  const thread = data.thread_id ?? data.conversation_id
  return typeof thread === 'string' ? thread : id
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, ms)
    signal.addEventListener('abort', over, { once: true })
    if (signal.aborted) over()
  })
}
