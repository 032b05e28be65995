// The command line against the real server, with settings, exit codes, JSON, and every command except the vault's.
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { createCommandLine, type RunOptions } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const environment = () => ({ CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey })
const run = (args: string[], options: RunOptions = {}) =>
  line.run(args, { ...options, environment: { ...environment(), ...options.environment } })
async function json(args: string[], options: RunOptions = {}) {
  const ran = await run([...args, '--json'], options)
  expect(ran.error).toBe('')
  expect(ran.code).toBe(0)
  return JSON.parse(ran.out)
}

describe('login', () => {
  const login = () => line.file('settings/login.json')

  test('tries the key, keeps it for its owner alone, uses it, and forgets it', async () => {
    writeFileSync(line.file('key'), `${harness.organizationKey}\n`)
    const done = await line.run(['login', '--url', harness.baseUrl, '--api-key-file', line.file('key')])
    expect(done).toMatchObject({ code: 0, error: '' })
    expect(done.out).not.toContain(harness.organizationKey)
    expect(statSync(login()).mode & 0o777).toBe(0o600)
    expect(statSync(line.file('settings')).mode & 0o777).toBe(0o700)
    expect((await line.run(['whoami'])).out).toContain('owner')
    expect((await line.run(['logout'])).code).toBe(0)
    expect(existsSync(login())).toBe(false)
    expect(await line.run(['whoami'])).toMatchObject({ code: 2, error: expect.stringContaining('The API key is missing') })
  })

  test('a wrong key is not kept', async () => {
    const ran = await line.run(['login', '--url', harness.baseUrl, '--api-key-file', '-'], { input: 'svc_live_wrong' })
    expect(ran.code).toBe(3)
    expect(existsSync(login())).toBe(false)
  })

  test('the stored key goes to its own server alone, and a file that others can read is refused', async () => {
    await line.run(['login', '--url', harness.baseUrl, '--api-key-file', '-'], { input: harness.organizationKey })
    const elsewhere = await line.run(['whoami', '--url', 'http://127.0.0.1:9'])
    expect(elsewhere).toMatchObject({ code: 2, error: expect.stringContaining('The stored key belongs to') })
    chmodSync(login(), 0o644)
    expect(await line.run(['whoami'])).toMatchObject({ code: 2, error: expect.stringContaining('chmod 600') })
    await line.run(['logout'])
  })
})

test('phone numbers and texts, by the simulator', async () => {
  await json(['identities', 'create', 'phoned'])
  const number = await json(['phone', 'provision', '@phoned', '--area-code', '415'])
  expect(number.phone_number).toMatch(/^\+1415555/)
  expect((await json(['sim', 'advance', number.id])).sms_status).toBe('ready')
  writeFileSync(line.file('photo.png'), 'png')
  const sent = await json([
    'sim',
    'sms',
    '--to',
    number.phone_number,
    '--from',
    '+16502530000',
    '--media',
    line.file('photo.png'),
    'Hello there',
  ])
  expect(sent.status).toBe('received')
  expect((await run(['phone', 'messages', number.phone_number, '--unread'])).out).toContain('Hello there [1 files]')
  const read = await run(['phone', 'read', sent.message_id, '--number', number.id, '--mark-read'])
  expect(read.out).toBe(
    `From: +16502530000\nTo: ${number.phone_number}\nDate: ${read.out.split('Date: ')[1]?.split('\n')[0]}\nFile: image/png, 3 bytes\n\nHello there\n`,
  )
  expect((await json(['phone', 'messages', number.id, '--unread'])).data).toEqual([])
  expect((await json(['phone', 'messages', number.id, '--read'])).data).toHaveLength(1)
  expect((await run(['phone', 'list'])).out).toContain(number.phone_number)
  expect((await run(['phone', 'show', number.phone_number])).out).toContain('ready')
  expect(await run(['phone', 'provision', 'phoned'])).toMatchObject({ code: 5, error: expect.stringContaining('has a phone number') })
  expect(await run(['phone', 'provision', 'phoned', '--type', 'mobile'])).toMatchObject({ code: 2 })
  expect((await json(['sim', 'fault', 'phone', 'webhook', 'drop', '--times', '2'])).faults).toHaveLength(1)
  expect((await json(['sim', 'fault', 'phone', 'webhook', 'drop', '--times', '0'])).faults).toEqual([])
  expect((await json(['sim', 'outbox'])).data).toEqual([])
  await json(['sim', 'sms', '--to', number.phone_number, 'Your code is 492 816'])
  const since = ['--after', '2020-01-01T00:00:00Z', '--timeout', '20']
  expect(await run(['phone', 'wait', number.id, '--code', ...since])).toMatchObject({ code: 0, out: '492816\n' })
  expect((await run(['phone', 'wait', number.id, '--text', 'hello', ...since])).out).toContain('from +16502530000: Hello there')
  expect(await run(['phone', 'wait', number.id, '--timeout', '0', '--after', 'now'])).toMatchObject({
    code: 1,
    error: expect.stringContaining('No message arrived'),
  })
  expect((await run(['phone', 'release', number.phone_number])).out).toContain('released')
  expect(await run(['phone', 'show', number.id])).toMatchObject({ code: 4 })
})

