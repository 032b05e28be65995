// Submitted mail keeps what its program composed: content, signatures, threads and blind copies. Every check of a send applies to it.
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMailCase } from './harness/mail-cases.ts'
import { type MailSink, type SunkMail, startMailSink } from './harness/mail-sink.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
let key: string
beforeAll(async () => {
  sink = await startMailSink()
  harness = await startHarness({
    CALLSIGN_SUBMISSION_PORT: '0',
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: sink.url,
  })
  await harness.createAgent('agent')
  key = await harness.agentKey('agent', { scopes: ['mail:send', 'mail:read', 'drafts:write'] })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

/** Submits bytes as they are. Resolves with the id of the message or draft, and rejects with the reply. */
async function submit(raw: string, to: string[]): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: harness.submissionPorts[0] as number,
    auth: { user: 'agent', pass: key },
    tls: { rejectUnauthorized: false },
  })
  const { response } = await transport.sendMail({ envelope: { from: 'agent@agents.localhost', to }, raw })
  return /queued as (\S+)/.exec(response)?.[1] as string
}

const refusalOf = (raw: string, to: string[]): Promise<string> =>
  submit(raw, to).then(
    () => 'accepted',
    (error: Error) => error.message,
  )
const sent = (id: string): Promise<Json> => harness.getMessage('agent', id)
const copies = (address: string, count = 1): Promise<SunkMail[]> =>
  waitFor(`${count} mails to ${address}`, () => {
    const found = sink.mails.filter(({ to }) => to.includes(address))
    return found.length === count ? found : null
  })
const bodyOf = (raw: string): string => raw.slice(raw.indexOf('\r\n\r\n') + 4)
const written = (fields: string, body = 'Hello'): string =>
  `From: agent@agents.localhost\r\n${fields.replaceAll('\n', '\r\n')}\r\n\r\n${body.replaceAll('\n', '\r\n')}\r\n`

describe('recipients', () => {
  const raw = readMailCase('submitted-with-blind-copies-only.eml')

  test("blind copies only: each recipient gets one copy without the other's address, with the threads of elsewhere", async () => {
    const message = await sent(await submit(raw, ['one@customer.example', 'two@customer.example']))
    expect([message.to, message.cc, message.bcc]).toEqual([[], [], ['one@customer.example', 'two@customer.example']])
    for (const [own, other] of [
      ['one@customer.example', 'two@customer.example'],
      ['two@customer.example', 'one@customer.example'],
    ] as const) {
      const [copy] = (await copies(own)) as [SunkMail]
      expect(copy.raw).not.toContain(other)
      expect(copy.parsed).toMatchObject({
        messageId: '<notice.1@program.example>',
        inReplyTo: '<ticket-5@desk.example>',
        references: '<ticket-1@desk.example> <ticket-5@desk.example>',
        text: 'The error is fixed.\n',
      })
    }
  })

  test.each([
    ['no To at all', 'Subject: none', { to: [], cc: [], bcc: ['none@customer.example'] }],
    ['Cc only', 'Cc: Copy <cc@customer.example>\nSubject: cc', { to: [], cc: ['cc@customer.example'], bcc: [] }],
    ['a list', 'To: all@lists.example\nSubject: list', { to: [], cc: [], bcc: ['member@customer.example'] }],
    [
      'a Bcc field',
      'To: to@customer.example\nBcc: hidden@customer.example\nSubject: bcc',
      { to: ['to@customer.example'], cc: [], bcc: ['hidden@customer.example'] },
    ],
  ])('%s', async (_name, fields, expected) => {
    const everyone = [...expected.to, ...expected.cc, ...expected.bcc]
    expect(await sent(await submit(written(fields), everyone))).toMatchObject(expected)
    for (const address of everyone) {
      const [copy] = (await copies(address)) as [SunkMail]
      for (const hidden of expected.bcc) expect(copy.raw).not.toContain(hidden)
    }
  })
})

