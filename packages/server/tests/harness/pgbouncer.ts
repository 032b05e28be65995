// A private PgBouncer in transaction mode on loopback, in front of an embedded PostgreSQL.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chooseAccounts } from '../../src/edges/postgres/embedded/account.ts'
import type { Connection } from '../../src/edges/postgres/servers.ts'
import { startDatabaseSwitch } from './database-switch.ts'
import { endProcess, findFreePort } from './peer-process.ts'

const program = process.env.CALLSIGN_TEST_PGBOUNCER ?? '/usr/sbin/pgbouncer'

/** Why there can be no PgBouncer here, or null. */
export const findPgBouncer = (): string | null =>
  spawnSync(program, ['--version']).status === 0
    ? null
    : `${program} is not there (apt install pgbouncer, or CALLSIGN_TEST_PGBOUNCER=program)`

/** Starts it. Databases of any name lead to those of the server. */
export async function startPgBouncer({ host, port, user }: Connection): Promise<{ port: number; stop: () => Promise<void> }> {
  const upstream = await startDatabaseSwitch({ host, port })
  const folder = mkdtempSync(join(tmpdir(), 'callsign-pgbouncer-'))
  chmodSync(folder, 0o755)
  const listenPort = await findFreePort()
  writeFileSync(join(folder, 'users'), `"${user}" ""\n`)
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=127.0.0.1 port=${upstream.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users')}
pool_mode = transaction
max_client_conn = 2000
default_pool_size = 20
server_idle_timeout = 10
`,
  )
  // PgBouncer refuses to run as root.
  const account = chooseAccounts(null)?.create
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(account && { uid: account.uid, gid: account.gid }),
  })
  await isListening(child)
  return {
    port: listenPort,
    stop: async () => {
      await endProcess(child)
      await upstream.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when its log says that it listens, and goes on to read the log. */
async function isListening(child: ChildProcess): Promise<void> {
  const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream })
  const seen: string[] = []
  const isUp = new Promise<void>((resolve) =>
    lines.on('line', (line) => {
      seen.push(line)
      if (line.includes('process up')) resolve()
    }),
  )
  const ended = once(child, 'exit').then(() => {
    throw new Error(`PgBouncer ended: ${seen.join('\n')}`)
  })
  ended.catch(() => {})
  await Promise.race([isUp, ended])
}
