// callsignd doctor on healthy and sick installations, and the commands that say how things stand.
import { once } from 'node:events'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { connect } from '../src/edges/postgres/connect.ts'
import { migrate } from '../src/edges/postgres/migrate.ts'
import { callsignd, makeDataDir, type Settings, startCallsignd } from './harness/callsignd.ts'
import { createCertificate } from './harness/certificate.ts'
import { createDatabase, createEmptyDatabase, migrationsFolder } from './harness/database.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function dataDir(): Promise<string> {
  const { path, remove } = await makeDataDir()
  cleanups.push(remove)
  return path
}

/** Settings with free ports and an external database, migrated unless `isEmpty`. */
async function external(isEmpty = false): Promise<Settings & { CALLSIGN_DATA_DIR: string; CALLSIGN_DATABASE_URL: string }> {
  const database = await (isEmpty ? createEmptyDatabase() : createDatabase())
  cleanups.push(database.drop)
  return { CALLSIGN_PORT: '0', CALLSIGN_SMTP_PORT: '0', CALLSIGN_DATA_DIR: await dataDir(), CALLSIGN_DATABASE_URL: database.url }
}

async function query(url: string, text: string): Promise<void> {
  const db = connect({ connectionString: url }, { poolSize: 1, log: createLog('silent') })
  await db.query({ text }).finally(() => db.close())
}

