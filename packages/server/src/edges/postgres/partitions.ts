// Keeps the partitions of the large tables: creates those ahead, and drops those that retention has emptied. Partitions are ranges of ids, and so of time.

import { setTimeout as delay } from 'node:timers/promises'
import { firstId, type IdKind, timeOfId } from '@callsign/contract/ids'
import pg from 'pg'
import type { Log } from '../../core/log.ts'
import type { Database, Sql, Tx } from '../../core/sql.ts'
import { dividedRanges, emptyRuns, lengthAfter, missingRanges, type Range, rangesBehind } from './partition-plan.ts'

/** Tables that are partitioned by an id of a kind in the column `key`. A table comes before those it references. */
const tables = [
  { name: 'attachments', key: 'id', kind: 'attachment' },
  { name: 'message_recipients', key: 'message_id', kind: 'message' },
  { name: 'messages', key: 'id', kind: 'message' },
  { name: 'raw_messages', key: 'id', kind: 'raw' },
] as const satisfies { name: string; key: string; kind: IdKind }[]
type Table = (typeof tables)[number]
/** The table whose rate decides on the length of new partitions. */
const leading = tables[2]

type Partition = Range & { name: string; rows: number; sizeBytes: number }

/**
 * The wait for a lock, well below PostgreSQL's time until it looks for a deadlock, because others queue behind. Each change is tried this often,
 * and then by the next run.
 */
const lockTimeout = '100ms'
const tries = 10
const pauseMs = 200
const lockNotAvailable = '55P03'

/** A row arrived in a partition that was empty, from a process whose clock is behind. */
class Refilled extends Error {}

export type Partitions = {
  /** Creates the partitions that the messages of the next weeks need. */
  extend: (at: Date) => Promise<void>
  /** Drops the partitions of the past that are empty, and returns their disk space at once. Returns their number. */
  release: (at: Date) => Promise<number>
  /** Cuts the first partition of empty tables at these times, if that was not done before, for rows that are about to be loaded. Throws when a table has rows. */
  divide: (cutsMs: number[]) => Promise<void>
  /** All that is due at this time: `extend`, `release`, and new estimates for tables as a whole, which PostgreSQL makes for partitions only. */
  keep: (at: Date) => Promise<void>
}

export function createPartitions(db: Database, log: Log): Partitions {
  /** Runs DDL in a transaction that others do not queue behind for long. False when it waited for a lock in vain, or a partition is not empty any more. */
  async function change(name: string, work: (tx: Tx) => Promise<void>): Promise<boolean> {
    for (let tried = 1; ; tried++) {
      try {
        await db.transact(async (tx) => {
          await tx.query({ text: `SET LOCAL lock_timeout = '${lockTimeout}'` })
          await work(tx)
        })
        return true
      } catch (error) {
        if (error instanceof Refilled) return false
        if ((error as { code?: string }).code !== lockNotAvailable) throw error
        if (tried === tries) {
          log.warn({ table: name }, 'partitions stay as they are for now, because other transactions hold locks')
          return false
        }
        await delay(pauseMs)
      }
    }
  }

  /** Runs a statement whose time grows with the rows. */
  const runLong = (text: string): Promise<number> =>
    db.transact(async (tx) => {
      await tx.query({ text: 'SET LOCAL statement_timeout = 0' })
      return (await tx.query({ text })).rowCount
    })

  async function merge(table: Table, run: Partition[], template: Partition): Promise<boolean> {
    const [first, last] = [run[0] as Partition, run.at(-1) as Partition]
    // The check of references to it is cheap only by up-to-date estimates.
    for (const { name } of run) await runLong(`ANALYZE ${quoted(name)}`)
    return change(table.name, async (tx) => {
      for (const { name } of run) {
        await tx.query({ text: `ALTER TABLE ${table.name} DETACH PARTITION ${quoted(name)}` })
        if ((await tx.query({ text: newestOf(table, name) })).rowCount > 0)
          throw new Refilled(`The partition ${name} is not empty any more.`)
        await tx.query({ text: `DROP TABLE ${quoted(name)}` })
      }
      await createPartition(tx, table, template.name, { fromMs: first.fromMs, toMs: last.toMs })
    })
  }

  const partitions: Partitions = {
    async extend(at) {
      // Partitions of all tables have the same bounds. Another table may lack those that the leading one has.
      const wanted = await planRanges(db, at)
      for (const table of tables.toReversed()) {
        const missingIn = async (sql: Sql) => {
          const last = (await listPartitions(sql, table)).at(-1) as Partition
          return { last, ranges: rangesBehind(wanted, last.toMs) }
        }
        if ((await missingIn(db)).ranges.length === 0) continue
        await change(table.name, async (tx) => {
          // Not two processes at once. Rows are written meanwhile.
          await tx.query({ text: `LOCK TABLE ${table.name} IN SHARE UPDATE EXCLUSIVE MODE` })
          const { last, ranges } = await missingIn(tx)
          for (const range of ranges) await createPartition(tx, table, last.name, range)
          tx.afterCommit(() => log.info({ table: table.name, partitions: ranges.length }, 'partitions created'))
        })
      }
    },

    async release(at) {
      let released = 0
      for (const table of tables) {
        const existing = await listPartitions(db, table)
        const examined = []
        for (const one of existing)
          examined.push({ ...one, isEmpty: one.toMs < at.getTime() && (await runLong(newestOf(table, one.name))) === 0 })
        for (const run of emptyRuns(examined, at.getTime())) {
          if (!(await merge(table, run, existing.at(-1) as Partition))) continue
          log.info({ table: table.name, partitions: run.map(({ name }) => name) }, 'empty partitions dropped')
          released += run.length
        }
      }
      return released
    },

    async divide(cutsMs) {
      for (const table of tables)
        await db.transact(async (tx) => {
          const [first] = (await listPartitions(tx, table)) as [Partition]
          const ranges = dividedRanges(first, cutsMs)
          if (ranges.length === 1) return
          await tx.query({ text: `ALTER TABLE ${table.name} DETACH PARTITION ${quoted(first.name)}` })
          if ((await tx.query({ text: newestOf(table, first.name) })).rowCount > 0) throw new Error(`The table ${table.name} is not empty.`)
          for (const range of ranges) await createPartition(tx, table, first.name, range)
          await tx.query({ text: `DROP TABLE ${quoted(first.name)}` })
        })
    },

    async keep(at) {
      await partitions.extend(at)
      await partitions.release(at)
      for (const { name } of tables) {
        const { rows } = await db.query<{ is_stale: boolean }>({
          text: `SELECT sum(greatest(c.reltuples, 0)) NOT BETWEEN p.reltuples * 0.7 AND greatest(p.reltuples * 1.4, 1000) AS is_stale
            FROM pg_class p JOIN pg_inherits i ON i.inhparent = p.oid JOIN pg_class c ON c.oid = i.inhrelid
            WHERE p.oid = to_regclass($1) GROUP BY p.reltuples`,
          values: [name],
        })
        if (rows[0]?.is_stale) await runLong(`ANALYZE ${name}`)
      }
    },
  }
  return partitions
}

