// A hostile sender against the whole server. Each message is refused permanently, or filed once per mailbox with one event, and can be read.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
})
afterAll(async () => {
  const bugs = harness.logLines().filter((line) => /"level":"(?:error|fatal)"/.test(line))
  await harness.stop()
  expect(bugs).toEqual([])
})

/** A session of raw bytes. `ask` resolves with the whole reply. */
async function open(): Promise<{ ask: (bytes: string | Buffer) => Promise<string>; socket: Socket }> {
  const socket = connect({ port: harness.smtpPort, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => {})
  let text = ''
  let wake = () => {}
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    wake()
  })
  socket.on('close', () => wake())
  const reply = async (): Promise<string> => {
    while (!/^\d{3}(?: .*)?\r\n$/m.test(text.split('\n').slice(-2).join('\n')) && !socket.closed)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    const said = text
    text = ''
    return said
  }
  await reply()
  const ask = async (bytes: string | Buffer): Promise<string> => {
    socket.write(bytes)
    return reply()
  }
  await ask('EHLO hostile.example\r\n')
  return { ask, socket }
}

type Envelope = { from?: string; to?: string[]; parameters?: string }

/** Delivers these bytes, which end with a line end, and returns the reply. */
async function hand(raw: string | Buffer, { from = 'eve@hostile.example', to = ['ann@agents.localhost'], parameters = '' }: Envelope = {}) {
  const { ask, socket } = await open()
  const replies = [await ask(`MAIL FROM:<${from}>${parameters}\r\n`)]
  for (const address of to) replies.push(await ask(`RCPT TO:<${address}>\r\n`))
  replies.push(await ask('DATA\r\n'))
  const said = await ask(Buffer.concat([Buffer.from(raw as string, 'latin1'), Buffer.from('.\r\n')]))
  // The session continues after any content.
  const after = socket.closed ? '' : await ask('NOOP\r\n')
  socket.end('QUIT\r\n')
  if (!socket.closed) await once(socket, 'close')
  return { said, after, replies }
}

let made = 0
const subjectOf = () => `Hostile ${++made}`
const compose = (subject: string, header = '', body = 'Hello\r\n'): string =>
  `From: Eve <eve@hostile.example>\r\nTo: ann@agents.localhost\r\nSubject: ${subject}\r\n${header}\r\n${body}`

/**
 * The messages of a mailbox with this subject, whole, each with its one event. They can be listed, searched, fetched raw and read in their thread.
 */
