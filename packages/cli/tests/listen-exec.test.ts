// callsign listen --exec: every event runs the command, across kills, failures and restarts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { createCommandLine } from './command-line.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const line = createCommandLine()
let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['one', 'two']) await harness.createAgent(handle)
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts listen as a process. `node` in the command is this Node. */
function listen(command: string, ...more: string[]) {
  const args = [
    '--disable-warning=ExperimentalWarning',
    main,
    'listen',
    '--exec',
    command.replace(/^node /, `${process.execPath} `),
    ...more,
  ]
  const environment = { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey, CALLSIGN_CLIENT_DIR: line.file('client') }
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, args, { cwd: line.folder, env: { PATH, NODE_COMPILE_CACHE, ...environment } })
  running.add(child)
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child)
    return code as number | null
  })
  let error = ''
  child.stderr.on('data', (chunk: Buffer) => {
    error += chunk
  })
  return { child, ended, error: () => error }
}

/** The lines of a file. A last one that is still written is left out. */
const linesOf = (name: string): string[] =>
  existsSync(line.file(name)) ? readFileSync(line.file(name), 'utf8').split('\n').slice(0, -1).filter(Boolean) : []
const subjectsIn = (name: string): string[] => linesOf(name).map((one) => JSON.parse(one).data.subject)
/** Resolves when the state file has a position. */
const started = (state: string) => waitFor('the position', () => existsSync(line.file(state)))

const send = (subject: string, more: Record<string, unknown> = {}) => harness.send('one', 'two@agents.localhost', { subject, ...more })
const filter = ['--event', 'email.received', '--agent', 'two']

test('kill -9 between and during commands misses no event, and repeats at most the running ones', async () => {
  const [total, kills, concurrency] = [30, 4, 2]
  const options = [...filter, '--state', 'killed.json', '--concurrency', String(concurrency)]
  let listener = listen('cat >> killed.out', ...options)
  await started('killed.json')
  // Killed before the first event, which then arrives while no process runs.
  listener.child.kill('SIGKILL')
  await listener.ended
  let sent = 0
  for (let round = 1; round <= kills; round++) {
    for (; sent < (total * round) / kills; sent++) await send(`Kill ${sent}`)
    const seen = linesOf('killed.out').length
    listener = listen('cat >> killed.out', ...options)
    // In the middle of the events of this round, except for the last one.
    const wanted = round < kills ? seen + 3 : total
    await waitFor(`${wanted} handled events`, () => new Set(subjectsIn('killed.out')).size >= wanted, 60_000)
    listener.child.kill(round < kills ? 'SIGKILL' : 'SIGTERM')
    await listener.ended
  }
  const handled = subjectsIn('killed.out')
  expect(new Set(handled)).toEqual(new Set(Array.from({ length: total }, (_, i) => `Kill ${i}`)))
  // The commands that ran at a kill were not recorded.
  expect(handled.length - total).toBeLessThanOrEqual((kills - 1) * concurrency)
})

test('a failed command is repeated with backoff, then its event is kept aside, and the next one runs', async () => {
  writeFileSync(
    line.file('flaky.mjs'),
    `import { appendFileSync, readFileSync } from 'node:fs'
const event = JSON.parse(readFileSync(0, 'utf8'))
appendFileSync('flaky.out', event.data.subject + ' ' + process.env.CALLSIGN_ATTEMPT + ' ' + (process.env.CALLSIGN_EVENT_ID === event.id) + '\\n')
process.exit(event.data.subject === 'Never' || process.env.CALLSIGN_ATTEMPT === '1' ? 7 : 0)`,
  )
  const { child, ended, error } = listen('node flaky.mjs', ...filter, '--state', 'flaky.json', '--retries', '1', '--count', '2')
  await started('flaky.json')
  await send('Never')
  await send('Second')
  expect(await ended).toBe(0)
  expect(child.exitCode).toBe(0)
  expect(linesOf('flaky.out').toSorted()).toEqual(['Never 1 true', 'Never 2 true', 'Second 1 true', 'Second 2 true'])
  expect(subjectsIn('flaky.json.failed')).toEqual(['Never'])
  expect(error()).toContain('exit code 7')
})

