// The link of a first start and the host commands of the console, in processes of their own.
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { callsignd, makeDataDir, type Settings, startCallsignd } from './harness/callsignd.ts'
import { openBrowser } from './harness/console-browser.ts'
import { createDatabase } from './harness/database.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshSettings(): Promise<Settings> {
  const database = await createDatabase()
  const folder = await makeDataDir()
  cleanups.push(database.drop, folder.remove)
  return { CALLSIGN_DATABASE_URL: database.url, CALLSIGN_DATA_DIR: folder.path }
}

const linkOf = (text: string): string | undefined => /http:\/\/localhost:\d+\/console\/#link=[A-Za-z0-9_-]{43}/.exec(text)?.[0]

test('a first start without a terminal prints a link, a later start none, and console-link prints another beside a server', async () => {
  const settings = await freshSettings()
  const first = await startCallsignd(settings)
  const printed = linkOf(first.lines.join('\n'))
  expect(printed).toBe(`http://localhost:${first.httpPort}/console/#link=${printed?.split('=')[1]}`)
  const server = { baseUrl: first.baseUrl, publicUrl: `http://localhost:${first.httpPort}` }
  expect((await openBrowser(server).signInByLink(printed as string)).session.role).toBe('owner')
  const command = await callsignd(['console-link'], { ...settings, CALLSIGN_PORT: String(first.httpPort) })
  expect([command.code, command.stderr]).toEqual([0, ''])
  const link = linkOf(command.stdout) as string
  expect(link).toContain(`http://localhost:${first.httpPort}/console/#link=`)
  expect((await openBrowser(server).signInByLink(link)).session.role).toBe('owner')
  const ended = await first.stop()
  // A link is a secret, so it is not in the log.
  expect(ended.stderr).not.toContain((printed as string).split('=')[1])
  const second = await startCallsignd(settings)
  expect(linkOf(second.lines.join('\n'))).toBeUndefined()
  expect(second.lines.join('\n')).toContain(`Console: http://localhost:${second.httpPort}/console/`)
  await second.stop()
})

test('console-link for an unknown organization says so', async () => {
  const settings = await freshSettings()
  await callsignd(['init'], settings)
  const { code, stderr } = await callsignd(['console-link', '--organization', 'org_unknown'], settings)
  expect([code, stderr]).toEqual([1, 'callsignd: unknown organization: org_unknown\n'])
})

test('console-hashes prints the SRI hash of every file, without compressed copies', async () => {
  const { path, remove } = await makeDataDir()
  cleanups.push(remove)
  await mkdir(join(path, 'assets'))
  await writeFile(join(path, 'vault.html'), '<!doctype html>')
  await writeFile(join(path, 'assets', 'vault-1.js'), 'unlock()')
  await writeFile(join(path, 'assets', 'vault-1.js.br'), 'compressed')
  const { code, stdout } = await callsignd(['console-hashes'], { CALLSIGN_CONSOLE_DIR: path })
  const hash = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`
  expect([code, stdout]).toEqual([0, `${hash('unlock()')}  assets/vault-1.js\n${hash('<!doctype html>')}  vault.html\n`])
  const missing = await callsignd(['console-hashes'], { CALLSIGN_CONSOLE_DIR: join(path, 'none') })
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('npm run build -w @callsign/console')])
})

test('console-loader prints the vault page of a server, with the hash of the script of this release', async () => {
  const { path, remove } = await makeDataDir()
  cleanups.push(remove)
  await mkdir(join(path, 'assets'))
  await writeFile(join(path, 'index.html'), '<!doctype html>')
  await writeFile(join(path, 'vault.html'), '<script type="module" src="/console/assets/vault-1.js"></script>')
  await writeFile(join(path, 'assets', 'vault-1.js'), 'unlock()')
  const run = (...args: string[]) => callsignd(['console-loader', ...args], { CALLSIGN_CONSOLE_DIR: path })
  const { code, stdout } = await run('https://callsign.example/')
  expect(code).toBe(0)
  expect(stdout).toContain(`content="sha384-${createHash('sha384').update('unlock()').digest('base64')}"`)
  expect(stdout).toContain('content="https://callsign.example/console/assets/vault-1.js"')
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('callsignd console-loader URL') })
  expect(await run('callsign.example')).toMatchObject({ code: 1, stderr: expect.stringContaining('must begin with https://') })
})
