// The commands of the guide for moving, as printed, from an IMAP server that answers what curl asks.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
  await harness.createAgent('sales')
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

test('a message of an IMAP mailbox is brought over', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/migrating.md'), 'utf8')
  const [, commands = ''] = /## From a plain IMAP mailbox[\s\S]*?```sh\n([\s\S]*?)```/.exec(guide) ?? []
  const script = commands
    .replace('imap.example.com:143', `127.0.0.1:${(imap.address() as AddressInfo).port}`)
    .replace('callsign.example:25', `127.0.0.1:${harness.smtpPort}`)
    .replace('sales@agents.example.com', 'sales@agents.localhost')
  await promisify(execFile)('sh', ['-ec', script], { cwd: folder })
  const message = await harness.waitForMail('sales', 'From the old mailbox')
  expect(message).toMatchObject({ message_id: '<old-1@example.com>', delivered_to: 'sales@agents.localhost' })
  expect(message.text).toContain('An old message.')
})
