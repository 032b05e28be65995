// Accepts queued connections before a listener is closed, so that they are not reset.
import { setImmediate as endOfTurn } from 'node:timers/promises'

/** Limit on event-loop iterations. In an endless flood of connections some are reset. */
const turnsMax = 1000

type Accepting = { on(event: 'connection', listener: () => void): unknown; off(event: 'connection', listener: () => void): unknown }

/**
 * Resolves when the server has accepted the connections that arrived while the process was busy. When a listener closes, the system resets
 * the connections in its queue.
 * Node accepts one connection per iteration of the event loop, and the current iteration may have polled before they arrived.
 */
export async function acceptWaiting(server: Accepting): Promise<void> {
  let accepted = 0
  const count = () => {
    accepted++
  }
  server.on('connection', count)
  let seen: number
  let turns = 0
  do {
    seen = accepted
    await endOfTurn()
    await endOfTurn()
  } while (accepted > seen && ++turns < turnsMax)
  server.off('connection', count)
}
