// Sender authentication on the whole server. Covers verdicts on the message, the server's trace field, and that mail is never lost.
import { generateKeyPairSync } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('ben')
  harness.dns.set('shop.example', { TXT: ['v=spf1 ip4:127.0.0.1 ip6:::1 -all'] })
  harness.dns.set('_dmarc.shop.example', { TXT: ['v=DMARC1; p=reject'] })
  harness.dns.set('s1._domainkey.shop.example', {
    TXT: [`v=DKIM1; p=${rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`],
  })
})
afterAll(() => harness.stop())

/** Delivers with nodemailer, with its own DKIM when `signed`, and returns the stored message. */
async function arrive(
  subject: string,
  mail: Record<string, unknown> = {},
  signed = false,
  status: 'received' | 'quarantined' = 'received',
): Promise<Json> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: harness.smtpPort,
    tls: { rejectUnauthorized: false },
    ...(signed
      ? {
          dkim: {
            domainName: 'shop.example',
            keySelector: 's1',
            privateKey: rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
          },
        }
      : {}),
  })
  await transport.sendMail({ from: 'ada@shop.example', to: 'ann@agents.localhost', subject, text: 'Hello', ...mail })
  transport.close()
  return harness.waitForMail('ann', subject, status)
}
const rawOf = async (message: Json, handle = 'ann'): Promise<string> =>
  ((await harness.api('GET', `/mailboxes/${handle}/messages/${message.id}/raw`)).body as Buffer).toString('latin1')

test("SPF, DKIM and DMARC pass with their evidence, and are in the server's trace field", async () => {
  const message = await arrive('All is well', {}, true)
  expect(message.authentication).toEqual({
    source: 'smtp',
    spf: {
      result: 'pass',
      domain: 'shop.example',
      identity: 'mailfrom',
      client_ip: '127.0.0.1',
      record: 'v=spf1 ip4:127.0.0.1 ip6:::1 -all',
      reason: expect.any(String),
    },
    dkim: {
      result: 'pass',
      domain: 'shop.example',
      signatures: [
        {
          result: 'pass',
          domain: 'shop.example',
          selector: 's1',
          algorithm: 'rsa-sha256',
          is_aligned: true,
          unsigned_bytes: 0,
          reason: null,
        },
      ],
    },
    dmarc: {
      result: 'pass',
      domain: 'shop.example',
      policy_domain: 'shop.example',
      policy: 'reject',
      alignment: { spf: true, dkim: true },
      record: 'v=DMARC1; p=reject',
      reason: null,
    },
    arc: { result: 'none', chain_length: 0, domain: null, reason: null },
  })
  expect(await rawOf(message)).toMatch(
    /^Return-Path: <ada@shop\.example>\r\nDelivered-To: ann@agents\.localhost\r\nAuthentication-Results: agents\.localhost;\r\n\tspf=pass smtp\.mailfrom=shop\.example smtp\.remote-ip=127\.0\.0\.1;\r\n\tdkim=pass header\.d=shop\.example header\.s=s1 header\.a=rsa-sha256;\r\n\tdmarc=pass header\.from=shop\.example policy\.dmarc=reject\r\nReceived: /,
  )
})

