// Author domains that are not domain names: none passes as an author, a rule or a wait.
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  const { dns } = harness
  const permitted = { TXT: ['v=spf1 ip4:127.0.0.0/8 ip6:::1 -all'] }
  const refused = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }
  const reject = { TXT: ['v=DMARC1; p=reject'] }
  for (const name of ['ok.example', 'evil.example']) {
    dns.set(name, permitted)
    dns.set(`_dmarc.${name}`, reject)
  }
  dns.set('corp.example', refused)
  dns.set('_dmarc.corp.example', reject)
  dns.set('weak.example', permitted)
  dns.set('_dmarc.weak.example', { TXT: ['v=DMARC1; p=none'] })
  dns.set('barred.example', refused)
})
afterAll(() => harness.stop())
afterEach(() => void vi.useRealTimers())

async function hand(raw: string, envelopeFrom: string, handle: string): Promise<string> {
  const socket = connect(harness.smtpPort, '127.0.0.1')
  const lines = ['EHLO s.example', `MAIL FROM:<${envelopeFrom}>`, `RCPT TO:<${handle}@agents.localhost>`, 'DATA', `${raw}\r\n.`]
  let [text, reply] = ['', '']
  for await (const chunk of socket) {
    text += String(chunk)
    if (!/(^|\r\n)\d{3} [^\r\n]*\r\n$/.test(text)) continue
    reply = text.trimEnd()
    text = ''
    const line = lines.shift()
    if (line === undefined) break
    socket.write(`${line}\r\n`)
  }
  socket.destroy()
  return reply
}
/** A mail whose subject is its id. */
const mail = (from: string, id: string, more: string[] = [], body = 'Your code is 492816.') =>
  [`From: ${from}`, 'To: you@agents.localhost', `Subject: ${id}`, `Message-ID: <${id}@x.example>`, ...more, '', body, ''].join('\r\n')
const list = async (handle: string, status = 'received'): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages?limit=100&status=${status}`)).data
const statusOf = async (handle: string, id: string): Promise<string> => {
  const found = [...(await list(handle)), ...(await list(handle, 'quarantined'))].filter((one) => one.subject === id)
  return found.map((one) => one.status).join()
}

/** No domain is authenticated for these, and each displays as the pretended address. */
test.each([
  'ceo@corp.example...',
  'ceo@corp..example',
  'ceo@[corp.example]',
  'ceo@[\u202ecorp.example]',
  'ceo@[corp\u200d.example]',
  'boss@agents.localhost...',
  'boss@[agents.localhost]',
])('%s is not a usable author', async (from) => {
  const handle = `forms_${Math.random().toString(36).slice(2, 10)}`
  await harness.createAgent(handle)
  expect(await hand(mail(from, 'form'), 'x@evil.example', handle)).toMatch(/^250 /)
  expect(await statusOf(handle, 'form')).toBe('quarantined')
})

test('a block rule is not passed by dots at the end', async () => {
  await harness.createAgent('blocks')
  await harness.expectApi(201, 'POST', '/identities/blocks/mail-rules', {
    body: { direction: 'inbound', action: 'block', entry: 'spam.example' },
  })
  await hand(mail('x@spam.example...', 'dots'), 'x@evil.example', 'blocks')
  expect(await statusOf('blocks', 'dots')).toBe('quarantined')
})

test('a wait for corp.example. (with its dot) is not answered by corp.example.evil.example', async () => {
  await harness.createAgent('waits')
  harness.dns.set('corp.example.evil.example', { TXT: ['v=spf1 +all'] })
  const { cursor } = await harness.expectApi(200, 'GET', '/mailboxes/waits/wait?timeout=0')
  await hand(mail('ceo@corp.example.evil.example', 'dotted'), 'ceo@corp.example.evil.example', 'waits')
  const waited = await harness.expectApi(
    200,
    'GET',
    `/mailboxes/waits/wait?timeout=0&cursor=${encodeURIComponent(cursor)}&from=corp.example.`,
  )
  expect(waited.message).toBeNull()
})
