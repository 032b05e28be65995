// Partitions of the large tables: partitions ahead, and the release of empty ones.
import { firstId } from '@callsign/contract/ids'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { anyOfIds, sortedIds } from '../src/core/sql.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { migrate } from '../src/edges/postgres/migrate.ts'
import { createPartitions } from '../src/edges/postgres/partitions.ts'
import { createDatabase, createEmptyDatabase, migrationsFolder } from './harness/database.ts'

const log = createLog('silent')
const dayMs = 86_400_000
const tables = ['attachments', 'message_recipients', 'messages', 'raw_messages']

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function open(create: typeof createDatabase): Promise<PostgresDatabase & { url: string }> {
  const { url, drop } = await create()
  cleanups.push(drop)
  const db = connect({ connectionString: url }, { poolSize: 4, log })
  cleanups.push(() => db.close())
  return Object.assign(db, { url })
}

async function openSession(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  cleanups.push(() => client.end())
  return client
}

/** A database with three partitions per table: until 110 days ago, until 10 days ago, and after. */
async function openDivided(): Promise<Awaited<ReturnType<typeof open>>> {
  const db = await open(createDatabase)
  await createPartitions(db, log).divide([Math.floor(Date.now() / dayMs - 110) * dayMs])
  return db
}

const owner = { organization: 'org_1', identity: 'ident_1', mailbox: 'mbx_1', thread: 'thrd_1' }

/** A mailbox with one thread. */
async function createMailbox(db: PostgresDatabase): Promise<void> {
  await db.query({ text: `INSERT INTO organizations (id, name, created_at) VALUES ('${owner.organization}', 'Acme', now())` })
  await db.query({ text: `INSERT INTO handles (handle, organization_id, created_at) VALUES ('ann', '${owner.organization}', now())` })
  await db.query({
    text: `INSERT INTO identities (id, organization_id, agent_handle, created_at, updated_at) VALUES ('${owner.identity}', '${owner.organization}', 'ann', now(), now())`,
  })
  await db.query({
    text: `INSERT INTO addresses (id, organization_id, identity_id, address, created_at)
      VALUES ('addr_1', '${owner.organization}', '${owner.identity}', 'ann@agents.localhost', now())`,
  })
  await db.query({
    text: `INSERT INTO mailboxes (id, organization_id, identity_id, address, created_at, updated_at)
      VALUES ('${owner.mailbox}', '${owner.organization}', '${owner.identity}', 'ann@agents.localhost', now(), now())`,
  })
  await db.query({
    text: `INSERT INTO threads (id, organization_id, mailbox_id, subject, snippet, message_count, last_message_at, last_message_id, created_at)
      VALUES ('${owner.thread}', '${owner.organization}', '${owner.mailbox}', 's', 's', 1, now(), '', now())`,
  })
}

let made = 0

/** A received message with its raw bytes, a recipient and a file. Returns the id of the message. */
async function addMessage(db: Pick<PostgresDatabase, 'query'>, atMs: number): Promise<string> {
  const suffix = String(++made).padStart(6, '0')
  const [id, raw, file] = (['message', 'raw', 'attachment'] as const).map((kind) => firstId(kind, atMs).slice(0, -6) + suffix) as [
    string,
    string,
    string,
  ]
  await db.query({
    text: `WITH r AS (INSERT INTO raw_messages (id, organization_id, size_bytes, sha256, bytes, created_at)
        VALUES ($2, $4, 3, sha256('raw'), 'raw', now())),
      m AS (INSERT INTO messages (id, organization_id, mailbox_id, thread_id, direction, status, from_address, subject, snippet, text, html, extracted_text,
        is_read, size_bytes, attachment_count, raw_id, created_at, updated_at, search)
        VALUES ($1, $4, $5, $6, 'inbound', 'received', 'a@b.example', 's', 's', 't', '', 't', false, 3, 1, $2, now(), now(), '')),
      t AS (INSERT INTO message_recipients (organization_id, message_id, position, kind, address) VALUES ($4, $1, 0, 'to', 'a@b.example'))
      INSERT INTO attachments (id, organization_id, message_id, position, filename, content_type, size_bytes, raw_start, raw_end, encoding, created_at)
        VALUES ($3, $4, $1, 0, 'f', 'text/plain', 3, 0, 3, 'identity', now())`,
    values: [id, raw, file, owner.organization, owner.mailbox, owner.thread],
  })
  return id
}

type Found = { name: string; rows: number; from: string; to: string }

