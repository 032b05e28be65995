// Addresses that real mail has: authors that are the mailbox itself, catch-alls, long local parts, unusual dots, and names with punctuation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { readCase, readLines, readMailCase } from './harness/mail-cases.ts'
import { type MailSink, type SunkMail, startMailSink } from './harness/mail-sink.ts'
import { ownDomain } from './harness/published-records.ts'
import { createResend } from './harness/resend-sdk.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'
import { DialogClient } from './transcripts/smtp/play.ts'

let dns: DnsServer
let sink: MailSink
let harness: Harness
beforeAll(async () => {
  dns = await startDnsServer()
  sink = await startMailSink()
  harness = await startHarness({
    CALLSIGN_DNS_SERVERS: dns.address,
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: sink.url,
  })
  await ownDomain(harness, dns, 'brand.example')
  await harness.createAgent('agent', { display_name: 'Agent', domain: 'agents.localhost' })
  await harness.createAgent('second', { domain: 'agents.localhost' })
  for (const [handle, local_part] of [
    ['agent', '*'],
    ['second', 'second'],
  ])
    await harness.expectApi(201, 'POST', `/identities/${handle}/addresses`, { body: { local_part, domain: 'brand.example' } })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
  await dns.stop()
})

/** Sends a message by SMTP. Returns the reply to its first refused command, or to the message. */
async function hand(mailLine: string, recipient: string, raw: string): Promise<string> {
  const client = await DialogClient.greeted(harness.smtpPort)
  try {
    await client.ask('EHLO there.example', '250')
    for (const line of [mailLine, `RCPT TO:<${recipient}>`, 'DATA']) {
      const reply = await client.ask(line, '')
      if (/^[45]/.test(reply)) return reply
    }
    client.send(raw.replace(/^\./gm, '..'))
    return await client.ask('.', '')
  } finally {
    client.close()
  }
}

const written = (fields: string): string => `${fields.replaceAll('\n', '\r\n')}\r\n\r\nHello\r\n`
const reply = async (id: string, body: Json = {}): Promise<Json> => {
  const { id: sent } = await harness.expectApi(201, 'POST', `/mailboxes/agent/messages/${id}/reply`, { body: { text: 'Answer', ...body } })
  return harness.getMessage('agent', sent)
}
const draftOf = (id: string, body: Json = {}): Promise<Json> =>
  harness.expectApi(201, 'POST', '/mailboxes/agent/drafts', { body: { in_reply_to: id, text: 'Answer', ...body } })
const bare = (text: string): string => /<(.*)>$/.exec(text)?.[1] ?? text
const sunk = (to: string): Promise<SunkMail> => waitFor(`mail to ${to}`, () => sink.mails.find((mail) => mail.to.includes(to)))

describe('a received message that names the mailbox as its author', () => {
  /** Sends to the mailbox itself. Resolves with the received copy. */
  async function fill(subject: string, body: Json): Promise<Json> {
    await harness.send('agent', 'agent@agents.localhost', { subject, ...body })
    return waitFor(`the copy of ${subject}`, async () => {
      const { data } = await harness.expectApi(200, 'GET', '/mailboxes/agent/messages?direction=inbound')
      return data.find((one: Json) => one.subject === subject)
    })
  }

  test.each([
    [
      'the form of a web site',
      /^Reply-To: (.*)$/m.exec(readCase('form-written-by-the-mailbox-itself.eml'))?.[1],
      'visitor@visitor.example',
    ],
    ['an order of a shop', 'ada@buyer.example', 'ada@buyer.example'],
    ['a form of which the agent has the address twice', ['agent+form@agents.localhost', 'Bo <bo@visitor.example>'], 'bo@visitor.example'],
  ])('%s is answered to its Reply-To, by a reply and by a draft', async (subject, reply_to, expected) => {
    const form = await fill(subject, { reply_to })
    expect([(await reply(form.id)).to, (await draftOf(form.id)).to]).toEqual([[expected], [expected]])
    expect((await sunk(expected)).to).toEqual([expected])
  })

  test('a note to oneself is answered to oneself, and a sent message to its recipients', async () => {
    expect((await reply((await fill('note', {})).id)).to).toEqual(['agent@agents.localhost'])
    const sent = await harness.send('agent', 'bob@customer.example', { subject: 'offer', reply_to: 'desk@agents.example' })
    expect((await reply(sent.id)).to).toEqual(['bob@customer.example'])
  })

  test('from outside it is quarantined', async () => {
    const raw = readMailCase('form-written-by-the-mailbox-itself.eml')
    expect(await hand('MAIL FROM:<x@website.example>', 'agent@agents.localhost', raw)).toMatch(/^250/)
    await harness.waitForMail('agent', 'Contact form', 'quarantined')
  })
})

