// The start and the stop as a person sees them on a terminal. util-linux's script gives the server one.
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeDataDir, type Settings, startCallsignd } from './harness/callsignd.ts'
import { hasScript, skipReason, Terminal } from './harness/terminal.ts'

const controlC = '\u0003'

const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function dataDir(): Promise<string> {
  const { path, remove } = await makeDataDir()
  cleanups.push(remove)
  return join(path, 'data')
}

function openTerminal(settings: Settings): Terminal {
  const terminal = new Terminal('serve', settings)
  cleanups.push(() => terminal.close())
  return terminal
}

test.skipIf(!hasScript)(`a first start is one page with its key once, and a later start has none${skipReason}`, async () => {
  const settings = { CALLSIGN_DATA_DIR: await dataDir() }
  const first = openTerminal(settings)
  const page = await first.until('Ctrl-C stops the server.')
  expect(page.match(/svc_live_\w+/g)).toHaveLength(1)
  expect(page).not.toMatch(/^\{/m)
  const lines = page.split('\n')
  expect(lines.slice(0, 6)).toEqual([
    expect.stringMatching(/^Callsign \d/),
    `  Creating a PostgreSQL database in ${settings.CALLSIGN_DATA_DIR}, once`,
    '  Bringing its tables up to date',
    '  Opening the ports',
    '',
    'Made on this first start',
  ])
  expect(page).toMatch(/^ {2}Console {3}http:\/\/localhost:\d+\/console\/#link=\S+$/m)
  expect(lines.length).toBeLessThan(32)
  first.type(controlC)
  expect((await first.until('Stopping.')).split('\n').at(-2)).toMatch(/Stopping\.$/)
  expect(await first.ended).toBe(0)

  const second = openTerminal(settings)
  const later = await second.until('Ctrl-C stops the server.')
  expect(later).not.toContain('svc_live_')
  expect(later).toContain(`  Starting PostgreSQL in ${settings.CALLSIGN_DATA_DIR}\n`)
  expect(later).toContain('npx --no callsignd console-link')
  second.type(controlC)
  expect(await second.ended).toBe(0)
})

test.skipIf(!hasScript)(`Ctrl-C names what it waits for, and goes on until that is done${skipReason}`, async () => {
  const terminal = openTerminal({ CALLSIGN_DATA_DIR: await dataDir() })
  const page = await terminal.until('Ctrl-C stops the server.')
  const created = await fetch(`${/API +(\S+)/.exec(page)?.[1]}/identities`, {
    method: 'POST',
    headers: { authorization: `Bearer ${/svc_live_\w+/.exec(page)?.[0]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_handle: 'ann' }),
  })
  expect(created.status).toBe(201)
  const client = connect(Number(/smtp 127\.0\.0\.1:(\d+)/.exec(page)?.[1]), '127.0.0.1')
  let replies = ''
  const reply = async (start: string) => {
    while (!new RegExp(`^${start}`, 'm').test(replies)) replies += String((await once(client, 'data'))[0])
  }
  await reply('220 ')
  client.write('HELO a.example\r\nMAIL FROM:<a@a.example>\r\nRCPT TO:<ann@agents.localhost>\r\nDATA\r\n')
  await reply('354 ')
  terminal.type(controlC)
  expect(await terminal.until('Press Ctrl-C again')).toMatch(
    /Stopping\. Waiting at most \d+ seconds for SMTP sessions \(1\)\. Press Ctrl-C again to stop at once\./,
  )
  client.write('Subject: a\r\n\r\na\r\n.\r\n')
  await reply('250 2.')
  client.end()
  expect(await terminal.ended).toBe(0)
})

test.skipIf(!hasScript)(`a start that fails shows no key on the terminal, and the next one does${skipReason}`, async () => {
  const settings = { CALLSIGN_DATA_DIR: await dataDir() }
  const holder = await startCallsignd({ CALLSIGN_DATA_DIR: await dataDir() })
  cleanups.push(() => holder.stop())
  const failing = openTerminal({ ...settings, CALLSIGN_PORT: String(holder.httpPort) })
  expect(await failing.ended).toBe(1)
  expect(failing.screen).toContain(`port ${holder.httpPort} on 127.0.0.1 is in use by another program: stop it, or set CALLSIGN_PORT`)
  expect(failing.screen).not.toContain('svc_live_')
  const next = openTerminal(settings)
  expect((await next.until('Ctrl-C stops the server.')).match(/svc_live_\w+/g)).toHaveLength(1)
  next.type(controlC)
  expect(await next.ended).toBe(0)
})

test('without a terminal the log is JSON lines, with one for all migrations and one for the stop', async () => {
  const server = await startCallsignd({ CALLSIGN_DATA_DIR: await dataDir() })
  const { code, stderr } = await server.stop()
  expect(code).toBe(0)
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string })
  expect(lines.filter(({ msg }) => msg === 'database migrated')).toMatchObject([
    { migrations: expect.any(Number), last: expect.any(String) },
  ])
  expect(lines.filter(({ msg }) => msg === 'stopping')).toMatchObject([{ pending: { requests: 0, 'SMTP sessions': 0 } }])
})
