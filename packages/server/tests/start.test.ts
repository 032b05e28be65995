// The start from an operator's view: printed lines, failures and their messages.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { BadSetting, readConfig } from '../src/config/settings.ts'
import { generateKey } from '../src/features/account/keys/model.ts'
import { checkBootstrapKey } from '../src/host/first-start.ts'
import { callsignd, type Ended, makeDataDir, repository, type Settings, startCallsignd } from './harness/callsignd.ts'
import { createCertificate } from './harness/certificate.ts'
import { createDatabase } from './harness/database.ts'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function dataDir(): Promise<string> {
  const { path, remove } = await makeDataDir()
  cleanups.push(remove)
  return path
}

/** A data directory with an external database, which is the quicker start. */
async function external(): Promise<Settings> {
  const database = await createDatabase()
  cleanups.push(database.drop)
  return { CALLSIGN_DATA_DIR: await dataDir(), CALLSIGN_DATABASE_URL: database.url }
}

async function start(settings: Settings) {
  const server = await startCallsignd(settings)
  cleanups.push(() => server.stop())
  return server
}

const statusOf = async (url: string, key?: string | null): Promise<number> =>
  (await fetch(url, key ? { headers: { authorization: `Bearer ${key}` } } : {})).status

test('a first start prints one line per listener, the key and readiness, and a later start prints no key', async () => {
  const settings = { CALLSIGN_DATA_DIR: join(await dataDir(), 'made', 'on', 'the', 'way') }
  const first = await start(settings)
  expect(first.lines[0]).toBe(`callsign listening http 127.0.0.1:${first.httpPort}`)
  expect(first.lines[1]).toBe(`callsign listening smtp 127.0.0.1:${first.smtpPort}`)
  expect(first.lines.at(-1)).toBe(`callsign ready http://localhost:${first.httpPort}`)
  expect(first.lines.join('\n').match(/^callsign (listening|ready)/gm)).toHaveLength(3)
  expect(first.key).toMatch(/^svc_live_[0-9A-Za-z]{65}$/)
  expect(await statusOf(`${first.baseUrl}/api/v1/me`, first.key)).toBe(200)
  expect(await statusOf(`${first.baseUrl}/readyz`)).toBe(200)
  const { code, stderr } = await first.stop()
  expect(code).toBe(0)
  expect(stderr).not.toContain(first.key)

  const second = await start(settings)
  expect(second.key).toBeNull()
  expect(second.lines.join('\n')).not.toContain('svc_live_')
  expect(await statusOf(`${second.baseUrl}/api/v1/me`, first.key)).toBe(200)
  expect((await second.stop()).code).toBe(0)
})