describe('a reply to all', () => {
  test('at a catch-all address goes to others only', async () => {
    await hand('MAIL FROM:<sender@customer.example>', 'info@brand.example', readMailCase('reply-to-all-at-a-catch-all.eml'))
    const { id } = await harness.waitForMail('agent', 'To several of your addresses')
    for (const answer of [await reply(id, { reply_all: true }), await draftOf(id, { reply_all: true })])
      expect([...answer.to, ...answer.cc].map(bare)).toEqual(['sender@customer.example', 'other@customer.example'])
  })

  test.each([
    [
      'tags and capitals',
      'Sales+x@Brand.Example, agent+y@agents.localhost, a@customer.example',
      ['sender@customer.example', 'a@customer.example'],
    ],
    [
      'an address of another agent, which stays',
      'second@brand.example, help@brand.example',
      ['sender@customer.example', 'second@brand.example'],
    ],
    ["a role address, which is not the agent's", 'postmaster@brand.example', ['sender@customer.example', 'postmaster@brand.example']],
    ['the same name at a domain of others', 'info@brand.example.org', ['sender@customer.example', 'info@brand.example.org']],
  ])('with %s', async (subject, cc, expected) => {
    const fields = `From: sender@customer.example\nTo: info@brand.example\nCc: ${cc}\nSubject: ${subject}`
    await hand('MAIL FROM:<sender@customer.example>', 'info@brand.example', written(fields))
    const answer = await reply((await harness.waitForMail('agent', subject)).id, { reply_all: true })
    expect([...answer.to, ...answer.cc]).toEqual(expected)
  })
})

describe('senders', () => {
  const long = `${'token-'.repeat(42)}abc`
  const lines = [
    ...readLines('return-path-of-a-forwarder.txt'),
    ...readLines('senders-outside-the-grammar.txt'),
    `MAIL FROM:<${long}@reply.example>`,
    'MAIL FROM:<.dotted.@a_b.mail_out.example>',
    'MAIL FROM:<o..brien+tag@customer.example>',
  ]
  test.each(lines)('%s is accepted, and answered at exactly this address', async (line) => {
    const address = /<(.*)>/.exec(line)?.[1] as string
    const subject = `from ${address}`.slice(0, 90)
    expect(
      await hand(line, 'agent@agents.localhost', written(`From: Ann <${address}>\nTo: agent@agents.localhost\nSubject: ${subject}`)),
    ).toMatch(/^250/)
    const { id } = await harness.waitForMail('agent', subject)
    expect((await reply(id)).to).toEqual([address])
    expect((await sunk(address)).to).toEqual([address])
    // Programs that take no answers get no automatic one.
    const isAnswered = !address.startsWith('noreply@')
    if (isAnswered) expect((await reply(id, { automatic: true })).to).toEqual([address])
    const draft = await draftOf(id)
    await harness.expectApi(201, 'POST', `/mailboxes/agent/drafts/${draft.id}/send`, { body: {} })
    const count = isAnswered ? 3 : 2
    await waitFor('every answer', () => sink.mails.filter((mail) => mail.to.includes(address)).length === count)
  })

  test.each(['a@b@c', 'a b@customer.example', '@customer.example', 'a@', 'a@b..example', `${'a'.repeat(256)}@customer.example`, 'a'])(
    '<%s> cannot be an address: 501, and the session continues',
    async (address) => {
      const client = await DialogClient.greeted(harness.smtpPort)
      await client.ask('EHLO there.example', '250')
      await client.ask(`MAIL FROM:<${address}>`, '501 5.1.7')
      await client.ask('MAIL FROM:<ann@customer.example>', '250')
      client.close()
    },
  )

  test('an address with a long local part can be blocked, suppressed and found', async () => {
    const address = `${long}@reply.example`
    await harness.expectApi(201, 'POST', '/suppressions', { body: { email_address: address } })
    expect(
      (await harness.api('POST', '/mailboxes/agent/messages', { body: { to: [address], subject: 'x', text: 'x' } })).body.error.code,
    ).toBe('recipient_suppressed')
    await harness.expectApi(200, 'DELETE', `/suppressions/${encodeURIComponent(address)}`)
    const entry = `${'b'.repeat(255)}@reply.example`
    const rule = { direction: 'both', action: 'block', entry }
    await harness.expectApi(201, 'POST', '/identities/agent/mail-rules', { body: rule })
    await hand(`MAIL FROM:<${entry}>`, 'agent@agents.localhost', written(`From: ${entry}\nTo: agent@agents.localhost\nSubject: blocked`))
    await harness.waitForMail('agent', 'blocked', 'quarantined')
    for (const body of [{ email_address: `${'b'.repeat(256)}@reply.example` }, { email_address: 'a b@reply.example' }])
      expect((await harness.api('POST', '/suppressions', { body })).status).toBe(400)
    const { data } = await harness.expectApi(200, 'GET', `/mailboxes/agent/messages?direction=inbound&from=${encodeURIComponent(address)}`)
    expect(data.map((one: Json) => bare(one.from))).toEqual([address])
  })

  test('a rule for an address with unusual dots covers it with and without quotes', async () => {
    await harness.expectApi(201, 'POST', '/identities/agent/mail-rules', {
      body: { direction: 'both', action: 'block', entry: 'two..dots@mobile.example' },
    })
    for (const address of ['two..dots@mobile.example', '"two..dots"@mobile.example'])
      expect(
        (await harness.api('POST', '/mailboxes/agent/messages', { body: { to: [address], subject: 'x', text: 'x' } })).body.error.code,
        address,
      ).toBe('recipient_not_allowed')
  })

  test.each(['host!name', 'Anna Bell PC', '(comment) by mx.evil.example; x', '::1', 'büro-pc'])(
    'EHLO %s is accepted, and cannot forge a trace',
    async (name) => {
      const client = await DialogClient.greeted(harness.smtpPort)
      await client.ask(`EHLO ${Buffer.from(name).toString('latin1')}`, '250')
      await client.ask('MAIL FROM:<ann@customer.example>', '250')
      await client.ask('RCPT TO:<agent@agents.localhost>', '250')
      await client.ask('DATA', '354')
      client.send(written(`From: ann@customer.example\nTo: agent@agents.localhost\nSubject: EHLO ${Buffer.from(name).toString('hex')}`))
      await client.ask('.', '250')
      client.close()
      const message = await harness.waitForMail('agent', `EHLO ${Buffer.from(name).toString('hex')}`)
      const { received } = (await harness.getMessage('agent', message.id)).headers
      expect(received).toMatch(/^from [A-Za-z0-9?.-]+ \(\[[^\]]+\]\) by agents\.localhost with ESMTP id /)
    },
  )
})

