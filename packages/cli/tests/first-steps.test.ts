// The first steps on a machine: init at a terminal and without one, and open.
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { runProgram } from '../src/program.ts'
import { createCommandLine } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

/** Runs a command at a terminal that answers each question. */
async function runAtTerminal(args: string[], answers: [question: RegExp, answer: string][], columns = 80) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns })
  const stderr = Object.assign(new PassThrough(), { isTTY: true })
  let asked = ''
  let out = ''
  stdout.on('data', (bytes: Buffer) => {
    out += bytes
  })
  stderr.on('data', (bytes: Buffer) => {
    asked += bytes
    const [next] = answers
    if (next?.[0].test(asked)) {
      answers.shift()
      asked = ''
      setImmediate(() => stdin.write(`${next[1]}\n`))
    }
  })
  const environment = { PATH: process.env.PATH, CALLSIGN_CLIENT_DIR: line.file('settings'), BROWSER: 'true' }
  const code = await runProgram(args, { stdin, stdout, stderr, environment })
  return { code, out, left: answers.length }
}

test('init asks for server, key and handle, and leaves a login, an agent and a message', async () => {
  const ran = await runAtTerminal(
    ['init'],
    [
      [/Address of the server \[http:\/\/localhost:8080\]: $/, `${harness.baseUrl}/`],
      [/API key: $/, harness.organizationKey],
      [/Handle of your agent \[sales\]: $/, ''],
    ],
  )
  expect(ran).toMatchObject({ code: 0, left: 0 })
  expect(ran.out).toContain('sales has mail at sales@agents.localhost.')
  expect(ran.out).toContain('callsign mail read --agent sales')
  expect(JSON.parse(readFileSync(line.file('settings/login.json'), 'utf8'))).toMatchObject({ url: harness.baseUrl })
  expect(await line.run(['mail', 'read', '--agent', 'sales'])).toMatchObject({ code: 0, out: expect.stringContaining('Subject: Welcome') })
})

test('init without a terminal takes everything from options, and keeps an agent that exists', async () => {
  const environment = { CALLSIGN_API_KEY: harness.organizationKey }
  const ran = await line.run(['init', 'sales', '--url', harness.baseUrl, '--json'], { environment })
  expect(ran).toMatchObject({ code: 0, error: '' })
  expect(JSON.parse(ran.out)).toMatchObject({ url: harness.baseUrl, agent: { agent_handle: 'sales' }, has_mail: true })
  expect(await line.run(['init'], { environment })).toMatchObject({ code: 2, error: expect.stringContaining('use --url') })
  expect(await line.run(['init', '--url', harness.baseUrl], { environment })).toMatchObject({
    code: 2,
    error: expect.stringContaining('give HANDLE'),
  })
})

test('init with the key of an agent uses its agent', async () => {
  const key = await harness.agentKey('sales')
  const ran = await line.run(['init', '--url', harness.baseUrl, '--json'], {
    environment: { CALLSIGN_API_KEY: key, CALLSIGN_CLIENT_DIR: line.file('agent') },
  })
  expect(JSON.parse(ran.out)).toMatchObject({ agent: { agent_handle: 'sales' }, has_mail: false })
})

test('init does not store a key that the server refuses', async () => {
  const environment = { CALLSIGN_API_KEY: 'svc_live_wrong', CALLSIGN_CLIENT_DIR: line.file('refused') }
  expect((await line.run(['init', 'sales', '--url', harness.baseUrl], { environment })).code).toBe(3)
  expect(() => readFileSync(line.file('refused/login.json'))).toThrow('ENOENT')
})

test('lists fit the width of the terminal, and are whole for a program', async () => {
  const name = 'A name that is much too long for a narrow terminal, so that it is cut with an ellipsis'
  await line.run(['keys', 'create', name])
  for (const words of [
    ['keys', 'list'],
    ['identities', 'list'],
    ['mail', 'list'],
    ['audit', 'list'],
    ['events', 'list'],
  ]) {
    const { out } = await runAtTerminal(words, [], 72)
    const lines = stripVTControlCharacters(out).trim().split('\n')
    expect(lines.length, words.join(' ')).toBeGreaterThan(1)
    // The first column stays whole, because it is copied, and no column is narrower than 4 characters.
    if (words[0] !== 'keys') expect(Math.max(...lines.map(({ length }) => length)), out).toBeLessThanOrEqual(72)
    else expect(out).toContain('…')
  }
  expect((await line.run(['keys', 'list'])).out).toContain(name)
})

test('open prints the address of the console', async () => {
  expect(await line.run(['open'])).toMatchObject({ code: 0, out: `${harness.baseUrl}/console/\n` })
  expect(JSON.parse((await line.run(['open', '--json'])).out)).toEqual({ url: `${harness.baseUrl}/console/` })
  expect(await runAtTerminal(['open'], [])).toMatchObject({ code: 0, out: `${harness.baseUrl}/console/\n` })
})