test('a forged sender fails, and is quarantined when its domain asks for that, with the same status in the event', async () => {
  const message = await arrive(
    'I am the boss',
    { envelope: { from: 'eve@nowhere.example', to: 'ann@agents.localhost' } },
    false,
    'quarantined',
  )
  expect(message.authentication).toMatchObject({
    spf: { result: 'none', domain: 'nowhere.example' },
    dkim: { result: 'none', signatures: [] },
    dmarc: { result: 'fail', domain: 'shop.example', policy: 'reject', alignment: { spf: false, dkim: false } },
  })
  const { data } = await harness.expectApi(200, 'GET', '/events?types=email.quarantined&limit=100')
  expect(data.find((event: Json) => event.data.id === message.id).data.authentication).toEqual(message.authentication)
  expect(message.guardrail).toEqual({
    decision: 'quarantined',
    rule_id: null,
    basis: 'dmarc',
    reason: 'shop.example asks to reject mail in its name that fails DMARC, and this one does.',
  })
  // Neither a rule that allows the sender nor an answer makes up for the proof.
  const body = { direction: 'inbound', action: 'allow', entry: 'shop.example' }
  const rule = await harness.expectApi(201, 'POST', '/identities/ann/mail-rules', { body })
  const envelope = { from: 'eve@nowhere.example', to: 'ann@agents.localhost' }
  expect((await arrive('I am the boss, really', { envelope }, false, 'quarantined')).guardrail.basis).toBe('dmarc')
  expect((await arrive('I am the boss, and signed it', { envelope }, true)).guardrail).toMatchObject({
    rule_id: rule.id,
    basis: 'domain_rule',
  })
  await harness.expectApi(200, 'DELETE', `/identities/ann/mail-rules/${rule.id}`)
  const sent = await harness.send('ann', 'ada@shop.example')
  const { message_id } = await harness.waitForStatus('ann', sent.id, 'sent')
  expect((await arrive('Re: Hello', { envelope, inReplyTo: message_id }, false, 'quarantined')).guardrail.basis).toBe('dmarc')
  expect((await arrive('Re: Hello, signed', { envelope, inReplyTo: message_id }, true)).guardrail.basis).toBe('reply')
})

test("forged results in the server's name are removed, and those of others stay", async () => {
  const message = await arrive(
    'Trust me',
    {
      envelope: { from: 'eve@nowhere.example', to: 'ann@agents.localhost' },
      headers: [
        { key: 'Authentication-Results', value: 'agents.localhost; dmarc=pass header.from=shop.example' },
        { key: 'Authentication-Results', value: 'relay.example; spf=pass' },
      ],
    },
    false,
    'quarantined',
  )
  const raw = await rawOf(message)
  expect(raw.match(/^Authentication-Results: .*/gim)).toEqual([
    'Authentication-Results: agents.localhost;',
    'Authentication-Results: relay.example; spf=pass',
  ])
  expect(raw).not.toContain('dmarc=pass')
  expect(message.size_bytes).toBe(raw.length)
})

test('an attachment is still found when fields above it were cut', async () => {
  const message = await arrive('With a file', {
    headers: [{ key: 'Authentication-Results', value: 'agents.localhost; dmarc=pass' }],
    attachments: [{ filename: 'a.txt', content: 'the very bytes' }],
  })
  const file = await fetch(message.attachments[0].url.replace(/^http:\/\/[^/]+/, harness.baseUrl))
  expect(await file.text()).toBe('the very bytes')
})

test('a DNS failure for SPF is temperror, and the mail is stored', async () => {
  harness.dns.set('sick.example', { TXT: ['v=spf1 -all'] })
  harness.dns.fail('sick.example', 'SERVFAIL')
  const message = await arrive('Nobody knows', { from: 'ada@sick.example' })
  expect(message.authentication).toMatchObject({ spf: { result: 'temperror' }, dmarc: { result: 'none', policy: null } })
})

test('mail between hosted agents stays inside, so its sender is known by key', async () => {
  await harness.send('ben', 'ann@agents.localhost', { subject: 'From next door' })
  const message = await harness.waitForMail('ann', 'From next door')
  expect(message.authentication).toEqual({
    source: 'hosted',
    spf: null,
    dkim: null,
    dmarc: expect.objectContaining({ result: 'pass', domain: 'agents.localhost', policy: null }),
    arc: null,
  })
  expect(await rawOf(message)).toContain('Authentication-Results: agents.localhost;\r\n\tauth=pass')
})

test('an SMTP sender that claims to be a hosted agent is checked like any other', async () => {
  const message = await arrive('I am ben', { from: 'ben@agents.localhost' }, false, 'quarantined')
  expect(message.authentication).toMatchObject({ source: 'smtp', dmarc: { result: 'none', domain: 'agents.localhost' } })
})

test('outbound messages have no verdicts', async () => {
  const sent = await harness.send('ben', 'x@outside.example', { subject: 'Out' })
  expect((await harness.getMessage('ben', sent.id)).authentication).toEqual({ source: null, spf: null, dkim: null, dmarc: null, arc: null })
})