async function filed(subject: string, handle = 'ann', key = harness.organizationKey): Promise<Json[]> {
  const { data } = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages?limit=100&subject=${encodeURIComponent(subject)}`, {
    key,
  })
  const own = data.filter((one: Json) => one.subject === subject)
  for (const one of own) {
    const events = (await harness.eventsOf(one.id)).map(({ type }) => type)
    expect(events).toEqual(['email.received'])
    await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages/${one.id}/raw`, { key })
    await harness.expectApi(200, 'GET', `/mailboxes/${handle}/threads/${one.thread_id}`, { key })
  }
  return Promise.all(own.map((one: Json) => harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages/${one.id}`, { key })))
}

const isTaken = /^250 2\.0\.0 /
const isRefused = /^5\d\d 5\./

describe('signatures', () => {
  const tags = (more: string) => `DKIM-Signature: v=1; a=rsa-sha256; d=hostile.example; s=s1; h=from; bh=AAAA; b=AAAA; ${more}\r\n`
  test.each([
    ['a key that is no key', 'v=DKIM1; k=rsa; p=AAAA', tags('')],
    ['a key of 60,000 characters', `v=DKIM1; p=${'A'.repeat(60_000)}`, tags('')],
    ['a record of nothing but semicolons', ';'.repeat(5_000), tags('')],
    ['a record with control characters', 'v=DKIM1;\u0001 k=\u0007rsa; p=MAAw', tags('')],
    ['tags twice, huge numbers, no values', 'v=DKIM1; p=MAAw', tags('l=99999999999999999999; x=-1; t=1e9; v=2; b=; =; ;;')],
    [
      'a name that DNS cannot hold',
      'v=DKIM1; p=MAAw',
      `DKIM-Signature: v=1; a=rsa-sha256; d=${'a.'.repeat(200)}example; s=${'x'.repeat(300)}; h=from; bh=A; b=A\r\n`,
    ],
    ['a thousand of them', 'v=DKIM1; p=MAAw', tags('').repeat(500)],
    [
      'an ARC chain of fifty sets without sense',
      'v=DKIM1; p=MAAw',
      Array.from(
        { length: 50 },
        (_, i) =>
          `ARC-Seal: i=${i + 1}; cv=pass; a=rsa-sha256; d=hostile.example; s=s1; b=A\r\nARC-Message-Signature: i=${i + 1}; a=rsa-sha256; d=hostile.example; s=s1; h=from; bh=A; b=A\r\nARC-Authentication-Results: i=${i + 1}; mx; spf=pass\r\n`,
      ).join(''),
    ],
  ])('%s', async (_, record, header) => {
    harness.dns.set('s1._domainkey.hostile.example', { TXT: [record] })
    harness.dns.set('hostile.example', { TXT: ['v=spf1 include:hostile.example redirect=hostile.example'] })
    harness.dns.set('_dmarc.hostile.example', { TXT: ['v=DMARC1; p=none; p=reject; ;;; ='] })
    const subject = subjectOf()
    const { said, after } = await hand(compose(subject, header))
    expect([said, after]).toEqual([expect.stringMatching(isTaken), expect.stringMatching(/^250 /)])
    const [message, ...more] = await filed(subject)
    expect(more).toEqual([])
    expect(message.authentication.dkim.result).not.toBe('pass')
    expect(message.authentication.dmarc.result).not.toBe('pass')
  })
})

describe('headers', () => {
  test('10,000 Received lines are refused permanently, and nothing is filed', async () => {
    const subject = subjectOf()
    const { said } = await hand(compose(subject, 'Received: from a by b\r\n'.repeat(10_000)))
    expect(said).toMatch(isRefused)
    expect(await filed(subject)).toEqual([])
  })
  test('a field of 3 MB is refused permanently', async () => {
    const subject = subjectOf()
    const { said } = await hand(compose(subject, `X: ${'x'.repeat(3_000_000)}\r\n`))
    expect(said).toMatch(isRefused)
    expect(await filed(subject)).toEqual([])
  })
  test('5000 References on separate lines are refused permanently', async () => {
    const subject = subjectOf()
    const references = Array.from({ length: 5000 }, (_, i) => `<${i}@hostile.example>`).join('\r\n ')
    expect((await hand(compose(subject, `References: ${references}\r\n`))).said).toMatch(isRefused)
    expect(await filed(subject)).toEqual([])
  })
  test('2400 References on 800 lines are filed once, and can be answered', async () => {
    const subject = subjectOf()
    const references = Array.from({ length: 800 }, (_, i) => `<${i}.${'r'.repeat(70)}@a><${i}@b> <${i}.${'s'.repeat(70)}@c>`).join('\r\n ')
    const { said } = await hand(
      compose(subject, `Message-ID: <${subject.replace(' ', '')}@hostile.example>\r\nReferences: ${references}\r\n`),
    )
    expect(said).toMatch(isTaken)
    const [message, ...more] = await filed(subject)
    expect(more).toEqual([])
    const { id } = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${message.id}/reply`, { body: { text: 'Thanks' } })
    expect((await harness.waitForStatus('ann', id, 'sent', 'delivered', 'failed', 'bounced')).thread_id).toBe(message.thread_id)
  })
  test('References without an end, without a name, or of angle brackets only are accepted', async () => {
    const subject = subjectOf()
    const { said } = await hand(
      compose(
        subject,
        `Message-ID: <\xff\xfe@>\r\nIn-Reply-To: <<<<>>>> <a@b\r\nReferences: <${'x'.repeat(5000)}\r\n <>\r\n ${'<'.repeat(500)}\r\n`,
      ),
    )
    expect(said).toMatch(isTaken)
    expect(await filed(subject)).toHaveLength(1)
  })
})

