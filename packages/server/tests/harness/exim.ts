// A private Exim on loopback with its own configuration, spool and port, separate from the system's. Mail for fine@ and full@example.com goes to
// maildirs.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endProcess, findFreePort, greets } from './peer-process.ts'
import { waitFor } from './wait.ts'

/** Exim's package cannot be installed beside Postfix's, but unpacked anywhere (`dpkg -x`) its program does. */
const program = process.env.CALLSIGN_TEST_EXIM ?? '/usr/sbin/exim4'
/** The user that Debian builds into it. */
const user = 'Debian-exim'

/** Why there can be no Exim here, or null. */
export function findExim(): string | null {
  if (!existsSync(program)) return `${program} is not there (apt install exim4-daemon-light, or CALLSIGN_TEST_EXIM=program)`
  if (process.getuid?.() !== 0) return 'Exim can be started by root only'
  const { status, stdout, stderr } = spawnSync(program, ['-C', '/dev/null', '-bV'], { encoding: 'utf8' })
  return status === 0 ? null : `Exim does not run: ${(stderr || stdout).trim()}`
}

export type Exim = {
  port: number
  /** The messages that fine@example.com has got, in no order. */
  mailbox: () => Buffer[]
  /** Restarts it with another retry limit, which also applies to queued mail. */
  restart: (tryFor: string) => Promise<void>
  stop: () => Promise<void>
}

/**
 * Starts an Exim that accepts all mail from this machine and passes mail for `domain` to the SMTP server on `port`. Connections to gone.example are
 * refused, and full@example.com has room for 1000 octets. Failing deliveries are retried every second, warned about after one second, and given up
 * after `tryFor`.
 */
export async function startExim(domain: string, port: number, tryFor: string): Promise<Exim> {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-exim-'))
  chmodSync(folder, 0o755)
  const [uid, gid] = [Number(execFileSync('id', ['-u', user])), Number(execFileSync('id', ['-g', user]))]
  const [spool, mail] = ['spool', 'mail'].map((name) => {
    const path = join(folder, name)
    mkdirSync(path)
    chownSync(path, uid, gid)
    return path
  }) as [string, string]
  const listenPort = await findFreePort()
  // The hosts differ, not only the ports, because mail that waits for a host goes down any connection to it.
  const route = (name: string, domains: string, host: string) => `
${name}:
  driver = manualroute
  domains = ${domains}
  route_list = * ${host} byname
  self = send
  transport = smtp
  no_more`
  const box = (name: string, quota: string) => `
${name}:
  driver = appendfile
  directory = ${join(mail, name)}
  maildir_format
  quota = ${quota}
  user = ${user}`
  const writeConfiguration = (time: string) =>
    writeFileSync(
      join(folder, 'exim.conf'),
      `exim_path = ${program}
primary_hostname = peer.example
spool_directory = ${spool}
log_file_path = ${spool}/%slog
pid_file_path = ${spool}/pid
daemon_smtp_ports = ${listenPort}
local_interfaces = 127.0.0.1
deliver_drop_privilege
acl_smtp_rcpt = accept
acl_smtp_data = accept
delay_warning = 1s
host_lookup =
tls_advertise_hosts =
begin routers${route('home', domain, `127.0.0.1::${port}`)}${route('gone', 'gone.example', '127.0.0.2::1')}
boxes:
  driver = accept
  domains = example.com
  local_parts = fine : full
  transport = $local_part_data
begin transports
smtp:
  driver = smtp
${box('fine', '0')}${box('full', '1000')}
begin retry
* * F,${time},1s
`,
    )

  let daemon: ChildProcess
  async function start(time: string): Promise<void> {
    writeConfiguration(time)
    daemon = spawn(program, ['-C', join(folder, 'exim.conf'), '-bdf', '-q1s'], { stdio: ['ignore', 'ignore', 'pipe'] })
    let complaints = ''
    daemon.stderr?.on('data', (chunk) => {
      complaints += chunk
    })
    await waitFor('Exim to greet', () => {
      if (daemon.exitCode !== null) throw new Error(`Exim did not start: ${complaints}`)
      return greets(listenPort)
    })
  }
  const stop = async () => {
    await endProcess(daemon)
    rmSync(folder, { recursive: true, force: true })
  }
  await start(tryFor).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  const arrived = join(mail, 'fine', 'new')
  return {
    port: listenPort,
    mailbox: () => (existsSync(arrived) ? readdirSync(arrived).map((name) => readFileSync(join(arrived, name))) : []),
    async restart(time) {
      await endProcess(daemon)
      await start(time)
    },
    stop,
  }
}
