// Chooses the client of a tunnel for one public request. After a failed attempt the next choice is another client.
import { resetCodes } from '@callsign/contract/tunnel-frames'
import type { ProxiedRequestHost } from '../requests/proxied-request-host.ts'
import { type Failure, failureOfReset } from '../responses/error-response.ts'
import type { ClientSession } from './client-session.ts'

const attemptsMax = 4

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

  /** Resolves with the reason when the tunnel has no client for the request. */
  async next(): Promise<ClientSession | Failure> {
    if (this.#attempts++ === attemptsMax) return this.#failure
    try {
      const picked = await this.#host.pick(this.#tunnelId, this.#tried)
      if (picked === null) return this.#failure
      return picked.load >= this.#host.streamsMax || picked.isChoked ? 'tunnel_busy' : picked
    } catch {
      return 'unavailable'
    }
  }

  /** Records a reset before the response, and returns it as a failure. `isRepeatable` keeps the client for the next attempt. */
  lost(clientSession: ClientSession, code: number, isRepeatable: boolean): Failure {
    this.#failure = failureOfReset(code, clientSession.isOpen)
    if (code === resetCodes.notHere) this.#host.forget(clientSession)
    if (!isRepeatable || !clientSession.isOpen) this.#tried.add(clientSession.id)
    return this.#failure
  }
}
