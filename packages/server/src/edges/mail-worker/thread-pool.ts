// A pool of worker threads that start on demand, with limits on the time and memory of their tasks.
import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './protocol.ts'

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
  onQuestion?: OnQuestion<Question>
}

export interface ThreadPool<Task extends { bytes: ArrayBuffer }, Result> {
  /** Runs a task on a thread. `toTask` is called once per attempt, because its bytes move to the thread. Rejects with `LimitExceeded` at a limit. */
  perform<R extends Result>(toTask: () => Task): Promise<R>
  threads(): number
  /** Ends all threads. Running tasks fail. */
  close(): Promise<void>
}

/** A task that used up its time or memory. */
export class LimitExceeded extends Error {}

type Waiting = { resolve: (result: never) => void; reject: (error: Error) => void; timer: NodeJS.Timeout; again: (() => void) | null }
type Thread = { worker: Worker; waiting: Map<number, Waiting>; idle: NodeJS.Timeout | undefined; watch: NodeJS.Timeout | undefined }

const memoryCheckMs = 50

export function createThreadPool<Task extends { bytes: ArrayBuffer }, Result, Question = never>(
  settings: ThreadPoolSettings<Question>,
): ThreadPool<Task, Result> {
  const { file, threadsMax, tasksPerThreadMax, triesMax, taskMsMax, idleMs, heapMegabytesMax, memoryBytesMax, onQuestion } = settings
  const threads = new Set<Thread>()
  /** Threads that are being ended. None is started meanwhile: Node can crash when the two meet (nodejs/node#56312). */
  const endings = new Set<Promise<unknown>>()
  let onChange: (() => void)[] = []
  let tasks = 0
  let isClosed = false

  function startThread(): Thread {
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax } })
    const thread: Thread = { worker, waiting: new Map(), idle: undefined, watch: undefined }
    threads.add(thread)
    worker.on('message', (message: FromThread<Result, Question>) => onMessage(thread, message))
    worker.on('error', (error) => discard(thread, toFailure(error as Error)))
    worker.on('exit', () => discard(thread, new Error('the thread ended')))
    worker.unref()
    return thread
  }

  function onMessage(thread: Thread, message: FromThread<Result, Question>): void {
    if (message.what === 'question') {
      const answer = (value: unknown) =>
        thread.worker.postMessage({ what: 'answer', id: message.id, answer: value } satisfies ToThread<Task>)
      onQuestion?.(message.question, answer)
      return
    }
    const waiting = thread.waiting.get(message.id)
    if (!waiting) return
    thread.waiting.delete(message.id)
    clearTimeout(waiting.timer)
    if (message.what === 'done') waiting.resolve(message.result as never)
    else waiting.reject(new Error(message.reason))
    if (thread.waiting.size === 0) {
      clearInterval(thread.watch)
      thread.idle = setTimeout(() => letGo(thread), idleMs).unref()
    }
    changed()
  }

  /** Wakes the tasks that wait for a thread, in the order of their arrival. */
  function changed(): void {
    const waiting = onChange
    onChange = []
    for (const wake of waiting) wake()
  }

  /** Discards the thread and fails its tasks, or runs them again. `culprit` is not run again, nor is the only task at a limit. */
  function discard(thread: Thread, error: Error, culprit: number | null = null): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.idle)
    clearInterval(thread.watch)
    const open = [...thread.waiting]
    const isAlone = open.length === 1 && error instanceof LimitExceeded
    thread.waiting.clear()
    end(thread.worker.terminate())
    for (const [id, { timer, reject, again }] of open) {
      clearTimeout(timer)
      // A task that takes a thread down must not fail the tasks beside it.
      if (again && !isClosed && id !== culprit && !isAlone) again()
      else reject(error)
    }
  }

  /** An idle thread ends by itself. Terminating is for threads that do not finish. */
  function letGo(thread: Thread): void {
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
      changed()
    })
    endings.add(ending)
  }

  /** The least busy thread, or a new one when all are busy and the limit allows it. Null when a task has to wait. */
  function pickThread(): Thread | null {
    if (isClosed) throw new Error('the thread pool is closed')
    const idlest = [...threads].reduce<Thread | null>(
      (best, one) => (best === null || one.waiting.size < best.waiting.size ? one : best),
      null,
    )
    if (idlest?.waiting.size === 0) return idlest
    if (threads.size < threadsMax && endings.size === 0) return startThread()
    return idlest !== null && idlest.waiting.size < tasksPerThreadMax ? idlest : null
  }

  /** Buffers are outside of the heap that V8 limits, so heap and buffers are measured from here. */
  function watchMemory(thread: Thread, bytesMax: number): void {
    clearInterval(thread.watch)
    thread.watch = setInterval(async () => {
      const used = await thread.worker.getHeapStatistics().catch(() => null)
      if (used === null || used.used_heap_size + used.external_memory <= bytesMax) return
      discard(thread, new LimitExceeded(`more than ${bytesMax} bytes of memory`))
    }, memoryCheckMs).unref()
  }

  async function perform<R extends Result>(toTask: () => Task, tries = 1): Promise<R> {
    let thread = pickThread()
    while (thread === null) {
      await new Promise<void>((resolve) => onChange.push(resolve))
      thread = pickThread()
    }
    const chosen = thread
    const id = ++tasks
    clearTimeout(chosen.idle)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => discard(chosen, new LimitExceeded(`not done within ${taskMsMax} ms`), id), taskMsMax)
      const again = tries < triesMax ? () => void perform<R>(toTask, tries + 1).then(resolve, reject) : null
      chosen.waiting.set(id, { resolve, reject, timer, again })
      if (memoryBytesMax !== undefined) watchMemory(chosen, memoryBytesMax)
      const task = toTask()
      chosen.worker.postMessage({ what: 'task', id, task } satisfies ToThread<Task>, [task.bytes])
    })
  }

  return {
    perform: (toTask) => perform(toTask),
    threads: () => threads.size,

    async close() {
      isClosed = true
      for (const thread of threads) {
        if (thread.waiting.size === 0) letGo(thread)
        else discard(thread, new Error('the server stops'))
      }
      changed()
      await Promise.all(endings)
    },
  }
}

const toFailure = (error: Error): Error =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? new LimitExceeded(error.message) : error

/** Bytes that a thread can take over: one copy, and none on the way. */
export function copyOf(bytes: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length)
  bytes.copy(new Uint8Array(copy))
  return copy
}
