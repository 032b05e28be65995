// The commands that an operator runs on the server's machine, each in its own process, beside a running server where it matters.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { generateKey } from '../src/features/account/keys/model.ts'
import { runCommand } from '../src/host/commands.ts'
import { CommandFailed } from '../src/host/failure.ts'
import { callsignd, makeDataDir, repository, type Settings, startCallsignd } from './harness/callsignd.ts'
import { createDatabase } from './harness/database.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** The settings of an installation on an empty database, without any others. */
async function freshSettings(more: Settings = {}): Promise<Settings> {
  const database = await createDatabase()
  const folder = await makeDataDir()
  cleanups.push(database.drop, folder.remove)
  return { CALLSIGN_DATABASE_URL: database.url, CALLSIGN_DATA_DIR: folder.path, ...more }
}
const keyPattern = /svc_live_[0-9A-Za-z_-]{65}/g
const keysIn = (text: string): string[] => text.match(keyPattern) ?? []
const me = async (baseUrl: string, key: string): Promise<{ status: number; body: Json }> => {
  const response = await fetch(`${baseUrl}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}

describe('the first key', () => {
  test('without configuration a key is generated, printed once, and never again', async () => {
    const settings = await freshSettings()
    const first = await startCallsignd(settings)
    expect(keysIn(first.lines.join('\n')).length).toBeGreaterThan(0)
    expect((await me(first.baseUrl, first.key as string)).body).toMatchObject({ role: 'owner', key: { name: 'First key' } })
    const ended = await first.stop()
    expect(ended.code).toBe(0)
    expect(keysIn(ended.stderr)).toEqual([])
    const second = await startCallsignd(settings)
    expect(keysIn(second.lines.join('\n'))).toEqual([])
    expect((await me(second.baseUrl, first.key as string)).status).toBe(200)
    await second.stop()
  })

  test('the server prints one line per listener, then `callsign ready <public url>`', async () => {
    const server = await startCallsignd(await freshSettings({ CALLSIGN_PUBLIC_URL: 'https://mail.example' }))
    const listening = server.lines.filter((line) => line.startsWith('callsign listening'))
    // On a database that other servers may use too, gateway nodes listen for one another.
    expect(listening).toEqual([
      expect.stringMatching(/^callsign listening gateway nodes 127\.0\.0\.1:\d+$/),
      `callsign listening http 127.0.0.1:${server.httpPort}`,
      `callsign listening smtp 127.0.0.1:${server.smtpPort}`,
    ])
    expect(server.lines.at(-1)).toBe('callsign ready https://mail.example')
    await server.stop()
  })

  test('CALLSIGN_BOOTSTRAP_API_KEY is installed on the first start, is not printed, and changes nothing later', async () => {
    const [key, later] = [generateKey(), generateKey()]
    const settings = await freshSettings()
    const first = await startCallsignd({ ...settings, CALLSIGN_BOOTSTRAP_API_KEY: key })
    expect([(await me(first.baseUrl, key)).status, keysIn(first.lines.join('\n'))]).toEqual([200, []])
    await first.stop()
    const second = await startCallsignd({ ...settings, CALLSIGN_BOOTSTRAP_API_KEY: later })
    expect([(await me(second.baseUrl, key)).status, (await me(second.baseUrl, later)).status]).toEqual([200, 401])
    await second.stop()
  })

  test('the key may come from a file', async () => {
    const key = generateKey()
    const settings = await freshSettings()
    const file = join(settings.CALLSIGN_DATA_DIR as string, 'key')
    await writeFile(file, `${key}\n`)
    const server = await startCallsignd({ ...settings, CALLSIGN_BOOTSTRAP_API_KEY_FILE: file })
    expect((await me(server.baseUrl, key)).status).toBe(200)
    await server.stop()
  })

  test('a malformed bootstrap key stops the start with a sentence that does not repeat it', async () => {
    const wrong = `${generateKey().slice(0, -1)}!`
    const { code, stderr } = await callsignd(
      ['serve'],
      await freshSettings({ CALLSIGN_PORT: '0', CALLSIGN_SMTP_PORT: '0', CALLSIGN_BOOTSTRAP_API_KEY: wrong }),
    )
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([
      1,
      expect.stringMatching(/^callsignd: CALLSIGN_BOOTSTRAP_API_KEY is not a well-formed key/),
    ])
    expect(stderr).not.toContain(wrong.slice(25, 60))
  })

  test('`init` makes the database and prints the first key, and a second run reports that there is one', async () => {
    const settings = await freshSettings()
    const first = await callsignd(['init'], settings)
    expect([first.code, keysIn(first.stdout).length]).toEqual([0, 1])
    const second = await callsignd(['init'], settings)
    expect([second.code, keysIn(second.stdout), second.stdout.length > 0]).toEqual([0, [], true])
  })
})

describe('beside a running server', () => {
  let harness: Harness
  let settings: Settings
  beforeAll(async () => {
    harness = await startHarness()
    await harness.createAgent('ann')
    const { CALLSIGN_DATABASE_URL = '', CALLSIGN_DATA_DIR = '' } = harness.environment
    settings = { CALLSIGN_DATABASE_URL, CALLSIGN_DATA_DIR }
  })
  afterAll(() => harness.stop())
  const run = (...args: string[]) => callsignd(args, settings)

  test('`organizations create --name N` prints that organization’s first key once, and `organizations list` names it without', async () => {
    const made = await run('organizations', 'create', '--name', 'Made on the host')
    const [key] = keysIn(made.stdout)
    const { organization_id } = await harness.expectApi(200, 'GET', '/me', { key: key as string })
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(organization_id)])
    const list = await run('organizations', 'list')
    expect(list.stdout).toMatch(new RegExp(`^${organization_id} .* Made on the host$`, 'm'))
    expect(keysIn(list.stdout)).toEqual([])
    const { data } = await harness.expectApi(200, 'GET', '/audit', { key: key as string })
    expect(data.map((entry: Json) => [entry.action, entry.actor_type])).toEqual([
      ['key.created', 'host'],
      ['organization.created', 'host'],
    ])
  })

  test('`keys create|list|revoke` make a key that works at once, is listed without plaintext, and is refused on the next request', async () => {
    const made = await run('keys', 'create', '--name', 'From the host', '--agent', '@ann', '--scope', 'vault:read')
    const [key = ''] = keysIn(made.stdout)
    const caller = await harness.expectApi(200, 'GET', '/me', { key })
    expect(caller).toMatchObject({
      role: 'agent',
      key: { name: 'From the host', agent_handle: 'ann', scopes: expect.arrayContaining(['mail:send', 'vault:read']) },
    })
    const list = await run('keys', 'list')
    expect(list.stdout).toMatch(new RegExp(`^${caller.key.id} .*agent ann .*active .*From the host$`, 'm'))
    expect(keysIn(list.stdout)).toEqual([])
    expect((await run('keys', 'revoke', caller.key.id)).code).toBe(0)
    await harness.expectApi(401, 'GET', '/me', { key })
    expect((await run('keys', 'list')).stdout).toMatch(new RegExp(`^${caller.key.id} .*revoked .*From the host$`, 'm'))
  })

  test('`keys create --organization ORG` creates a key there', async () => {
    const { stdout } = await run('keys', 'create', '--organization', harness.otherOrganization.id, '--name', 'Elsewhere')
    const caller = await harness.expectApi(200, 'GET', '/me', { key: keysIn(stdout)[0] as string })
    expect(caller.organization_id).toBe(harness.otherOrganization.id)
  })

  test.each<[number, RegExp, string[]]>([
    [2, /needs --name/, ['organizations', 'create']],
    [2, /needs --name/, ['keys', 'create']],
    [1, /no agent nobody/, ['keys', 'create', '--name', 'a', '--agent', 'nobody']],
    [2, /--scope is one of mail:read, /, ['keys', 'create', '--name', 'a', '--scope', 'vault:burn']],
    [1, /unknown organization: org_x/, ['keys', 'create', '--name', 'a', '--organization', 'org_x']],
    [1, /no key key_x/, ['keys', 'revoke', 'key_x']],
    [2, /needs the id/, ['keys', 'revoke']],
    [2, /unknown command: dance/, ['dance']],
    [2, /[Uu]nknown option/, ['keys', 'list', '--colour']],
  ])('a wrong call ends with exit code %i and prints %s', async (code, sentence, args) => {
    // Runs in this process. Tests below cover the exit codes that main.ts makes of the error.
    const [command = '', ...rest] = args
    const error = await runCommand(
      command,
      rest,
      { load: () => readConfig(settings), loadKnown: () => ({ config: readConfig(settings), unknown: [] }) },
      () => {},
    ).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CommandFailed)
    expect([(error as CommandFailed).isUsage ? 2 : 1, (error as Error).message]).toEqual([code, expect.stringMatching(sentence)])
  })

  test('a wrong call prints the error and the remedy, without a stack', async () => {
    const { code, stderr } = await run('dance')
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^callsignd: unknown command: dance\nusage: callsignd/)])
    expect(stderr).not.toContain('    at ')
  })

  test('`migrate` reports that the tables are up to date', async () => {
    expect(await run('migrate')).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date') })
  })
})

describe('settings', () => {
  test('`config` prints the current settings, and of secrets only that they are set', async () => {
    const secret = 'postgres://user:hunter2@127.0.0.1:1/none'
    const { code, stdout } = await callsignd(['config'], {
      CALLSIGN_DATABASE_URL: secret,
      CALLSIGN_BOOTSTRAP_API_KEY: generateKey(),
      CALLSIGN_PORT: '1234',
    })
    expect(code).toBe(0)
    expect(stdout).toContain('CALLSIGN_PORT=1234\n')
    expect(stdout).toContain('CALLSIGN_DATABASE_URL=(set)\n')
    expect(stdout).not.toMatch(/hunter2|svc_live_/)
  })

  test.each<[Settings, RegExp]>([
    [{ CALLSIGN_PORT: 'eighty' }, /CALLSIGN_PORT must be a whole number/],
    [{ CALLSIGN_PROT: '80' }, /CALLSIGN_PROT is not a setting/],
    [{ CALLSIGN_MAIL_TRANSPORT: 'pigeon' }, /CALLSIGN_MAIL_TRANSPORT must be one of/],
    [{ CALLSIGN_MAIL_TRANSPORT: 'relay' }, /needs CALLSIGN_SMTP_RELAY_URL/],
    [{ CALLSIGN_OUTBOUND_ALLOW_CIDRS: 'everywhere' }, /comma list of CIDRs/],
    [{ CALLSIGN_DATABASE_URL: 'mysql://root:hunter2@host' }, /CALLSIGN_DATABASE_URL must be/],
    [
      { CALLSIGN_DATABASE_URL: 'postgres://u:hunter2@a:1,b:2/d?target_session_attrs=standby' },
      /CALLSIGN_DATABASE_URL must have target_session_attrs=read-write/,
    ],
  ])('%j is refused with that sentence', (settings, sentence) => {
    expect(() => readConfig(settings)).toThrow(sentence)
    expect(() => readConfig(settings)).not.toThrow('hunter2')
  })

  test('a bad setting stops the start with its sentence alone', async () => {
    const { code, stderr } = await callsignd(['serve'], { CALLSIGN_PORT: 'eighty' })
    expect([code, stderr]).toEqual([1, 'callsignd: CALLSIGN_PORT must be a whole number from 0 to 65535, not "eighty"\n'])
  })
})

test('`npx callsignd` runs the same from a checkout', async () => {
  const pack = JSON.parse(await readFile(join(repository, 'packages', 'server', 'package.json'), 'utf8'))
  expect(await readFile(join(repository, 'packages', 'server', pack.bin.callsignd), 'utf8')).toContain('packages/server/src/main.ts')
})

test("imessage prints the address of the provider's callbacks, the same each time", async () => {
  const directory = await makeDataDir()
  try {
    const settings = {
      CALLSIGN_DATA_DIR: directory.path,
      CALLSIGN_PUBLIC_URL: 'https://callsign.example',
      CALLSIGN_IMESSAGE_PROVIDER: 'linq',
      CALLSIGN_LINQ_API_KEY: 'k',
    }
    const [first, again] = [await callsignd(['imessage'], settings), await callsignd(['imessage'], settings)]
    expect(first.stdout).toMatch(/^https:\/\/callsign\.example\/hooks\/imessage\/linq\/[A-Za-z0-9_-]{43}\n$/)
    expect(again.stdout).toBe(first.stdout)
  } finally {
    await directory.remove()
  }
})
