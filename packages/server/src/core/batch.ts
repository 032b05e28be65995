// Batches concurrent lookups and work, so that a busy server runs a few statements instead of one per request.

let due: (() => void)[] = []

/** Starts everything that is due after this iteration of the event loop, so that it reaches the database in one write. */
function startSoon(start: () => void): void {
  if (due.push(start) > 1) return
  setImmediate(() => {
    const starts = due
    due = []
    for (const one of starts) one()
  })
}

/**
 * Returns a function that loads one value by key. Loads requested in the same iteration of the event loop, or while `inFlightMax` queries
 * are running, share the next query.
 * A query starts after its loads were requested, so an answer is never older than its question. `query` returns a map. A key missing from
 * it loads as null.
 */
export function batchLoader<V>(query: (keys: string[]) => Promise<Map<string, V>>, options = { batchMax: 200, inFlightMax: 2 }) {
  type Waiting = { resolve: (value: V | null) => void; reject: (error: unknown) => void }
  const waiting = new Map<string, Waiting[]>()
  let inFlight = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || inFlight >= options.inFlightMax || waiting.size === 0) return
    isScheduled = true
    startSoon(run)
  }

  async function run(): Promise<void> {
    isScheduled = false
    const batch = take()
    inFlight++
    schedule()
    try {
      const found = await query([...batch.keys()])
      for (const [key, list] of batch) for (const one of list) one.resolve(found.get(key) ?? null)
    } catch (error) {
      for (const list of batch.values()) for (const one of list) one.reject(error)
    } finally {
      inFlight--
      schedule()
    }
  }

  function take(): Map<string, Waiting[]> {
    const batch = new Map([...waiting].slice(0, options.batchMax))
    for (const key of batch.keys()) waiting.delete(key)
    return batch
  }

  return (key: string): Promise<V | null> =>
    new Promise((resolve, reject) => {
      const list = waiting.get(key)
      if (list) list.push({ resolve, reject })
      else waiting.set(key, [{ resolve, reject }])
      schedule()
    })
}

/** Longer than a group takes unless it waits for a lock. */
const besideAfterMs = 100

/**
 * Returns a function that runs one item of work in a group with concurrent items: one transaction, and so one flush of the log, for many
 * items.
 * While `inFlightMax` groups run, the next one collects items. `besideFrom` (1 by default) is the number of items that starts a group
 * beside a running one. Fewer wait for the running group, but at most `besideAfterMs`, because that group may itself wait for a lock. This
 * pays off where a group is expensive and an item is cheap.
 * With `gatherMs`, the group after the last running one starts when as many items have arrived as that one had, or after `gatherMs`.
 * Callers often return at once, and without this wait a group would begin with the first of them.
 * When a group fails, each of its items runs alone, so that one bad item does not fail the others. `isFinal` names errors after which no
 * item may run again.
 */
export function groupCommit<T, R>(work: (items: T[]) => Promise<R[]>, options: GroupOptions): (item: T) => Promise<R> {
  const groups = new Groups(work, options)
  return (item) => new Promise((resolve, reject) => groups.add({ item, resolve, reject }))
}

type GroupOptions = {
  groupMax: number
  inFlightMax: number
  besideFrom?: number
  gatherMs?: number
  isFinal?: (error: unknown) => boolean
}
type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }

class Groups<T, R> {
  readonly #work: (items: T[]) => Promise<R[]>
  readonly #options: Required<GroupOptions>
  readonly #start = () => void this.#run()
  #waiting: Waiting<T, R>[] = []
  #inFlight = 0
  #isScheduled = false
  #waitTimer: NodeJS.Timeout | undefined
  #gathering: { until: number; timer: NodeJS.Timeout } | undefined

  constructor(work: (items: T[]) => Promise<R[]>, options: GroupOptions) {
    this.#work = work
    this.#options = { besideFrom: 1, gatherMs: 0, isFinal: () => false, ...options }
  }

  add(one: Waiting<T, R>): void {
    this.#waiting.push(one)
    this.#schedule()
  }

  #schedule(hasWaited = false): void {
    const { inFlightMax, besideFrom } = this.#options
    if (this.#isScheduled || this.#inFlight >= inFlightMax || this.#waiting.length === 0) return
    if (this.#gathering && this.#waiting.length < this.#gathering.until) return
    if (this.#inFlight > 0 && this.#waiting.length < besideFrom && !hasWaited) {
      this.#waitTimer ??= setTimeout(() => {
        this.#waitTimer = undefined
        this.#schedule(true)
      }, besideAfterMs)
      return
    }
    this.#isScheduled = true
    startSoon(this.#start)
  }

  async #run(): Promise<void> {
    this.#isScheduled = false
    clearTimeout(this.#waitTimer)
    this.#waitTimer = undefined
    this.#endGathering()
    const { groupMax, gatherMs } = this.#options
    const group = this.#waiting.slice(0, groupMax)
    this.#waiting = this.#waiting.slice(groupMax)
    this.#inFlight++
    this.#schedule()
    try {
      const results = await this.#work(group.map((one) => one.item))
      group.forEach((one, index) => {
        one.resolve(results[index] as R)
      })
    } catch (error) {
      if (group.length === 1 || this.#options.isFinal(error)) for (const one of group) one.reject(error)
      else await Promise.all(group.map((one) => this.#runAlone(one)))
    } finally {
      this.#inFlight--
      if (gatherMs > 0 && this.#inFlight === 0) this.#gather(group.length, gatherMs)
      this.#schedule()
    }
  }

  #gather(answered: number, gatherMs: number): void {
    this.#endGathering()
    const timer = setTimeout(() => {
      this.#endGathering()
      this.#schedule()
    }, gatherMs)
    this.#gathering = { until: Math.min(this.#options.groupMax, this.#waiting.length + answered), timer }
  }

  #endGathering(): void {
    clearTimeout(this.#gathering?.timer)
    this.#gathering = undefined
  }

  async #runAlone(one: Waiting<T, R>): Promise<void> {
    try {
      one.resolve((await this.#work([one.item]))[0] as R)
    } catch (error) {
      one.reject(error)
    }
  }
}
