// Records the statements that this process sends to PostgreSQL, by transaction.
import pg from 'pg'

export type Sent = { text: string; values: unknown[] }

type Wire = {
  parsedStatements: Record<string, string>
  parse: (statement: { name?: string; text: string }, ...more: unknown[]) => void
  bind: (binding: { statement?: string; values?: unknown[] }, ...more: unknown[]) => void
  query: (text: string) => void
}

/** Records the statements of every transaction that this process commits, the server's among them, as they are sent to PostgreSQL. */
export function recordTransactions(): { transactions: Sent[][]; stop: () => void } {
  const transactions: Sent[][] = []
  const open = new WeakMap<Wire, Sent[]>()
  const parsed = new WeakMap<Wire, Map<string, string>>()
  const wire = pg.Connection.prototype as unknown as Wire
  const { parse, bind, query } = wire

  function record(on: Wire, text: string, values: unknown[]): void {
    const current = open.get(on)
    if (text === 'BEGIN') open.set(on, [])
    else if (text === 'COMMIT' || text === 'ROLLBACK') {
      if (current && text === 'COMMIT') transactions.push(current)
      open.delete(on)
    } else if (current) current.push({ text, values })
    else transactions.push([{ text, values }])
  }

  wire.parse = function (this: Wire, statement, ...more) {
    const texts = parsed.get(this) ?? new Map<string, string>()
    parsed.set(this, texts.set(statement.name ?? '', statement.text))
    return parse.call(this, statement, ...more)
  }
  wire.bind = function (this: Wire, binding, ...more) {
    const name = binding.statement ?? ''
    const text = parsed.get(this)?.get(name) ?? this.parsedStatements[name]
    if (text === undefined) throw new Error(`the statement ${name} was sent without its text`)
    record(this, text, binding.values ?? [])
    return bind.call(this, binding, ...more)
  }
  wire.query = function (this: Wire, text) {
    record(this, text, [])
    return query.call(this, text)
  }
  return { transactions, stop: () => void Object.assign(wire, { parse, bind, query }) }
}
