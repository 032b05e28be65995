// What a server does before it stops to listen, so that nobody is refused who has come already.
import { setImmediate as endOfTurn } from 'node:timers/promises'

/** Of a flood that never ends some are refused. */
const turnsMax = 1000

type Accepting = { on(event: 'connection', listener: () => void): unknown; off(event: 'connection', listener: () => void): unknown }

/**
 * Resolves when the server has accepted all connections that came while the process was busy; the system resets those that wait when a server stops to
 * listen. Node accepts one in a turn, and a turn that is begun may have looked before they came.
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
