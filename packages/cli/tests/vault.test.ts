// The vault's commands against the real server. Keys and values come from anywhere except the command line, and no trace of them stays behind.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { runProgram } from '../src/program.ts'
import { createCommandLine, type ProcessOptions, type RunOptions } from './command-line.ts'

const vaultKey = 'correct horse battery staple'
let harness: Harness
const line = createCommandLine()
const { file } = line
beforeAll(async () => {
  harness = await startHarness()
  const made = await run(['vault', 'init', '--json'])
  expect(made.code).toBe(0)
  const { recovery_codes } = JSON.parse(made.out)
  expect(recovery_codes).toHaveLength(4)
  writeFileSync(file('code'), recovery_codes[0])
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const settings = (environment: Record<string, string> = {}) => ({
  CALLSIGN_URL: harness.baseUrl,
  CALLSIGN_API_KEY: harness.organizationKey,
  CALLSIGN_VAULT_KEY: vaultKey,
  ...environment,
})
const run = (args: string[], options: RunOptions = {}) => line.run(args, { ...options, environment: settings(options.environment) })
const start = (args: string[], options: ProcessOptions = {}) => line.start(args, { ...options, environment: settings() })
async function expectRun(args: string[], options: RunOptions = {}) {
  const ran = await run(args, options)
  expect(ran.error).toBe('')
  expect(ran.code).toBe(0)
  return ran.out
}

test('a secret is set from standard input, a file and the environment, read, listed, changed and deleted', async () => {
  await expectRun(['vault', 'set', 'token', '--type', 'api_key', '--value-file', '-'], { input: 'sk_from_stdin\n' })
  expect(await expectRun(['vault', 'get', 'token', '--member', 'api_key'])).toBe('sk_from_stdin\n')
  writeFileSync(file('pem'), '-----BEGIN KEY-----\nabc\n-----END KEY-----\n')
  await expectRun(
    ['vault', 'set', 'host', '--type', 'ssh_key', '--member', `private_key=file:${file('pem')}`, '--member', 'passphrase=env:PHRASE'],
    {
      environment: { PHRASE: 'from the environment' },
    },
  )
  expect(JSON.parse(await expectRun(['vault', 'get', 'host', '--json'])).payload).toEqual({
    private_key: '-----BEGIN KEY-----\nabc\n-----END KEY-----\n',
    passphrase: 'from the environment',
  })
  await expectRun(['vault', 'set', 'mail', '--type', 'login', '--payload-file', '-'], {
    input: '{"username": "ada", "password": "of hers", "totp": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"}',
  })
  expect(await expectRun(['vault', 'totp', 'mail'])).toMatch(/^\d{6}\n$/)
  await expectRun(['vault', 'set', 'mail', '--value-file', '-', '--description', 'hers'], { input: 'changed' })
  expect(JSON.parse(await expectRun(['vault', 'get', 'mail', '--json']))).toMatchObject({
    revision: 2,
    description: 'hers',
    payload: { username: 'ada', password: 'changed' },
  })
  const { data } = JSON.parse(await expectRun(['vault', 'list', '--json']))
  expect(data.map((one: { name: string; name_verified: boolean }) => [one.name, one.name_verified])).toEqual([
    ['host', true],
    ['mail', true],
    ['token', true],
  ])
  await expectRun(['vault', 'rm', 'host'])
  expect((await run(['vault', 'get', 'host'])).code).toBe(4)
})

test('values keep their bytes, and keys that open something lose the last newline', async () => {
  for (const value of ['line\n', 'line\r\n', 'no newline', '\n\n', '\ufefftext\n']) {
    writeFileSync(file('value'), value)
    for (const [source, input] of [
      [file('value'), ''],
      ['-', value],
    ] as const) {
      await expectRun(['vault', 'set', 'bytes', '--value-file', source], { input })
      expect(JSON.parse(await expectRun(['vault', 'get', 'bytes', '--json'])).payload.data).toBe(value)
    }
  }
  const keys = { environment: { CALLSIGN_VAULT_KEY: `${vaultKey}\n` } }
  expect(await expectRun(['vault', 'unlock'], keys)).toContain('fingerprint')
  writeFileSync(file('key'), `${vaultKey}\n`)
  await expectRun(['vault', 'unlock', '--vault-key-file', file('key')])
  await expectRun(['vault', 'rm', 'bytes'])
})

test('a literal value is refused before anything is asked of the server', async () => {
  const ran = await run(['vault', 'set', 'x', '--member', 'data=hunter2'], { environment: { CALLSIGN_URL: 'http://127.0.0.1:9' } })
  expect(ran.error).not.toContain('hunter2')
  expect(ran.code).not.toBe(0)
  const refused = await run(['vault', 'set', 'x', '--member', 'data=hunter2'])
  expect(refused).toMatchObject({ code: 2, error: expect.stringContaining('not taken from the command line') })
  expect(refused.error).not.toContain('hunter2')
})

test('a wrong vault key is exit code 3, no key and no terminal 2', async () => {
  expect((await run(['vault', 'unlock'], { environment: { CALLSIGN_VAULT_KEY: 'a wrong key of some length' } })).code).toBe(3)
  expect(await run(['vault', 'unlock'], { environment: { CALLSIGN_VAULT_KEY: '' } })).toMatchObject({
    code: 2,
    error: expect.stringContaining('--vault-key-file'),
  })
  writeFileSync(file('vault-key'), `${vaultKey}\n`)
  const report = await expectRun(['vault', 'unlock', '--json', '--vault-key-file', file('vault-key')], {
    environment: { CALLSIGN_VAULT_KEY: '' },
  })
  expect(JSON.parse(report)).toMatchObject({
    key_version: 1,
    problems: [],
    missing: [],
    fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
  })
})

test('a grant lets an agent read, and taking it back ends that', async () => {
  await harness.createAgent('cli_reader')
  const agent = { environment: { CALLSIGN_API_KEY: await harness.agentKey('cli_reader', { scopes: ['vault:read'] }) } }
  await expectRun(['vault', 'set', 'granted', '--value-file', '-'], { input: 'for the agent' })
  expect((await run(['vault', 'get', 'granted'], agent)).code).toBe(4)
  await expectRun(['vault', 'grant', 'granted', '--agent', 'cli_reader'])
  expect(await expectRun(['vault', 'get', 'granted', '--member', 'data'], agent)).toBe('for the agent\n')
  expect(await expectRun(['vault', 'grants', 'granted'])).toMatch(/^AGENT .*\ncli_reader /)
  await expectRun(['vault', 'revoke', 'granted', '--agent', 'cli_reader'])
  const after = await run(['vault', 'get', 'granted'], agent)
  expect(after.code).toBe(4)
})

describe('vault run', () => {
  const node = process.execPath

  test('gives the child only the named secrets, and passes input, output and exit code', async () => {
    await expectRun(['vault', 'set', 'child=1:x', '--value-file', '-'], { input: 'odd name' })
    await expectRun(['vault', 'set', 'db', '--type', 'login', '--payload-file', '-'], {
      input: '{"username": "root", "password": "pässwörd $x"}',
    })
    writeFileSync(
      file('child.mjs'),
      `let i = ''
process.stdin.on('data', (data) => { i += data }).on('end', () => {
  console.log(JSON.stringify([process.env.P, process.env.U, process.env.ODD, process.env.CALLSIGN_VAULT_KEY ?? null, i, process.argv.slice(2)]))
  process.exit(7)
})`,
    )
    const secrets = ['--secret', 'db=P', '--secret', 'db:username=U', '--secret', 'child=1:x=ODD']
    const ran = await start(['vault', 'run', ...secrets, '--', node, file('child.mjs'), '--json', '--secret'], { input: 'typed' })
    expect(ran.code).toBe(7)
    expect(JSON.parse(ran.out)).toEqual(['pässwörd $x', 'root', 'odd name', null, 'typed', ['--json', '--secret']])
  })

  test('passes signals on, and returns their exit code', async () => {
    await expectRun(['vault', 'set', 'signal', '--value-file', '-'], { input: 'x' })
    const polite = `process.on('SIGTERM', () => { console.log('asked'); process.exit(3) }); console.log('ready'); setInterval(() => {}, 1000)`
    const createKiller = (): ProcessOptions['onOutput'] => {
      let isAsked = false
      return (output, kill) => {
        if (!isAsked && output.includes('ready')) kill('SIGTERM')
        isAsked ||= output.includes('ready')
      }
    }
    const command = ['vault', 'run', '--secret', 'signal=S', '--', node, '-e']
    expect(await start([...command, polite], { onOutput: createKiller() })).toMatchObject({ code: 3, out: 'ready\nasked\n' })
    const rude = `console.log('ready'); setInterval(() => {}, 1000)`
    expect((await start([...command, rude], { onOutput: createKiller() })).code).toBe(128 + 15)
  })

  test('without --secret gives every secret in a variable named after it, and never replaces one', async () => {
    const { key } = await harness.createOrganization('run all')
    const environment = { CALLSIGN_API_KEY: key, CALLSIGN_CLIENT_DIR: file('run-all') }
    expect((await run(['vault', 'init', '--json'], { environment })).code).toBe(0)
    const show = ['vault', 'run', '--', node, '-e', 'console.log(process.env.PROD_DB, process.env._2FA)']
    for (const [name, input] of [
      ['prod db', 'first'],
      ['2fa', 'second'],
    ] as const)
      await expectRun(['vault', 'set', name, '--value-file', '-'], { environment, input })
    const settled = { ...settings(environment) }
    expect(await line.start(show, { environment: settled })).toMatchObject({ code: 0, out: 'first second\n' })
    for (const [name, reason] of [
      ['ld_preload', 'it is taken'],
      ['prod-db', 'another secret'],
    ] as const) {
      await expectRun(['vault', 'set', name, '--value-file', '-'], { environment, input: 'x' })
      const refused = await run(show, { environment })
      expect([refused.code, refused.out], name).toEqual([2, ''])
      expect(refused.error).toContain(reason)
      await expectRun(['vault', 'rm', name], { environment })
    }
    expect(await run(show, { environment: { ...environment, PROD_DB: 'set before' } })).toMatchObject({ code: 2 })
  })

  test('starts nothing when a secret is missing or the program is', async () => {
    expect((await run(['vault', 'run', '--secret', 'nothing=S', '--', node, '-e', 'console.log(1)'])).out).toBe('')
    expect((await start(['vault', 'run', '--secret', 'signal=S', '--', './no-such-program'])).code).toBe(127)
    expect((await run(['vault', 'run'])).code).toBe(2)
    expect((await run(['vault', 'run', '--secret', 'signal=S'])).code).toBe(2)
    expect((await run(['vault', 'run', '--secret', 'signal=not a name', '--', node])).code).toBe(2)
  })
})

test('export writes a new file for its owner alone, and never over another', async () => {
  await expectRun(['vault', 'export', '--output', file('export.json')])
  expect(statSync(file('export.json')).mode & 0o777).toBe(0o600)
  const { secrets } = JSON.parse(readFileSync(file('export.json'), 'utf8'))
  expect(secrets.find((one: { name: string }) => one.name === 'token').payload).toEqual({ api_key: 'sk_from_stdin\n' })
  expect((await run(['vault', 'export', '--output', file('export.json')])).code).toBe(2)
})

test('keys are listed, and a recovery code is deleted by its id', async () => {
  const list = async () => JSON.parse(await expectRun(['vault', 'keys', '--json'])).data
  const keys = await list()
  expect(keys.map((one: { key_type: string }) => one.key_type)).toEqual(['primary', ...Array(4).fill('recovery')])
  expect(await expectRun(['vault', 'keys'])).toMatch(/^TYPE +ID +CREATED +LAST USED\nprimary +vkey_/)
  for (const args of [['delete'], ['remove', keys[4].id]])
    expect(await run(['vault', 'keys', ...args])).toMatchObject({ code: 2, error: expect.stringContaining('vault keys delete ID') })
  expect(await expectRun(['vault', 'keys', 'delete', keys[4].id])).toContain(`${keys[4].id} is deleted.`)
  expect((await list()).map((one: { id: string }) => one.id)).toEqual(keys.slice(0, 4).map((one: { id: string }) => one.id))
  expect((await run(['vault', 'keys', 'delete', keys[0].id])).code).toBe(5)
})

test('recovering, changing the key and rotating', async () => {
  const generated = ['--generate', '--write-key-file']
  await expectRun(['vault', 'recover', '--recovery-code-file', file('code'), ...generated, file('key-1'), '--json'])
  expect(statSync(file('key-1')).mode & 0o777).toBe(0o600)
  expect((await run(['vault', 'unlock'])).code).toBe(3)
  await expectRun(['vault', 'rotate', '--key-only', '--vault-key-file', file('key-1'), ...generated, file('key-2'), '--json'])
  const rotated = await run(['vault', 'rotate', '--vault-key-file', file('key-2'), ...generated, file('key-3'), '--json'])
  expect(JSON.parse(rotated.out)).toMatchObject({ key_version: 2, recovery_codes: Array(4).fill(expect.any(String)) })
  expect(rotated.out).not.toContain(readFileSync(file('key-3'), 'utf8').trim())
  expect(await expectRun(['vault', 'get', 'token', '--member', 'api_key', '--vault-key-file', file('key-3')])).toBe('sk_from_stdin\n')
  // The pins of another client do not include the change.
  const elsewhere = { environment: { CALLSIGN_CLIENT_DIR: file('elsewhere') } }
  await expectRun(['vault', 'unlock', '--json', '--vault-key-file', file('key-3')], elsewhere)
  await expectRun(['vault', 'rotate', '--json', '--key-only', '--vault-key-file', file('key-3'), ...generated, file('key-4')])
  expect((await run(['vault', 'unlock', '--vault-key-file', file('key-4')], elsewhere)).code).toBe(1)
  await expectRun(['vault', 'unlock', '--json', '--vault-key-file', file('key-4'), '--accept-changed-vault'], elsewhere)
})

test('a generated key that may be in use is shown though the answer never came, and not when the server refused', async () => {
  const { key } = await harness.createOrganization('lost answer')
  const environment = { CALLSIGN_API_KEY: key, CALLSIGN_CLIENT_DIR: file('lost-answer') }
  expect((await run(['vault', 'init', '--json'], { environment })).code).toBe(0)
  const real = globalThis.fetch
  const lossy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await real(input, init)
    if (String(input).endsWith('/vault/rotate')) throw new TypeError('the line went dead')
    return response
  })
  const rotated = await run(['vault', 'rotate', '--generate'], { environment })
  lossy.mockRestore()
  expect(rotated).toMatchObject({ code: 1, out: '' })
  const [shown] = /[0-9A-Z]{8}(-[0-9A-Z]{8}){3}/.exec(rotated.error) ?? []
  expect((await run(['vault', 'unlock', '--json'], { environment: { ...environment, CALLSIGN_VAULT_KEY: shown! } })).code).toBe(0)
  const refused = await run(['vault', 'init', '--generate'], { environment })
  expect(refused.code).toBe(5)
  expect(refused.error).not.toMatch(/[0-9A-Z]{8}-/)
})