describe('a setting that cannot be stops the start with its sentence', () => {
  test.each<[string, Settings, string]>([
    ['an unknown name', { CALLSIGN_PROT: '1' }, 'CALLSIGN_PROT is not a setting of callsignd: correct the name by docs/configuration.md'],
    ['a port that is none', { CALLSIGN_PORT: '80a' }, 'CALLSIGN_PORT must be a whole number from 0 to 65535, not "80a"'],
    ['a port too high', { CALLSIGN_SMTP_PORT: '65536' }, 'CALLSIGN_SMTP_PORT must be a whole number from 0 to 65535, not "65536"'],
    ['a role that is none', { CALLSIGN_ROLES: 'api,cook' }, 'CALLSIGN_ROLES must be one of: api, smtp, worker, gateway, not "api,cook"'],
    [
      'a transport that is none',
      { CALLSIGN_MAIL_TRANSPORT: 'pigeon' },
      'CALLSIGN_MAIL_TRANSPORT must be one of: simulator, relay, direct, not "pigeon"',
    ],
    ['a relay without its address', { CALLSIGN_MAIL_TRANSPORT: 'relay' }, 'CALLSIGN_MAIL_TRANSPORT=relay needs CALLSIGN_SMTP_RELAY_URL'],
    [
      'a public URL that is none',
      { CALLSIGN_PUBLIC_URL: 'example.com' },
      'CALLSIGN_PUBLIC_URL must be a URL starting with http:// or https://, not "example.com"',
    ],
    ...['https://example.com/callsign', 'https://example.com/a/', 'https://example.com/?a=1', 'https://example.com/#a'].map(
      (value): [string, Settings, string] => [
        `a public URL with more than a host (${value})`,
        { CALLSIGN_PUBLIC_URL: value },
        `CALLSIGN_PUBLIC_URL must be the address of a host name of its own, without a path, such as https://example.com, not "${value}"`,
      ],
    ),
    [
      'a public URL with a user',
      { CALLSIGN_PUBLIC_URL: 'https://ada:x@example.com' },
      'CALLSIGN_PUBLIC_URL must not contain a user or password, not "https://ada:x@example.com"',
    ],
    ...['p@ss', 'p/ss', 'p#ss', 'p?ss', 'p%ss', 'p ss'].map((password): [string, Settings, string] => [
      `a database password with a reserved character (${password})`,
      { CALLSIGN_DATABASE_URL: `postgres://ada:${password}@db.example/mail` },
      'CALLSIGN_DATABASE_URL has a reserved character in its user or password: write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25 and a blank as %20',
    ]),
    [
      'a mail domain that is none',
      { CALLSIGN_MAIL_DOMAIN: 'Not A Domain' },
      'CALLSIGN_MAIL_DOMAIN must be a lowercase domain name, not "Not A Domain"',
    ],
    // A secret's value is never repeated.
    [
      'a database URL that is none',
      { CALLSIGN_DATABASE_URL: 'mysql://u:hush@h/d' },
      'CALLSIGN_DATABASE_URL must be a URL starting with postgres:// or postgresql://',
    ],
    [
      'a malformed first key',
      { CALLSIGN_BOOTSTRAP_API_KEY: 'svc_live_hush' },
      'CALLSIGN_BOOTSTRAP_API_KEY is not a well-formed key: svc_live_, 16 characters of id, 43 of secret, 6 of checksum',
    ],
    [
      'half a certificate',
      { CALLSIGN_SMTP_TLS_CERT_FILE: '/nowhere' },
      'CALLSIGN_SMTP_TLS_CERT_FILE and CALLSIGN_SMTP_TLS_KEY_FILE go together',
    ],
    [
      'a public URL below the tunnel domain',
      { CALLSIGN_TUNNEL_DOMAIN: 'run.example', CALLSIGN_PUBLIC_URL: 'https://API.run.example.' },
      'CALLSIGN_PUBLIC_URL (https://API.run.example.) must not be at or below CALLSIGN_TUNNEL_DOMAIN (run.example): a tunnel with that name would receive the keys that clients send',
    ],
    [
      'a public URL at the tunnel domain',
      { CALLSIGN_TUNNEL_DOMAIN: 'run.example', CALLSIGN_PUBLIC_URL: 'https://run.example:8443' },
      'CALLSIGN_PUBLIC_URL (https://run.example:8443) must not be at or below CALLSIGN_TUNNEL_DOMAIN (run.example): a tunnel with that name would receive the keys that clients send',
    ],
    [
      'the address without a public URL, at the tunnel domain',
      { CALLSIGN_TUNNEL_DOMAIN: 'localhost' },
      'CALLSIGN_PUBLIC_URL (http://localhost) must not be at or below CALLSIGN_TUNNEL_DOMAIN (localhost): a tunnel with that name would receive the keys that clients send',
    ],
    [
      'a connect URL below the tunnel domain',
      {
        CALLSIGN_TUNNEL_DOMAIN: 'run.example',
        CALLSIGN_PUBLIC_URL: 'https://api.example',
        CALLSIGN_TUNNEL_CONNECT_URL: 'https://a.b.run.example',
      },
      'CALLSIGN_TUNNEL_CONNECT_URL (https://a.b.run.example) must not be at or below CALLSIGN_TUNNEL_DOMAIN (run.example): a tunnel with that name would receive the keys that clients send',
    ],
  ])('%s', async (_name, settings, sentence) => {
    expect(() => {
      const config = readConfig(settings)
      checkBootstrapKey(config.bootstrapApiKey)
    }).toThrow(new BadSetting(sentence))
  })

  test('an encoded password, hosts in a row, a socket and parameters are accepted', () => {
    for (const url of [
      'postgres://ada:p%40s%2Fs:s@a.example:5432,b.example/mail',
      'postgres://ada@/mail?host=/run/postgresql',
      'postgres:///mail?host=/run/postgresql&user=a@b',
      'postgres://localhost:5432/mail?options=-c%20search_path%3Da',
    ])
      expect(readConfig({ CALLSIGN_DATABASE_URL: url }).databaseUrl).toBe(url)
    expect(readConfig({ CALLSIGN_PUBLIC_URL: 'https://example.com:8443/' }).publicUrl).toBe('https://example.com:8443')
  })

  test('addresses beside the tunnel domain are accepted', () => {
    for (const url of ['https://example', 'https://xrun.example', 'https://api.example'])
      expect(readConfig({ CALLSIGN_TUNNEL_DOMAIN: 'run.example', CALLSIGN_PUBLIC_URL: url }).publicUrl).toBe(url)
  })

  test.each([
    [{ CALLSIGN_PROT: '1' }, 'CALLSIGN_PROT is not a setting of callsignd: correct the name by docs/configuration.md'],
    [{ CALLSIGN_PUBLIC_URL: 'https://api.tunnel.localhost' }, /^CALLSIGN_PUBLIC_URL .* must not be at or below CALLSIGN_TUNNEL_DOMAIN/],
    [{ CALLSIGN_BOOTSTRAP_API_KEY: 'svc_live_hush' }, /^CALLSIGN_BOOTSTRAP_API_KEY is not a well-formed key: .*checksum$/],
  ])('callsignd says it, ends with 1 and has made nothing: %o', async (settings, sentence) => {
    const parent = await dataDir()
    const ended = await callsignd(['serve'], { CALLSIGN_PORT: '0', CALLSIGN_DATA_DIR: join(parent, 'data'), ...settings } as Settings)
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    const [line, ...rest] = ended.stderr.split('\n')
    expect(line?.replace(/^callsignd: /, '')).toMatch(sentence)
    expect(rest).toEqual([''])
    expect(await readdir(parent)).toEqual([])
  })
})

