// Interface of the store of first answers, which HTTP returns again for a repeated Idempotency-Key.
import type { Tx } from './sql.ts'

/** The scope of an Idempotency-Key is one organization, one method and one concrete path. */
export type ReplayScope = { organizationId: string; method: string; path: string; key: string }

/** The first answer for a key. `body` is the exact text. */
export type StoredAnswer = { bodyHash: Buffer; status: number; body: string }

/** Encrypts and decrypts stored answers, which may contain a new key or secret. */
export type Sealing = { seal(scope: string, text: string): string; open(scope: string, sealed: string): string }

export interface Replays {
  /** The committed answer to this key, or null. */
  find(scope: ReplayScope): Promise<StoredAnswer | null>
  /**
   * Claims the key inside the transaction of the effect. `taken` means that another request has committed an answer.
   * `running` means that another node holds the key and did not end in time. The transaction then has to be rolled back.
   */
  claim(tx: Tx, scope: ReplayScope, bodyHash: Buffer): Promise<'claimed' | 'taken' | 'running'>
  /** Stores the answer in the claimed row. */
  store(tx: Tx, scope: ReplayScope, status: number, body: string): Promise<void>
  /** Deletes answers made before this time. Resolves with their number. */
  sweep(olderThan: Date): Promise<number>
}