/** A listener that sends this greeting to each connection. */
async function listen(greeting: string): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (greeting !== '') socket.write(greeting)
    // An HTTP client gets no answer but an end.
    else socket.on('data', () => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The sentences that need attention. Checks that the exit code and the last line agree with them. */
async function examine(settings: Settings): Promise<{ attention: string[]; text: string }> {
  const { code, stdout, stderr } = await callsignd(['doctor'], settings)
  expect(stderr).toBe('')
  const lines = stdout.trimEnd().split('\n')
  const attention = lines.flatMap((line) => /^ATTENTION (.*)$/.exec(line)?.[1] ?? [])
  expect(code).toBe(attention.length === 0 ? 0 : 1)
  const summary =
    attention.length === 0
      ? 'Everything is fine.'
      : attention.length === 1
        ? 'One thing needs attention.'
        : `${attention.length} things need attention.`
  expect(lines.at(-1)).toBe(summary)
  expect(lines.slice(0, -2).filter((line) => !/^(ok {8}|note {6}|ATTENTION )\S/.test(line))).toEqual([])
  return { attention, text: stdout }
}

describe('doctor', () => {
  test('before the first start it reports no errors and creates nothing', async () => {
    const parent = await dataDir()
    const { attention, text } = await examine({ CALLSIGN_PORT: '0', CALLSIGN_DATA_DIR: join(parent, 'data') })
    expect(attention).toEqual([])
    expect(text).toContain('The database does not exist yet. The first start creates it.')
    expect(text).toMatch(/The embedded PostgreSQL \(package [^)]+\) runs here\./)
    expect(await readdir(parent)).toEqual([])
  })

  test('beside a running server it recognizes its ports, and finds a missing file that rows name', async () => {
    const settings = await external()
    const server = await startCallsignd(settings)
    cleanups.push(() => server.stop())
    const ports = { CALLSIGN_PORT: String(server.httpPort), CALLSIGN_SMTP_PORT: String(server.smtpPort) }
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
    const post = (path: string, body: unknown) =>
      fetch(`${server.baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    await post('/identities', { agent_handle: 'one' })
    const content = Buffer.alloc(100_000, 'x').toString('base64')
    const sent = await post('/mail/send', {
      agent: 'one',
      to: ['a@example.com'],
      subject: 's',
      text: 't',
      attachments: [{ filename: 'f', content }],
    })
    expect(sent.status).toBe(201)

    const healthy = await examine({ ...settings, ...ports })
    expect(healthy.attention).toEqual([])
    expect(healthy.text).toContain(`HTTP: a running Callsign answers on port ${server.httpPort}.`)
    expect(healthy.text).toContain(`SMTP: a running Callsign answers on port ${server.smtpPort}.`)
    expect(healthy.text).toContain('All 1 sampled files exist.')
    expect(healthy.text).toContain('The tables are of this version.')

    await rm(join(settings.CALLSIGN_DATA_DIR, 'blobs'), { recursive: true })
    await mkdir(join(settings.CALLSIGN_DATA_DIR, 'blobs'))
    await query(
      settings.CALLSIGN_DATABASE_URL,
      `INSERT INTO jobs (id, organization_id, kind, subject, run_at, created_at) SELECT 'job_old', id, 'nobody-does-this', '', now() - interval '1 hour', now() FROM organizations`,
    )
    expect((await examine({ ...settings, ...ports })).attention).toEqual([
      'Jobs more than 5 minutes overdue: 1. Check that a server with the role worker is running.',
      '1 of 1 files that the database names are missing. Check CALLSIGN_BLOBS.',
    ])
  })

  test('ports in use by other programs are named with their settings', async () => {
    const [http, smtp] = [await listen(''), await listen('220 other.test ESMTP\r\n')]
    const { attention } = await examine({ ...(await external()), CALLSIGN_PORT: String(http), CALLSIGN_SMTP_PORT: String(smtp) })
    expect(attention).toEqual([
      `HTTP: another program uses port ${http} on 127.0.0.1. Stop it, or change CALLSIGN_PORT.`,
      `SMTP: another program uses port ${smtp} on 127.0.0.1. Stop it, or change CALLSIGN_SMTP_PORT.`,
    ])
  })

  test('permissions that are too open are reported', async () => {
    const settings = await external()
    expect(await callsignd(['init'], settings)).toMatchObject({ code: 0 })
    const path = settings.CALLSIGN_DATA_DIR
    await mkdir(join(path, 'keyring'), { recursive: true })
    await writeFile(join(path, 'keyring', 'master'), 'anything')
    await chmod(join(path, 'keyring', 'master'), 0o644)
    await chmod(path, 0o777)
    expect((await examine(settings)).attention).toEqual([
      `Other users may write to the data directory ${path}. Run: chmod go-w ${path}`,
      `Other users may open the keyring. Run: chmod 600 ${join(path, 'keyring', 'master')}`,
    ])
  })

  test('a database without its keyring, unreachable, not migrated or of a newer version is reported', async () => {
    const lost = await external()
    await query(lost.CALLSIGN_DATABASE_URL, `INSERT INTO organizations (id, name, created_at) VALUES ('org_x', 'X', now())`)
    expect((await examine(lost)).attention).toEqual([
      `The database is in use, but its keyring is not in ${lost.CALLSIGN_DATA_DIR}. Copy it from another node or a backup.`,
    ])

    const closed = { ...lost, CALLSIGN_DATABASE_URL: 'postgres://callsign:hush@127.0.0.1:1/none' }
    const { attention, text } = await examine(closed)
    expect(attention).toEqual([expect.stringMatching(/^The database cannot be used: The database is not available: .*ECONNREFUSED/)])
    expect(text).not.toContain('hush')

    const old = await external(true)
    const db = connect({ connectionString: old.CALLSIGN_DATABASE_URL }, { poolSize: 1, log: createLog('silent') })
    await migrate(db, { folder: migrationsFolder, log: createLog('silent'), through: 3 })
    await db.close()
    const pending = await examine(old)
    expect(pending.attention).toEqual([])
    expect(pending.text).toMatch(
      /The next start, or callsignd migrate, brings the tables up to date \(0004-work\.sql.*\)\. Make a backup first\./,
    )
    // The check changed nothing.
    expect((await examine(old)).text).toContain('0004-work.sql')

    await query(old.CALLSIGN_DATABASE_URL, `INSERT INTO schema_migrations VALUES (9999, '9999-tomorrow.sql', 'x', now())`)
    expect((await examine(old)).attention).toEqual([expect.stringContaining('written by a newer version of Callsign')])
  })

  test('the certificate of SMTP is checked as good, of another key, expired, soon to expire and unreadable', async () => {
    const settings = await external()
    const folder = await dataDir()
    const day = 86_400_000
    const at = (days: number) => new Date(Date.now() + days * day)
    const made = (days: number) => createCertificate({ commonName: 'mail.test', notBefore: at(-100), notAfter: at(days) })
    const check = async (cert: string, key: string) => {
      const files = { CALLSIGN_SMTP_TLS_CERT_FILE: join(folder, 'cert.pem'), CALLSIGN_SMTP_TLS_KEY_FILE: join(folder, 'key.pem') }
      await writeFile(files.CALLSIGN_SMTP_TLS_CERT_FILE, cert)
      await writeFile(files.CALLSIGN_SMTP_TLS_KEY_FILE, key)
      return (await examine({ ...settings, ...files })).attention
    }
    const good = made(90)
    expect(await check(good.cert, good.key)).toEqual([])
    expect(await check(good.cert, made(90).key)).toEqual([expect.stringContaining('does not match the key in CALLSIGN_SMTP_TLS_KEY_FILE')])
    const expired = made(-1)
    expect(await check(expired.cert, expired.key)).toEqual([expect.stringContaining('expired on ')])
    const soon = made(5.5)
    expect(await check(soon.cert, soon.key)).toEqual([expect.stringContaining('expires in 5 days')])
    expect(await check('nothing', 'nothing')).toEqual([expect.stringContaining('cannot be used: ')])
  })

  test('the relay is checked as one that greets, one that refuses and one that is missing', async () => {
    const settings = await external()
    const relay = (port: number) => ({
      ...settings,
      CALLSIGN_MAIL_TRANSPORT: 'relay',
      CALLSIGN_SMTP_RELAY_URL: `smtp://u:hush@127.0.0.1:${port}`,
    })
    const port = await listen('220 relay.test ESMTP\r\n')
    const good = await examine(relay(port))
    expect(good.attention).toEqual([])
    expect(good.text).toContain(`The relay 127.0.0.1:${port} answers.`)
    expect(good.text).not.toContain('hush')
    const sour = await listen('554 no service\r\n')
    expect((await examine(relay(sour))).attention).toEqual([
      `The relay 127.0.0.1:${sour} answers, but not as a mail server that accepts mail: 554 no service`,
    ])
    expect((await examine(relay(1))).attention).toEqual([
      expect.stringMatching(/^The relay 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/),
    ])
  })

  test('the public address is compared with the listening one', async () => {
    const settings = await external()
    const check = async (more: Settings) => (await examine({ ...settings, ...more })).attention
    expect(await check({ CALLSIGN_HOST: '0.0.0.0' })).toEqual([
      'Other machines can reach the server, but links in responses lead to localhost. Set CALLSIGN_PUBLIC_URL.',
    ])
    expect(await check({ CALLSIGN_PUBLIC_URL: 'http://mail.example.com' })).toEqual([
      'Keys travel unencrypted to http://mail.example.com. Put a TLS proxy in front, and use https://.',
    ])
    expect(await check({ CALLSIGN_PUBLIC_URL: 'https://mail.example.com' })).toEqual([])
  })
})