test('at most --concurrency commands run at once, and one per thread', async () => {
  // Each command waits until two have started, so that it ends only if two run at once.
  writeFileSync(
    line.file('slow.mjs'),
    `import { appendFileSync, readFileSync } from 'node:fs'
const { subject } = JSON.parse(readFileSync(0, 'utf8')).data
appendFileSync('slow.out', 'start ' + subject + '\\n')
const starts = () => readFileSync('slow.out', 'utf8').split('\\n').filter((one) => one.startsWith('start')).length
const timer = setInterval(() => {
  if (starts() < 2) return
  clearInterval(timer)
  appendFileSync('slow.out', 'end ' + subject + '\\n')
}, 5)`,
  )
  const { ended } = listen('node slow.mjs', ...filter, '--state', 'slow.json', '--concurrency', '2', '--count', '6')
  await started('slow.json')
  const { thread_id } = await send('Thread 0')
  await send('Thread 1', { thread_id })
  for (let i = 0; i < 4; i++) await send(`Alone ${i}`)
  expect(await ended).toBe(0)
  let [now, most] = [0, 0]
  const threads: string[] = []
  for (const one of linesOf('slow.out')) {
    now += one.startsWith('start') ? 1 : -1
    most = Math.max(most, now)
    if (one.includes('Thread')) threads.push(one)
  }
  expect(most).toBe(2)
  expect(threads).toEqual(['start Thread 0', 'end Thread 0', 'start Thread 1', 'end Thread 1'])
})

test('--debounce runs the command once for the events of a thread', async () => {
  writeFileSync(line.file('batch.sh'), 'cat > batch.in; wc -l < batch.in >> batch.out; cat batch.in >> batch.all')
  const options = [...filter, '--state', 'batch.json', '--debounce', '2']
  const before = listen('sh batch.sh', ...options)
  await started('batch.json')
  before.child.kill('SIGTERM')
  await before.ended
  // The events arrive while nothing listens, and then together.
  const { thread_id } = await send('Batch 0')
  for (let i = 1; i < 3; i++) await send(`Batch ${i}`, { thread_id })
  await waitFor('the events', async () => {
    const { data } = await harness.expectApi(200, 'GET', '/events?types=email.received&agent=two&limit=100&order=desc')
    return data.filter((one: Json) => one.data.subject.startsWith('Batch')).length === 3
  })
  const { child, ended } = listen('sh batch.sh', ...options)
  await waitFor('the batch', () => linesOf('batch.out').length > 0 && linesOf('batch.all').length >= 3, 30_000)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(linesOf('batch.out').map(Number)).toEqual([3])
  expect(subjectsIn('batch.all')).toEqual(['Batch 0', 'Batch 1', 'Batch 2'])
})

test('an interrupt lets the running command end and records it', async () => {
  writeFileSync(
    line.file('wait.sh'),
    'cat > wait.in; touch wait.started; while [ ! -e wait.go ]; do sleep 0.05; done; cat wait.in >> wait.out',
  )
  const first = listen('sh wait.sh', ...filter, '--state', 'wait.json')
  await started('wait.json')
  await send('Interrupted')
  await waitFor('the command', () => existsSync(line.file('wait.started')))
  const other = listen('sh wait.sh', ...filter, '--state', 'wait.json')
  expect(await other.ended).toBe(2)
  expect(other.error()).toContain(`Process ${first.child.pid} handles these events already`)
  first.child.kill('SIGTERM')
  writeFileSync(line.file('wait.go'), '')
  expect(await first.ended).toBe(0)
  await send('Later')
  const second = listen('sh wait.sh', ...filter, '--state', 'wait.json', '--count', '1')
  expect(await second.ended).toBe(0)
  expect(subjectsIn('wait.out')).toEqual(['Interrupted', 'Later'])
})

test.each([
  [['--debounce', '1'], '--debounce needs --exec.'],
  [['--exec', 'true', '--forward-to', 'http://localhost:1'], '--exec and --forward-to are mutually exclusive.'],
  [['--forward-to', 'http://localhost:1', '--debounce', '1'], '--debounce needs --exec.'],
  [['--exec', 'true', '--concurrency', '0'], '--concurrency must be a number from 1 to 100.'],
  [['--exec', 'true', '--state', 'broken.json'], 'broken.json is not a valid state file.'],
])('%j is a mistake in its use', async (args, sentence) => {
  writeFileSync(line.file('broken.json'), '{}')
  const environment = { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey }
  expect(await line.start(['listen', ...args], { environment })).toMatchObject({ code: 2, error: expect.stringContaining(sentence) })
})
