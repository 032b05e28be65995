// Records the blobs of a backup, in a temporary SQLite file once they are many, because a backup may not be allowed to write to PostgreSQL.
import { DatabaseSync } from 'node:sqlite'

const pageSize = 500

type BlobState = 'named' | 'copied' | 'gone'

/** One per backup. Rounds are numbered from 1. */
export class BlobLedger {
  // SQLite's own temporary database, without a name and removed with the process.
  readonly #file = new DatabaseSync('')
  readonly #insert
  readonly #mark
  readonly #page

  constructor() {
    this.#file.exec('PRAGMA journal_mode = OFF; CREATE TABLE blobs (key TEXT PRIMARY KEY, state TEXT, round INTEGER) WITHOUT ROWID; BEGIN')
    this.#insert = this.#file.prepare(`INSERT INTO blobs VALUES (?, 'named', ?) ON CONFLICT (key) DO UPDATE SET round = excluded.round`)
    this.#mark = this.#file.prepare('UPDATE blobs SET state = ? WHERE key = ?')
    this.#page = this.#file.prepare(
      `SELECT key, state FROM blobs WHERE key > ? AND round = ? AND state <> 'copied' ORDER BY key LIMIT ${pageSize}`,
    )
  }

  /** Records that rows named these keys in this round, and keeps earlier records of them. */
  async addAll(keys: AsyncIterable<string>, round: number): Promise<void> {
    for await (const key of keys) this.add(key, round)
  }

  add(key: string, round: number): void {
    this.#insert.run(key, round)
  }

  mark(key: string, state: BlobState): void {
    this.#mark.run(state, key)
  }

  /** The keys named in this round that are not copied yet. Paged, so that the caller may mark them meanwhile. */
  *uncopied(round: number): Generator<{ key: string; state: BlobState }> {
    for (let after = ''; ; ) {
      const page = this.#page.all(after, round) as { key: string; state: BlobState }[]
      yield* page
      const last = page.at(-1)
      if (!last) return
      after = last.key
    }
  }

  close(): void {
    this.#file.close()
  }
}