/** The partitions of a table with the times of their bounds, oldest first. */
async function partitionsOf(db: PostgresDatabase, table: string): Promise<Found[]> {
  const { rows } = await db.query<{ name: string; bound: string }>({
    text: `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = to_regclass($1)`,
    values: [table],
  })
  const found: Found[] = []
  for (const { name, bound } of rows) {
    const [, from, to] = /FROM \((MINVALUE|'[a-z]+_.{10}).*TO \('[a-z]+_(.{10})/.exec(bound) as RegExpExecArray
    const { rows: counted } = await db.query<{ count: number }>({ text: `SELECT count(*) AS count FROM ${name}` })
    found.push({ name, rows: counted[0]?.count ?? -1, from: (from as string).slice(-10), to: to as string })
  }
  return found.sort((a, b) => (a.to < b.to ? -1 : 1))
}

const timeOf = (ms: number): string => firstId('message', ms).slice(4, 14)
const rowsOf = async (db: PostgresDatabase, table: string) => (await partitionsOf(db, table)).map(({ rows }) => rows)

test.each([
  ['da', false],
  ['cs', false],
  ['en', true],
])('a database that sorts by the rules of the language %s has tables: %s', async (language, isSuitable) => {
  const db = await open(() => createEmptyDatabase(`LOCALE_PROVIDER icu ICU_LOCALE '${language}'`))
  const migrated = migrate(db, { folder: migrationsFolder, log, through: 1 })
  await (isSuitable ? migrated : expect(migrated).rejects.toThrow("LOCALE 'C.UTF-8'"))
  const { rows } = await db.query({ text: `SELECT to_regclass('schema_migrations') IS NOT NULL AS has_tables` })
  expect(rows).toEqual([{ has_tables: isSuitable }])
})

describe('partitions ahead', () => {
  test('are the same for every table, and created once by several processes', async () => {
    const db = await openDivided()
    const last = (await partitionsOf(db, 'messages')).at(-1) as Found
    const at = new Date(Date.now() + 70 * dayMs)
    await Promise.all([createPartitions(db, log).extend(at), createPartitions(db, log).extend(at)])
    await createPartitions(db, log).extend(at)
    const [, ...bounds] = (await partitionsOf(db, 'messages')).filter(({ to }) => to >= last.to)
    expect(bounds.map(({ from }) => from)).toEqual([last.to])
    for (const table of tables) {
      const found = (await partitionsOf(db, table)).filter(({ to }) => to > last.to)
      expect(found.map(({ from, to }) => [from, to])).toEqual(bounds.map(({ from, to }) => [from, to]))
    }
    expect(timeOf(at.getTime() + 30 * dayMs) <= (bounds[0] as Found).to).toBe(true)
  })

  test('have the indexes, references and storage settings of the others', async () => {
    const db = await openDivided()
    const last = (await partitionsOf(db, 'messages')).at(-1) as Found
    await createPartitions(db, log).extend(new Date(Date.now() + 70 * dayMs))
    const next = (await partitionsOf(db, 'messages')).at(-1) as Found
    expect(next.name).not.toBe(last.name)
    const shapeOf = async (name: string) =>
      (
        await db.query({
          text: `SELECT reloptions::text, (SELECT count(*) FROM pg_index WHERE indrelid = c.oid) AS indexes,
              (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid) AS triggers,
              (SELECT array_agg(pg_get_constraintdef(oid) ORDER BY pg_get_constraintdef(oid))::text FROM pg_constraint WHERE conrelid = c.oid AND contype IN ('c', 'f')) AS constraints,
              (SELECT array_agg(attname || attstorage::text || coalesce(attoptions::text, '') ORDER BY attnum)::text FROM pg_attribute
                WHERE attrelid = c.oid AND attnum > 0) AS columns
            FROM pg_class c WHERE oid = to_regclass($1)`,
          values: [name],
        })
      ).rows[0]
    expect(await shapeOf(next.name)).toEqual(await shapeOf(last.name))
    await createMailbox(db)
    const id = await addMessage(db, Date.now() + 80 * dayMs)
    expect((await db.query({ text: 'SELECT tableoid::regclass::text AS name FROM messages WHERE id = $1', values: [id] })).rows).toEqual([
      { name: next.name },
    ])
    await expect(db.query({ text: 'DELETE FROM raw_messages' })).rejects.toMatchObject({ code: '23503' })
    await db.query({ text: 'DELETE FROM messages' })
    expect(await Promise.all(['attachments', 'message_recipients'].map((table) => rowsOf(db, table)))).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ])
  })
})

