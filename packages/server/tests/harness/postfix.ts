// A private Postfix on loopback with its own configuration, queue and ports, separate from the system's. Mail for example.com goes to a maildir.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endProcess, findFreePort, greets } from './peer-process.ts'
import { waitFor } from './wait.ts'

const programs = '/usr/lib/postfix/sbin'
const nobody = 65534

/** Why there can be no Postfix here, or null. */
export function findPostfix(): string | null {
  if (!existsSync(join(programs, 'master'))) return 'Postfix is not installed (apt install postfix)'
  return process.getuid?.() === 0 ? null : 'Postfix can be started by root only'
}

const services = `
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
relay unix - - n - - smtp
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`

export type Postfix = {
  port: number
  /** Of its master process. */
  pid: number
  /** The messages in the mailboxes of example.com, unchanged and unordered. */
  mailbox: () => Buffer[]
  /** Changes settings while it runs. They also apply to queued mail. */
  reload: (changes: Record<string, string>) => void
  stop: () => Promise<void>
}

/** Starts a Postfix that accepts mail from this machine and passes mail for `domain` to the SMTP server on `port`. `more` overrides settings. */
export async function startPostfix(domain: string, port: number, more: Record<string, string> = {}): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-postfix-'))
  chmodSync(folder, 0o755)
  const owner = Number(execFileSync('id', ['-u', 'postfix']))
  const make = (name: string, uid: number): string => {
    const path = join(folder, name)
    mkdirSync(path, { recursive: true })
    chownSync(path, uid, uid === owner ? Number(execFileSync('id', ['-g', 'postfix'])) : uid)
    return path
  }
  for (const name of [
    'active',
    'bounce',
    'corrupt',
    'defer',
    'deferred',
    'flush',
    'hold',
    'incoming',
    'private',
    'saved',
    'trace',
    'maildrop',
    'public',
  ])
    make(`queue/${name}`, owner)
  chownSync(join(folder, 'queue'), 0, 0)
  make('queue/pid', 0)
  make('data', owner)
  const mail = make('mail', nobody)
  const listenPort = await findFreePort()
  writeFileSync(join(folder, 'master.cf'), `127.0.0.1:${listenPort} inet n - n - - smtpd${services}`)
  const settings = {
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    daemon_directory: programs,
    maillog_file: join(folder, 'mail.log'),
    maillog_file_prefixes: folder,
    myhostname: 'peer.example',
    mydestination: '',
    mynetworks: '127.0.0.0/8',
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    alias_maps: '',
    alias_database: '',
    smtpd_peername_lookup: 'no',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    relay_domains: domain,
    transport_maps: `inline:{ ${domain}=smtp:[127.0.0.1]:${port} }`,
    virtual_mailbox_domains: 'example.com',
    virtual_mailbox_base: mail,
    virtual_mailbox_maps: 'static:box/',
    virtual_minimum_uid: '1',
    virtual_uid_maps: `static:${nobody}`,
    virtual_gid_maps: `static:${nobody}`,
    ...more,
  }
  const writeSettings = (all: Record<string, string>) =>
    writeFileSync(
      join(folder, 'main.cf'),
      Object.entries(all)
        .map(([name, value]) => `${name} = ${value}\n`)
        .join(''),
    )
  writeSettings(settings)

  const master = spawn(join(programs, 'master'), ['-c', folder, '-d'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  master.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const stop = async () => {
    await endProcess(master)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await waitFor('Postfix to greet', () => {
      if (master.exitCode !== null) throw new Error(`Postfix did not start: ${complaints}`)
      return greets(listenPort)
    })
  } catch (error) {
    const log = join(folder, 'mail.log')
    const reason = existsSync(log) ? readFileSync(log, 'utf8') : complaints
    await stop()
    throw new Error(`${(error as Error).message}\n${reason}`)
  }
  const arrived = join(mail, 'box', 'new')
  return {
    port: listenPort,
    pid: master.pid as number,
    mailbox: () => (existsSync(arrived) ? readdirSync(arrived).map((name) => readFileSync(join(arrived, name))) : []),
    reload(changes) {
      writeSettings({ ...settings, ...changes })
      master.kill('SIGHUP')
    },
    stop,
  }
}