test('secrets are read from files without the line end, and both forms at once are refused', async () => {
  const settings = await external()
  const directory = await dataDir()
  const key = generateKey()
  const [keyFile, urlFile] = [join(directory, 'key'), join(directory, 'url')]
  await writeFile(keyFile, `${key}\n`)
  await writeFile(urlFile, `${settings.CALLSIGN_DATABASE_URL}\n`)
  const { CALLSIGN_DATABASE_URL: url, ...others } = settings
  const server = await start({ ...others, CALLSIGN_DATABASE_URL_FILE: urlFile, CALLSIGN_BOOTSTRAP_API_KEY_FILE: keyFile })
  expect(server.key).toBeNull()
  expect(await statusOf(`${server.baseUrl}/api/v1/me`, key)).toBe(200)

  const both = await callsignd(['serve'], { ...others, CALLSIGN_DATABASE_URL: url as string, CALLSIGN_DATABASE_URL_FILE: urlFile })
  expect(both).toMatchObject({
    code: 1,
    stderr: 'callsignd: CALLSIGN_DATABASE_URL and CALLSIGN_DATABASE_URL_FILE are both set: remove one\n',
  })
  const none = await callsignd(['serve'], { ...others, CALLSIGN_DATABASE_URL_FILE: join(directory, 'nothing') })
  expect(none).toMatchObject({ code: 1, stderr: 'callsignd: CALLSIGN_DATABASE_URL_FILE names a file that cannot be read\n' })
})

describe('a port that is in use', () => {
  async function occupy(): Promise<string> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    return String((server.address() as AddressInfo).port)
  }

  test.each([
    ['HTTP', 'CALLSIGN_PORT'],
    ['SMTP', 'CALLSIGN_SMTP_PORT'],
    ['metrics', 'CALLSIGN_METRICS_PORT'],
  ])('%s: the error names the setting, and the start that works makes the first key', async (_what, setting) => {
    // The embedded database takes a moment to stop, in which background work could fail.
    const settings: Settings = { CALLSIGN_DATA_DIR: await dataDir() }
    const port = await occupy()
    const ended = await callsignd(['serve'], { CALLSIGN_PORT: '0', CALLSIGN_SMTP_PORT: '0', ...settings, [setting]: port })
    expect(ended.code).toBe(1)
    expect(ended.stderr.split('\n').filter((line) => line.startsWith('callsignd:'))).toEqual([
      `callsignd: port ${port} on 127.0.0.1 is in use by another program: stop it, or set ${setting}`,
    ])
    expect(ended.stdout).toBe('')
    // Nothing still works on the database while it closes.
    expect(ended.stderr).not.toContain('"level":"error"')
    const server = await start(settings)
    expect(server.key).toMatch(/^svc_live_/)
    expect(await statusOf(`${server.baseUrl}/api/v1/me`, server.key)).toBe(200)
  })
})

