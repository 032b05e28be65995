// Sends the first statement of a transaction together with BEGIN, which saves a round trip.
import pg from 'pg'
import type { Statement } from '../../core/sql.ts'

/** The parts of a `pg` connection that are used here. */
export type Wire = {
  stream: { writableCorked: number; cork: () => void; uncork: () => void; destroy: (error: Error) => void }
  parse: (query: { text: string }) => void
  bind: (config: object) => void
  execute: (config: object) => void
  submittedNamedStatements: Record<string, string>
}

/** The overridden parts of `pg`'s query, which its types leave out. */
interface QueryInside {
  name?: string | undefined
  submit(wire: Wire): Error | null
  handleCommandComplete(message: unknown, wire: Wire): void
  handleError(error: Error, wire: Wire): void
}

const Query = pg.Query as unknown as new (
  statement: Statement,
  callback: (error: Error | null, result: pg.QueryResult) => void,
) => QueryInside

/**
 * BEGIN and the statement are sent in one message group of the extended protocol. When BEGIN fails, PostgreSQL skips the statement, so it
 * can never run outside of a transaction. Two queries sent back to back could not guarantee this.
 */
export class OpeningQuery extends Query {
  #hasBegun = false
  #statementName: string | undefined

  /** Statements without name and values may contain several commands, which the extended protocol does not support. */
  static takes(statement: Statement): boolean {
    return statement.name !== undefined || (statement.values?.length ?? 0) > 0
  }

  static run(client: pg.PoolClient, statement: Statement): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      const query = new OpeningQuery(statement, (error, result) => (error ? reject(error) : resolve(result)))
      client.query(query as unknown as pg.Submittable)
    })
  }

  override submit(wire: Wire): Error | null {
    wire.stream.cork()
    try {
      wire.parse({ text: 'BEGIN' })
      wire.bind({})
      wire.execute({})
      const error = super.submit(wire)
      // BEGIN was sent without its Sync, so the connection is unusable.
      if (error) wire.stream.destroy(error)
      // `pg` attributes any parsed message to this name, so the name is hidden until BEGIN's own has passed.
      this.#statementName = this.name
      this.name = undefined
      return error
    } finally {
      wire.stream.uncork()
    }
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#hasBegun) {
      super.handleCommandComplete(message, wire)
    } else {
      this.#hasBegun = true
      this.name = this.#statementName
    }
  }

  override handleError(error: Error, wire: Wire): void {
    if (this.#statementName !== undefined) delete wire.submittedNamedStatements[this.#statementName]
    super.handleError(error, wire)
  }
}