describe('content', () => {
  test('an invitation keeps its method and its place in the alternative', async () => {
    const raw = readMailCase('invitation-in-an-alternative.eml')
    const message = await sent(await submit(raw, ['guest@customer.example']))
    const [copy] = (await copies('guest@customer.example')) as [SunkMail]
    expect(bodyOf(copy.raw)).toBe(bodyOf(raw))
    expect(copy.raw).toMatch(/^Content-Type: multipart\/alternative; boundary=b1\r$/m)
    expect(copy.raw.match(/^Mime-Version: 1\.0\r$/gim)).toHaveLength(1)
    expect(message).toMatchObject({ text: 'Please join', attachments: [{ content_type: expect.stringMatching(/^text\/calendar/) }] })
    expect(await (await fetch(message.attachments[0].url)).text()).toContain('METHOD:REQUEST')
  })

  const parts = (type: string, ...bodies: string[]): string =>
    written(
      `To: sealed@customer.example\nSubject: ${type}\nMIME-Version: 1.0\nContent-Type: ${type}; boundary="=s"`,
      `Preamble\n${bodies.map((body) => `--=s\n${body}\n`).join('')}--=s--`,
    )
  const sealed: [string, string][] = [
    [
      'signed by S/MIME',
      parts(
        'multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256',
        'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe  =20\n ',
        'Content-Type: application/pkcs7-signature; name=smime.p7s\nContent-Transfer-Encoding: base64\n\nMIIB',
      ),
    ],
    [
      'signed by PGP',
      parts(
        'multipart/signed; protocol="application/pgp-signature"; micalg=pgp-sha256',
        'Content-Type: text/plain\n\n- -dash \t\nFrom here',
        'Content-Type: application/pgp-signature\n\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----',
      ),
    ],
    [
      'encrypted by PGP',
      parts(
        'multipart/encrypted; protocol="application/pgp-encrypted"',
        'Content-Type: application/pgp-encrypted\n\nVersion: 1',
        'Content-Type: application/octet-stream; name=encrypted.asc\n\n-----BEGIN PGP MESSAGE-----\n\nhQ==\n-----END PGP MESSAGE-----',
      ),
    ],
    [
      'encrypted by S/MIME',
      written(
        'To: sealed@customer.example\nSubject: p7m\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=smime.p7m',
        'MIIBAgMEBQYHCAkK',
      ),
    ],
    ['plain text of old programs, with 8 bits', written('To: sealed@customer.example\nSubject: latin', 'Gr\xfc\xdfe')],
  ]
  test.each(sealed)('%s passes byte for byte, and is signed for the domain', async (_name, raw) => {
    const before = sink.mails.filter(({ to }) => to.includes('sealed@customer.example')).length
    await submit(raw, ['sealed@customer.example'])
    const mail = (await copies('sealed@customer.example', before + 1)).at(-1) as SunkMail
    expect(bodyOf(mail.raw)).toBe(Buffer.from(bodyOf(raw)).toString('latin1'))
    expect(mail.raw).toMatch(/^DKIM-Signature:/m)
  })

  test('a text with a line that is longer than servers accept is composed again', async () => {
    const raw = written(
      'To: long@customer.example\nSubject: long\nMIME-Version: 1.0\nContent-Type: text/html',
      `<p>${'word '.repeat(400)}</p>`,
    )
    await submit(raw, ['long@customer.example'])
    const [copy] = (await copies('long@customer.example')) as [SunkMail]
    expect(Math.max(...copy.raw.split('\r\n').map((line) => line.length))).toBeLessThan(999)
    expect(copy.parsed.html).toContain('word word')
  })

  test('files of submitted mail can be read and forwarded', async () => {
    const raw = written(
      'To: files@customer.example\nSubject: files\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m',
      '--m\nContent-Type: text/plain\n\nSee file\n--m\nContent-Type: text/csv; charset=utf-8\nContent-Disposition: attachment; filename=a.csv\nContent-Transfer-Encoding: base64\n\nYSxi\n--m--',
    )
    const id = await submit(raw, ['files@customer.example'])
    const { attachments } = await sent(id)
    expect(attachments).toMatchObject([{ filename: 'a.csv', size_bytes: 3 }])
    expect(await (await fetch(attachments[0].url)).text()).toBe('a,b')
    await harness.expectApi(201, 'POST', `/mailboxes/agent/messages/${id}/forward`, { body: { to: 'onward@customer.example' } })
    const [copy] = (await copies('onward@customer.example')) as [SunkMail]
    expect(copy.parsed.attachments).toMatchObject([{ filename: 'a.csv' }])
    const rawSent = await harness.api('GET', `/mailboxes/agent/messages/${id}/raw`)
    expect((rawSent.body as Buffer).toString()).toMatch(/^DKIM-Signature:[\s\S]*^YSxi\r$/m)
  })

  test('fields that forge a message are not taken over', async () => {
    const fields =
      'To: forged@customer.example\nSubject: forged\nReceived: from a by b; Mon, 3 Nov 2025 10:00:00 +0000\nReturn-Path: <x@y.example>\nSender: boss@agents.localhost\nDKIM-Signature: v=1; d=evil.example\nResent-From: x@y.example\nContent-Type: text/plain\nContent-Type: text/html'
    await submit(written(fields), ['forged@customer.example'])
    const [copy] = (await copies('forged@customer.example')) as [SunkMail]
    expect(copy.raw.slice(0, copy.raw.indexOf('\r\n\r\n'))).not.toMatch(
      /^(?:received|return-path|sender|resent-from):|evil\.example|text\/html/im,
    )
  })
})