describe('bodies', () => {
  test('3000 parts with long names in every spelling are filed once, and all are readable', async () => {
    const subject = subjectOf()
    const part = (i: number) =>
      `--b\r\nContent-Type: application/octet-stream; name="${'n'.repeat(600)}${i}"\r\nContent-Disposition: attachment; filename*0*=utf-8''${'%F0%9F%98%80'.repeat(40)}; filename*1="${'../'.repeat(50)}x\x01"\r\n\r\nx\r\n`
    const parts = Array.from({ length: 3000 }, (_, i) => part(i)).join('')
    const { said } = await hand(compose(subject, 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n', `${parts}--b--\r\n`))
    expect(said).toMatch(isTaken)
    const [message, ...more] = await filed(subject)
    expect(more).toEqual([])
    expect(message.attachments.length).toBeGreaterThan(0)
    for (const { filename } of message.attachments) expect(filename).not.toMatch(/[/\\\p{Cc}]/u)
    const { url } = message.attachments.at(-1)
    expect((await fetch(url)).status).toBe(200)
  })
  test('a message 300 parts deep is accepted', async () => {
    const subject = subjectOf()
    const depth = 300
    const opens = Array.from({ length: depth }, (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`).join('')
    const { said } = await hand(
      compose(subject, 'Content-Type: multipart/mixed; boundary=b0\r\n', `${opens}--b${depth}\r\n\r\ninnermost\r\n`),
    )
    expect(said).toMatch(isTaken)
    expect(await filed(subject)).toHaveLength(1)
  })
  test('every byte but NUL is accepted in header and body, undeclared', async () => {
    const subject = subjectOf()
    const bytes = Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1))
      .filter((character) => !'\r\n'.includes(character))
      .join('')
    const { said } = await hand(
      compose(
        subject,
        `X-Garbage: ${bytes}\r\nCc: ${bytes} <${bytes}@b>\r\nContent-Type: text/plain; charset=${bytes}\r\n`,
        `${bytes}\r\n`.repeat(100),
      ),
    )
    expect(said).toMatch(isTaken)
    expect(await filed(subject)).toHaveLength(1)
  })
  test('a message with NULs is refused permanently or filed without them', async () => {
    const subject = subjectOf()
    const { said } = await hand(compose(subject, 'X-Nul: a\0b\r\n', 'a\0b\r\n'))
    expect(said).toMatch(/^(?:250 2|5\d\d 5)/)
    expect(await filed(subject)).toHaveLength(isTaken.test(said) ? 1 : 0)
  })
})

describe('addresses', () => {
  test('an SMTPUTF8 sender outside of ASCII is kept unchanged, and such a recipient is unknown', async () => {
    const subject = subjectOf()
    const sender = Buffer.from('jürgen@bücher.example').toString('latin1')
    const { said, replies } = await hand(compose(subject).replace('eve@hostile.example', sender), {
      from: sender,
      to: ['ann@agents.localhost', Buffer.from('änn@agents.localhost').toString('latin1')],
      parameters: ' SMTPUTF8 BODY=8BITMIME',
    })
    expect(said).toMatch(/^(?:250|5)/)
    expect(replies.at(-2)).toMatch(/^55[0-9] 5\./)
    const messages = await filed(subject)
    expect(messages.map((message) => message.from)).toEqual(isTaken.test(said) ? [expect.stringContaining('jürgen@bücher.example')] : [])
  })
  test('three different messages and one repetition with one Message-ID give three messages', async () => {
    const subject = subjectOf()
    const id = `Message-ID: <${subject.replace(' ', '')}@hostile.example>\r\n`
    for (const body of ['One\r\n', 'Two\r\n', 'Three\r\n', 'Two\r\n'])
      expect((await hand(compose(subject, id, body))).said).toMatch(isTaken)
    expect((await filed(subject)).map((message) => message.text.trim()).sort()).toEqual(['One', 'Three', 'Two'])
  })
  test('ten concurrent copies of a message over ten connections give one message', async () => {
    const subject = subjectOf()
    const raw = compose(subject, `Message-ID: <${subject.replace(' ', '')}@hostile.example>\r\n`)
    const answers = await Promise.all(Array.from({ length: 10 }, () => hand(raw)))
    expect(answers.filter(({ said }) => !isTaken.test(said))).toEqual([])
    expect(await filed(subject)).toHaveLength(1)
  })
  test('five copies of a message that wait for filing together give one message', async () => {
    const [first, subject] = [subjectOf(), subjectOf()]
    const raw = compose(subject, `Message-ID: <${subject.replace(' ', '')}@hostile.example>\r\n`)
    const waiting = async () =>
      (await harness.db.query({ text: `SELECT 1 FROM pg_locks WHERE relation = 'threads'::regclass AND NOT granted` })).rowCount
    let handed: Promise<{ said: string }[]> | undefined
    await harness.db.transact(async (tx) => {
      await tx.query({ text: 'LOCK TABLE threads IN ACCESS EXCLUSIVE MODE' })
      const held = hand(compose(first))
      await waitFor('the first to wait', async () => (await waiting()) > 0)
      handed = Promise.all([held, ...Array.from({ length: 5 }, () => hand(raw))])
      await waitFor('copies to wait', async () => (await waiting()) > 1)
    })
    expect((await handed)?.every(({ said }) => isTaken.test(said))).toBe(true)
    expect(await filed(subject)).toHaveLength(1)
  })
  test('ninety-nine recipients in two organizations get one copy per mailbox, each in its own organization', async () => {
    const subject = subjectOf()
    const other = harness.otherOrganization.key
    const handles = Array.from({ length: 33 }, (_, i) => [`many${i}`, `other${i}`] as const)
    for (const [own, foreign] of handles) {
      await harness.createAgent(own)
      await harness.createAgent(foreign, {}, other)
    }
    // A mailbox is one recipient in whatever spelling.
    const to = handles.flatMap(([own, foreign]) => [
      `${own}@agents.localhost`,
      `${own.toUpperCase()}+x@AGENTS.localhost`,
      `${foreign}+tag@agents.localhost`,
    ])
    const { said, replies } = await hand(compose(subject), { to })
    expect(replies.slice(1, -1).every((reply) => reply.startsWith('250'))).toBe(true)
    expect(said).toMatch(isTaken)
    for (const [own, foreign] of handles) {
      const mine = await filed(subject, own)
      const theirs = await filed(subject, foreign, other)
      expect([...mine, ...theirs].map((message) => message.to)).toEqual([['ann@agents.localhost'], ['ann@agents.localhost']])
      expect((await harness.api('GET', `/mailboxes/${foreign}/messages/${theirs[0].id}`)).status).toBe(404)
    }
  })
})
