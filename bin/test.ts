// Runs the static checks and then every test, or only the test files that the arguments name. Arguments go to Vitest, except --external, which
// runs the tests against a PostgreSQL server of the machine, and --pooled, which puts PgBouncer in transaction mode before the database.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createLog } from '../packages/server/src/core/log.ts'
import { chooseAccounts } from '../packages/server/src/edges/postgres/embedded/account.ts'
import { launch } from '../packages/server/src/edges/postgres/embedded/process.ts'

type Server = { url: string; stop: () => Promise<void> }

const root = join(import.meta.dirname, '..')
const isExternal = process.argv.includes('--external')
const isPooled = process.argv.includes('--pooled')
const vitestArguments = process.argv.slice(2).filter((argument) => !['--external', '--pooled'].includes(argument))
const isEverything = vitestArguments.every((argument) => argument.startsWith('-'))

process.exitCode =
  (isEverything ? await run('bin/check.ts', []) : 0) ||
  (isExternal ? await testExternal() : await test(isPooled ? { CALLSIGN_TEST_POOLED: '1' } : {}))

function run(script: string, args: string[], environment: Record<string, string> = {}): Promise<number> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, script), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

function test(environment: Record<string, string>): Promise<number> {
  return run('node_modules/vitest/vitest.mjs', ['run', ...vitestArguments], environment)
}

async function testExternal(): Promise<number> {
  const given = process.env.CALLSIGN_DATABASE_URL
  const server: Server = given ? { url: given, stop: async () => {} } : await startInstalled()
  try {
    return await test({ CALLSIGN_TEST_DATABASE_URL: server.url })
  } finally {
    await server.stop()
  }
}

/** Starts the machine's own PostgreSQL on a free port, in a temporary directory, with a password. */
async function startInstalled(): Promise<Server> {
  const programs = findInstalled()
  const account = chooseAccounts(null)?.create ?? null
  const identity = account ? { uid: account.uid, gid: account.gid } : {}
  const directory = mkdtempSync(join(tmpdir(), 'callsign-external-'))
  chmodSync(directory, 0o711)
  const data = join(directory, 'data')
  mkdirSync(data, { mode: 0o700 })
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account) for (const path of [data, passwordFile]) chownSync(path, account.uid, account.gid)
  const initdb = [
    '-D',
    data,
    '--username=callsign',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  const made = spawnSync(programs.initdb, initdb, { ...identity, cwd: '/', encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`${programs.initdb} failed: ${made.stderr || made.error?.message}`)
  const port = await findFreePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    fsync: 'off',
    log_min_messages: 'log',
  }
  const server = await launch({ programs, directory: data, account, settings, log: createLog('warn') })
  console.log(`tests run against ${programs.version}`)
  return {
    url: `postgres://callsign:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The newest PostgreSQL of Debian's packages, or the one on PATH. */
function findInstalled(): { initdb: string; postgres: string; version: string } {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const directories = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(delimiter)]
  for (const directory of directories) {
    const [initdb, postgres] = [join(directory, 'initdb'), join(directory, 'postgres')]
    if (!existsSync(initdb) || !existsSync(postgres)) continue
    return { initdb, postgres, version: spawnSync(postgres, ['--version'], { encoding: 'utf8' }).stdout.trim() }
  }
  console.error(
    'No PostgreSQL server is installed on this machine. Set CALLSIGN_DATABASE_URL, or install one (Debian: apt install postgresql).',
  )
  process.exit(1)
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