describe('threads', () => {
  test("an answer to a program's own Message-ID joins its thread, here and from outside", async () => {
    const first = await sent(
      await submit(written('To: bob@customer.example\nSubject: Alert\nMessage-ID: <alert.1@program.example>'), ['bob@customer.example']),
    )
    expect(first.message_id).toBe('<alert.1@program.example>')
    const second = await sent(
      await submit(
        written(
          'To: bob@customer.example\nSubject: Re: Alert\nMessage-ID: <alert.2@program.example>\nReferences: <unknown@desk.example> <alert.1@program.example>',
        ),
        ['bob@customer.example'],
      ),
    )
    expect([second.thread_id, second.in_reply_to_message_id]).toEqual([first.thread_id, first.id])
    await harness.deliver({
      from: 'bob@customer.example',
      to: 'agent@agents.localhost',
      subject: 'Re: Alert',
      text: 'x',
      inReplyTo: '<alert.2@program.example>',
    })
    expect((await harness.waitForMail('agent', 'Re: Alert')).thread_id).toBe(first.thread_id)
  })

  test('a Message-ID that the mailbox knows already is not sent again', async () => {
    const raw = written('To: eve@customer.example\nSubject: copy\nMessage-ID: <alert.1@program.example>')
    const message = await sent(await submit(raw, ['eve@customer.example']))
    expect(message.message_id).toMatch(/@agents\.localhost>$/)
  })

  test('references to mail in quarantine join nothing', async () => {
    await harness.deliver({
      from: 'agent@agents.localhost',
      to: 'agent@agents.localhost',
      subject: 'forged',
      text: 'x',
      messageId: '<held@x.example>',
    })
    const held = await harness.waitForMail('agent', 'forged', 'quarantined')
    const message = await sent(
      await submit(written('To: eve@customer.example\nSubject: Re: forged\nIn-Reply-To: <held@x.example>'), ['eve@customer.example']),
    )
    expect(message.thread_id).not.toBe(held.thread_id)
  })
})

