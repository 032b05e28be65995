// Backups on a schedule: to a folder and to an S3 store, restored from both, encrypted, pruned, and never a danger to the server. The check
// before an upgrade, which asks for a recent one.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Decrypter, Encrypter } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Config, readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { sizeOfTables } from '../src/edges/postgres/diagnostics.ts'
import { tablesToRewrite } from '../src/edges/postgres/rewritten-tables.ts'
import { makeBackup } from '../src/host/backup.ts'
import { open, seal } from '../src/host/backup-cipher.ts'
import { backupName, createTarget, writeNewFile } from '../src/host/backup-targets.ts'
import { checkBackups } from '../src/host/doctor-backups.ts'
import { restoreBackup } from '../src/host/restore.ts'
import { createScheduledBackup } from '../src/host/scheduled-backup.ts'
import { checkUpgrade, describePlan } from '../src/host/upgrade-check.ts'
import { callsignd } from './harness/callsignd.ts'
import { createEmptyDatabase, migrationsFolder } from './harness/database.ts'
import { type S3Store, startS3Store } from './harness/s3-store.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { hasScript, skipReason, Terminal } from './harness/terminal.ts'

const hasAge = spawnSync('age', ['--version']).status === 0
/** Plain bytes of a chunk of the age format. */
const chunkBytes = 64 * 1024

const passphrase = 'correct horse battery staple'
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }

let harness: Harness
let store: S3Store
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callsign-backups-'))
  store = await startS3Store('bucket', 'us-east-1', credentials)
  harness = await startHarness()
  await harness.createAgent('saved')
  await harness.deliver({
    from: 'ada@example.org',
    to: 'saved@agents.localhost',
    subject: 'Keep me',
    text: 'Keep me',
    attachments: [{ filename: 'large.bin', content: Buffer.alloc(200_000, 9) }],
  })
})
afterAll(async () => {
  await harness.stop()
  await store.close()
  await rm(folder, { recursive: true })
})

const settingsOf = (kind: 'file' | 's3', more: Record<string, string> = {}): Record<string, string> => ({
  ...harness.environment,
  CALLSIGN_BACKUP_TARGET: kind === 'file' ? `file:${folder}` : 's3://bucket/nightly',
  CALLSIGN_BACKUP_KEEP: '2',
  CALLSIGN_S3_ENDPOINT: store.endpoint,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  ...(kind === 's3' ? { CALLSIGN_BACKUP_PASSPHRASE: passphrase } : {}),
  ...more,
})

function scheduleOf(config: Config) {
  const target = createTarget(config)
  if (!target) throw new Error('no target')
  const database = { connectionString: config.databaseUrl as string }
  return {
    target,
    backup: createScheduledBackup({ config, db: harness.db, database, log: createLog('silent') }, target),
  }
}

const makeDue = () => harness.db.query({ text: 'UPDATE backup_state SET started_at = NULL' })

