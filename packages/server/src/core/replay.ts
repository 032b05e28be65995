// What HTTP asks of the store of first answers, by which a request that is sent again gets the answer it got before.
import type { Tx } from './sql.ts'

/** The scope of an Idempotency-Key: one organization, one method, one concrete path. */
export type ReplayScope = { organizationId: string; method: string; path: string; key: string }

/** The answer that a key got the first time; `body` is the exact text. */
export type StoredAnswer = { bodyHash: Buffer; status: number; body: string }

/** Closes and opens stored answers: one may hold a new key or secret, which must not lie in the database in the clear. */
export type Sealing = { seal(scope: string, text: string): string; open(scope: string, sealed: string): string }

export interface Replays {
  /** The committed answer to this key, or null. */
  find(scope: ReplayScope): Promise<StoredAnswer | null>
  /**
   * Takes the key inside the transaction that holds the effect. `taken`: another request has committed an answer. `running`: another
   * node holds the key and did not end within a moment; the transaction is of no use any more and has to be rolled back.
   */
  claim(tx: Tx, scope: ReplayScope, bodyHash: Buffer): Promise<'claimed' | 'taken' | 'running'>
  /** Puts the answer into the claimed row. */
  store(tx: Tx, scope: ReplayScope, status: number, body: string): Promise<void>
  /** Forgets answers made before this time; resolves with how many. */
  sweep(olderThan: Date): Promise<number>
}