describe('checks', () => {
  const secret = `AKIA${'Z7Q2X4MQB5TLC6WD'}`
  const multipart = (preamble: string, head: string, text: string, file: string): string =>
    written(
      'To: spy@customer.example\nSubject: report\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m',
      `${preamble}\n--m\nContent-Type: text/plain\n${head}\n${text}\n--m\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\nContent-Transfer-Encoding: base64\n\n${Buffer.from(file).toString('base64')}\n--m--`,
    )

  /** Alternatives in base64, within this number of containers. */
  const nested = (depth: number, ...parts: (readonly [type: string, content: string])[]): string => {
    const entity = parts.map(([type, content]) => {
      const base64 = Buffer.from(content, 'latin1').toString('base64')
      return `Content-Type: ${type}\nContent-Transfer-Encoding: base64\n\n${base64}\n`
    })
    let content = { head: 'multipart/alternative; boundary=n0', body: `${entity.map((part) => `--n0\n${part}`).join('')}--n0--` }
    for (let level = 1; level < depth; level++)
      content = {
        head: `multipart/mixed; boundary=n${level}e`,
        body: `--n${level}e\nContent-Type: ${content.head}\n\n${content.body}\n--n${level}e--`,
      }
    return written(`To: spy@customer.example\nSubject: nested\nMIME-Version: 1.0\nContent-Type: ${content.head}`, content.body)
  }

  test('the outbound guard reads every place of the content, and holds mail that it cannot read', async () => {
    await harness.expectApi(200, 'PATCH', '/identities/agent', { body: { outbound_guard: 'hold' } })
    const places = {
      'the text before the parts': multipart(secret, '', 'x', 'x'),
      'a field of a part': multipart('', `Content-Description: ${secret}\n`, 'x', 'x'),
      'a text': multipart('', '', secret, 'x'),
      'a file': multipart('', '', 'x', secret),
      'the text after the parts': `${multipart('', '', 'x', 'x')}${secret}\r\n`,
      'a field of the header': written(`To: spy@customer.example\nX-Note: ${secret}\nSubject: x`),
      'a second alternative': nested(1, ['text/plain', 'x'], ['text/html', '<p>x</p>'], ['text/html', `<p>${secret}</p>`]),
      'an alternative that is not shown': nested(1, ['text/plain', secret], ['text/html', '<p>x</p>']),
      'a calendar': nested(1, ['text/plain', 'x'], ['text/calendar; method=REQUEST', `BEGIN:VCALENDAR\r\nDESCRIPTION:${secret}`]),
      'the last of many parts': nested(1, ...Array.from({ length: 1500 }, () => ['text/plain', 'x'] as const), ['text/plain', secret]),
      'a part within many others': nested(150, ['text/plain', secret]),
      'signed content': nested(1, ['application/pkcs7-mime; smime-type=signed-data', `0\x82${'\0'.repeat(9)}${secret}`]),
    }
    for (const [place, raw] of Object.entries(places)) expect(await submit(raw, ['spy@customer.example']), place).toMatch(/^drf_/)
    const encrypted = written(
      'To: spy@customer.example\nSubject: x\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\nContent-Transfer-Encoding: base64',
      'MIIB',
    )
    expect(await refusalOf(encrypted, ['spy@customer.example'])).toMatch(/550 5\.7\.1 .*encrypted/)
    const open = [
      multipart('', '', 'nothing secret', 'x'),
      nested(2, ['text/plain', 'x'], ['text/html', '<p>x</p>']),
      written('Subject: x', 'Grüße'),
    ]
    for (const raw of open) expect(await submit(raw, ['spy@customer.example'])).toMatch(/^msg_/)
    await copies('spy@customer.example', open.length)
    await harness.expectApi(200, 'PATCH', '/identities/agent', { body: { outbound_guard: 'off' } })
  })

  test('suppressions and rules refuse blind copies too', async () => {
    await harness.expectApi(201, 'POST', '/suppressions', { body: { email_address: 'gone@customer.example' } })
    expect(await refusalOf(written('Subject: x'), ['gone@customer.example'])).toMatch(/550 5\.7\.1/)
    await harness.expectApi(201, 'POST', '/identities/agent/mail-rules', {
      body: { direction: 'outbound', action: 'block', entry: 'rival.example' },
    })
    expect(await refusalOf(written('Subject: x'), ['a@rival.example'])).toMatch(/550 5\.7\.1/)
    expect(await refusalOf(written('To: a@customer.example\nReply-To: a@rival.example\nSubject: x'), ['a@customer.example'])).toMatch(
      /550 5\.7\.1/,
    )
  })

  test('sending limits count submitted mail, and refuse it with a reason', async () => {
    const limit = (max: number | null) =>
      harness.expectApi(200, 'PATCH', '/identities/agent', { body: { sending_limits: { recipients_per_message: max } } })
    await limit(1)
    expect(await refusalOf(written('Subject: x'), ['one@customer.example', 'two@customer.example'])).toMatch(/recipients/)
    expect(await submit(written('Subject: x'), ['limit@customer.example'])).toMatch(/^msg_/)
    await limit(null)
    const { messages_per_day } = (await harness.expectApi(200, 'GET', '/identities/agent')).sending_limits
    expect(messages_per_day).toBeNull()
    const perDay = (max: number | null) =>
      harness.expectApi(200, 'PATCH', '/identities/agent', { body: { sending_limits: { messages_per_day: max } } })
    await perDay(1)
    const [first, second] = ['one', 'two'].map((subject) => written(`Subject: ${subject}`))
    expect(await submit(first as string, ['limit@customer.example'])).toMatch(/^msg_/)
    expect(await refusalOf(second as string, ['limit@customer.example'])).toMatch(/limit/)
    await perDay(null)
  })

  test('an agent that needs approval gets a draft with the recipients and threads', async () => {
    await harness.expectApi(200, 'PATCH', '/identities/agent', { body: { draft_approval: 'required' } })
    const id = await submit(readMailCase('submitted-with-blind-copies-only.eml').replace('notice.1', 'notice.2'), ['one@customer.example'])
    const draft = await harness.expectApi(200, 'GET', `/mailboxes/agent/drafts/${id}`)
    expect(draft).toMatchObject({ to: [], bcc: ['one@customer.example'], subject: 'Re: Ticket' })
    const { id: sentId } = await harness.expectApi(201, 'POST', `/mailboxes/agent/drafts/${id}/send`, { body: {} })
    expect((await sent(sentId)).references).toEqual(['<ticket-1@desk.example>', '<ticket-5@desk.example>'])
    await harness.expectApi(200, 'PATCH', '/identities/agent', { body: { draft_approval: 'none' } })
  })
})
