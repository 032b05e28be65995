// Proof of authors where DNS fails or a domain has no policy.
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

test('a DNS failure for a key or SPF of a domain with policy none does not quarantine mail that a rule allows', async () => {
  await harness.createAgent('rule')
  await harness.expectApi(200, 'PATCH', '/identities/rule', { body: { inbound_mode: 'allowlist' } })
  await harness.expectApi(201, 'POST', '/identities/rule/mail-rules', {
    body: { direction: 'inbound', action: 'allow', entry: 'weak.example' },
  })
  harness.dns.fail('weak.example', 'SERVFAIL', 'TXT')
  try {
    const raw = mail('ann@weak.example', 'transient')
    // A temporary reply or `received`, but never 250 and quarantined.
    if ((await hand(raw, 'ann@weak.example', 'rule')).startsWith('250')) expect(await statusOf('rule', 'transient')).toBe('received')
  } finally {
    harness.dns.fail('weak.example', null, 'TXT')
  }
})

test('a forged participant of a domain without a policy does not add a stranger to the conversation', async () => {
  await harness.createAgent('reply')
  await harness.expectApi(200, 'PATCH', '/identities/reply', { body: { inbound_mode: 'allowlist' } })
  const sent = await harness.send('reply', 'ann@barred.example')
  const answers = `In-Reply-To: ${(await harness.getMessage('reply', sent.id)).message_id}`
  await hand(mail('ann@barred.example', 'forged', [answers, 'Cc: mallory@evil.example']), 'x@evil.example', 'reply')
  await hand(mail('mallory@evil.example', 'stranger', [answers]), 'mallory@evil.example', 'reply')
  expect(await statusOf('reply', 'stranger')).toBe('quarantined')
})