describe('mail that was delivered elsewhere before', () => {
  const old = readMailCase('old-message-with-delivered-to.eml')
  test.each([
    ['the old message', old],
    [
      'one with the field of two systems',
      old.replace('Delivered-To:', 'Delivered-To: agent@agents.localhost\r\nX-Original-To: a@b.example\r\nDelivered-To:'),
    ],
    ['one that a host with our name sent', old.replace('from a.old.example', 'from agents.localhost')],
  ])('%s is accepted', async (_name, raw) =>
    expect(await hand('MAIL FROM:<sender@customer.example>', 'agent@agents.localhost', raw)).toMatch(/^250/),
  )

  test('with a Received field of this server it is a loop', async () => {
    const looped = old.replace(
      'Received:',
      'Received: from a.old.example ([192.0.2.1]) by agents.localhost with ESMTP id 1 for <agent@agents.localhost>; Mon, 3 Nov 2025 10:00:00 +0000\r\nReceived:',
    )
    expect(await hand('MAIL FROM:<sender@customer.example>', 'agent@agents.localhost', looped)).toMatch(/^554 5\.4\.6/)
  })
})

describe('names in address strings', () => {
  const cases: [string, string][] = [
    ...(JSON.parse(readCase('names-in-address-strings.json')) as string[]).map((text): [string, string] => [
      text,
      text.slice(0, text.indexOf(' <')),
    ]),
    ['Müller; Söhne (GmbH) <agent@agents.localhost>', 'Müller; Söhne (GmbH)'],
    ['A "great" shop @ home <agent@agents.localhost>', 'A "great" shop @ home'],
    ['"Acme, \\"Inc\\"" <agent@agents.localhost>', 'Acme, "Inc"'],
    ['Plain Name <agent@agents.localhost>', 'Plain Name'],
  ]
  let count = 0
  test.each(cases)('%s has the name %s as the author and as a recipient, with and without files', async (text, name) => {
    const address = `names-${++count}@customer.example`
    const recipient = text.replace('agent@agents.localhost', address)
    const file = { filename: 'a.txt', content: 'YQ==' }
    for (const attachments of [[], [file]]) {
      await harness.send('agent', recipient, { from: text, subject: 'x', attachments, reply_to: recipient })
      const resend = createResend(harness)
      const { error } = await resend.emails.send({ from: text, to: recipient, subject: 'x', text: 'x' })
      expect(error).toBeNull()
    }
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/agent/drafts', {
      body: { from: text, to: recipient, subject: 'x', text: 'x' },
    })
    await harness.expectApi(201, 'POST', `/mailboxes/agent/drafts/${draft.id}/send`, { body: {} })
    const mails = await waitFor('all mails', () => {
      const found = sink.mails.filter(({ to }) => to.includes(address))
      return found.length === 5 ? found : null
    })
    for (const { parsed } of mails) expect([parsed.from?.name, parsed.to?.[0]]).toEqual([name, { name, address }])
  })

  test.each([
    'a@customer.example, B <b@customer.example>',
    'a@customer.example <b@customer.example>',
    '<a@customer.example> <b@customer.example>',
    'A\nBcc: c@d <b@customer.example>',
    'group: b@customer.example;',
    'A <b@customer.example> C',
  ])('%j is not one address at the end of a string: 400', async (text) => {
    const { status, body } = await harness.api('POST', '/mailboxes/agent/messages', { body: { to: [text], subject: 'x', text: 'x' } })
    expect([status, body.error.details[0].path]).toEqual([400, '/to/0'])
  })
})
