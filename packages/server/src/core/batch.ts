// Groups lookups that come at the same time into one query: what keeps a busy server at a few statements instead of one a request.

let due: (() => void)[] = []

/** Starts everything that is due in one go after this turn of the event loop, so that it reaches the database in one write. */
function startSoon(start: () => void): void {
  if (due.push(start) > 1) return
  setImmediate(() => {
    const starts = due
    due = []
    for (const one of starts) one()
  })
}

/**
 * Returns a function that loads one value by key. Loads asked for in the same turn of the event loop, or while `inFlightMax` queries are
 * already running, share the next query. A query always starts after the loads that it answers were asked for, so an answer is never
 * older than its question. `query` returns a map; a key that is not in it loads as null.
 */
export function batchLoader<V>(query: (keys: string[]) => Promise<Map<string, V>>, options = { batchMax: 200, inFlightMax: 2 }) {
  type Waiting = { resolve: (value: V | null) => void; reject: (error: unknown) => void }
  let waiting = new Map<string, Waiting[]>()
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
    if (batch.size === 0) return
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
    const all = waiting
    if (all.size <= options.batchMax) {
      waiting = new Map()
      return all
    }
    const batch = new Map([...all].slice(0, options.batchMax))
    for (const key of batch.keys()) all.delete(key)
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

/** Longer than a group takes that nothing holds up. */
const besideAfterMs = 100

/**
 * Returns a function that does one piece of work together with others that came meanwhile: one transaction, so one flush of the log, for
 * many. While `inFlightMax` groups are being worked on, the next one gathers; `besideFrom` (1 when not given) is how many items it takes to
 * start a group beside another: fewer wait for that one, where a group costs much and an item little, but not for long, since that one may be
 * waiting for a lock itself. With `gatherMs`, the group after one that ended begins when as many have come as that one answered, who often come back
 * at once, or so much later: halves that take turns become one. When a group fails, each of its items is tried alone, so that one bad item does not fail its neighbours.
 */
export function groupCommit<T, R>(
  work: (items: T[]) => Promise<R[]>,
  options: { groupMax: number; inFlightMax: number; besideFrom?: number; gatherMs?: number },
): (item: T) => Promise<R> {
  type Waiting = { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }
  const { besideFrom = 1, gatherMs = 0 } = options
  let waiting: Waiting[] = []
  let inFlight = 0
  let isScheduled = false
  let patience: NodeJS.Timeout | undefined
  let gathering: { until: number; timer: NodeJS.Timeout } | undefined

  function schedule(hasWaited = false): void {
    if (isScheduled || inFlight >= options.inFlightMax || waiting.length === 0) return
    if (gathering && waiting.length < gathering.until) return
    if (inFlight > 0 && waiting.length < besideFrom && !hasWaited) {
      patience ??= setTimeout(() => {
        patience = undefined
        schedule(true)
      }, besideAfterMs)
      return
    }
    isScheduled = true
    startSoon(run)
  }

  async function run(): Promise<void> {
    isScheduled = false
    clearTimeout(patience)
    patience = undefined
    endGathering()
    const group = waiting.slice(0, options.groupMax)
    waiting = waiting.slice(options.groupMax)
    inFlight++
    schedule()
    try {
      const results = await work(group.map((one) => one.item))
      group.forEach((one, index) => {
        one.resolve(results[index] as R)
      })
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error)
      else await Promise.all(group.map(alone))
    } finally {
      inFlight--
      if (gatherMs > 0) gather(group.length)
      schedule()
    }
  }

  function gather(answered: number): void {
    endGathering()
    const timer = setTimeout(() => {
      endGathering()
      schedule()
    }, gatherMs)
    gathering = { until: Math.min(options.groupMax, waiting.length + answered), timer }
  }

  function endGathering(): void {
    clearTimeout(gathering?.timer)
    gathering = undefined
  }

  async function alone(one: Waiting): Promise<void> {
    try {
      one.resolve((await work([one.item]))[0] as R)
    } catch (error) {
      one.reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}