const quoted = pg.escapeIdentifier
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')

/** The partitions of a table, oldest first. */
async function listPartitions(sql: Sql, table: Table): Promise<Partition[]> {
  const { rows } = await sql.query<{ name: string; bound: string | null; rows: number; size: number }>({
    text: `SELECT c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS bound, c.reltuples::float8 AS rows,
        pg_relation_size(c.oid)::float8 AS size
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1)`,
    values: [table.name],
  })
  // A partition without a bound was dropped by another process since the statement began.
  return rows
    .filter(({ bound }) => bound !== null)
    .map((row) => ({ name: row.name, ...toRange(row.bound), rows: row.rows, sizeBytes: row.size }))
    .sort((a, b) => a.toMs - b.toMs)
}

/** Reads `FOR VALUES FROM (MINVALUE) TO ('msg_…')`. */
function toRange(bound: string | null): Range {
  const [, from, to] = /FROM \((?:MINVALUE|'(\w+)')\) TO \('(\w+)'\)/.exec(bound ?? '') ?? []
  if (to === undefined) throw new Error(`A partition has the bound ${bound}, which is not a range of ids.`)
  return { fromMs: from === undefined ? Number.NEGATIVE_INFINITY : timeOfId(from), toMs: timeOfId(to) }
}

/** Finds the newest row of a partition, because retention deletes the oldest first. */
const newestOf = (table: Table, name: string): string => `SELECT 1 FROM ${quoted(name)} ORDER BY ${table.key} DESC LIMIT 1`

/** The ranges of the leading table's partitions, and further ones ahead. */
async function planRanges(db: Database, at: Date): Promise<Range[]> {
  const [partitions, { rows }] = await Promise.all([
    listPartitions(db, leading),
    db.query<{ id: string }>({ text: `SELECT id FROM ${leading.name} ORDER BY id LIMIT 1` }),
  ])
  const last = partitions.at(-1)
  if (last === undefined) throw new Error(`The table ${leading.name} has no partition.`)
  const lengthMs = lengthAfter(partitions, rows[0] ? timeOfId(rows[0].id) : at.getTime(), at.getTime())
  return [...partitions, ...missingRanges(last.toMs, lengthMs, at.getTime())]
}

/** Creates a partition with the columns, indexes and storage settings of another one. */
async function createPartition(tx: Tx, table: Table, template: string, range: Range): Promise<void> {
  const name = `${table.name}_${Number.isFinite(range.fromMs) ? dayOf(range.fromMs) : `until_${dayOf(range.toMs)}`}`
  const { rows } = await tx.query<{ storage: string | null; columns: string[] | null }>({
    text: `SELECT array_to_string(reloptions, ', ') AS storage, (SELECT array_agg(format('ALTER COLUMN %I SET (%s)', attname, array_to_string(attoptions, ', ')))
        FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND attoptions IS NOT NULL) AS columns
      FROM pg_class c WHERE c.oid = to_regclass($1)`,
    values: [quoted(template)],
  })
  const { storage, columns } = rows[0] as (typeof rows)[0]
  const bound = (ms: number) => (Number.isFinite(ms) ? `'${firstId(table.kind, ms)}'` : 'MINVALUE')
  await tx.query({ text: `CREATE TABLE ${quoted(name)} (LIKE ${quoted(template)} INCLUDING ALL)${storage ? ` WITH (${storage})` : ''}` })
  if (columns) await tx.query({ text: `ALTER TABLE ${quoted(name)} ${columns.join(', ')}` })
  await tx.query({
    text: `ALTER TABLE ${table.name} ATTACH PARTITION ${quoted(name)} FOR VALUES FROM (${bound(range.fromMs)}) TO (${bound(range.toMs)})`,
  })
}
