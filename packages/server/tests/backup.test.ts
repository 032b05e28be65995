// Backup and restore as an operator runs them: beside a running server, between embedded and external databases, whole or not at all.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { createTransport } from 'nodemailer'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { migrate } from '../src/edges/postgres/migrate.ts'
import { generateKey } from '../src/features/account/keys/model.ts'
import { type Entry, packArchive, unpackArchive } from '../src/host/archive.ts'
import { restoreBackup } from '../src/host/restore.ts'
import { callsignd, makeDataDir, type Server, type Settings, startCallsignd } from './harness/callsignd.ts'
import { createDatabase, createEmptyDatabase, migrationsFolder } from './harness/database.ts'
import { waitFor } from './harness/wait.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function dataDir(): Promise<string> {
  const { path, remove } = await makeDataDir()
  cleanups.push(remove)
  return path
}

// biome-ignore lint/suspicious/noExplicitAny: answers of the API, whose shapes other tests check
type Json = any

async function api(server: { baseUrl: string }, key: string, method: string, path: string, body?: unknown): Promise<Json> {
  const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const response = await fetch(`${server.baseUrl}/api/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

const large = randomBytes(300_000)

/** A server with two agents, a thread between them, mail from outside, and a file too large for the database. */
async function fillServer(server: Server, key: string): Promise<void> {
  for (const handle of ['sales', 'support']) await api(server, key, 'POST', '/identities', { agent_handle: handle })
  const transport = createTransport({ host: '127.0.0.1', port: server.smtpPort as number, tls: { rejectUnauthorized: false } })
  await transport.sendMail({
    from: 'ada@example.com',
    to: 'sales@agents.localhost',
    subject: 'A\ttab, a \\ backslash and “quotes”',
    text: 'Line one\nline two \\N \\. \u{1f4ec}',
    attachments: [{ filename: 'large.bin', content: large }],
  })
  transport.close()
  await api(server, key, 'POST', '/mail/send', {
    agent: 'sales',
    to: ['support@agents.localhost'],
    subject: 'With a file',
    text: 'Here.',
    attachments: [{ filename: 'ours.bin', content: large.toString('base64') }],
  })
  await waitFor('the message between the agents', async () => {
    const { data } = await api(server, key, 'GET', '/mailboxes/support/messages')
    return data.length === 1
  })
  await waitFor('no job to be left', async () => {
    const { data } = await api(server, key, 'GET', '/mailboxes/sales/messages?direction=outbound')
    return data[0].status === 'delivered'
  })
}

/** Everything that clients can read, with the bytes of every attachment and raw message. Links are left out, because they change every hour. */
async function readEverything(server: { baseUrl: string }, key: string): Promise<Json> {
  const everything: Json = { me: await api(server, key, 'GET', '/me'), keys: await api(server, key, 'GET', '/keys') }
  for (const one of everything.keys.data) delete one.last_used_at
  for (const handle of ['sales', 'support']) {
    const { data } = await api(server, key, 'GET', `/mailboxes/${handle}/messages`)
    everything[handle] = []
    for (const { id } of data) {
      const message = await api(server, key, 'GET', `/mailboxes/${handle}/messages/${id}`)
      for (const attachment of message.attachments) {
        const url = new URL(attachment.url)
        const bytes = await fetch(`${server.baseUrl}${url.pathname}${url.search}`)
        expect(bytes.status).toBe(200)
        attachment.url = Buffer.from(await bytes.arrayBuffer()).toString('base64')
      }
      const raw = await fetch(`${server.baseUrl}/api/v1/mailboxes/${handle}/messages/${id}/raw`, {
        headers: { authorization: `Bearer ${key}` },
      })
      everything[handle].push({ message, raw: Buffer.from(await raw.arrayBuffer()).toString('base64') })
    }
  }
  return everything
}

/** The message of a restore in this process that is refused. */
async function refusalOf(file: string, settings: Settings): Promise<string> {
  const config = readConfig(settings)
  const error = await restoreBackup({ config, path: file, allowPlain: false }, createLog('silent'), Readable.from([])).then(
    () => null,
    (reason: Error) => reason,
  )
  return error?.message ?? 'it was restored'
}

/** Every row, without those about the backup, which are written once it is complete. */
async function allRows(url: string): Promise<Record<string, unknown[]>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query(
      "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace",
    )
    const rows: Record<string, unknown[]> = {}
    for (const { relname } of tables.rows) {
      if (['schema_migrations', 'backup_state'].includes(relname)) continue
      rows[relname] = (await client.query(`SELECT to_jsonb(t) AS row FROM ${relname} t ORDER BY 1`)).rows.map(({ row }) => row)
    }
    return rows
  } finally {
    await client.end()
  }
}

const filesBelow = async (path: string): Promise<string[]> =>
  existsSync(path)
    ? (await readdir(path, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).map((one) => one.name)
    : []

const unpack = async (path: string): Promise<Entry[]> => {
  const entries: Entry[] = []
  for await (const entry of unpackArchive(oneChunk(zstdDecompressSync(await readFile(path))))) entries.push(entry)
  return entries
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** An archive of these entries with a correct checksum. The text of the end entry is kept. */
async function pack(path: string, entries: Entry[]): Promise<void> {
  const { entries: _count, sha256: _sum, ...end } = JSON.parse((entries.at(-1) as Entry).bytes.toString())
  const chunks: Buffer[] = []
  const most = async function* () {
    yield* entries.slice(0, -1)
  }
  for await (const bytes of packArchive(most(), new Date(0), () => end)) chunks.push(bytes)
  await writeFile(path, zstdCompressSync(Buffer.concat(chunks)))
}

test('a backup of a running embedded server becomes an external installation, and goes back into an embedded one', async () => {
  const [source, target, back, files] = [await dataDir(), await dataDir(), await dataDir(), await dataDir()]
  const server = await startCallsignd({ CALLSIGN_DATA_DIR: source })
  cleanups.push(() => server.stop())
  const key = server.key as string
  await fillServer(server, key)
  const before = await readEverything(server, key)
  expect(before.sales).toHaveLength(2)

  const file = join(files, 'one.backup')
  const backup = await callsignd(['backup', file], { CALLSIGN_DATA_DIR: source })
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(backup.stdout).toMatch(/^backed up \d+ rows of \d+ tables and 3 files\. The file holds the keyring and .*, so keep it secret\n$/)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(files)).toEqual(['one.backup'])
  const again = await callsignd(['backup', file], { CALLSIGN_DATA_DIR: source })
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toBe(`callsignd: ${file} exists already: name a new file\n`)
  await server.stop()

  const database = await createEmptyDatabase()
  cleanups.push(database.drop)
  const external = { CALLSIGN_DATA_DIR: target, CALLSIGN_DATABASE_URL: database.url }
  expect(await callsignd(['restore', file], external)).toMatchObject({ code: 0, stderr: '' })
  expect((await stat(join(target, 'keyring', 'master'))).mode & 0o777).toBe(0o600)
  const moved = await startCallsignd(external)
  cleanups.push(() => moved.stop())
  expect(moved.key).toBeNull()
  // The signatures of links include their time.
  const rename = (everything: Json) =>
    JSON.parse(
      JSON.stringify(everything)
        .replaceAll(/http:\/\/(localhost|127\.0\.0\.1):\d+/g, 'http://here')
        .replaceAll(/expires=\d+&signature=[\w-]+/g, ''),
    )
  expect(rename(await readEverything(moved, key))).toEqual(rename(before))
  // The restored installation is live: new mail joins the restored threads.
  const reply = await api(moved, key, 'POST', `/mailboxes/support/messages/${before.support[0].message.id}/reply`, { text: 'Thanks.' })
  expect(reply.thread_id).toBe(before.support[0].message.thread_id)

  // Back again, through a pipe, beside the running server.
  const bytes: Buffer[] = []
  const piped = await callsignd(['backup', '-'], external, { onBytes: (chunk) => bytes.push(chunk) })
  expect(piped).toMatchObject({ code: 0, stdout: '' })
  await moved.stop()
  expect(await callsignd(['restore', '-'], { CALLSIGN_DATA_DIR: back }, { input: Buffer.concat(bytes) })).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect(await readdir(back)).not.toContainEqual(expect.stringMatching(/partial/))
  const home = await startCallsignd({ CALLSIGN_DATA_DIR: back })
  cleanups.push(() => home.stop())
  const after = await readEverything(home, key)
  expect(after.sales.at(-1).raw).toBe(before.sales.at(-1).raw)
  expect(after.support).toHaveLength(2)
})

describe('from one backup', () => {
  let files: string
  let backup: string
  let source: Settings
  let sourceRows: Record<string, unknown[]>
  /** A database with migrations only. */
  let migratedRows: Record<string, unknown[]>
  const dropAll: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    const [made, holder] = [await makeDataDir(), await makeDataDir()]
    const database = await createDatabase()
    files = holder.path
    dropAll.push(made.remove, holder.remove, database.drop)
    source = { CALLSIGN_DATA_DIR: made.path, CALLSIGN_DATABASE_URL: database.url }
    const key = generateKey()
    const server = await startCallsignd({ ...source, CALLSIGN_BOOTSTRAP_API_KEY: key })
    await fillServer(server, key)
    await server.stop()
    backup = join(files, 'source.backup')
    expect(await callsignd(['backup', backup], source)).toMatchObject({ code: 0 })
    sourceRows = await allRows(database.url)
    const fresh = await createDatabase()
    dropAll.push(fresh.drop)
    migratedRows = await allRows(fresh.url)
  })

  afterAll(async () => {
    for (const drop of dropAll) await drop()
  })

  const emptyExternal = () => externalOn(createEmptyDatabase)
  const migratedExternal = () => externalOn(createDatabase)

  async function externalOn(create: typeof createDatabase): Promise<{ settings: Settings; url: string; path: string }> {
    const database = await create()
    cleanups.push(database.drop)
    const path = await dataDir()
    return { settings: { CALLSIGN_DATA_DIR: path, CALLSIGN_DATABASE_URL: database.url }, url: database.url, path }
  }

  /** No row, no file and no keyring: as if the restore had never been tried. */
  async function expectUntouched({ url, path }: { url: string; path: string }): Promise<void> {
    expect(await allRows(url)).toEqual(migratedRows)
    expect(await filesBelow(join(path, 'blobs'))).toEqual([])
    expect(await filesBelow(join(path, 'keyring'))).toEqual([])
  }

  test('every row of every table comes back as it was', async () => {
    const target = await emptyExternal()
    expect(await callsignd(['restore', backup], target.settings)).toMatchObject({ code: 0, stderr: '' })
    const rows = await allRows(target.url)
    expect(rows).toEqual(sourceRows)
    expect(rows.messages?.length).toBeGreaterThan(2)
    expect(await filesBelow(join(target.path, 'blobs'))).toEqual(await filesBelow(join(source.CALLSIGN_DATA_DIR as string, 'blobs')))
  })

  test('it is a tar of the documented entries, in their order', async () => {
    const names = (await unpack(backup)).map(({ name }) => name)
    expect(names[0]).toBe('callsign.json')
    expect(names[1]).toBe('keyring/master')
    expect(names.slice(2, 5).every((name) => /^blobs\/(raw|attachments)\/org_\w+\/\w+$/.test(name))).toBe(true)
    expect(names[5]).toBe('database.json')
    expect(names.slice(6, -1).every((name) => /^tables\/[a-z_]+\/\d{8}$/.test(name))).toBe(true)
    expect(names.at(-1)).toBe('end.json')
    const tables = names.slice(6, -1).map((name) => name.split('/')[1])
    expect(tables.indexOf('organizations')).toBeLessThan(tables.indexOf('identities'))
    expect(tables.indexOf('threads')).toBeLessThan(tables.indexOf('messages'))
  })

  test('an installation with an organization is refused and left alone', async () => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    const settings = { CALLSIGN_DATA_DIR: await dataDir(), CALLSIGN_DATABASE_URL: database.url }
    expect(await callsignd(['init'], settings)).toMatchObject({ code: 0 })
    const before = await allRows(database.url)
    const refused = await callsignd(['restore', backup], settings)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toBe(
      'callsignd: this installation is in use already: restore into a new CALLSIGN_DATA_DIR, or an empty database\n',
    )
    expect(await allRows(database.url)).toEqual(before)
  })

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 2000)],
    ['changed in the middle', (bytes: Buffer) => flip(bytes, Math.floor(bytes.length / 2))],
    ['changed near the end', (bytes: Buffer) => flip(bytes, bytes.length - 40)],
    ['empty', () => Buffer.alloc(0)],
    ['something else', () => randomBytes(5000)],
    ['a tar cut at an entry', (bytes: Buffer) => zstdCompressSync(zstdDecompressSync(bytes).subarray(0, 512 * 3))],
    ['a tar with one byte of content changed', (bytes: Buffer) => zstdCompressSync(flip(zstdDecompressSync(bytes), 512 * 2000 + 100))],
  ])('a file that is %s changes nothing', async (_name, damage) => {
    const target = await migratedExternal()
    const damaged = join(await dataDir(), 'damaged.backup')
    await writeFile(damaged, damage(await readFile(backup)))
    expect(await refusalOf(damaged, target.settings)).toMatch(
      /^(the backup is damaged: .*|this is not a backup of Callsign(, or it is damaged)?)$/,
    )
    await expectUntouched(target)
  })

  test('rows that the database refuses take blobs and keyring back with them', async () => {
    const target = await emptyExternal()
    const entries = await unpack(backup)
    const rows = entries.find(({ name }) => name.startsWith('tables/messages/')) as Entry
    rows.bytes = Buffer.from(rows.bytes.toString().replace('\tinbound\t', '\tsideways\t'))
    const broken = join(await dataDir(), 'broken.backup')
    await pack(broken, entries)
    expect(await refusalOf(broken, target.settings)).toContain('violates check constraint')
    await expectUntouched(target)
    // And the same place takes the whole one.
    expect(await callsignd(['restore', backup], target.settings)).toMatchObject({ code: 0 })
    expect(await allRows(target.url)).toEqual(sourceRows)
  })

  test('a table that lost rows is noticed, and nothing is kept', async () => {
    const target = await emptyExternal()
    const entries = (await unpack(backup)).filter(({ name }) => !name.startsWith('tables/events/'))
    const short = join(await dataDir(), 'short.backup')
    await pack(short, entries)
    expect(await refusalOf(short, target.settings)).toBe('the backup is damaged: the table events has lost rows')
    await expectUntouched(target)
  })

  test('a backup of a newer version is refused by name', async () => {
    const target = await migratedExternal()
    const entries = await unpack(backup)
    const plan = entries.find(({ name }) => name === 'database.json') as Entry
    const content = JSON.parse(plan.bytes.toString())
    content.migrations.push({ version: 9999, name: '9999-tomorrow.sql', checksum: 'x' })
    plan.bytes = Buffer.from(JSON.stringify(content))
    const newer = join(await dataDir(), 'newer.backup')
    await pack(newer, entries)
    expect(await refusalOf(newer, target.settings)).toBe(
      'This backup was written by a newer version of Callsign (it has the migration 9999-tomorrow.sql). Restore it with that version or a later one.',
    )
    const head = JSON.parse((entries[0] as Entry).bytes.toString())
    ;(entries[0] as Entry).bytes = Buffer.from(JSON.stringify({ ...head, version: 2, callsign: '9.0.0' }))
    await pack(newer, entries)
    expect(await refusalOf(newer, target.settings)).toMatch(/made by a newer version of Callsign \(9\.0\.0\)/)
    await expectUntouched(target)
  })

  test('another keyring in the data directory is never replaced', async () => {
    const target = await emptyExternal()
    await mkdir(join(target.path, 'keyring'), { mode: 0o700 })
    const mine = `callsign-master-1:${randomBytes(32).toString('base64url')}\n`
    await writeFile(join(target.path, 'keyring', 'master'), mine, { mode: 0o600 })
    expect(await refusalOf(backup, target.settings)).toMatch(/master is another installation's master secret. Move it away/)
    expect(await readFile(join(target.path, 'keyring', 'master'), 'utf8')).toBe(mine)
    expect(await allRows(target.url)).toEqual(migratedRows)
    expect(await filesBelow(join(target.path, 'blobs'))).toEqual([])
  })

  test('a lost file is reported, and the rest is backed up', async () => {
    const copy = await dataDir()
    await mkdir(join(copy, 'keyring'), { mode: 0o700 })
    await copyFile(join(source.CALLSIGN_DATA_DIR as string, 'keyring', 'master'), join(copy, 'keyring', 'master'))
    const file = join(await dataDir(), 'poor.backup')
    const poor = await callsignd(['backup', file], { ...source, CALLSIGN_DATA_DIR: copy })
    expect(poor.code).toBe(1)
    expect(poor.stdout).toContain('warning: 3 files named by the database could not be found. The backup holds everything else.')
    const target = await emptyExternal()
    expect(await callsignd(['restore', file], target.settings)).toMatchObject({ code: 0 })
    expect(await allRows(target.url)).toEqual(sourceRows)
  })
})

test('a backup of an older version is migrated forward, also where the newer tables stand empty already', async () => {
  const old = await createEmptyDatabase()
  cleanups.push(old.drop)
  const db = connect({ connectionString: old.url }, { poolSize: 1, log: createLog('silent') })
  await migrate(db, { folder: migrationsFolder, log: createLog('silent'), through: 1 })
  await db.query({ text: `INSERT INTO organizations (id, name, created_at) VALUES ('org_old', 'Old one', '2026-01-02T03:04:05.123456Z')` })
  await db.close()
  const file = join(await dataDir(), 'old.backup')
  // The old database stays as it is: a backup before an upgrade must not be the upgrade.
  expect(await callsignd(['backup', file], { CALLSIGN_DATA_DIR: await dataDir(), CALLSIGN_DATABASE_URL: old.url })).toMatchObject({
    code: 0,
  })
  const accountTables = [
    'api_key_agents',
    'api_keys',
    'api_requests',
    'audit_log',
    'console_attempts',
    'console_challenges',
    'console_links',
    'console_passkeys',
    'console_sessions',
    'handles',
    'identities',
    'identity_metadata',
    'installation',
    'oauth_clients',
    'oauth_codes',
    'oauth_grants',
    'oauth_tokens',
    'organizations',
  ]
  expect(Object.keys(await allRows(old.url)).sort()).toEqual([...accountTables, 'users'])

  for (const target of [await createEmptyDatabase(), await createDatabase()]) {
    cleanups.push(target.drop)
    const settings = { CALLSIGN_DATA_DIR: await dataDir(), CALLSIGN_DATABASE_URL: target.url }
    expect(await callsignd(['restore', file], settings)).toMatchObject({ code: 0, stderr: '' })
    const rows = await allRows(target.url)
    expect(rows.organizations).toMatchObject([{ id: 'org_old', name: 'Old one', created_at: '2026-01-02T03:04:05.123456+00:00' }])
    expect(rows).toHaveProperty('messages', [])
  }
})

test('a backup while messages come and go holds a file for every row that names one', async () => {
  const database = await createDatabase()
  cleanups.push(database.drop)
  const settings = { CALLSIGN_DATA_DIR: await dataDir(), CALLSIGN_DATABASE_URL: database.url }
  const key = generateKey()
  const server = await startCallsignd({ ...settings, CALLSIGN_BOOTSTRAP_API_KEY: key })
  cleanups.push(() => server.stop())
  await api(server, key, 'POST', '/identities', { agent_handle: 'busy' })
  const content = randomBytes(40_000).toString('base64')
  const send = () =>
    api(server, key, 'POST', '/mail/send', {
      agent: 'busy',
      to: ['ada@example.com'],
      subject: 's',
      text: 't',
      attachments: [{ filename: 'f', content }],
    })
  const sent: string[] = []
  for (let i = 0; i < 40; i++) sent.push((await send()).id)
  let isOver = false
  let changes = 0
  const churn = (async () => {
    while (!isOver) {
      sent.push((await send()).id)
      await api(server, key, 'DELETE', `/mailboxes/busy/messages/${sent.shift()}`)
      changes++
    }
  })()
  const file = join(await dataDir(), 'busy.backup')
  const changesBefore = changes
  const backup = await callsignd(['backup', file], settings)
  const changesDuring = changes - changesBefore
  isOver = true
  await churn
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(changesDuring).toBeGreaterThan(5)
  const entries = await unpack(file)
  const blobs = new Set(entries.flatMap(({ name }) => (name.startsWith('blobs/') ? [name.slice(6)] : [])))
  const rows = Buffer.concat(entries.flatMap(({ name, bytes }) => (name.startsWith('tables/attachments/') ? [bytes] : []))).toString()
  const named = [...rows.matchAll(/attachments\/org_\w+\/\w+/g)].map(([match]) => match)
  // Between a send and a deletion there is one more.
  expect([40, 41]).toContain(named.length)
  expect(named.filter((name) => !blobs.has(name))).toEqual([])
})

const flip = (bytes: Buffer, at: number): Buffer => {
  const changed = Buffer.from(bytes)
  changed.writeUInt8((changed[at] as number) ^ 0x55, at)
  return changed
}
