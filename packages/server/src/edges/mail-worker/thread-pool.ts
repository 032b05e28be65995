// A pool of worker threads that start on demand, with limits on the time and memory of their tasks, and turns between the owners of tasks.
import { Worker } from 'node:worker_threads'
import { nowMs } from '../../core/clock.ts'
import { createOwnerTurns, type TurnSettings } from './owner-turns.ts'
import type { FromThread, ToThread } from './protocol.ts'
import { LimitExceeded, ThreadFailure, TooManyTasks, TurnEnded } from './thread-failure.ts'

/** The type of a question that a thread asks, with its answer sent by `answer`. */
type OnQuestion<Question> = (question: Question, answer: (value: unknown) => void) => void

export type ThreadPoolSettings<Question> = {
  /** The script of the threads. */
  file: URL
  threadsMax: number
  /** Tasks that one thread takes at a time. Further tasks wait. */
  tasksPerThreadMax: number
  /** Attempts per task, when its thread ends because of another task. */
  triesMax: number
  /** A thread that is not done by then is discarded. */
  taskMsMax: number
  /** An idle thread ends after this time. */
  idleMs: number
  /** JavaScript heap limit of a thread. Buffers are outside the heap. */
  heapMegabytesMax: number
  /** Limit for heap and buffers together, checked while a task runs. No check without it. */
  memoryBytesMax?: number
  /** Limits per owner. Needs one task per thread. Without it, owners take turns without limits. */
  turns?: TurnSettings
  /** Tasks that run or wait, per owner and in all. An owner without any can always add one. No limits without it. */
  open?: { perOwnerMax: number; allMax?: number }
  onQuestion?: OnQuestion<Question>
}

export interface ThreadPool<Task extends object, Result> {
  /**
   * Runs a task on a thread. Waiting tasks of several owners take turns. `toTask` is called when a thread is free, once per attempt, because its
   * bytes move to the thread. Waiting tasks therefore take no memory. Rejects with the error of `toTask`, or with a `ThreadFailure`.
   */
  perform<R extends Result>(owner: string, toTask: () => Task | Promise<Task>): Promise<R>
  threads(): number
  /** Ends all threads. Running and waiting tasks fail. */
  close(): Promise<void>
}

type Entry<Task> = { toTask: () => Task | Promise<Task>; tries: number; resolve: (result: never) => void; reject: (error: unknown) => void }
type Run<Task> = {
  owner: string
  entry: Entry<Task>
  startedMs: number
  /** Ends the task at the limit of time. */
  limit: NodeJS.Timeout
  /** Marks the end of the time that its owner has while others wait. */
  turn: NodeJS.Timeout | undefined
  isOverdue: boolean
}
type Thread<Task> = {
  worker: Worker
  runs: Map<number, Run<Task>>
  idle: NodeJS.Timeout | undefined
  watch: NodeJS.Timeout | undefined
}

const memoryCheckMs = 50
const unlimited: TurnSettings = { runningPerOwnerMax: Number.POSITIVE_INFINITY, ownerMsMax: Number.POSITIVE_INFINITY, taskMsMin: 0 }

