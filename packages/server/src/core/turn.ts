// Long work on the event loop, in pieces that owners take in turns.

/** Work of one iteration of the event loop after which further pieces wait. */
const turnMsMax = 20
/** The time between two turns, in which small requests are answered. */
const restMs = 5

/** Pieces that wait, by owner. The first owner is next. */
const waiting = new Map<string, (() => void)[]>()
/** The owner of the turn in this iteration, while others wait. */
let turnOwner: string | null = null
let turnStartedMs = 0
let isTurnWatched = false
let isRunScheduled = false

/**
 * Runs a piece of an owner's work. It runs at once while little was done in this iteration of the event loop. Otherwise it waits, and all owners
 * take turns of one piece, or of 20 ms in short pieces.
 */
export async function shareThread<T>(owner: string, piece: () => T): Promise<Awaited<T>> {
  const isFirst = watchTurn()
  const isOwn = waiting.size === 0 || turnOwner === owner
  if (!isOwn || !(isFirst || performance.now() - turnStartedMs <= turnMsMax)) await nextTurn(owner)
  return await piece()
}

/** Starts the time of an iteration. False when it has started. */
function watchTurn(): boolean {
  if (isTurnWatched) return false
  isTurnWatched = true
  turnStartedMs = performance.now()
  setImmediate(() => {
    isTurnWatched = false
    turnOwner = null
  })
  return true
}

function nextTurn(owner: string): Promise<void> {
  return new Promise((resolve) => {
    const queue = waiting.get(owner)
    if (queue) queue.push(resolve)
    else waiting.set(owner, [resolve])
    scheduleTurn()
  })
}

function scheduleTurn(): void {
  if (isRunScheduled) return
  isRunScheduled = true
  setTimeout(startTurn, restMs)
}

function startTurn(): void {
  isRunScheduled = false
  const [owner, queue] = waiting.entries().next().value as [string, (() => void)[]]
  const resolve = queue.shift() as () => void
  // Owners that wait on are behind the others.
  waiting.delete(owner)
  if (queue.length > 0) waiting.set(owner, queue)
  watchTurn()
  turnOwner = owner
  resolve()
  if (waiting.size > 0) scheduleTurn()
}