test('reads and changes by id leave out the other partitions', async () => {
  const db = await openDivided()
  await createMailbox(db)
  const ids = [await addMessage(db, Date.now() - 150 * dayMs), await addMessage(db, Date.now())]
  const session = await openSession(db.url)
  await session.query('SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off')
  await session.query(`PREPARE found (text[]) AS SELECT id FROM messages WHERE ${anyOfIds('id', '$1')}`)
  await session.query(`PREPARE changed (text[]) AS UPDATE messages SET is_read = true WHERE ${anyOfIds('id', '$1')} RETURNING id`)
  const run = async (name: string, given: string[]) => {
    const list = `(ARRAY[${sortedIds(given).map((id) => `'${id}'`)}]::text[])`
    const { rows: plan } = await session.query(`EXPLAIN EXECUTE ${name} ${list}`)
    const removed = Number(/Subplans Removed: (\d)/.exec(plan.map((row) => row['QUERY PLAN']).join('\n'))?.[1] ?? 0)
    return { removed, found: (await session.query(`EXECUTE ${name} ${list}`)).rows.map(({ id }) => id).sort() }
  }
  for (const name of ['found', 'changed']) {
    for (const id of ids) expect(await run(name, [id])).toEqual({ removed: 2, found: [id] })
    expect(await run(name, [...ids.toReversed(), 'msg_', 'ZZZ', 'ä'])).toEqual({ removed: 0, found: ids })
    expect((await run(name, [])).found).toEqual([])
  }
})

describe('empty partitions', () => {
  test('of the past are dropped with their disk space, and the others stay', async () => {
    const db = await openDivided()
    await createMailbox(db)
    const partitions = createPartitions(db, log)
    const old = await addMessage(db, Date.now() - 150 * dayMs)
    const kept = await addMessage(db, Date.now() - 60 * dayMs)
    await addMessage(db, Date.now())
    expect(await rowsOf(db, 'messages')).toEqual([1, 1, 1])
    expect(await partitions.release(new Date())).toBe(0)

    const drop = async (id: string) => {
      const { rows } = await db.query<{ raw_id: string }>({ text: 'DELETE FROM messages WHERE id = $1 RETURNING raw_id', values: [id] })
      await db.query({ text: 'DELETE FROM raw_messages WHERE id = $1', values: [rows[0]?.raw_id] })
    }
    await drop(old)
    const sizeOf = async () =>
      (
        await db.query<{ size: number }>({
          text: `SELECT pg_relation_size((SELECT min(inhrelid) FROM pg_inherits WHERE inhparent = 'messages'::regclass))::int AS size`,
        })
      ).rows[0]?.size
    expect(await sizeOf()).toBeGreaterThan(0)
    expect(await partitions.release(new Date())).toBe(tables.length)
    expect(await rowsOf(db, 'messages')).toEqual([0, 1, 1])
    expect(await partitions.release(new Date())).toBe(0)

    await drop(kept)
    const [first, second, current] = (await partitionsOf(db, 'messages')) as [Found, Found, Found]
    expect(await partitions.release(new Date())).toBe(2 * tables.length)
    for (const table of tables) {
      const left = await partitionsOf(db, table)
      expect(left.map(({ from, to, rows }) => [from, to, rows])).toEqual([
        [first.from, second.to, 0],
        [current.from, current.to, 1],
      ])
    }
    // Older ids still have a place.
    await addMessage(db, Date.now() - 500 * dayMs)
    expect(await rowsOf(db, 'messages')).toEqual([1, 1])
  })

  test('with a row that came meanwhile, or a lock of another transaction, stay', async () => {
    const db = await openDivided()
    await createMailbox(db)
    const id = await addMessage(db, Date.now() - 150 * dayMs)
    await db.query({ text: 'DELETE FROM messages WHERE id = $1', values: [id] })
    const holder = await openSession(db.url)
    await holder.query('BEGIN')
    const late = await addMessage({ query: (statement) => holder.query(statement as pg.QueryConfig) as never }, Date.now() - 140 * dayMs)
    expect(await createPartitions(db, log).release(new Date())).toBe(0)
    await holder.query('COMMIT')
    expect(await createPartitions(db, log).release(new Date())).toBe(0)
    expect((await db.query({ text: 'SELECT id FROM messages' })).rows).toEqual([{ id: late }])
  })
})