export function createThreadPool<Task extends object, Result, Question = never>(
  settings: ThreadPoolSettings<Question>,
): ThreadPool<Task, Result> {
  const { file, threadsMax, tasksPerThreadMax, triesMax, taskMsMax, idleMs, heapMegabytesMax, memoryBytesMax, onQuestion } = settings
  const turns = createOwnerTurns<Entry<Task>>(settings.turns ?? unlimited)
  const threads = new Set<Thread<Task>>()
  /** Threads that are being ended. None is started meanwhile: Node can crash when the two meet (nodejs/node#56312). */
  const endings = new Set<Promise<unknown>>()
  const openByOwner = new Map<string, number>()
  let open = 0
  let tasks = 0
  let isClosed = false

  function startThread(): Thread<Task> {
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } })
    const thread: Thread<Task> = { worker, runs: new Map(), idle: undefined, watch: undefined }
    threads.add(thread)
    worker.on('message', (message: FromThread<Result, Question>) => onMessage(thread, message))
    worker.on('error', (error) => discard(thread, toFailure(error as Error)))
    worker.on('exit', () => discard(thread, new ThreadFailure('the thread ended')))
    worker.unref()
    return thread
  }

  function onMessage(thread: Thread<Task>, message: FromThread<Result, Question>): void {
    if (message.what === 'question') {
      const answer = (value: unknown) =>
        thread.worker.postMessage({ what: 'answer', id: message.id, answer: value } satisfies ToThread<Task>)
      onQuestion?.(message.question, answer)
      return
    }
    const run = thread.runs.get(message.id)
    if (!run) return
    finish(thread, message.id, run)
    if (message.what === 'done') run.entry.resolve(message.result as never)
    else run.entry.reject(new ThreadFailure(message.reason))
    startWaiting()
  }

  function finish(thread: Thread<Task>, id: number, run: Run<Task>): void {
    thread.runs.delete(id)
    endRun(run)
    if (thread.runs.size > 0) return
    clearInterval(thread.watch)
    thread.idle = setTimeout(() => letGo(thread), idleMs).unref()
  }

  function endRun({ owner, startedMs, limit, turn }: Run<Task>): void {
    clearTimeout(limit)
    clearTimeout(turn)
    turns.finish(owner, nowMs() - startedMs)
  }

  /** Discards the thread and fails its tasks, or runs them again. `culprit` is not run again, nor is the only task at a limit. */
  function discard(thread: Thread<Task>, error: Error, culprit: number | null = null): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.idle)
    clearInterval(thread.watch)
    const open = [...thread.runs]
    const isAlone = open.length === 1 && error instanceof LimitExceeded
    thread.runs.clear()
    end(thread.worker.terminate())
    for (const [id, run] of open) {
      endRun(run)
      const { owner, entry } = run
      // A task that takes a thread down must not fail the tasks beside it.
      if (entry.tries < triesMax && !isClosed && id !== culprit && !isAlone) turns.add(owner, { ...entry, tries: entry.tries + 1 })
      else entry.reject(error)
    }
  }

  /** An idle thread ends by itself. Terminating is for threads that do not finish. */
  function letGo(thread: Thread<Task>): void {
    threads.delete(thread)
    clearTimeout(thread.idle)
    const { worker } = thread
    worker.ref()
    end(new Promise((resolve) => worker.once('exit', resolve)))
    worker.postMessage({ what: 'end' } satisfies ToThread<Task>)
  }

  function end(ended: Promise<unknown>): void {
    const ending = ended.finally(() => {
      endings.delete(ending)
      startWaiting()
    })
    endings.add(ending)
  }

  /** The least busy thread, or a new one when all are busy and the limit allows it. Null when a task has to wait. */
  function pickThread(): Thread<Task> | null {
    const idlest = [...threads].reduce<Thread<Task> | null>(
      (best, one) => (best === null || one.runs.size < best.runs.size ? one : best),
      null,
    )
    if (idlest?.runs.size === 0) return idlest
    if (threads.size < threadsMax && endings.size === 0) return startThread()
    return idlest !== null && idlest.runs.size < tasksPerThreadMax ? idlest : null
  }

  /** Starts waiting tasks on free threads. When there are none, ends a task whose owner used up its time. */
  function startWaiting(): void {
    while (!isClosed && turns.isWaiting()) {
      const thread = pickThread()
      if (thread === null) {
        endOverdue()
        return
      }
      const { owner, item } = turns.next() as { owner: string; item: Entry<Task> }
      start(thread, owner, item)
    }
  }

  function start(thread: Thread<Task>, owner: string, entry: Entry<Task>): void {
    const id = ++tasks
    clearTimeout(thread.idle)
    const limit = setTimeout(() => discard(thread, new LimitExceeded(`not done within ${taskMsMax} ms`), id), taskMsMax)
    const run: Run<Task> = { owner, entry, startedMs: nowMs(), limit, turn: undefined, isOverdue: false }
    const turnMs = turns.allowedMs(owner)
    if (turnMs < taskMsMax) {
      run.turn = setTimeout(() => {
        run.isOverdue = true
        endOverdue()
      }, turnMs)
    }
    thread.runs.set(id, run)
    if (memoryBytesMax !== undefined) watchMemory(thread, memoryBytesMax)
    void post(thread, id, run)
  }

  async function post(thread: Thread<Task>, id: number, run: Run<Task>): Promise<void> {
    try {
      const made = run.entry.toTask()
      const task = made instanceof Promise ? await made : made
      // The thread may be discarded while its task is made.
      if (thread.runs.get(id) === run) thread.worker.postMessage({ what: 'task', id, task } satisfies ToThread<Task>, bytesOf(task))
    } catch (error) {
      if (thread.runs.get(id) !== run) return
      finish(thread, id, run)
      run.entry.reject(error)
      startWaiting()
    }
  }

  function endOverdue(): void {
    // A thread that is ending is enough for the next task.
    if (endings.size > 0) return
    for (const thread of threads) {
      const overdue = [...thread.runs].find(([, { owner, isOverdue }]) => isOverdue && turns.isWaiting(owner))
      if (!overdue) continue
      discard(thread, new TurnEnded('the time of its owner is used up'), overdue[0])
      return
    }
  }

  /** Buffers are outside of the heap that V8 limits, so heap and buffers are measured from here. */
  function watchMemory(thread: Thread<Task>, bytesMax: number): void {
    clearInterval(thread.watch)
    thread.watch = setInterval(async () => {
      const used = await thread.worker.getHeapStatistics().catch(() => null)
      if (used === null || used.used_heap_size + used.external_memory <= bytesMax) return
      discard(thread, new LimitExceeded(`more than ${bytesMax} bytes of memory`))
    }, memoryCheckMs).unref()
  }

  function countOpen(owner: string, change: 1 | -1): void {
    open += change
    const left = (openByOwner.get(owner) ?? 0) + change
    if (left > 0) openByOwner.set(owner, left)
    else openByOwner.delete(owner)
  }

  /** The tasks that this owner may have open now. */
  const openMaxNow = (): number =>
    settings.open === undefined
      ? Number.POSITIVE_INFINITY
      : open < (settings.open.allMax ?? Number.POSITIVE_INFINITY)
        ? settings.open.perOwnerMax
        : 1

  return {
    async perform(owner, toTask) {
      if (isClosed) throw new ThreadFailure('the thread pool is closed')
      if ((openByOwner.get(owner) ?? 0) >= openMaxNow()) throw new TooManyTasks('too many tasks of this owner are open')
      countOpen(owner, 1)
      try {
        return await new Promise((resolve, reject) => {
          turns.add(owner, { toTask, tries: 1, resolve, reject })
          startWaiting()
        })
      } finally {
        countOpen(owner, -1)
      }
    },
    threads: () => threads.size,

    async close() {
      isClosed = true
      for (const { reject } of turns.clear()) reject(new ThreadFailure('the server stops'))
      for (const thread of threads) {
        if (thread.runs.size === 0) letGo(thread)
        else discard(thread, new ThreadFailure('the server stops'))
      }
      await Promise.all(endings)
    },
  }
}

/** The bytes of a task move to the thread, and the rest of it is copied. */
const bytesOf = (task: object): ArrayBuffer[] => ('bytes' in task && task.bytes instanceof ArrayBuffer ? [task.bytes] : [])

const toFailure = (error: Error): Error =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new LimitExceeded(error.message)
    : new ThreadFailure(error.message, { cause: error })

/** Bytes that a thread can take over: one copy, and none on the way. */
export function copyOf(bytes: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length)
  bytes.copy(new Uint8Array(copy))
  return copy
}
