// Forged authors: each attack against a mailbox of each kind, with the verdict in the API, the event and a wait. Honest mail is checked beside them.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { signMessage } from '@callsign/mail/authentication/dkim/signing'
import { sealMessage } from 'mailauth'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

/**
 * The mailboxes: open, an allowlist, an allowlist with rules that allow the pretended authors, and an allowlist that has written to the
 * pretended author. The last one is like the third, with an agent that waits for mail of the pretended author.
 */
const modes = ['open', 'allowlist', 'rule', 'reply', 'wait'] as const
type Mode = (typeof modes)[number]

let harness: Harness
/** The Message-ID of the message that the agent of mode `reply` has written. */
let written: string

const { privateKey: rsaKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privatePem = rsaKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const keyRecord = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`
const sign = (domain: string, raw: string): Promise<Buffer> =>
  signMessage(Buffer.from(raw), [{ domain, selector: 's1', algorithm: 'rsa-sha256', privateKey: createPrivateKey(privatePem) }], new Date())

const allowed = ['corp.example', 'plain.example', 'weak.example', 'agents.localhost', 'temporary.example']

beforeAll(async () => {
  harness = await startHarness()
  const { dns } = harness
  const refused = { TXT: ['v=spf1 ip4:192.0.2.1 -all'] }
  const permitted = { TXT: ['v=spf1 ip4:127.0.0.0/8 ip6:::1 -all'] }
  // The forger's own domain passes every check and may send from this address.
  for (const name of ['evil.example', 'corp.example.evil.example']) {
    dns.set(name, permitted)
    dns.set(`_dmarc.${name}`, { TXT: ['v=DMARC1; p=reject'] })
  }
  for (const name of ['evil.example', 'corp.example', 'list.example', 'weak.example', 'agents.localhost', 'agents.corp.example'])
    dns.set(`s1._domainkey.${name}`, { TXT: [keyRecord] })
  dns.set('corp.example', refused)
  dns.set('_dmarc.corp.example', { TXT: ['v=DMARC1; p=reject'] })
  dns.set('weak.example', refused)
  dns.set('_dmarc.weak.example', { TXT: ['v=DMARC1; p=none'] })
  // No DMARC policy. plain and barred have SPF records.
  dns.set('plain.example', permitted)
  dns.set('barred.example', refused)
  // Ten names for a hundred addresses, and names that never answer.
  const hosts = Array.from({ length: 10 }, (_, index) => `m${index}.many.example`)
  dns.set('many.example', { TXT: [`v=spf1 ${hosts.map((host) => `mx:${host}`).join(' ')} -all`] })
  for (const host of hosts)
    dns.set(host, { MX: Array.from({ length: 10 }, (_, index) => ({ preference: index, exchange: `h${index}.${host}` })) })
  dns.set('slow.example', { TXT: [`v=spf1 ${hosts.map((host) => `include:silent.${host}`).join(' ')} -all`] })
  for (const host of hosts) dns.fail(`silent.${host}`, 'silence')

  for (const mode of modes) {
    await harness.createAgent(mode)
    if (mode !== 'open') await harness.expectApi(200, 'PATCH', `/identities/${mode}`, { body: { inbound_mode: 'allowlist' } })
    if (mode !== 'rule' && mode !== 'wait') continue
    for (const entry of allowed)
      await harness.expectApi(201, 'POST', `/identities/${mode}/mail-rules`, { body: { direction: 'inbound', action: 'allow', entry } })
  }
  const to = ['ceo@corp.example', 'ceo@plain.example', 'ceo@weak.example', 'boss@agents.localhost'].slice(0, 3)
  const sent = await harness.send('reply', to, { cc: ['second@plain.example'] })
  written = (await harness.getMessage('reply', sent.id)).message_id
})
afterAll(async () => {
  await harness.stop()
  // Ids do not go back with the clock, so the next file of this process gets modules of its own.
  vi.resetModules()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Sends a message to all five mailboxes in one transaction. Resolves with the reply to its last dot. */
async function hand(raw: Buffer | string, envelopeFrom: string, to: readonly string[] = modes): Promise<string> {
  const socket = connect(harness.smtpPort, '127.0.0.1')
  const lines = [
    'EHLO sender.example',
    `MAIL FROM:<${envelopeFrom}>`,
    ...to.map((mode) => `RCPT TO:<${mode}@agents.localhost>`),
    'DATA',
    Buffer.concat([Buffer.from(raw as string), Buffer.from('\r\n.')]),
  ]
  let [text, reply] = ['', '']
  for await (const chunk of socket) {
    text += String(chunk)
    if (!/(^|\r\n)\d{3} [^\r\n]*\r\n$/.test(text)) continue
    reply = text.trimEnd()
    text = ''
    const line = lines.shift()
    if (line === undefined) break
    socket.write(line)
    socket.write('\r\n')
  }
  socket.destroy()
  return reply
}

let count = 0
type Mail = {
  from?: string | string[]
  envelope?: string
  headers?: string[]
  body?: string
  signedBy?: string
  wants?: string
  text?: string
}

/** A reply to the agent's message that contains a code. */
async function rawOf({ from = [], headers = [], signedBy, body }: Mail): Promise<{ raw: Buffer; subject: string }> {
  const subject = `Case ${++count}`
  const fields = [
    ...[from].flat().map((value) => `From: ${value}`),
    'To: you@agents.localhost',
    `Subject: ${subject}`,
    `Message-ID: <case-${count}@sender.example>`,
    `In-Reply-To: ${written}`,
    `References: ${written}`,
    ...headers,
  ]
  const raw = `${fields.join('\r\n')}\r\n\r\n${body ?? 'Your code is 492816.'}\r\n`
  return { raw: signedBy ? await sign(signedBy, raw) : Buffer.from(raw), subject }
}

type Seen = { status: string; basis: string; from: string; flags: string[]; event: string; waited: boolean }

/** The messages of each mailbox with a subject, and if the wait returned one. */
async function seen(subject: string, waited: Json): Promise<Record<Mode, Seen>> {
  const found = await Promise.all(
    modes.map(async (mode) => {
      const lists = await Promise.all(
        ['received', 'quarantined'].map((status) =>
          harness.expectApi(200, 'GET', `/mailboxes/${mode}/messages?status=${status}&subject=${encodeURIComponent(subject)}`),
        ),
      )
      const [item, ...more] = lists.flatMap(({ data }) => data).filter((one: Json) => one.subject === subject)
      if (more.length > 0 || !item) throw new Error(`${mode} has ${more.length + (item ? 1 : 0)} of ${subject}`)
      const message = await harness.getMessage(mode, item.id)
      const [event, ...others] = await harness.eventsOf(item.id)
      expect(others).toEqual([])
      const described = await harness.expectApi(200, 'GET', '/events?limit=100&types=email.received,email.quarantined')
      const told = described.data.find((one: Json) => one.data.id === item.id)?.data
      if (told) expect([told.from, told.status]).toEqual([message.from, message.status])
      return [
        mode,
        {
          status: message.status,
          basis: message.guardrail.basis,
          from: message.from,
          flags: message.flags.map((flag: Json) => flag.type).sort(),
          event: event?.type ?? '',
          waited: waited.message?.id === item.id,
        },
      ] as const
    }),
  )
  return Object.fromEntries(found) as Record<Mode, Seen>
}

/** Waits for the pretended author in the mailbox of mode `wait`, hands the mail in, and looks. */
async function attempt(mail: Mail): Promise<{ reply: string; rows: Record<Mode, Seen>; subject: string }> {
  const { raw, subject } = await rawOf(mail)
  const after = (await harness.expectApi(200, 'GET', '/mailboxes/wait/wait?timeout=0')).cursor
  const reply = await hand(raw, mail.envelope ?? 'x@evil.example')
  const wanted = mail.wants ?? 'ceo@corp.example'
  const waited = await harness.expectApi(
    200,
    'GET',
    `/mailboxes/wait/wait?timeout=0&cursor=${encodeURIComponent(after)}&from=${encodeURIComponent(wanted)}&has_code=true`,
  )
  return { reply, rows: await seen(subject, waited), subject }
}

const brief = (rows: Record<Mode, Seen>) =>
  Object.fromEntries(modes.map((mode) => [mode, `${rows[mode].status} ${rows[mode].basis}${rows[mode].waited ? ' waited' : ''}`]))

let rowsChecked = 0
const quarantinedAs = (basis: string) => Object.fromEntries(modes.map((mode) => [mode, `quarantined ${basis}`]))
/** Nothing speaks for or against it: the mode decides everywhere. */
const byMode = {
  open: 'received mode',
  allowlist: 'quarantined mode',
  rule: 'quarantined mode',
  reply: 'quarantined mode',
  wait: 'quarantined mode',
}

type Case = [name: string, mail: Mail, expected: Record<string, string>, from: string, flags: string[]]

async function check([name, mail, expected, from, flags]: Case): Promise<void> {
  const { reply, rows } = await attempt(mail)
  expect([name, reply]).toEqual([name, expect.stringMatching(/^250 /)])
  expect([name, brief(rows)]).toEqual([name, expected])
  for (const mode of modes) {
    rowsChecked++
    expect([name, mode, rows[mode].from]).toEqual([name, mode, from])
    expect([name, mode, rows[mode].flags]).toEqual([name, mode, expect.arrayContaining(flags)])
    expect([name, mode, rows[mode].event]).toEqual([name, mode, rows[mode].status === 'received' ? 'email.received' : 'email.quarantined'])
  }
}

const ceo = 'CEO <ceo@corp.example>'
const pretends = 'Sender: ceo@corp.example'
const many = Array.from({ length: 102 }, (_, index) => `a${index}@corp.example`)

describe('attacks', () => {
  const author: [string, string | string[], string][] = [
    ['no From', [], ''],
    ['an empty From', '', ''],
    ['From is garbage', '<<>>,,;', ''],
    ['From is a name only', 'CEO of Corp', ''],
    ['From is a comment only', '(ceo@corp.example)', ''],
    ['two authors', `${ceo}, <x@evil.example>`, 'ceo@corp.example, x@evil.example'],
    ['two authors, the stranger first', `<x@evil.example>, ${ceo}`, 'x@evil.example, ceo@corp.example'],
    ['two From fields', [ceo, 'x@evil.example'], 'ceo@corp.example, x@evil.example'],
    ['two From fields, the stranger first', ['x@evil.example', ceo], 'x@evil.example, ceo@corp.example'],
    ['a group of two', 'Board: ceo@corp.example, x@evil.example;', 'ceo@corp.example, x@evil.example'],
    ['a group of one', 'ceo@corp.example: x@evil.example;', ''],
    ['102 authors', many.join(', '), many.join(', ')],
  ]
  test.each(author)('%s: the message has no author, and every address is shown', async (name, from, shown) => {
    await check([
      name,
      { from, headers: [pretends], envelope: 'ceo@corp.example' },
      quarantinedAs('author'),
      shown,
      ['failed_authentication'],
    ])
    // The same with valid authentication of the actual sender.
    await check([name, { from, headers: [pretends], signedBy: 'evil.example' }, quarantinedAs('author'), shown, ['failed_authentication']])
  })

  const hidden: [string, string][] = [
    ['U+0080', '\u0080'],
    ['U+009F', '\u009f'],
    ['zero width joiner', '\u200d'],
    ['right-to-left override', '\u202e'],
    ['division slash', '\u2215'],
    ['a tag', '\u{e0061}'],
    ['soft hyphen', '\u00ad'],
  ]
  test.each(hidden)('%s in the author domain: no author domain', async (name, character) => {
    await check([
      name,
      { from: `CEO <ceo@corp${character}.example>` },
      quarantinedAs('author'),
      '',
      ['failed_authentication', 'lookalike_domain'],
    ])
  })

  test.each<Case>([
    ['a plain forgery', { from: ceo }, quarantinedAs('dmarc'), 'ceo@corp.example', ['failed_authentication']],
    [
      'signed by somebody else',
      { from: ceo, signedBy: 'evil.example' },
      quarantinedAs('dmarc'),
      'ceo@corp.example',
      ['failed_authentication'],
    ],
    [
      'SPF asks for a hundred addresses',
      { from: ceo, envelope: 'x@many.example' },
      quarantinedAs('dmarc'),
      'ceo@corp.example',
      ['failed_authentication'],
    ],
    [
      'SPF includes names that never answer',
      { from: ceo, envelope: 'x@slow.example' },
      quarantinedAs('dmarc'),
      'ceo@corp.example',
      ['failed_authentication'],
    ],
    [
      'in the name of a domain whose policy is none',
      { from: 'ceo@weak.example', wants: 'ceo@weak.example' },
      byMode,
      'ceo@weak.example',
      [],
    ],
    [
      'in the name of a hosted domain',
      { from: 'boss@agents.localhost', wants: 'boss@agents.localhost' },
      quarantinedAs('hosted_domain'),
      'boss@agents.localhost',
      ['failed_authentication'],
    ],
    [
      'in the name of a domain without a policy that bars the sender',
      { from: 'ceo@barred.example', envelope: 'x@barred.example', wants: 'ceo@barred.example' },
      byMode,
      'ceo@barred.example',
      [],
    ],
    ['a stranger who knows a Message-ID', { from: 'x@evil.example', signedBy: 'evil.example' }, byMode, 'x@evil.example', []],
    [
      'a name that shows the address',
      { from: '"ceo@corp.example" <x@evil.example>', signedBy: 'evil.example' },
      byMode,
      'x@evil.example',
      ['display_name_spoofing'],
    ],
    [
      'an address that only begins with the wanted one',
      { from: 'ceo@corp.example.evil.example', envelope: 'x@corp.example.evil.example' },
      byMode,
      'ceo@corp.example.evil.example',
      [],
    ],
    [
      'Sender and the return path show the address',
      { from: 'x@evil.example', headers: [pretends, 'Reply-To: ceo@corp.example'], signedBy: 'evil.example' },
      byMode,
      'x@evil.example',
      [],
    ],
  ])('%s', async (...one) => check(one))

  test('DNS that cannot say now is 451 4.7.5 for an hour, and quarantine afterwards', async () => {
    harness.dns.fail('_dmarc.temporary.example', 'SERVFAIL')
    const mail = { from: 'ceo@temporary.example', envelope: 'ceo@temporary.example', wants: 'ceo@temporary.example' }
    const { raw, subject } = await rawOf(mail)
    for (let tries = 0; tries < 3; tries++)
      expect(await hand(raw, mail.envelope)).toMatch(
        /^451 4\.7\.5 Temporary DNS failure for the DMARC, SPF or DKIM records of temporary\.example/,
      )
    // Another message of the same sender has an hour of its own.
    expect(await hand((await rawOf(mail)).raw, mail.envelope)).toMatch(/^451 4\.7\.5/)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 })
    const after = (await harness.expectApi(200, 'GET', '/mailboxes/wait/wait?timeout=0')).cursor
    expect(await hand(raw, mail.envelope)).toMatch(/^250 /)
    const waited = await harness.expectApi(
      200,
      'GET',
      `/mailboxes/wait/wait?timeout=0&cursor=${encodeURIComponent(after)}&from=ceo@temporary.example`,
    )
    const rows = await seen(subject, waited)
    expect(brief(rows)).toEqual(quarantinedAs('dmarc'))
    rowsChecked += modes.length
    // Mail is accepted at once when DNS works again.
    harness.dns.fail('_dmarc.temporary.example', null)
    const { rows: later } = await attempt(mail)
    expect(later.open.status).toBe('received')
  })

  test('a check that was never made, because its thread died, is treated the same', async () => {
    const mail = { from: ceo, body: `Your code is 492816.\r\n${'0123456789'.repeat(7)}\r\n`.repeat(6_000) }
    const { raw, subject } = await rawOf(mail)
    const post = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker) {
      void this.terminate()
    })
    expect(await hand(raw, 'x@evil.example')).toMatch(/^451 4\.7\.5/)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 })
    expect(await hand(raw, 'x@evil.example')).toMatch(/^250 /)
    post.mockRestore()
    const rows = await seen(subject, { message: null })
    expect(brief(rows)).toEqual(quarantinedAs('dmarc'))
    rowsChecked += modes.length
  })

  test('names of a sender that never answer do not make the resolver look dead', async () => {
    for (let index = 0; index < 20; index++) harness.dns.fail(`_dmarc.silent${index}.example`, 'silence')
    const replies = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        hand((await rawOf({ from: `x@silent${index}.example` })).raw, `x@silent${index}.example`),
      ),
    )
    expect(replies).toEqual(Array(20).fill(expect.stringMatching(/^451 4\.7\.5/)))
    await check(['after twenty silent names', { from: ceo }, quarantinedAs('dmarc'), 'ceo@corp.example', ['failed_authentication']])
  })

  test('a resolver that answers nothing at all: mail is taken, flagged, and proves nothing', async () => {
    harness.dns.fail('*', 'silence')
    // The result of the last probe is still fresh.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20_000 })
    try {
      await check([
        'without DNS',
        { from: 'ceo@plain.example', envelope: 'ceo@plain.example', wants: 'ceo@plain.example' },
        byMode,
        'ceo@plain.example',
        ['unverified_sender'],
      ])
      await check(['no author without DNS', { from: [] }, quarantinedAs('author'), '', ['failed_authentication']])
      await check([
        'a hosted domain without DNS',
        { from: 'boss@agents.localhost', wants: 'boss@agents.localhost' },
        quarantinedAs('hosted_domain'),
        'boss@agents.localhost',
        ['failed_authentication'],
      ])
    } finally {
      harness.dns.fail('*', null)
    }
  })

  test('the table has its rows', () => expect(rowsChecked).toBeGreaterThanOrEqual(60))
})

describe('honest mail', () => {
  const everywhere = (open: string, reply: string, rule: string, waits = ' waited') => ({
    open: `received ${open}`,
    allowlist: 'quarantined mode',
    rule: `received ${rule}`,
    reply: `received ${reply}`,
    wait: `received ${rule}${waits}`,
  })
  test.each<Case>([
    [
      'an aligned signature without SPF',
      { from: ceo, envelope: 'bounce@list.example', signedBy: 'corp.example' },
      everywhere('mode', 'reply', 'domain_rule'),
      'ceo@corp.example',
      [],
    ],
    [
      'a domain without a policy',
      { from: 'ceo@plain.example', envelope: 'ceo@plain.example', wants: 'ceo@plain.example' },
      everywhere('mode', 'reply', 'domain_rule'),
      'ceo@plain.example',
      [],
    ],
    [
      'a participant, from another address of the thread',
      { from: 'second@plain.example', envelope: 'second@plain.example', wants: 'second@plain.example' },
      everywhere('mode', 'reply', 'domain_rule'),
      'second@plain.example',
      [],
    ],
    [
      'a comma in a name without quotes',
      { from: 'Officer, Chief <ceo@plain.example>', envelope: 'ceo@plain.example', wants: 'ceo@plain.example' },
      everywhere('mode', 'reply', 'domain_rule'),
      'ceo@plain.example',
      [],
    ],
    [
      'a hosted domain with its own signature',
      { from: 'boss@agents.localhost', signedBy: 'agents.localhost', wants: 'boss@agents.localhost' },
      { ...everywhere('mode', 'mode', 'domain_rule'), reply: 'quarantined mode' },
      'boss@agents.localhost',
      [],
    ],
  ])('%s', async (...one) => check(one))

  test('a mailing list with ARC: quarantined for a domain that asks for it, taken where the policy is none', async () => {
    const throughList = async (from: string, domain: string) => {
      const { raw, subject } = await rawOf({ from, signedBy: domain })
      const changed = Buffer.from(raw.toString('latin1').replace('492816.', '492816.\r\n-- \r\nThe list'), 'latin1')
      const authResults = `list.example; dkim=pass header.d=${domain}`
      const seal = await sealMessage(changed, {
        signingDomain: 'list.example',
        selector: 's1',
        privateKey: privatePem,
        authResults,
        cv: 'none',
      } as never)
      expect(await hand(Buffer.concat([Buffer.from(seal as never), changed]), 'bounce@list.example')).toMatch(/^250 /)
      return seen(subject, { message: null })
    }
    const strict = await throughList(ceo, 'corp.example')
    expect(brief(strict)).toEqual(quarantinedAs('dmarc'))
    const weak = await throughList('ceo@weak.example', 'weak.example')
    expect(brief(weak)).toEqual(byMode)
    const { data } = await harness.expectApi(200, 'GET', `/mailboxes/open/messages?from=ceo@weak.example&limit=1`)
    expect((await harness.getMessage('open', data[0].id)).authentication.arc).toMatchObject({ result: 'pass', domain: 'list.example' })
  })

  test('whom a participant has added to a conversation takes part in it, whom a stranger names does not', async () => {
    const cc = { from: 'ceo@plain.example', envelope: 'ceo@plain.example', headers: ['Cc: third@plain.example'] }
    expect((await attempt(cc)).rows.reply.status).toBe('received')
    const third = await attempt({ from: 'third@plain.example', envelope: 'third@plain.example' })
    expect(brief(third.rows).reply).toBe('received reply')
    expect(
      brief((await attempt({ from: 'x@evil.example', signedBy: 'evil.example', headers: ['Cc: fourth@plain.example'] })).rows).reply,
    ).toBe('quarantined mode')
    expect(brief((await attempt({ from: 'fourth@plain.example', envelope: 'fourth@plain.example' })).rows).reply).toBe('quarantined mode')
  })

  test('a message without an author is answered only where Reply-To or the caller says', async () => {
    const { rows, subject } = await attempt({ from: [] })
    expect(rows.open.status).toBe('quarantined')
    const { data } = await harness.expectApi(
      200,
      'GET',
      `/mailboxes/open/messages?status=quarantined&subject=${encodeURIComponent(subject)}`,
    )
    const id = data.find((one: Json) => one.subject === subject).id
    await harness.expectApi(200, 'POST', `/mailboxes/open/messages/${id}/release`)
    const refused = await harness.api('POST', `/mailboxes/open/messages/${id}/reply`, { body: { text: 'Who are you?' } })
    expect([refused.status, refused.body.error.code]).toEqual([400, 'validation_error'])
    await harness.expectApi(201, 'POST', `/mailboxes/open/messages/${id}/reply`, { body: { text: 'Who are you?', to: 'ann@example.org' } })
  })
})
