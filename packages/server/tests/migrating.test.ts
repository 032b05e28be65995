// The commands of the guide for moving, as printed: settings of Resend, an IMAP server that answers what curl asks, and our CLI.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repository } from './harness/snippets.ts'
import { type Harness, startHarness } from './harness/start.ts'

const stored = [
  'From: Ada <ada@example.com>',
  'To: ada@example.com',
  'Subject: From the old mailbox',
  'Message-ID: <old-1@example.com>',
  'Date: Mon, 02 Mar 2026 09:30:00 +0000',
  '',
  'An old message.',
  '',
].join('\r\n')

/** Answers to one line of a client, by its command. */
function answerTo(line: string): string {
  const [tag = '', command = ''] = line.split(' ')
  const done = `${tag} OK done\r\n`
  if (command === 'CAPABILITY') return `* CAPABILITY IMAP4rev1\r\n${done}`
  if (command === 'SELECT') return `* 1 EXISTS\r\n* OK [UIDVALIDITY 1] valid\r\n${done}`
  if (command === 'FETCH') return `* 1 FETCH (BODY[] {${stored.length}}\r\n${stored})\r\n${done}`
  return command === 'LOGOUT' ? `* BYE\r\n${done}` : done
}

let harness: Harness
let imap: Server
let folder: string
beforeAll(async () => {
  harness = await startHarness()
  folder = await mkdtemp(join(tmpdir(), 'callsign-migrating-'))
  imap = createServer((socket) => {
    socket.write('* OK ready\r\n')
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const line of data.toString().split('\r\n').filter(Boolean)) socket.write(answerTo(line))
    })
  }).listen(0, '127.0.0.1')
  await once(imap, 'listening')
})
afterAll(async () => {
  await harness?.stop()
  imap?.close()
  await rm(folder, { recursive: true, force: true })
})

const run = promisify(execFile)
const guidePart = async (heading: string): Promise<string> => {
  const guide = await readFile(join(repository, 'docs/migrating.md'), 'utf8')
  return guide.split(/^## /m).find((part) => part.startsWith(heading)) as string
}

/** Runs a command line of the guide with our CLI, in the environment of its reader. */
async function runCli(line: string): Promise<string> {
  const cli = `callsign() { '${process.execPath}' --disable-warning=ExperimentalWarning '${join(repository, 'packages/cli/src/main.ts')}' "$@"; }`
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const environment = { PATH, NODE_COMPILE_CACHE, HOME: folder, CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey }
  const { stdout } = await run('sh', ['-ec', `${cli}\n${line}`], { cwd: folder, env: environment })
  return stdout
}

test('a program with the package of Resend needs the two settings only', async () => {
  const part = await guidePart('From Resend')
  const commands = [...part.matchAll(/`(callsign [^`]+)`/g)].map(([, line]) => line as string)
  expect(commands).toEqual([
    'callsign identities create sales',
    'callsign addresses create sales jane.doe',
    'callsign keys create Billing --agent sales',
  ])
  for (const line of commands) await runCli(line)
  const settings = (/```sh\n([\s\S]*?)```/.exec(part)?.[1] ?? '')
    .replace('https://callsign.example', harness.baseUrl)
    .replace('svc_live_…', harness.organizationKey)
  const program = (/```ts\n([\s\S]*?)```/.exec(part)?.[1] ?? '').replace('agents.example.com', 'agents.localhost')
  const { stdout } = await run('sh', ['-ec', `${settings}\nexec '${process.execPath}' --input-type=module -e "$PROGRAM"`], {
    cwd: join(repository, 'packages/server'),
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, PROGRAM: program },
  })
  const id = /msg_\w+/.exec(stdout)?.[0] as string
  expect(await harness.getMessage('sales', id)).toMatchObject({ from: 'jane.doe@agents.localhost', subject: 'Hello' })
})

test('every block of code of the guide is one that a test runs as printed', async () => {
  const guide = await readFile(join(repository, 'docs/migrating.md'), 'utf8')
  // The third one runs in compat-resend-libraries.test.ts, and the fourth one in compat-agentmail.test.ts.
  expect([...guide.matchAll(/^```(\w+)\n(.*)/gm)].map(([, language, line]) => `${language}: ${line}`)).toEqual([
    'sh: export RESEND_BASE_URL=https://callsign.example/compat/resend',
    "ts: import { Resend } from 'resend'",
    "js: import { Agent, setGlobalDispatcher } from 'undici'",
    "ts: import { AgentMailClient } from 'agentmail'",
    "sh: curl -s -u ada:secret 'imap://imap.example.com:143/INBOX;MAILINDEX=1' > message.eml",
  ])
})

test('a message of an IMAP mailbox is brought over', async () => {
  const part = await guidePart('From a plain IMAP mailbox')
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(part) ?? []
  const script = commands
    .replace('imap.example.com:143', `127.0.0.1:${(imap.address() as AddressInfo).port}`)
    .replace('callsign.example:25', `127.0.0.1:${harness.smtpPort}`)
    .replace('sales@agents.example.com', 'sales@agents.localhost')
  await run('sh', ['-ec', script], { cwd: folder })
  const message = await harness.waitForMail('sales', 'From the old mailbox')
  expect(message).toMatchObject({ message_id: '<old-1@example.com>', delivered_to: 'sales@agents.localhost' })
  expect(message.text).toContain('An old message.')

  // The commands that stand for those of IMAP, with this message.
  const lines = [...part.matchAll(/^\| .*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`(callsign [^`]+)`/g)].map(([, line]) => line as string),
  )
  expect(lines).toHaveLength(7)
  for (const line of lines.filter((one) => !one.startsWith('callsign mail wait'))) await runCli(line.replace('msg_01jq8', message.id))
  expect(await harness.getMessage('sales', message.id)).toMatchObject({ is_read: true, is_starred: true, labels: ['invoices'] })
  expect((await harness.expectApi(200, 'GET', '/mailboxes/sales/drafts')).drafts).toMatchObject([{ subject: 'Offer', text: 'As we said.' }])
  // A message that arrived since the previous command counts.
  await harness.deliver({ from: 'eve@example.org', to: 'sales@agents.localhost', subject: 'Awaited', text: 'Now' })
  expect(await runCli(lines.find((one) => one.startsWith('callsign mail wait')) as string)).toContain('Awaited')
})