describe('a folder that cannot be used ends the start at once with its path and the account', () => {
  const account = /by the account \S+ \(user number \d+\): /

  test.each([
    ['an impossible data directory', 'CALLSIGN_DATA_DIR', '/proc/x', 'ENOENT: no such file or directory'],
    ['an impossible data directory in one', 'CALLSIGN_DATA_DIR', '/proc/x/y', 'ENOENT: no such file or directory'],
    ['a data directory below a file', 'CALLSIGN_DATA_DIR', '/etc/passwd/data', '/etc/passwd is not a directory'],
    ['an impossible folder for blobs', 'CALLSIGN_BLOBS', '/proc/x', 'ENOENT: no such file or directory'],
  ])('%s', async (_what, setting, path, reason) => {
    const others = setting === 'CALLSIGN_DATA_DIR' ? {} : await external()
    const value = setting === 'CALLSIGN_BLOBS' ? `file:${path}` : path
    const ended = await callsignd(['serve'], { CALLSIGN_PORT: '0', CALLSIGN_SMTP_PORT: '0', ...others, [setting]: value })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(`callsignd: ${setting}=${path} cannot be used `)
    expect(ended.stderr).toMatch(account)
    expect(ended.stderr).toContain(reason)
  })

  // Root may read every directory.
  test.skipIf(process.platform === 'win32')('a data directory of another account', async () => {
    const directory = await dataDir()
    await chmod(directory, process.getuid?.() === 0 ? 0o711 : 0o500)
    const run = `
      import { requireFolder } from ${JSON.stringify(join(repository, 'packages/server/src/host/folder.ts'))}
      if (process.getuid() === 0) process.setuid(57432)
      requireFolder(${JSON.stringify(directory)}, 'CALLSIGN_DATA_DIR')`
    const ended = await runProcess(process.execPath, ['--input-type=module', '-e', run], { PATH: process.env.PATH })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain(`CALLSIGN_DATA_DIR=${directory} cannot be used by the account `)
    expect(ended.stderr).toContain('EACCES')
  })

  test('host commands report the same', async () => {
    for (const command of [['init'], ['imessage'], ['backup', '-']]) {
      const ended = await callsignd(command, { CALLSIGN_DATA_DIR: '/proc/x', CALLSIGN_PUBLIC_URL: 'https://example.com' })
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toContain('CALLSIGN_DATA_DIR=/proc/x cannot be used by the account ')
    }
  })
})

test('an address that this machine does not have is named', async () => {
  const ended = await callsignd(['serve'], {
    CALLSIGN_PORT: '0',
    CALLSIGN_SMTP_PORT: '0',
    ...(await external()),
    CALLSIGN_HOST: '192.0.2.1',
  })
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('callsignd: cannot listen on CALLSIGN_HOST=192.0.2.1: ') })
})

test('certificate files that cannot be used stop the start, and good ones are served', async () => {
  const settings = await external()
  const directory = await dataDir()
  const one = createCertificate({ commonName: 'mail.test', dnsNames: ['mail.test'] })
  const other = createCertificate({ commonName: 'other.test' })
  const [cert, key, otherKey] = [join(directory, 'cert'), join(directory, 'key'), join(directory, 'other')]
  await Promise.all([writeFile(cert, one.cert), writeFile(key, one.key), writeFile(otherKey, other.key)])
  for (const wrong of [otherKey, join(directory, 'nothing')]) {
    const ended = await callsignd(['serve'], {
      ...settings,
      CALLSIGN_PORT: '0',
      CALLSIGN_SMTP_PORT: '0',
      CALLSIGN_SMTP_TLS_CERT_FILE: cert,
      CALLSIGN_SMTP_TLS_KEY_FILE: wrong,
    })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^callsignd: CALLSIGN_SMTP_TLS_CERT_FILE and CALLSIGN_SMTP_TLS_KEY_FILE cannot be used: .+$/m)
  }
  const server = await start({ ...settings, CALLSIGN_SMTP_TLS_CERT_FILE: cert, CALLSIGN_SMTP_TLS_KEY_FILE: key })
  expect(server.smtpPort).not.toBeNull()
})

