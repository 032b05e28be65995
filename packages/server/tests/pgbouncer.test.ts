// Behind PgBouncer in transaction mode: settings of sessions and prepared statements, which a pooler may drop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/edges/postgres/embedded/supervisor.ts'
import { findPgBouncer, startPgBouncer } from './harness/pgbouncer.ts'

const missing = findPgBouncer()
const log = createLog('silent')

describe.skipIf(missing !== null)(`PgBouncer${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'callsign-pooled-'))
  let server: EmbeddedPostgres
  let bouncer: { port: number; stop: () => Promise<void> }
  let url: string

  beforeAll(async () => {
    server = await startEmbedded({ dataDir: join(directory, 'data'), log, settings: { fsync: 'off' } })
    bouncer = await startPgBouncer(server.connection)
    url = `postgres://${server.connection.user}@127.0.0.1:${bouncer.port}/${server.connection.database}`
  })
  afterAll(async () => {
    await bouncer.stop()
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  test('a role without the settings is refused with the commands that make them, and these let it in', async () => {
    const database = connect({ connectionString: url }, { poolSize: 2, log })
    const refused = await database.query({ text: 'SELECT 1' }).catch((error: Error) => error.message)
    await database.close()
    const commands = String(refused).match(/ALTER ROLE [^;]+;/g) ?? []
    expect(commands.map((command) => /SET (\w+)/.exec(command)?.[1])).toEqual([
      'plan_cache_mode',
      'enable_seqscan',
      'statement_timeout',
      'idle_in_transaction_session_timeout',
    ])
    const admin = new pg.Client({ ...server.connection, ssl: false })
    await admin.connect()
    await admin.query(commands.join(' '))
    // As RECONNECT does: server connections that were opened before have the old settings.
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = $1', [
      'client backend',
    ])
    await admin.end()

    const allowed = connect({ connectionString: url }, { poolSize: 2, log })
    const { rows } = await allowed.query({
      text: `SELECT current_setting('timezone') AS zone, current_setting('plan_cache_mode') AS plans`,
    })
    expect(rows).toEqual([{ zone: 'UTC', plans: 'force_generic_plan' }])
    await allowed.close()
  })

  test('named statements work on every connection, in transactions and beside them', async () => {
    const database = connect({ connectionString: url }, { poolSize: 8, log })
    const named = (value: number) => ({ name: 'doubled', text: 'SELECT $1::int * 2 AS value', values: [value] })
    const many = Array.from({ length: 200 }, (_, index) => index)
    const results = await Promise.all(
      many.map(async (value) => {
        const statement = named(value)
        if (value % 2 === 1) return (await database.query<{ value: number }>(statement)).rows[0]?.value
        return database.transact(async (tx) => (await tx.query<{ value: number }>(statement)).rows[0]?.value)
      }),
    )
    expect(results).toEqual(many.map((value) => value * 2))
    await database.close()
  })
})
