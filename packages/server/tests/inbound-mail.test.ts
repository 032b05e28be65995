// Incoming mail over SMTP, from three clients. Covers its recipients and its filing.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { DialogClient } from './transcripts/smtp/play.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('ben')
  await harness.createAgent('ophelia', {}, harness.otherOrganization.key)
})
afterAll(() => harness.stop())

const run = promisify(execFile)
const list = async (handle: string, query = ''): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages${query}`)).data

/** Sends these lines one after the other, each after the previous answer. Resolves with the answers until the server closes. */
async function speak(...lines: string[]): Promise<string[]> {
  const socket = connect(harness.smtpPort, '127.0.0.1')
  const answers: string[] = []
  let text = ''
  try {
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString('latin1')
      if (!/(^|\r\n)\d{3} [^\r\n]*\r\n$/.test(text)) continue
      answers.push(text.trimEnd())
      text = ''
      const line = lines.shift()
      if (line === undefined) break
      socket.write(`${line}\r\n`, 'latin1')
    }
  } catch {
    // The server closed the connection while a line was in flight. Its earlier answers stand.
  }
  socket.destroy()
  return answers.slice(1)
}
const deliverRaw = (message: string, to = 'ann@agents.localhost', from = 'eve@example.org') =>
  speak('EHLO there.example', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA', `${message}\r\n.`)

describe('clients', () => {
  test('nodemailer delivers, and the message is there after 250', async () => {
    const { response } = await harness.deliver({
      from: 'eve@example.org',
      to: 'ann@agents.localhost',
      subject: 'From nodemailer',
      text: 'Hello',
    })
    const [first] = await list('ann', '?subject=nodemailer')
    expect(first).toMatchObject({ subject: 'From nodemailer', direction: 'inbound', status: 'received' })
    expect(response).toBe(`250 2.0.0 queued as ${first.id}`)
    expect(await harness.eventsOf(first.id)).toMatchObject([{ type: 'email.received' }])
  })

  test('swaks delivers, with STARTTLS when it can', async ({ skip }) => {
    if (!existsSync('/usr/bin/swaks')) skip('swaks is not installed (apt install swaks)')
    const { stdout: support } = await run('/usr/bin/swaks', ['--support'])
    const args = ['--server', '127.0.0.1', '--port', String(harness.smtpPort), '--helo', 'swaks.example', '--from', 'eve@example.org']
    const tls = support.includes('=== TLS supported') ? ['--tls'] : []
    await run('/usr/bin/swaks', [
      ...args,
      ...tls,
      '--to',
      'ann@agents.localhost',
      '--h-Subject',
      'From swaks',
      '--body',
      'Hello',
      '--attach',
      '@/etc/hostname',
    ])
    const [first] = await list('ann', '?subject=swaks')
    expect(first).toMatchObject({ subject: 'From swaks', attachments: [{ filename: 'hostname' }] })
    expect(first.text).toContain('Hello')
    const refused = run('/usr/bin/swaks', [...args, '--to', 'nobody@agents.localhost'])
    await expect(refused).rejects.toMatchObject({ stdout: expect.stringContaining('550 5.1.1') })
  })

  test('smtp-source delivers from ten sessions, and every message is there once', async ({ skip }) => {
    if (!existsSync('/usr/sbin/smtp-source')) skip('smtp-source is not installed (apt install postfix)')
    const total = async () => (await harness.expectApi(200, 'GET', '/mail/messages?agent=ben')).total
    const before = await total()
    await run('/usr/sbin/smtp-source', [
      '-s',
      '10',
      '-m',
      '200',
      '-l',
      '5000',
      '-f',
      'eve@example.org',
      '-t',
      'ben@agents.localhost',
      `127.0.0.1:${harness.smtpPort}`,
    ])
    expect(await total()).toBe(before + 200)
  })
})

describe('recipients', () => {
  test('an unknown recipient is 550 5.1.1 at RCPT', async () => {
    const answers = await speak(
      'EHLO there.example',
      'MAIL FROM:<eve@example.org>',
      'RCPT TO:<nobody@agents.localhost>',
      'RCPT TO:<ann@elsewhere.example>',
    )
    expect(answers.slice(2).map((answer) => answer.slice(0, 9))).toEqual(['550 5.1.1', '550 5.1.1'])
  })

  test('a mailbox deleted between RCPT and the message gives 451 with nothing filed for the others, and 550 from then on', async () => {
    for (const [agent, lines] of Object.entries({ brief: 1, briefer: 100_000 })) {
      await harness.createAgent(agent)
      const client = await DialogClient.greeted(harness.smtpPort)
      await client.ask('EHLO there.example', '250')
      await client.ask('MAIL FROM:<eve@example.org>', '250')
      for (const name of ['ann', agent]) await client.ask(`RCPT TO:<${name}@agents.localhost>`, '250')
      await client.ask('DATA', '354')
      await harness.expectApi(204, 'DELETE', `/identities/${agent}`)
      await client.ask(`Subject: Late\r\n\r\n${'y\r\n'.repeat(lines)}.`, '451 4.2.1')
      await client.ask('MAIL FROM:<eve@example.org>', '250')
      await client.ask(`RCPT TO:<${agent}@agents.localhost>`, '550 5.1.1')
      client.close()
    }
    expect(await list('ann', '?subject=Late')).toEqual([])
  })

  test('plus-addressing and capitals reach the mailbox', async () => {
    for (const to of ['ann+news@agents.localhost', 'ANN@AGENTS.LOCALHOST', 'Ann+A+B@agents.localhost']) {
      const subject = `To ${to}`
      await harness.deliver({ from: 'eve@example.org', to, subject, text: 'a' })
      expect((await harness.waitForMail('ann', subject)).to[0].toLowerCase()).toBe(to.toLowerCase())
    }
    const [refused] = (await speak('EHLO a', 'MAIL FROM:<eve@example.org>', 'RCPT TO:<+ann@agents.localhost>')).slice(2)
    expect(refused).toMatch(/^550 5\.1\.1/)
  })

  test('one message for three mailboxes of two organizations is filed once in each', async () => {
    const to = ['ann@agents.localhost', 'ben@agents.localhost', 'ann+again@agents.localhost', 'ophelia@agents.localhost']
    await harness.deliver({ from: 'eve@example.org', to, subject: 'To all', text: 'a' })
    expect([(await list('ann', '?subject=all')).length, (await list('ben', '?subject=all')).length]).toEqual([1, 1])
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ophelia/messages', { key: harness.otherOrganization.key })
    expect(data).toHaveLength(1)
    const [one] = await list('ann', '?subject=all')
    const [two] = await list('ben', '?subject=all')
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${one.id}`)
    expect((await harness.api('GET', `/mailboxes/ben/messages/${two.id}/raw`)).status).toBe(200)
  })

  test('the null sender is accepted', async () => {
    const answers = await deliverRaw('From: mailer-daemon@example.org\r\nSubject: Bounce\r\n\r\nno', 'ann@agents.localhost', '')
    expect(answers.at(-1)).toMatch(/^250 2\.0\.0 queued as msg_/)
    expect((await harness.waitForMail('ann', 'Bounce')).headers['return-path']).toBe('<>')
  })
})

