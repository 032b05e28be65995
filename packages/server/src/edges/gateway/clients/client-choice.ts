// Chooses the client of a tunnel for one public request. After a failed attempt the next choice is another client.
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { ProxiedRequestHost } from '../requests/proxied-request-host.ts'
import { type Failure, failureOfReset } from '../responses/error-response.ts'
import type { ClientSession } from './client-session.ts'

const attemptsMax = 4

/** Called by `next`, exactly one of the two. */
export type ChoiceEvents = {
  onClient(clientSession: ClientSession): void
  onNoClient(failure: Failure): void
}

export class ClientChoice {
  readonly #host: ProxiedRequestHost
  readonly #tunnelId: string
  readonly #tried = new Set<string>()
  #attempts = 0
  /** Failure of the latest attempt, reported when no client is left. */
  #failure: Failure = 'tunnel_offline'

  constructor(host: ProxiedRequestHost, tunnelId: string) {
    this.#host = host
    this.#tunnelId = tunnelId
  }

  /** Chooses synchronously when a client is connected to this process. */
  next(events: ChoiceEvents): void {
    if (this.#attempts++ === attemptsMax) {
      events.onNoClient(this.#failure)
      return
    }
    const picked = this.#host.pick(this.#tunnelId, this.#tried)
    if (!(picked instanceof Promise)) {
      this.#offer(picked, events)
      return
    }
    picked.then(
      (clientSession) => this.#offer(clientSession, events),
      () => events.onNoClient('unavailable'),
    )
  }

  #offer(clientSession: ClientSession | null, events: ChoiceEvents): void {
    if (clientSession === null) events.onNoClient(this.#failure)
    else if (clientSession.load >= this.#host.streamsMax || clientSession.isChoked) events.onNoClient('tunnel_busy')
    else events.onClient(clientSession)
  }

  /** Records a reset before the response, and returns it as a failure. `isRepeatable` keeps the client for the next attempt. */
  lost(clientSession: ClientSession, code: number, isRepeatable: boolean): Failure {
    this.#failure = failureOfReset(code, clientSession.isOpen)
    if (code === resetCodes.notHere) this.#host.forget(clientSession)
    if (!isRepeatable || !clientSession.isOpen) this.#tried.add(clientSession.id)
    return this.#failure
  }
}