describe('roles', () => {
  test('api alone answers requests, takes no mail and works no queue', async () => {
    const key = generateKey()
    const server = await start({ ...(await external()), CALLSIGN_ROLES: 'api', CALLSIGN_BOOTSTRAP_API_KEY: key })
    expect(server.smtpPort).toBeNull()
    expect(await statusOf(`${server.baseUrl}/api/v1/me`, key)).toBe(200)
    expect(await (await fetch(`${server.baseUrl}/readyz`)).json()).toEqual({ status: 'ready', checks: { database: true } })
  })

  test('smtp and worker answer no request but say how they are', async () => {
    const key = generateKey()
    const server = await start({ ...(await external()), CALLSIGN_ROLES: 'smtp,worker', CALLSIGN_BOOTSTRAP_API_KEY: key })
    expect(await statusOf(`${server.baseUrl}/api/v1/me`, key)).toBe(404)
    expect(await (await fetch(`${server.baseUrl}/readyz`)).json()).toMatchObject({ checks: { database: true, worker: true } })
    const socket = connect(server.smtpPort as number, '127.0.0.1')
    cleanups.push(() => socket.destroy())
    const [banner] = (await once(socket, 'data')) as [Buffer]
    expect(banner.toString()).toMatch(/^220 agents\.localhost ESMTP /)
  })

  test('CALLSIGN_SMTP_PORT=off listens for no mail and prints no line for it', async () => {
    const server = await start({ ...(await external()), CALLSIGN_SMTP_PORT: 'off' })
    expect(server.lines.filter((line) => /^callsign listening (http|smtp) /.test(line))).toEqual([
      `callsign listening http 127.0.0.1:${server.httpPort}`,
    ])
  })
})

