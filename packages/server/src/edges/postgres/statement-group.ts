// Sends the statements of a transaction. Those of one iteration of the event loop go in one message group, and are answered in one write.
import pg from 'pg'
import type { Statement } from '../../core/sql.ts'
import { isAway } from './failures.ts'

type Stream = {
  writable: boolean
  writableCorked: number
  write: (bytes: Buffer) => boolean
  cork: () => void
  uncork: () => void
  destroy: (error: Error) => void
}

/** The parts of a `pg` connection that are used here. */
export type Wire = {
  stream: Stream
  execute: (config: object) => void
  sync: () => void
  submittedNamedStatements: Record<string, string>
}

/** The parts of `pg`'s query that are overridden or called here, which its types leave out. */
interface QueryInside {
  name?: string | undefined
  text?: string | undefined
  portal?: string
  _result: { _types: unknown }
  submit(wire: Wire): Error | null
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, wire: Wire): void
  handleReadyForQuery(wire: Wire): void
  handleError(error: Error, wire: Wire): void
}

type Callback = (error: Error | null, result: pg.QueryResult) => void

const Query = pg.Query as unknown as new (text: string, values?: unknown[], callback?: Callback) => QueryInside

/** One statement of a group, without a Sync of its own. */
class Part extends Query {
  error: Error | null = null

  constructor({ name, text, values }: Statement, callback: Callback) {
    // With an object, `pg` clones it by its property descriptors.
    super(text, values, callback)
    this.name = name
  }

  /** BEGIN and COMMIT have no values, and would be sent in the simple protocol, which has a Sync of its own. */
  requiresPreparation(): boolean {
    return true
  }

  /** Overrides the place where `pg` sends Execute and Sync. */
  _getRows(wire: Wire): void {
    wire.execute({ portal: this.portal })
  }

  override handleError(error: Error, wire: Wire): void {
    this.error = error
    super.handleError(error, wire)
  }
}

/** PostgreSQL's code for a statement in a failed transaction, which here was not executed at all. */
class NotExecuted extends Error {
  override name = 'NotExecuted'
  readonly code = '25P02'
}

/**
 * Statements with one Sync at the end. PostgreSQL executes each as it arrives, skips those after one that fails, and writes the results once.
 * To `pg` the group is one query, which has the name and the text of the part that is answered next.
 */
class StatementGroup extends Query {
  readonly #parts: Part[]
  #at = 0

  constructor(parts: Part[]) {
    super('')
    this.#parts = parts
    this.#show()
  }

  override submit(wire: Wire): Error | null {
    const { stream } = wire
    const messages: Buffer[] = []
    // pg writes three messages for each statement, and each would be a write request of its own.
    wire.stream = { ...collector, writable: stream.writable, write: (bytes) => messages.push(bytes) > 0 }
    try {
      for (const part of this.#parts) {
        part._result._types = this._result._types
        const error = part.submit(wire) ?? part.error
        // Statements before it were marked as submitted without being sent, so the connection is unusable.
        if (error) {
          stream.destroy(error)
          return null
        }
      }
      wire.sync()
      writeTogether(stream, messages)
      return null
    } finally {
      wire.stream = stream
    }
  }

  override handleRowDescription(message: unknown): void {
    this.#part?.handleRowDescription(message)
  }

  override handleDataRow(message: unknown): void {
    this.#part?.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    const part = this.#part
    this.#at++
    this.#show()
    part?.handleCommandComplete(message, wire)
    part?.handleReadyForQuery(wire)
  }

  override handleReadyForQuery(): void {
    // Each part was answered when it completed.
  }

  /** After a lost connection it is unknown which parts were executed. Otherwise those after the failed one were not. */
  override handleError(error: Error, wire: Wire): void {
    const [failed, ...others] = this.#parts.slice(this.#at)
    this.#at = this.#parts.length
    failed?.handleError(error, wire)
    const follow = isAway(error) ? error : new NotExecuted('An earlier statement of the transaction failed.')
    for (const part of others) {
      if (part.name !== undefined) delete wire.submittedNamedStatements[part.name]
      part.handleError(follow, wire)
    }
  }

  get #part(): Part | undefined {
    return this.#parts[this.#at]
  }

  #show(): void {
    this.name = this.#part?.name
    this.text = this.#part?.text
  }
}

/** Stands in for the stream while messages are collected. */
const collector = { writableCorked: 1, cork() {}, uncork() {}, destroy() {} }

/** Above this size, copying messages into one buffer costs more than their write requests. */
const joinedBytesMax = 32 * 1024

function writeTogether(stream: Stream, messages: Buffer[]): void {
  const bytes = messages.reduce((sum, message) => sum + message.length, 0)
  if (bytes <= joinedBytesMax) {
    stream.write(Buffer.concat(messages, bytes))
    return
  }
  stream.cork()
  for (const message of messages) stream.write(message)
  stream.uncork()
}

/** Collects statements. Those of one iteration of the event loop are one group, in which the ones behind an error are not executed. */
export class Statements {
  readonly #client: pg.PoolClient
  #parts: Part[] = []

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  /**
   * Sends BEGIN with the first statement. When BEGIN fails, PostgreSQL skips the statement, so it never runs outside of a transaction.
   * `note` is called with the error of BEGIN.
   */
  open(statement: Statement, note: (error: unknown) => void): Promise<pg.QueryResult> {
    const begun = this.#add({ text: 'BEGIN' })
    if (!isGrouped(statement)) return begun.then(() => this.query(statement))
    begun.catch(note)
    return this.query(statement)
  }

  commit(): Promise<pg.QueryResult> {
    return this.#add({ text: 'COMMIT' })
  }

  async rollback(): Promise<void> {
    this.#send()
    await this.#client.query('ROLLBACK')
  }

  query(statement: Statement): Promise<pg.QueryResult> {
    if (isGrouped(statement)) return this.#add(statement)
    this.#send()
    return this.#client.query(statement)
  }

  #add(statement: Statement): Promise<pg.QueryResult> {
    if (this.#parts.length === 0) process.nextTick(() => this.#send())
    return new Promise((resolve, reject) => {
      this.#parts.push(new Part(statement, (error, result) => (error ? reject(error) : resolve(result))))
    })
  }

  #send(): void {
    if (this.#parts.length === 0) return
    const group = new StatementGroup(this.#parts)
    this.#parts = []
    this.#client.query(group as unknown as pg.Submittable)
  }
}

/** Statements without name and values may contain several commands, which the extended protocol does not support. */
export const isGrouped = (statement: Statement): boolean => statement.name !== undefined || (statement.values?.length ?? 0) > 0
