// Quarantined copies: they neither swallow a proven message nor connect threads.
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
afterAll(async () => {
  await harness.stop()
  // Ids do not go back with the clock, so the next file of this process gets modules of its own.
  vi.resetModules()
})
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

test('a quarantined copy does not swallow the same bytes when their sender is proven', async () => {
  await harness.createAgent('dedupe')
  const raw = mail('ann@ok.example', 'same')
  await hand(raw, 'x@elsewhere.example', 'dedupe') // SPF is not aligned: DMARC fails, quarantined
  expect(await statusOf('dedupe', 'same')).toBe('quarantined')
  expect(await hand(raw, 'ann@ok.example', 'dedupe')).toMatch(/^250 /) // DMARC passes
  expect(await statusOf('dedupe', 'same')).toContain('received')
})

test('the references of a quarantined message join no threads, and it is not a parent', async () => {
  await harness.createAgent('pin')
  for (const id of ['t1', 't2']) await hand(mail('ann@ok.example', id), 'ann@ok.example', 'pin')
  // A stranger's forgery with an id that will come, as <owner/repo/issues/7@github.com> will.
  await hand(mail('ceo@corp.example', 'v', ['References: <t1@x.example>']), 'x@evil.example', 'pin')
  const [forged] = await list('pin', 'quarantined')
  expect(forged?.subject).toBe('v')
  await hand(mail('ann@ok.example', 'v', ['References: <t2@x.example>']), 'ann@ok.example', 'pin')
  await hand(mail('ann@ok.example', 'w', ['In-Reply-To: <v@x.example>']), 'ann@ok.example', 'pin')
  const messages = await list('pin')
  const thread = (subject: string) => messages.find((one) => one.subject === subject)?.thread_id
  const answer = await harness.getMessage('pin', messages.find((one) => one.subject === 'w')?.id)
  expect(answer.in_reply_to_message_id).not.toBe(forged?.id)
  expect([thread('v'), thread('w')]).toEqual([thread('t2'), thread('t2')])
  expect(thread('t1')).not.toBe(thread('t2'))
})

test('a forged copy does not use up the deferral hour of the real message', async () => {
  await harness.createAgent('hour')
  harness.dns.fail('_dmarc.broken.example', 'SERVFAIL')
  expect(await hand(mail('x@broken.example', 'foreseen'), 'ann@ok.example', 'hour')).toMatch(/^451 4\.7\.5/)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_700_000 })
  harness.dns.fail('_dmarc.ok.example', 'SERVFAIL')
  try {
    expect(await hand(mail('ann@ok.example', 'foreseen'), 'ann@ok.example', 'hour')).toMatch(/^451 4\.7\.5/)
  } finally {
    harness.dns.fail('_dmarc.ok.example', null)
  }
})