test('identities, keys and mail', async () => {
  expect((await json(['identities', 'create', 'cli_one', '--name', 'One'])).agent_handle).toBe('cli_one')
  expect((await run(['identities', 'create', 'cli_two'])).out).toBe('cli_two has mail at cli_two@agents.localhost.\n')
  expect((await json(['identities', 'list', '--limit', '1'])).data).toHaveLength(1)
  expect((await run(['identities', 'show', 'cli_one'])).out).toContain('cli_one@agents.localhost')
  expect(await json(['identities', 'update', 'cli_one', '--name', 'Uno', '--description', 'For tests'])).toMatchObject({
    display_name: 'Uno',
    description: 'For tests',
    draft_approval: 'none',
  })
  expect((await json(['identities', 'update', 'cli_one', '--description', '', '--mail-domain'])).description).toBeNull()

  const key = await json(['keys', 'create', 'cli key', '--agent', 'cli_one', '--scope', 'vault:read'])
  expect(key).toMatchObject({ agent_handle: 'cli_one', scopes: expect.arrayContaining(['mail:send', 'vault:read']) })
  expect((await json(['whoami'], { environment: { CALLSIGN_API_KEY: key.key } })).role).toBe('agent')
  expect((await json(['keys', 'list'])).data.map((one: { id: string }) => one.id)).toContain(key.id)
  expect((await json(['keys', 'revoke', key.id])).deleted).toBe(true)
  expect((await run(['whoami'], { environment: { CALLSIGN_API_KEY: key.key } })).code).toBe(3)

  const send = [
    'mail',
    'send',
    '--agent',
    'cli_one',
    '--to',
    'cli_two@agents.localhost',
    '--subject',
    'Hi \u001b[31mred',
    '--text-file',
    '-',
  ]
  expect((await json(send, { input: 'From standard input, with an escape: \u001b[2J\n' })).status).toBe('queued')
  const arrived = await waitFor('the mail', async () => (await json(['mail', 'list', '--agent', 'cli_two'])).messages[0])
  const read = await run(['mail', 'read', arrived.id, '--mailbox', 'cli_two', '--mark-read'])
  expect(read.out).toContain('From standard input')
  // Mail of others must not steer the terminal.
  expect(read.out).not.toContain('\u001b')
  expect((await json(['mail', 'read', arrived.id, '--mailbox', 'cli_two'])).is_read).toBe(true)
  expect((await json(['mail', 'search', 'standard', '--mailbox', 'cli_two'])).data).toHaveLength(1)
  expect((await json(['mail', 'reply', arrived.id, '--mailbox', 'cli_two', '--text', 'Thanks'])).thread_id).toBe(arrived.thread_id)
  expect((await json(['identities', 'delete', 'cli_two'])).deleted).toBe(true)
})

