// The start of a wait, from the commands before it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LastCommand } from './last-command.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'callsign-last-'))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-14T12:00:00.000Z') })
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true, force: true })
})

const login = { url: 'http://one.example', apiKey: 'key' }
const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)

/** Runs a command that takes a second. */
async function run(act: (command: LastCommand) => void = () => {}, { isSuccess = true, as = login } = {}) {
  const command = new LastCommand(folder)
  await command.begin(as)
  act(command)
  pass(1)
  await command.end(isSuccess)
  return command
}

const start = async (target = 'sales', as = login) => {
  const command = new LastCommand(folder)
  await command.begin(as)
  return command.waitStart(target)
}

test('a wait starts at the start of the previous command with this server and key', async () => {
  expect(await start()).toBeNull()
  await run()
  pass(30)
  expect(await start()).toMatchObject({ after: '2026-03-14T12:00:00.000Z' })
  expect(await start('sales', { ...login, apiKey: 'other' })).toBeNull()
  await run((command) => command.observe('POST', null))
  expect(await start()).toMatchObject({ after: '2026-03-14T12:00:31.000Z' })
})

test('a failed command does not count, so that a repeated wait has the same start', async () => {
  await run()
  await run(() => {}, { isSuccess: false })
  expect(await start()).toMatchObject({ after: '2026-03-14T12:00:00.000Z' })
})

test('a wait goes on after the message of the one before, until something is sent', async () => {
  await run((command) => command.waited('sales', 'cursor-1'))
  await run((command) => command.observe('GET', null))
  expect(await start()).toMatchObject({ cursor: 'cursor-1' })
  expect(await start('support')).toMatchObject({ after: '2026-03-14T12:00:01.000Z' })
  await run((command) => command.observe('POST', null))
  expect(await start()).toMatchObject({ after: '2026-03-14T12:00:02.000Z' })
})

test('a wait looks back at most 10 minutes', async () => {
  await run((command) => command.waited('sales', 'cursor-1'))
  pass(10 * 60 + 1)
  expect(await start()).toBeNull()
})

test("the server's clock counts when it differs", async () => {
  await run((command) => command.observe('GET', new Date(Date.now() + 90_000).toUTCString()))
  expect(await start()).toMatchObject({ after: '2026-03-14T12:01:30.000Z' })
  await run((command) => command.observe('GET', new Date(Date.now() - 900).toUTCString()))
  expect(await start()).toMatchObject({ after: '2026-03-14T12:00:01.000Z' })
})

test('a command that ran beside a long one stays the latest', async () => {
  const long = new LastCommand(folder)
  await long.begin(login)
  pass(20)
  await run()
  await long.end(true)
  expect(await start()).toMatchObject({ after: '2026-03-14T12:00:20.000Z' })
})