test('rotate prints a generated key before the rotation begins', async () => {
  const { key } = await harness.createOrganization('early key')
  const environment = settings({ CALLSIGN_API_KEY: key, CALLSIGN_CLIENT_DIR: file('early-key') })
  expect((await run(['vault', 'init', '--json'], { environment })).code).toBe(0)
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let printed = ''
  const real = globalThis.fetch
  const watched = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    if (String(input).endsWith('/vault/rotate')) printed = String(stderr.read() ?? '')
    return real(input, init)
  })
  expect(await runProgram(['vault', 'rotate', '--generate'], { stdin, stdout, stderr, environment })).toBe(0)
  watched.mockRestore()
  const [shown] = /[0-9A-Z]{8}(-[0-9A-Z]{8}){3}/.exec(printed) ?? []
  expect((await run(['vault', 'unlock', '--json'], { environment: { ...environment, CALLSIGN_VAULT_KEY: shown! } })).code).toBe(0)
})

test('a name that only the server asserts does not take precedence over a verified name', async () => {
  const { key } = await harness.createOrganization('claimed name')
  const environment = { CALLSIGN_API_KEY: key, CALLSIGN_CLIENT_DIR: file('claimed-name') }
  expect((await run(['vault', 'init', '--json'], { environment })).code).toBe(0)
  await expectRun(['vault', 'set', 'token', '--type', 'api_key', '--value-file', '-'], { environment, input: 'first' })
  const real = globalThis.fetch
  const hostile = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await real(input, init)
    if (!String(input).endsWith('/vault/unlock')) return response
    const body = (await response.json()) as { secrets: { id: string }[] }
    const claimed = { ...body.secrets[0]!, id: body.secrets[0]!.id.replace(/^vsec_01./, 'vsec_010'), type: 'other' }
    return Response.json({ ...body, secrets: [claimed, ...body.secrets] })
  })
  const listed = await run(['vault', 'list', '--json'], { environment })
  const changed = await run(['vault', 'set', 'token', '--value-file', '-'], { environment, input: 'second' })
  hostile.mockRestore()
  expect(JSON.parse(listed.out).data).toMatchObject([{ type: 'other', problem: { code: 'context_mismatch' } }, { type: 'api_key' }])
  expect(changed).toMatchObject({ code: 0, error: '' })
  expect(JSON.parse(await expectRun(['vault', 'get', 'token', '--json'], { environment })).payload).toEqual({ api_key: 'second' })
})