test('an identity is created with its modes, and shown with the settings that it has', async () => {
  const modes = ['--approval', 'required', '--inbound', 'allowlist', '--outbound', 'allowlist']
  const marks = ['--metadata', 'crm:42\nguard        off', '--client-id', 'mine']
  expect(await json(['identities', 'create', 'shown', ...modes, ...marks])).toMatchObject({
    draft_approval: 'required',
    inbound_mode: 'allowlist',
    outbound_mode: 'allowlist',
  })
  const before = (await run(['identities', 'show', 'shown'])).out
  expect(before).toMatch(
    /^addresses {4}shown@agents\.localhost$[\s\S]*^modes {8}inbound allowlist, outbound allowlist\nguard {8}flag\nmetadata {5}crm:42 guard off\nclient id {4}mine$/m,
  )
  await json(['addresses', 'create', 'shown', 'second'])
  const guard = ['--guard', 'hold', '--guard-pattern', 'ACME-[0-9]+', '--wake-events', '3', '--messages-per-hour', '7']
  await json(['identities', 'update', 'shown', ...guard])
  const { out } = await run(['identities', 'show', 'shown'])
  for (const line of [
    'addresses    shown@agents.localhost, second@agents.localhost',
    'limits       7 messages per hour',
    'guard        hold',
    'pattern      ACME-[0-9]+',
    'wake limit   3 events per sender in 600 seconds',
  ])
    expect(out.split('\n')).toContain(line)
})

test('a list of keys shows their expiry, their address ranges and their state', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const { id } = await json(['keys', 'create', 'Short', '--expires-at', at, '--allow-ip', '192.0.2.0/24', '--allow-ip', '2001:db8::/32'])
  const lineOf = async () => (await run(['keys', 'list'])).out.split('\n').find((line) => line.startsWith(id)) ?? ''
  expect((await run(['keys', 'list'])).out).toMatch(/ never +any address +active$/m)
  // As if the hour had passed.
  await harness.db.query({ text: 'UPDATE api_keys SET expires_at = now() WHERE id = $1', values: [id] })
  expect(await lineOf()).toMatch(/(just now|ago) +192\.0\.2\.0\/24 2001:db8::\/32 +expired$/)
  await json(['keys', 'revoke', id])
  expect(await lineOf()).toMatch(/ revoked$/)
})

describe('exit codes and errors', () => {
  test.each([
    [2, ['nonsense']],
    [2, ['identities', 'create']],
    [2, ['identities', 'create', 'a', 'b']],
    [2, ['identities', 'update', 'cli_one']],
    [2, ['identities', 'update', 'cli_one', '--approval', 'perhaps']],
    [2, ['identities', 'update', 'cli_one', '--domain', 'a.example', '--mail-domain']],
    [2, ['identities', 'update', 'cli_one', '--domain', 'nowhere.example']],
    [4, ['identities', 'update', 'nobody_here', '--name', 'x']],
    [2, ['identities', 'list', '--nonsense']],
    [2, ['identities', 'list', '--limit', 'many']],
    [2, ['identities', 'create', 'NOT A HANDLE']],
    [2, ['mail', 'send', '--agent', 'x']],
    [4, ['identities', 'show', 'nobody']],
    [5, ['identities', 'create', 'cli_taken']],
  ])('%i for %j', async (code, args) => {
    if (code === 5) await harness.api('POST', '/identities', { body: { agent_handle: 'cli_taken' } })
    const ran = await run(args)
    expect(ran.code).toBe(code)
    expect(ran.error).toMatch(/^callsign: .+\n$/)
    const asJson = await run([...args, '--json'])
    expect(asJson.code).toBe(code)
    expect(JSON.parse(asJson.error).error).toMatchObject({ code: expect.any(String), message: expect.any(String) })
    expect(asJson.out).toBe('')
  })

  test('1 when the server is not there', async () => {
    const ran = await run(['keys', 'revoke', 'key_x', '--url', 'http://127.0.0.1:9'])
    expect(ran).toMatchObject({ code: 1, error: expect.stringContaining('http://127.0.0.1:9 did not answer') })
  })

  test.each(['--api-key', '--vault-key', '--password', '--value', '--recovery-code=x', '--token'])(
    '%s is refused with a sentence',
    async (option) => {
      const ran = await run(['vault', 'get', 'x', option, 'hunter2'])
      expect(ran.code).toBe(2)
      expect(ran.error).toContain('Secrets are not taken from the command line')
      expect(ran.error).not.toContain('hunter2')
    },
  )

  test('the same as a process', async () => {
    const ran = await line.start(['whoami', '--json'], { environment: environment() })
    expect(ran).toMatchObject({ code: 0, error: '' })
    expect(JSON.parse(ran.out).role).toBe('owner')
    expect((await line.start(['nonsense'])).code).toBe(2)
  })

  test('the version is printed, and nothing to do is a mistake', async () => {
    expect((await line.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await line.run([])).code).toBe(2)
  })
})