test('help prints the commands, and an unknown command or a missing word ends with 2 and the same text', async () => {
  const help = await callsignd(['help'], {})
  expect(help).toMatchObject({ code: 0, stderr: '' })
  for (const command of ['serve', 'init', 'organizations', 'keys', 'config', 'migrate', 'backup', 'restore', 'doctor'])
    expect(help.stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'))
  for (const [args, sentence] of [
    [['dance'], 'unknown command: dance'],
    [['backup'], 'backup needs the name of one file, or - for a pipe'],
    [['restore', 'a', 'b'], 'restore needs the name of one file, or - for a pipe'],
  ] as const) {
    const wrong = await callsignd([...args], { CALLSIGN_DATA_DIR: await dataDir() })
    expect(wrong).toEqual({ code: 2, stdout: '', stderr: `callsignd: ${sentence}\n${help.stdout}` })
  }
})

test('config prints every current setting and no secret', async () => {
  const { code, stdout } = await callsignd(['config'], { CALLSIGN_DATABASE_URL: 'postgres://u:hush@h/d', CALLSIGN_PORT: '81' })
  expect(code).toBe(0)
  expect(stdout).toContain('CALLSIGN_PORT=81\n')
  expect(stdout).toContain('CALLSIGN_DATABASE_URL=(set)\n')
  expect(stdout).not.toContain('hush')
})