test('the public URL is printed and made links from as it was given, without a closing slash', async () => {
  const server = await start({ ...(await external()), CALLSIGN_PUBLIC_URL: 'https://mail.example.com/' })
  expect(server.lines.at(-1)).toBe('callsign ready https://mail.example.com')
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s while the start waits for the database ends it at once', async (signal) => {
  const child = spawn('sh', [join(repository, 'bin', 'run'), 'packages/server/src/main.ts', 'serve'], {
    env: {
      PATH: process.env.PATH,
      CALLSIGN_DATA_DIR: await dataDir(),
      CALLSIGN_DATABASE_URL: 'postgres://ada@127.0.0.1:9/mail',
      CALLSIGN_PORT: '0',
      CALLSIGN_SMTP_PORT: '0',
      CALLSIGN_METRICS_PORT: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let signalledMs = 0
  child.stderr?.on('data', (bytes: Buffer) => {
    if (signalledMs > 0 || !bytes.includes('waiting for the database')) return
    signalledMs = performance.now()
    child.kill(signal)
  })
  child.stdout?.resume()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  expect(signalledMs).toBeGreaterThan(0)
  // The whole wait takes a minute.
  expect(performance.now() - signalledMs).toBeLessThan(20_000)
})

// Only root may become another user.
test.skipIf(process.getuid?.() !== 0)(
  'a user number without an entry gets a sentence before any program of the database runs',
  async () => {
    const folder = await dataDir()
    const run = `
    import { ensureCluster } from ${JSON.stringify(join(repository, 'packages/server/src/edges/postgres/embedded/cluster.ts'))}
    process.setuid(57433)
    const programs = { initdb: '/nowhere/initdb', postgres: '/nowhere/postgres' }
    await ensureCluster({ dataDir: ${JSON.stringify(folder)}, programs, accounts: null, engine: 'embedded' })`
    const ended = await runProcess(process.execPath, ['--input-type=module', '-e', run], { PATH: process.env.PATH })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain('User number 57433 has no entry in /etc/passwd, which the embedded PostgreSQL needs.')
  },
)

test('a signal during the start stops it cleanly once it is up', async () => {
  const child = spawn('sh', [join(repository, 'bin', 'run'), 'packages/server/src/main.ts', 'serve'], {
    env: {
      PATH: process.env.PATH,
      CALLSIGN_DATA_DIR: await dataDir(),
      CALLSIGN_PORT: '0',
      CALLSIGN_SMTP_PORT: '0',
      CALLSIGN_METRICS_PORT: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let isSignalled = false
  child.stderr?.on('data', (bytes: Buffer) => {
    if (isSignalled || !bytes.includes('database started')) return
    isSignalled = true
    child.kill('SIGTERM')
  })
  child.stdout?.resume()
  const [code] = await once(child, 'close')
  expect(isSignalled).toBe(true)
  expect(code).toBe(0)
})

describe('bin/run', () => {
  /** A copy of the files that `bin/run` reads, with an npm that records its calls and installs a stand-in for the pinned Node. */
  async function makeCheckout(): Promise<{ root: string; run: () => Promise<Ended>; calls: () => Promise<string> }> {
    const root = await mkdtemp(join(tmpdir(), 'callsign-checkout-'))
    cleanups.push(() => rm(root, { recursive: true, force: true }))
    await mkdir(join(root, 'bin'))
    await mkdir(join(root, 'path'))
    for (const name of ['bin/run', 'bin/compile-cache.cjs', '.node-version', 'package-lock.json'])
      await copyFile(join(repository, name), join(root, name))
    const pinned = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin')
    await writeFile(
      join(root, 'path', 'npm'),
      `#!/bin/sh\necho "npm $*" >> ${root}/calls\nmkdir -p ${pinned} && ln -sf ${process.execPath} ${pinned}/node\n`,
    )
    await chmod(join(root, 'path', 'npm'), 0o755)
    await writeFile(join(root, 'print.mjs'), 'console.log(process.version, process.cwd(), process.argv.slice(2).join(" "))\n')
    const run = () => runProcess('sh', [join(root, 'bin', 'run'), 'print.mjs', 'one', 'two words'], { PATH: `${root}/path:/usr/bin:/bin` })
    return { root, run, calls: () => readFile(join(root, 'calls'), 'utf8').catch(() => '') }
  }

  test('installs once, runs on the pinned Node in the caller’s directory, and installs again only when the lock file changed', async () => {
    const { root, run, calls } = await makeCheckout()
    const wanted = (await readFile(join(repository, '.node-version'), 'utf8')).trim()
    const printed = `v${wanted} ${process.cwd()} one two words\n`
    expect(await run()).toEqual({ code: 0, stdout: printed, stderr: 'callsign: installing dependencies, once (one to four minutes)\n' })
    expect(await calls()).toMatch(/^npm install --no-save [^\n]*\n$/)
    expect(await run()).toEqual({ code: 0, stdout: printed, stderr: '' })
    expect(await run()).toEqual({ code: 0, stdout: printed, stderr: '' })
    expect((await calls()).split('\n')).toHaveLength(2)
    await writeFile(join(root, 'package-lock.json'), '{}\n')
    expect(await run()).toMatchObject({ code: 0 })
    expect((await calls()).split('\n')).toHaveLength(3)
  })

  test('another Node than the pinned one is refused with a sentence', async () => {
    const { root, run } = await makeCheckout()
    await writeFile(join(root, '.node-version'), '24.0.1\n')
    const refused = await run()
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/needs Node v24\.0\.1, found v\S+ at .*; remove node_modules and try again\n$/)
  })

  test('an install that fails is tried again by the next start', async () => {
    const { root, run } = await makeCheckout()
    const npm = join(root, 'path', 'npm')
    const works = await readFile(npm, 'utf8')
    await writeFile(npm, `${works}exit 7\n`)
    expect((await run()).code).not.toBe(0)
    await writeFile(npm, works)
    expect(await run()).toMatchObject({ code: 0, stderr: 'callsign: installing dependencies, once (one to four minutes)\n' })
  })

  test('this very process runs on the pinned version, and .ci/run calls npm test alone', async () => {
    expect(process.version).toBe(`v${(await readFile(join(repository, '.node-version'), 'utf8')).trim()}`)
    const lines = (await readFile(join(repository, '.ci', 'run'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines).toEqual(['set -euo pipefail', 'cd "$(dirname "$0")/.."', 'npm test'])
  })
})

function runProcess(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString()
  })
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}
