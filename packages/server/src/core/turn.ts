// Long loops on the event loop, in pieces.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work of one turn after which `shareThread` lets others run. */
const turnMsMax = 20

let turnStartedMs = 0
let isTurnWatched = false

/**
 * Lets other requests run before a loop over a caller's items goes on, once this turn of the event loop has worked for 20 ms. The first call
 * of a turn starts its time.
 */
export async function shareThread(): Promise<void> {
  if (!isTurnWatched) {
    isTurnWatched = true
    turnStartedMs = performance.now()
    setImmediate(() => {
      isTurnWatched = false
    })
    return
  }
  if (performance.now() - turnStartedMs > turnMsMax) await nextTurn()
}
