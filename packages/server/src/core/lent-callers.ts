// Credentials that are valid inside of this process only: an edge that has authenticated a caller lends it to the API for the calls of one request.
import { randomBytes } from 'node:crypto'
import type { Caller } from './caller.ts'

export type Loan = { token: string; end(): void }

/** Callers by a random bearer token, which ends with the request that it was made for. */
export class LentCallers {
  readonly #callers = new Map<string, Caller>()

  lend(caller: Caller): Loan {
    const token = `lent_${randomBytes(32).toString('base64url')}`
    this.#callers.set(token, caller)
    return { token, end: () => void this.#callers.delete(token) }
  }

  find(token: string): Caller | null {
    return this.#callers.get(token) ?? null
  }
}