describe('stored messages', () => {
  test.each<[string, string, (message: Json) => void]>([
    ['no header at all', '\r\nonly a body', (message) => expect(message.text).toContain('only a body')],
    ['no body', 'Subject: Empty\r\n', (message) => expect([message.subject, message.text]).toEqual(['Empty', ''])],
    [
      'broken MIME',
      'Subject: Broken\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="x"\r\n\r\n--y\r\nlost words',
      (message) => expect(message.subject).toBe('Broken'),
    ],
    [
      '8-bit garbage',
      'Subject: \xff\xfe\xfd\r\nContent-Type: text/plain; charset=nonsense\r\n\r\n\xff\xfe\x80',
      (message) => expect(message.subject).toEqual(expect.any(String)),
    ],
    [
      'broken base64',
      'Subject: B64\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!not base64!!!',
      (message) => expect(message.subject).toBe('B64'),
    ],
    ['a header without end', `Subject: Long\r\nX-Long: ${'y'.repeat(5000)}`, (message) => expect(message.subject).toBe('Long')],
  ])('%s is kept raw with its readable parts although it cannot be parsed', async (_name, raw, check) => {
    const answers = await deliverRaw(raw)
    const id = /^250 2\.0\.0 queued as (msg_\w+)/.exec(answers.at(-1) as string)?.[1] as string
    expect(id).toBeTruthy()
    const message = await harness.getMessage('ann', id)
    // None of them names an author, and the return path does not count as one.
    expect(message).toMatchObject({ status: 'quarantined', from: '', guardrail: { basis: 'author' } })
    check(message)
    const bytes = (await harness.api('GET', `/mailboxes/ann/messages/${id}/raw`)).body as Buffer
    expect(bytes.includes(Buffer.from(raw.trimEnd(), 'latin1'))).toBe(true)
  })

  test('a NUL in decoded text does not cause a failure', async () => {
    const encoded = Buffer.from('before\0after').toString('base64')
    const answers = await deliverRaw(
      `Subject: =?utf-8?B?${Buffer.from('a\0b').toString('base64')}?=\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}`,
    )
    const message = await harness.getMessage('ann', (answers.at(-1) as string).split(' ').at(-1) as string)
    expect([message.text.includes('before'), message.text.includes('\0'), message.subject.includes('\0')]).toEqual([true, false, false])
  })

  test('extracted_text has only the new text of a reply', async () => {
    const text = 'Yes, please do.\r\n\r\nOn Mon, 1 Jan 2024 at 10:00, Ann <ann@agents.localhost> wrote:\r\n> Shall I?\r\n> Really?'
    await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Re: Shall I', text })
    const message = await harness.waitForMail('ann', 'Re: Shall I')
    expect(message.extracted_text.trim()).toBe('Yes, please do.')
    expect(message.text).toContain('> Shall I?')
  })

  test('extracted_text is the same at the beginning of the text and inside it', async () => {
    const answer = '👍🏽 Grüße, 日本 – yes.\r\n\r\nOn Mon, 1 Jan 2024 at 10:00, Ann <ann@agents.localhost> wrote:\r\n> Shall I? 👋'
    await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Re: Above', text: answer })
    const above = await harness.waitForMail('ann', 'Re: Above')
    expect(above.extracted_text).toBe('👍🏽 Grüße, 日本 – yes.')
    const below = '> Shall I? 👋\r\n\r\n👍🏽 Yes.'
    await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Re: Below', text: below })
    expect((await harness.waitForMail('ann', 'Re: Below')).extracted_text).toBe('👍🏽 Yes.')
    const listed = await list('ann', '?subject=re:')
    expect(listed.map((message) => message.extracted_text)).toEqual(expect.arrayContaining([above.extracted_text, '👍🏽 Yes.']))
  })

  test('a repeat of the same bytes and Message-ID, from a sender that missed the 250, is not filed again', async () => {
    const raw = 'Message-ID: <again@example.org>\r\nFrom: eve@example.org\r\nSubject: Once only\r\n\r\nhello'
    const [first, second] = [await deliverRaw(raw), await deliverRaw(raw)]
    expect(second.at(-1)).toBe(first.at(-1))
    expect(await list('ann', '?subject=once')).toHaveLength(1)
    // Other words under the same Message-ID are another message.
    await deliverRaw(`${raw} again`)
    expect(await list('ann', '?subject=once')).toHaveLength(2)
    const id = (first.at(-1) as string).split(' ').at(-1) as string
    expect((await harness.eventsOf(id)).length).toBe(1)
  })

  test('a loop is refused by the number of Received fields', async () => {
    const answers = await deliverRaw(`${'Received: from a by b; Mon, 1 Jan 2024 10:00:00 +0000\r\n'.repeat(60)}Subject: Loop\r\n\r\na`)
    expect(answers.at(-1)).toMatch(/^5\d\d 5\.4\.6/)
    expect(await list('ann', '?subject=loop')).toEqual([])
  })

  test('a bare LF is refused and the connection closed, and nothing is stored or smuggled', async () => {
    const smuggled =
      'Subject: Smuggler\r\n\r\na\n.\r\nMAIL FROM:<x@example.org>\r\nRCPT TO:<ann@agents.localhost>\r\nDATA\r\nSubject: Smuggled\r\n\r\nb\r\n.'
    const answers = await speak('EHLO a', 'MAIL FROM:<x@example.org>', 'RCPT TO:<ann@agents.localhost>', 'DATA', smuggled, 'NOOP')
    expect(answers.slice(3).map((answer) => answer.slice(0, 1))).toEqual(['3', '5'])
    expect(await list('ann', '?subject=smuggle')).toEqual([])
  })

  test('mail over 25 MB is refused by SIZE, and by its bytes', async () => {
    const [, refused] = await speak('EHLO a', `MAIL FROM:<x@example.org> SIZE=${26 * 1024 * 1024 * 2}`)
    expect(refused).toMatch(/^552 5\.3\.4/)
  })
})