/** Restores a backup into an empty installation, and returns the subjects and the keyring that it has. */
async function drill(path: string, settings: Record<string, string>, allowPlain = false) {
  const empty = await createEmptyDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'callsign-drill-'))
  const config = readConfig({ ...settings, CALLSIGN_DATABASE_URL: empty.url, CALLSIGN_DATA_DIR: dataDir })
  try {
    await restoreBackup({ config, path, allowPlain }, createLog('silent'), Readable.from([]))
    const db = connect({ connectionString: empty.url }, { poolSize: 1, log: createLog('silent') })
    const { rows } = await db.query<{ subject: string }>({ text: 'SELECT subject FROM messages' })
    await db.close()
    const blobs = (await readdir(join(dataDir, 'blobs'), { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
    return { subjects: rows.map((row) => row.subject), blobs: blobs.length, keyring: await readFile(join(dataDir, 'keyring', 'master')) }
  } finally {
    await empty.drop()
    await rm(dataDir, { recursive: true })
  }
}

describe.each(['file', 's3'] as const)('%s', (kind) => {
  test('a backup is made when it is due, restored, and the oldest are deleted', async () => {
    const settings = settingsOf(kind)
    const { backup, target } = scheduleOf(readConfig(settings))
    for (const at of ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'])
      await target.write(backupName(new Date(at)), Readable.from([Buffer.from('old')]))
    await makeDue()
    const name = await backup.runIfDue()
    expect(name).toMatch(/^callsign-\d{8}t\d{6}z\.backup$/)
    // The next one is due a day later.
    expect(await backup.runIfDue()).toBeNull()
    expect(await target.list()).toEqual(['callsign-20260102t000000z.backup', name])
    expect((await checkBackups(readConfig(settings), harness.db)).state).toBe('ok')

    const path = kind === 'file' ? join(folder, name as string) : `s3://bucket/nightly/${name}`
    const restored = await drill(path, settings)
    expect(restored).toMatchObject({ subjects: ['Keep me'], blobs: 1 })
    expect(restored.keyring.equals(await readFile(join(harness.dataDir, 'keyring', 'master')))).toBe(true)
  })
})

test('an encrypted backup needs its passphrase, and is refused when it was changed', async () => {
  const bytes = Buffer.concat(
    [...store.objects].flatMap(([key, { bytes }]) => (/backup\/\d{8}$/.test(key) && bytes.length > 3 ? [bytes] : [])),
  )
  expect(bytes.toString('latin1', 0, 32)).toBe('age-encryption.org/v1\n-> scrypt ')
  expect(bytes.includes('Keep me')).toBe(false)
  const last = [...store.objects.keys()]
    .map((key) => /callsign-\w+\.backup/.exec(key)?.[0])
    .filter(Boolean)
    .sort()
    .at(-1)
  expect(await refusalOf(`s3://bucket/nightly/${last}`, { CALLSIGN_BACKUP_PASSPHRASE: 'another passphrase' })).toContain(
    'is not that of this backup',
  )
  const path = join(folder, 'changed.backup')
  for (const change of [
    (copy: Buffer) => copy.subarray(0, -1),
    (copy: Buffer) => Buffer.concat([copy, Buffer.alloc(4)]),
    (copy: Buffer) => {
      copy[copy.length - 40] = (copy[copy.length - 40] as number) ^ 1
      return copy
    },
  ]) {
    await writeFile(path, change(Buffer.from(bytes)))
    expect(await refusalOf(path, {})).toMatch(/damaged|not that of this backup/)
  }
})

/** The sentence that refuses a restore, or "restored". */
const refusalOf = (path: string, more: Record<string, string>) =>
  drill(path, settingsOf('s3', more)).then(
    () => 'restored',
    (error: Error) => error.message,
  )

describe('a backup without encryption', () => {
  let plain: string
  beforeAll(async () => {
    plain = join(folder, 'plain.backup')
    const config = readConfig(settingsOf('file'))
    await makeBackup(config, { connectionString: config.databaseUrl as string }, (bytes) => writeNewFile(plain, bytes))
  })

  test('is refused where a passphrase is set, in a file and in a bucket, until the operator allows it', async () => {
    const refusal = /^this backup is not encrypted, but CALLSIGN_BACKUP_PASSPHRASE is set: add --allow-unencrypted/
    expect(await refusalOf(plain, {})).toMatch(refusal)
    const target = createTarget(readConfig(settingsOf('s3')))
    const name = backupName(new Date('2025-01-01T00:00:00Z'))
    await target?.write(name, Readable.from([await readFile(plain)]))
    expect(await refusalOf(`s3://bucket/nightly/${name}`, {})).toMatch(refusal)
    // Bytes before the first line of the format do not make an encrypted backup of it.
    const shifted = join(folder, 'shifted.backup')
    await writeFile(shifted, Buffer.concat([Buffer.from('\n'), await sealed([await readFile(plain)])]))
    expect(await refusalOf(shifted, {})).toMatch(refusal)
    expect(await drill(plain, settingsOf('s3'), true)).toMatchObject({ subjects: ['Keep me'] })
  })

  test('is restored without a passphrase, and by the command with its flag', async () => {
    expect(await drill(plain, settingsOf('file'))).toMatchObject({ subjects: ['Keep me'] })
    const empty = await createEmptyDatabase()
    const dataDir = await mkdtemp(join(tmpdir(), 'callsign-allowed-'))
    const settings = { CALLSIGN_DATABASE_URL: empty.url, CALLSIGN_DATA_DIR: dataDir, CALLSIGN_BACKUP_PASSPHRASE: passphrase }
    const refused = await callsignd(['restore', plain], settings)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('add --allow-unencrypted')
    expect(await callsignd(['restore', plain, '--allow-unencrypted'], settings)).toMatchObject({ code: 0, stderr: '' })
    await empty.drop()
    await rm(dataDir, { recursive: true })
  })
})

/** The bytes of an encrypted file with these contents. */
async function sealed(chunks: Buffer[]): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of seal(Readable.from(chunks), passphrase)) pieces.push(piece)
  return Buffer.concat(pieces)
}

describe('the age format', () => {
  const content = Buffer.concat([0, 1, 2].map((index) => Buffer.alloc(chunkBytes, index)).concat(Buffer.from('end')))
  const opening = { passphrase, allowPlain: false }
  let file: Buffer
  beforeAll(async () => {
    file = await sealed([content])
  })

  const read = async (bytes: Buffer[]) => {
    const pieces: Buffer[] = []
    for await (const piece of open(Readable.from(bytes), opening)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  test('its library opens a backup, and a backup is opened that its library wrote', async () => {
    const decrypter = new Decrypter()
    decrypter.addPassphrase(passphrase)
    expect(content.equals(await decrypter.decrypt(file))).toBe(true)
    const encrypter = new Encrypter()
    encrypter.setPassphrase(passphrase)
    encrypter.setScryptWorkFactor(10)
    const theirs = Buffer.from(await encrypter.encrypt(content))
    expect(content.equals(await read([theirs]))).toBe(true)
    // Cut at any byte, the first line included.
    expect(content.equals(await read([theirs.subarray(0, 5), theirs.subarray(5, 30), theirs.subarray(30)]))).toBe(true)
  })

  test('chunks cannot be left out, repeated or moved, and no byte changed', async () => {
    const sealedBytes = chunkBytes + 16
    const last = 3 + 16
    const head = file.subarray(0, file.length - last - 3 * sealedBytes)
    const [one, two, three] = [0, 1, 2].map((index) => file.subarray(head.length + index * sealedBytes).subarray(0, sealedBytes))
    const end = file.subarray(-last)
    const [first, second, third] = [one, two, three] as [Buffer, Buffer, Buffer]
    expect(content.equals(await read([head, first, second, third, end]))).toBe(true)
    // Each attempt derives a key.
    for (const wrong of [
      [head, first, second, third],
      [head, second, first, third, end],
      [head, first, first, third, end],
      [head.subarray(0, -20), head.subarray(-16), first, second, third, end],
    ])
      await expect(read(wrong)).rejects.toThrow('the backup is damaged or incomplete')
  })

  test('a backup larger than memory allows is encrypted and decrypted as it streams', async () => {
    const piece = Buffer.alloc(1024 * 1024, 7)
    async function* large() {
      for (let index = 0; index < 96; index++) yield piece
    }
    const before = process.memoryUsage().arrayBuffers
    let [size, most] = [0, 0]
    for await (const bytes of open(seal(large(), passphrase), opening)) {
      size += bytes.length
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    expect(size).toBe(96 * piece.length)
    // Garbage included. Contents that are kept would be all of it.
    expect(most).toBeLessThan(64 * 1024 * 1024)
  })

  test.skipIf(!hasAge || !hasScript)(`age -d opens a backup${hasAge ? '' : ' (skipped: age is not installed)'}${skipReason}`, async () => {
    const [from, to] = [join(folder, 'ours.age'), join(folder, 'ours.plain')]
    await writeFile(from, file)
    const terminal = new Terminal('', {}, folder, `age -d -o ${to} ${from}`)
    await terminal.until('Enter passphrase')
    terminal.type(`${passphrase}\n`)
    expect(await terminal.ended).toBe(0)
    expect(content.equals(await readFile(to))).toBe(true)
  })
})

test('a backup that fails is recorded, tried again an hour later, and stops nothing', async () => {
  const settings = settingsOf('s3')
  const { backup, target } = scheduleOf(readConfig(settings))
  const before = await target.list()
  await makeDue()
  store.faults.push(...Array<number>(8).fill(503))
  expect(await backup.runIfDue()).toBeNull()
  store.faults.length = 0
  expect(await target.list()).toEqual(before)
  const finding = await checkBackups(readConfig(settings), harness.db)
  expect(finding).toMatchObject({ state: 'attention', text: expect.stringContaining('S3 PUT failed: 503') })
  const { rows } = await harness.db.query<{ minutes: number }>({
    text: `SELECT round(extract(epoch FROM now() - started_at) / 60)::int AS minutes FROM backup_state`,
  })
  expect(rows[0]?.minutes).toBeGreaterThan(23 * 60 - 2)
  expect(rows[0]?.minutes).toBeLessThan(23 * 60 + 2)
  await harness.expectApi(200, 'GET', '/me')
  await backup.stop()
})

test('only one of two processes makes a backup', async () => {
  const [one, other] = [scheduleOf(readConfig(settingsOf('file'))), scheduleOf(readConfig(settingsOf('file')))]
  await makeDue()
  const names = await Promise.all([one.backup.runIfDue(), other.backup.runIfDue()])
  expect(names.filter((name) => name !== null)).toHaveLength(1)
})

test('settings that leave the keyring readable in a bucket are refused', () => {
  expect(() => readConfig(settingsOf('s3', { CALLSIGN_BACKUP_PASSPHRASE: '' }))).toThrow('CALLSIGN_BACKUP_PASSPHRASE')
  expect(() => readConfig(settingsOf('file', { CALLSIGN_BACKUP_PASSPHRASE: 'short' }))).toThrow('12 characters')
})

describe('upgrade --check', () => {
  test('names the running version, the migrations with their cost, the last backup and wrong settings', async () => {
    const port = new URL(harness.baseUrl).port
    const config = readConfig({ ...harness.environment, CALLSIGN_PORT: port })
    const ready = await checkUpgrade(config, createLog('silent'), [])
    expect(ready).toMatchObject({ running_version: ready.version, migrations: [], disk_needed_bytes: 0, problems: [] })
    expect(describePlan(ready).at(-1)).toBe('Ready: stop the server, start this version.')

    await harness.db.query({ text: `UPDATE backup_state SET succeeded_at = now() - interval '25 hours'` })
    const wrong = await checkUpgrade(config, createLog('silent'), [
      { name: 'CALLSIGN_POTR', renamedTo: null },
      { name: 'CALLSIGN_OLD', renamedTo: 'CALLSIGN_NEW' },
    ])
    expect(wrong.problems).toEqual([
      'CALLSIGN_POTR is not a setting of this version: remove or correct it.',
      'CALLSIGN_OLD has been renamed: set CALLSIGN_NEW instead.',
      'The last backup is more than a day old, or there is none: run callsignd backup FILE.',
    ])

    const { rows } = await harness.db.query<{ version: number; name: string; checksum: string }>({
      text: `DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations) RETURNING version, name, checksum`,
    })
    const [last] = rows
    const pending = await checkUpgrade(config, createLog('silent'), [])
    const tables = tablesToRewrite(await readFile(join(migrationsFolder, last?.name as string), 'utf8'))
    const bytes = await sizeOfTables(harness.db, tables)
    expect(pending.migrations).toEqual([{ name: last?.name, is_online: bytes === 0, tables, bytes }])
    expect(pending.disk_needed_bytes).toBe(2 * bytes)
    await harness.db.query({
      text: 'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, now())',
      values: [last?.version, last?.name, last?.checksum],
    })
  })

  test('a database of a newer version is a problem', async () => {
    await harness.db.query({ text: `INSERT INTO schema_migrations VALUES (9999, '9999-later.sql', 'x', now())` })
    const plan = await checkUpgrade(readConfig(harness.environment), createLog('silent'), [])
    await harness.db.query({ text: 'DELETE FROM schema_migrations WHERE version = 9999' })
    expect(plan.problems).toEqual([expect.stringContaining('newer version')])
  })

  test('separates migrations that work on existing rows from the others', () => {
    expect(
      tablesToRewrite('CREATE TABLE new (id text); CREATE INDEX new_id ON new (id); ALTER TABLE old ADD COLUMN a text DEFAULT 1;'),
    ).toEqual([])
    const sql = `CREATE UNIQUE INDEX messages_x ON messages (id); -- CREATE INDEX ON comments (id)
      ALTER TABLE drafts ALTER COLUMN a TYPE bigint;
      UPDATE threads SET a = 1;
      ALTER TABLE mailboxes ADD CONSTRAINT x CHECK (true);
      ALTER TABLE domains ADD CONSTRAINT x CHECK (true) NOT VALID;`
    expect(tablesToRewrite(sql)).toEqual(['messages', 'drafts', 'mailboxes', 'threads'])
  })
})
