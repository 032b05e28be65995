// callsign tunnel and tunnels …. An address is served from a local port and reported as JSON lines, text lines, or a table on a terminal.
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Origin, startOrigin, visit } from '../../server/tests/harness/origin.ts'
import { findFreePort } from '../../server/tests/harness/peer-process.ts'
import { type Harness, type Json, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { runProgram } from '../src/program.ts'
import { createCommandLine } from './command-line.ts'

let harness: Harness
let origin: Origin
let agentKey: string
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  origin = await startOrigin()
  await harness.createAgent('sales')
  agentKey = await harness.agentKey('sales')
})
afterAll(async () => {
  await harness.stop()
  await origin.stop()
  line.remove()
})

const environment = (key = harness.organizationKey) => ({ CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: key })
const port = () => Number(new URL(harness.baseUrl).port)
const host = 'sales.tunnel.localhost'
/** The address that works on a server without a certificate. */
const localUrl = () => `http://${host}:${port()}/`

/** Runs the command until it is interrupted. `isTerminal` makes standard output a terminal. */
function serve(args: string[], { key, isTerminal = false }: { key?: string; isTerminal?: boolean } = {}) {
  const [stdin, stdout, stderr] = [
    new PassThrough(),
    Object.assign(new PassThrough(), { isTTY: isTerminal, columns: 80 }),
    new PassThrough(),
  ]
  let out = ''
  let error = ''
  stdout.on('data', (chunk) => {
    out += chunk
  })
  stderr.on('data', (chunk) => {
    error += chunk
  })
  const controller = new AbortController()
  const surroundings = { CALLSIGN_CLIENT_DIR: line.file('settings'), ...environment(key) }
  const code = runProgram(['tunnel', ...args], { stdin, stdout, stderr, environment: surroundings, interruption: () => controller.signal })
  return { out: () => out, error: () => error, code, interrupt: () => controller.abort() }
}
const waitForAnswer = () => waitFor('an answer', async () => (await visit(port(), host, '/from-outside')).status === 200)

test('with an agent’s key it serves the agent’s own address and reports events as JSON lines', async () => {
  const running = serve([String(origin.port), '--json', '--connections', '1'], { key: agentKey })
  await waitForAnswer()
  await waitFor('the request', () => running.out().includes('/from-outside'))
  running.interrupt()
  expect(await running.code).toBe(0)
  const events = running
    .out()
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Json)
  expect(events[0]).toEqual({
    event: 'connected',
    connection: 1,
    public_url: 'https://sales.tunnel.localhost',
    local_url: localUrl(),
    transport: 'upgrade',
  })
  expect(events.find((one) => one.event === 'request')).toMatchObject({ method: 'GET', path: '/from-outside', status: 200 })
})

test('an unknown agent is named, and not the target', async () => {
  const running = serve(['3000', '--agent', 'nope'])
  expect(await running.code).toBe(4)
  expect(running.error()).toContain('No such agent: nope.')
  const { error } = await line.run(['tunnels', 'show', 'nope'], { environment: environment() })
  expect(error).toContain('No such agent: nope.')
})

test('elsewhere a line each, on a terminal a table that stays in place', async () => {
  const plain = serve([`http://localhost:${origin.port}`, '--agent', '@sales'])
  await waitForAnswer()
  await waitFor('the line', () => plain.out().includes('GET'))
  expect(plain.out()).not.toContain('\u001b')
  expect(plain.error()).toContain(`${localUrl()} leads to`)
  plain.interrupt()
  expect(await plain.code).toBe(0)

  const drawn = serve([String(origin.port), '--agent', 'sales'], { isTerminal: true })
  await waitForAnswer()
  await waitFor('the table', () => drawn.out().includes('requests, 0 failed'))
  drawn.interrupt()
  expect(await drawn.code).toBe(0)
  expect(drawn.out()).toContain('\u001b[J')
})

test('why a target cannot be reached is said once', async () => {
  const running = serve([String(await findFreePort()), '--agent', 'sales', '--connections', '1', '--no-tls-verify'])
  for (let i = 0; i < 2; i++) {
    await waitFor('a refusal by the client', async () => {
      const { headers } = await visit(port(), host, '/')
      return headers['x-tunnel-error'] === 'target_unreachable'
    })
  }
  running.interrupt()
  expect(await running.code).toBe(0)
  expect(running.error().match(/http:\/\/localhost:\d+ cannot be reached: connect ECONNREFUSED 127\.0\.0\.1/g)).toHaveLength(1)
})

test('errors are reported before it waits', async () => {
  const run = (args: string[], key?: string) => line.run(args, { environment: environment(key) })
  expect(await run(['tunnel', String(origin.port)])).toMatchObject({ code: 2, error: expect.stringContaining('--agent') })
  expect(await run(['tunnel', 'http://192.0.2.1', '--agent', 'sales'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('not on this machine'),
  })
  expect(await run(['tunnel', '3000', '--agent', 'nobody'])).toMatchObject({ code: 4 })
  expect(await run(['tunnel', '3000', '--agent', 'sales', '--transport', 'pigeon'])).toMatchObject({ code: 2 })
  for (const wrong of [
    ['--connections', '0'],
    ['--connections', '9'],
    ['--proxy', 'socks5://127.0.0.1:1'],
    ['--proxy', 'not one'],
  ])
    expect(await run(['tunnel', '3000', '--agent', 'sales', ...wrong])).toMatchObject({ code: 2 })
  expect(await run(['tunnel', '0', '--agent', 'sales'])).toMatchObject({ code: 2, error: expect.stringContaining('Port 0') })
  expect(await run(['tunnel', '3000'], 'svc_live_wrong')).toMatchObject({ code: 3 })
})

test('list, show, set, requests and replay', async () => {
  const run = async (...args: string[]) => line.run([...args, '--json'], { environment: environment() })
  expect(JSON.parse((await run('tunnels', 'list', '--status', 'active')).out).data).toMatchObject([{ agent_handle: 'sales' }])
  expect(JSON.parse((await run('tunnels', 'set', 'sales', '--capture', 'headers')).out)).toMatchObject({
    capture: 'headers',
    status: 'active',
  })
  expect(JSON.parse((await run('tunnels', 'show', 'sales')).out)).toMatchObject({ capture: 'headers' })
  expect((await run('tunnels', 'set', 'sales')).code).toBe(2)
  const running = serve([String(origin.port), '--agent', 'sales', '--json'])
  await waitFor('an answer', async () => (await visit(port(), host, '/captured')).status === 200)
  const one = await waitFor('the request', async () => {
    const { data } = JSON.parse((await run('tunnels', 'requests', 'sales')).out) as Json
    return data.find((item: Json) => item.path === '/captured' && item.status === 200)
  })
  expect(JSON.parse((await run('tunnels', 'replay', 'sales', one.id)).out)).toMatchObject({ status: 200, replay_of: one.id })
  running.interrupt()
  expect(await running.code).toBe(0)
})
