// The outbound guard by its modes, and the loop guard for correspondents elsewhere.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { recordTransactions } from './harness/statements.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
})
afterAll(() => harness.stop())

const token = `ghp_${Buffer.from(randomBytes(64))
  .toString('base64')
  .replace(/[^A-Za-z0-9]/g, 'x')
  .slice(0, 36)}`
const guard = (handle: string, body: Json) => harness.expectApi(200, 'PATCH', `/identities/${handle}`, { body })
const flagsOf = async (id: string) => (await harness.getMessage('ann', id)).flags

test('flag is the default, sends the message, and shows the masked secret', async () => {
  expect((await harness.expectApi(200, 'GET', '/identities/ann')).outbound_guard).toBe('flag')
  const { id } = await harness.send('ann', 'ada@example.com', { text: `The token is ${token}.` })
  const flags = await flagsOf(id)
  expect(flags).toEqual([
    { type: 'api_key', reason: 'In the text, there seems to be a secret: GitHub token.', evidence: `ghp_…${token.slice(-2)}` },
  ])
  expect(await flagsOf((await harness.send('ann', 'ada@example.com')).id)).toEqual([])
})

const content = (text: string | Buffer) => Buffer.from(text as string).toString('base64')
/** The reasons of the flags of a message with these fields. */
const reasonsOf = async (more: Json): Promise<string[]> =>
  (await flagsOf((await harness.send('ann', 'ada@example.com', more)).id)).map((flag: Json) => flag.reason)

const words = Buffer.from(token).toString('base64')
const attached = `Subject: Old\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Transfer-Encoding: base64\r\n\r\n${words}\r\n--b--\r\n`

test.each<[string, Json, string]>([
  ['the subject', { subject: token }, 'the subject'],
  ['the HTML', { html: `<p>${token.slice(0, 9)}<b></b>${token.slice(9)}</p>` }, 'the HTML'],
  ['a custom header', { headers: { 'X-Note': token } }, 'the header X-Note'],
  ['an encoded custom header', { headers: { 'X-Note': `=?UTF-8?B?${words}?=` } }, 'the header X-Note'],
  ['the name of a header', { headers: { [token]: 'yes' } }, 'the names of the headers'],
  ['List-Unsubscribe', { headers: { 'List-Unsubscribe': `<https://example.com/?t=${token}>` } }, 'the header List-Unsubscribe'],
  ['percent-encoding', { headers: { 'List-Help': `<https://example.com/?t=${token.replace('_', '%5F')}>` } }, 'the header List-Help'],
  ['the name of From', { from: `${token} <ann@agents.localhost>` }, 'the header From'],
  ['the name of Reply-To', { reply_to: `${token} <ann@agents.localhost>` }, 'the header Reply-To'],
  ['the name of a recipient', { to: [`${token} <ada@example.com>`] }, 'the header To'],
  ['the name of a hidden recipient', { bcc: [`${token} <ben@example.com>`] }, 'the header Bcc'],
  ['a file name', { attachments: [{ filename: `${token}.png`, content: content('x') }] }, 'the names of the files'],
  [
    'a text file declared as binary',
    { attachments: [{ filename: '.env', content_type: 'application/octet-stream', content: content(token) }] },
    'the file .env',
  ],
  [
    'a text file declared as an image',
    { attachments: [{ filename: 'a.png', content_type: 'image/png', content: content(token) }] },
    'the file a.png',
  ],
  [
    'UTF-16 with a mark',
    { attachments: [{ filename: 'a.bin', content: content(Buffer.from(`\ufeff${token}`, 'utf16le')) }] },
    'the file a.bin',
  ],
  ['UTF-16 without a mark', { attachments: [{ filename: 'a.bin', content: content(Buffer.from(token, 'utf16le')) }] }, 'the file a.bin'],
  [
    'an attached message',
    { attachments: [{ filename: 'a.eml', content_type: 'message/rfc822', content: content(attached) }] },
    'the file a.eml',
  ],
  ['an attached message declared as binary', { attachments: [{ filename: 'a', content: content(attached) }] }, 'the file a'],
])('a secret in %s is found', async (_name, more, where) => {
  expect(await reasonsOf(more)).toEqual([expect.stringContaining(`In ${where}, there seems to be a secret: GitHub token.`)])
})

test('the files of a forwarded message are searched, and so is its text', async () => {
  await harness.deliver({
    from: 'eve@example.org',
    to: 'ann@agents.localhost',
    subject: 'With a key',
    text: 'See the file',
    attachments: [{ filename: 'key.bin', content: Buffer.from(`TOKEN=${token}`), contentType: 'application/octet-stream' }],
  })
  const { id } = await harness.waitForMail('ann', 'With a key')
  const forward = (more: Json) =>
    harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${id}/forward`, { body: { to: 'ada@example.com', ...more } })
  expect((await flagsOf((await forward({})).id)).map(({ reason }: Json) => reason)).toEqual([expect.stringContaining('the file key.bin')])
  expect(await flagsOf((await forward({ forward_attachments: false })).id)).toEqual([])
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { forward_of: id, to: 'ada@example.com' } })
  const sent = await harness.expectApi(201, 'POST', `/mailboxes/ann/drafts/${draft.id}/send`)
  expect((await flagsOf(sent.id)).map(({ reason }: Json) => reason)).toEqual([expect.stringContaining('the file key.bin')])
})

/** Bytes that no search can read, as those of compressed files are. */
const noise = randomBytes(3000)

test('hold sends real images, PDFs and archives, and holds what it cannot read', async () => {
  await harness.createAgent('binary')
  await guard('binary', { outbound_guard: 'hold' })
  const send = (bytes: Buffer, filename: string) =>
    harness.api('POST', '/mail/send', {
      body: {
        agent: 'binary',
        to: ['ada@example.com'],
        subject: 'File',
        text: 'See it',
        attachments: [{ filename, content: content(bytes) }],
      },
    })
  for (const start of ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff\xe0', '%PDF-1.7\n', 'PK\x03\x04', '\x1f\x8b\x08'])
    expect((await send(Buffer.concat([Buffer.from(start, 'latin1'), noise]), 'a.bin')).status).toBe(201)
  const unknown = await send(noise, 'a.png')
  expect(unknown.body.error).toMatchObject({
    code: 'approval_required',
    message: expect.stringContaining('Not searched for secrets: the file a.png.'),
  })
  const long = await send(Buffer.alloc(1_100_000, 'word '), 'a.txt')
  expect(long.body.error.message).toContain('Not searched for secrets: the file a.txt.')
})

test('off searches nothing', async () => {
  await guard('ann', { outbound_guard: 'off' })
  expect(await flagsOf((await harness.send('ann', 'ada@example.com', { text: token })).id)).toEqual([])
  await guard('ann', { outbound_guard: 'flag' })
})

test('patterns of the organization are searched, and unusable ones are refused', async () => {
  const refused = await harness.api('PATCH', '/identities/ann', { body: { outbound_guard_patterns: ['fine', '(a+'] } })
  expect(refused.body.error.details[0].path).toBe('/outbound_guard_patterns/1')
  const changed = await guard('ann', { outbound_guard_patterns: ['(?i)project falcon', '(x+x+)+y'] })
  expect(changed.outbound_guard_patterns).toEqual(['(?i)project falcon', '(x+x+)+y'])
  const { id } = await harness.send('ann', 'ada@example.com', { text: `${'x'.repeat(50_000)} about Project Falcon` })
  expect((await flagsOf(id)).map((flag: Json) => flag.type)).toEqual(['custom_pattern'])
  await guard('ann', { outbound_guard_patterns: [] })
})

test('hold refuses the send, and a draft of it waits with the reason and is sent once a person approves', async () => {
  await harness.createAgent('held')
  await guard('held', { outbound_guard: 'hold' })
  const key = await harness.agentKey('held')
  const body = { to: ['ada@example.com'], subject: 'Access', text: `Use ${token}` }
  for (const by of [key, harness.organizationKey]) {
    const refused = await harness.api('POST', '/mail/send', { key: by, body: { agent: 'held', ...body } })
    expect(refused.status).toBe(403)
    expect(refused.body.error.code).toBe('approval_required')
    expect(refused.body.error.message).toContain('GitHub token')
    expect(refused.body.error.message).not.toContain(token)
  }
  await harness.send('held', 'ada@example.com')
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/held/drafts', { key, body })
  expect(draft.approval).toMatchObject({ status: 'requested', reasons: [expect.stringMatching(/GitHub token \(ghp_….{2}\)\.$/)] })
  expect((await harness.api('POST', `/mailboxes/held/drafts/${draft.id}/send`, { key })).status).toBe(403)
  const { id } = await harness.expectApi(201, 'POST', `/mailboxes/held/drafts/${draft.id}/send`, { body: { version: 1 } })
  expect((await harness.getMessage('held', id)).flags.map((flag: Json) => flag.type)).toEqual(['api_key'])
})

test('hold covers the files of a draft, its schedule, and drafts of organization keys', async () => {
  const path = '/mailboxes/held/drafts'
  const base = { to: ['ada@example.com'], subject: 'Access', text: 'See the file' }
  const file = { filename: 'keys.txt', content_type: 'text/plain', content: Buffer.from(token).toString('base64') }
  const withFile = await harness.expectApi(201, 'POST', path, { body: { ...base, attachments: [file] } })
  expect((await harness.api('POST', `${path}/${withFile.id}/send`)).body.error.code).toBe('approval_required')
  const asked = await harness.expectApi(200, 'POST', `${path}/${withFile.id}/request-approval`)
  expect(asked.approval.reasons).toEqual([expect.stringContaining('the file keys.txt')])
  await harness.expectApi(201, 'POST', `${path}/${withFile.id}/send`)
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const scheduled = await harness.api('POST', path, { body: { ...base, text: token, send_at: at } })
  expect(scheduled.body.error.code).toBe('approval_required')
})

test('replies to one correspondent elsewhere are held above 20 messages on a thread', async () => {
  await harness.createAgent('loop')
  await harness.deliver({ from: 'Eve <eve@example.org>', to: 'loop@agents.localhost', subject: 'Ping', text: 'ping' })
  const { id } = await harness.waitForMail('loop', 'Ping')
  const reply = () => harness.api('POST', `/mailboxes/loop/messages/${id}/reply`, { body: { text: 'pong' } })
  const statuses: number[] = []
  for (let index = 0; index < 20; index++) statuses.push((await reply()).status)
  expect(statuses).toEqual([...Array(19).fill(201), 403])
  const held = await reply()
  expect(held.body.error.code).toBe('approval_required')
  expect(held.body.error.message).toContain('More than 20 messages with eve@example.org on this thread in 600 seconds.')
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/loop/drafts', {
    key: await harness.agentKey('loop'),
    body: { in_reply_to: id, text: 'pong' },
  })
  expect(draft.approval.reasons).toEqual([expect.stringContaining('eve@example.org')])
  await harness.send('loop', 'eve@example.org')
})

test('answers to one correspondent elsewhere are held above 20, on whatever threads and with whatever tags', async () => {
  await harness.createAgent('starter')
  const arrived: Json[] = []
  for (let index = 0; index < 22; index++) {
    const from = `Bot <bot${index % 2 ? `+${index}` : ''}@example.net>`
    await harness.deliver({ from, to: 'starter@agents.localhost', subject: `New thread ${index}`, text: 'ping' })
    arrived.push(await harness.waitForMail('starter', `New thread ${index}`))
  }
  expect(new Set(arrived.map(({ thread_id }) => thread_id)).size).toBe(22)
  const answer = ({ id }: Json, key?: string) =>
    harness.api('POST', `/mailboxes/starter/messages/${id}/reply`, { key, body: { text: 'pong' } })
  const statuses = (await Promise.all(arrived.map((one) => answer(one)))).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array(20).fill(201), 403, 403])

  const last = arrived.at(-1) as Json
  const held = await answer(last)
  expect(held.body.error.code).toBe('approval_required')
  expect(held.body.error.message).toContain('More than 20 answers to bot@example.net in 600 seconds.')
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/starter/drafts', {
    key: await harness.agentKey('starter'),
    body: { in_reply_to: last.id, text: 'pong' },
  })
  expect(draft.approval.reasons).toEqual([expect.stringContaining('bot@example.net')])
  await harness.expectApi(201, 'POST', `/mailboxes/starter/drafts/${draft.id}/send`, { body: { version: draft.version } })

  // Another correspondent is not concerned.
  await harness.deliver({ from: 'ada@example.net', to: 'starter@agents.localhost', subject: 'A question', text: 'Hello' })
  expect((await answer(await harness.waitForMail('starter', 'A question'))).status).toBe(201)
  const unthreaded = { agent: 'starter', to: ['bot@example.net'], subject: 'Re: Ping', text: 'pong' }
  expect((await harness.api('POST', '/mail/send', { body: unthreaded })).body.error.code).toBe('approval_required')

  await harness.db.query({ text: `UPDATE send_counts SET ends_at = ends_at - interval '611 seconds'` })
  expect((await answer(last)).status).toBe(201)
})

test('messages without a thread count as answers while their correspondent writes more than it is answered', async () => {
  await harness.createAgent('program')
  const send = async (to: string) =>
    (await harness.api('POST', '/mail/send', { body: { agent: 'program', to: [to], subject: 'Pong', text: 'pong' } })).status
  const deliver = async (from: string, index: number) => {
    await harness.deliver({ from, to: 'program@agents.localhost', subject: `Ping ${from} ${index}`, text: 'ping' })
    await harness.waitForMail('program', `Ping ${from} ${index}`)
  }
  const statuses: number[] = []
  for (let index = 0; index < 22; index++) {
    await deliver('bot@example.net', index)
    statuses.push(await send(index % 2 ? 'bot@example.net' : `bot+${index}@example.net`))
  }
  expect(statuses).toEqual([...Array(20).fill(201), 403, 403])
  // Notices to a correspondent that wrote once, or never, are not answers.
  await deliver('ada@example.net', 0)
  for (let index = 0; index < 22; index++) {
    expect(await send('ada@example.net')).toBe(201)
    expect(await send('ben@example.net')).toBe(201)
  }
})

test('concurrent answers beyond the limit are refused at once, also when they hold all connections of the database', async () => {
  await harness.createAgent('busy')
  await harness.deliver({ from: 'Bot <bot@example.com>', to: 'busy@agents.localhost', subject: 'Burst', text: 'ping' })
  const { id } = await harness.waitForMail('busy', 'Burst')
  const answer = (_: unknown, index: number) =>
    harness.api('POST', `/mailboxes/busy/messages/${id}/reply`, {
      headers: { 'idempotency-key': `burst-${index}` },
      body: { text: 'pong' },
    })
  const statuses = (await Promise.all(Array.from({ length: 40 }, answer))).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array(20).fill(201), ...Array(20).fill(403)])
})

test('the loop guard asks once for all recipients of an answer', async () => {
  await harness.createAgent('group')
  await harness.deliver({ from: 'eve@example.org', to: 'group@agents.localhost', subject: 'To many', text: 'Hello' })
  const { id } = await harness.waitForMail('group', 'To many')
  const askedFor = async (recipients: number): Promise<number> => {
    const to = Array.from({ length: recipients }, (_, n) => `r${n}@example.org`)
    const { transactions, stop } = recordTransactions()
    try {
      await harness.expectApi(201, 'POST', `/mailboxes/group/messages/${id}/reply`, { body: { text: 'Hello', to } })
    } finally {
      stop()
    }
    return transactions.flat().filter(({ text }) => text.includes('LEFT JOIN message_recipients r')).length
  }
  expect(await askedFor(40)).toBe(await askedFor(1))
})

test('a tag does not hide a correspondent from the limit of a thread', async () => {
  await harness.createAgent('tagged')
  await harness.deliver({ from: 'eve+1@example.org', to: 'tagged@agents.localhost', subject: 'Tagged', text: 'ping' })
  const { id } = await harness.waitForMail('tagged', 'Tagged')
  const answers = []
  for (let index = 0; index < 20; index++)
    answers.push(
      await harness.api('POST', `/mailboxes/tagged/messages/${id}/reply`, { body: { text: 'pong', to: `eve+${index}@example.org` } }),
    )
  expect(answers.map(({ status }) => status)).toEqual([...Array(19).fill(201), 403])
  expect(answers.at(-1)?.body.error.message).toContain('eve@example.org on this thread')
})
