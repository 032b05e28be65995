// Drafts as they are sent. Each is sent once under concurrent requests. Covers replies, forwards, schedules and approval.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDiskBlobs } from '../src/edges/blobs/disk.ts'
import type { MailSink, SunkMail } from './harness/mail-sink.ts'
import { type Relayed, startRelayed } from './harness/relayed.ts'
import type { Harness, Json } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let relayed: Relayed
let sink: MailSink
let harness: Harness
beforeAll(async () => {
  relayed = await startRelayed()
  ;({ sink, harness } = relayed)
})
afterAll(() => relayed.stop())

const drafts = '/mailboxes/ann/drafts'
const create = (body: unknown): Promise<Json> => harness.expectApi(201, 'POST', drafts, { body })
const get = (id: string): Promise<Json> => harness.expectApi(200, 'GET', `${drafts}/${id}`)
const send = (id: string, body?: unknown, headers: Record<string, string> = {}) =>
  harness.api('POST', `${drafts}/${id}/send`, { body, headers })
const codeOf = (answer: Json) => [answer.status, answer.body.error?.code]
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const bytesOf = (url: string) => harness.api('GET', new URL(url).pathname + new URL(url).search, { key: null })
const sunk = (message: Json): Promise<SunkMail> =>
  waitFor(`${message.subject} at the relay`, () => sink.mails.find((mail) => mail.parsed.messageId === message.message_id))
/** Number of ann's messages with this subject. */
const countSent = async (subject: string): Promise<number> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/ann/messages?direction=outbound&subject=${encodeURIComponent(subject)}`)).data.length
/** Checks that a sent draft's record is gone and its id is remembered. */
async function expectSent(id: string): Promise<void> {
  expect(codeOf(await harness.api('GET', `${drafts}/${id}`))).toEqual([404, 'not_found'])
  expect(codeOf(await harness.api('DELETE', `${drafts}/${id}`))).toEqual([404, 'not_found'])
  expect(codeOf(await harness.api('PATCH', `${drafts}/${id}`, { body: { subject: 'Late' } }))).toEqual([409, 'draft_not_editable'])
  expect(codeOf(await send(id))).toEqual([409, 'draft_send_in_progress'])
  const { drafts: listed } = await harness.expectApi(200, 'GET', drafts)
  expect(listed.map((draft: Json) => draft.id)).not.toContain(id)
}
const countRows = async (text: string, ...values: unknown[]): Promise<number> =>
  (await harness.db.query<{ count: number }>({ text, values })).rows[0]?.count ?? -1

describe('POST …/drafts/{draft_id}/send', () => {
  test('answers 201 {id, thread_id, status}, the message leaves with every field, and the draft is gone', async () => {
    const large = Buffer.alloc(60_000, 'L')
    const draft = await create({
      to: 'Xavier <x@example.com>',
      cc: ['c@example.com'],
      bcc: 'hidden@example.com',
      subject: 'A whole draft',
      text: 'Plain words',
      html: '<p>Rich words</p>',
      headers: { 'X-Campaign': 'spring' },
      attachments: [
        { filename: 'small.txt', content: base64('abc') },
        { filename: 'large.bin', content: base64(large) },
      ],
    })
    const blobs = () =>
      harness.db.query({
        text: 'SELECT id, blob_key FROM attachments WHERE id = ANY($1) ORDER BY id',
        values: [draft.attachments.map((one: Json) => one.id)],
      })
    const before = await blobs()
    const answer = await send(draft.id)
    expect([answer.status, answer.body]).toEqual([
      201,
      { id: expect.stringMatching(/^msg_/), thread_id: expect.stringMatching(/^thrd_/), status: 'sent' },
    ])
    const message = await harness.getMessage('ann', answer.body.id)
    expect(message).toMatchObject({
      direction: 'outbound',
      thread_id: answer.body.thread_id,
      to: ['x@example.com'],
      cc: ['c@example.com'],
      bcc: ['hidden@example.com'],
      subject: 'A whole draft',
      text: 'Plain words',
      html: '<p>Rich words</p>',
      headers: { 'X-Campaign': 'spring' },
      size_bytes: 60_003 + 'Plain words<p>Rich words</p>'.length,
    })
    // The attachments are the draft's own rows, bytes where they were.
    const withoutLink = (list: Json[]) => list.map(({ url, ...rest }) => rest)
    expect(withoutLink(message.attachments)).toEqual(withoutLink(draft.attachments))
    expect((await blobs()).rows).toEqual(before.rows)
    const { parsed } = await sunk(message)
    await harness.waitForStatus('ann', message.id, 'sent')
    expect(sink.recipientsOf(message.message_id)).toEqual(['c@example.com', 'hidden@example.com', 'x@example.com'])
    expect(parsed.to).toMatchObject([{ name: 'Xavier', address: 'x@example.com' }])
    expect(parsed.attachments.map((one) => one.filename)).toEqual(['small.txt', 'large.bin'])
    expect(Buffer.from(parsed.attachments[1]?.content as ArrayBuffer).equals(large)).toBe(true)
    await harness.waitForStatus('ann', message.id, 'sent')
    await expectSent(draft.id)
  })

  test.each<[string, unknown, unknown, string[]]>([
    ['no recipient', { text: 'a' }, undefined, ['/to']],
    ['neither text nor html', { to: 'x@example.com' }, undefined, ['/text']],
    ['empty text', { to: 'x@example.com', text: '', html: '' }, undefined, ['/text']],
    ['nothing at all', {}, {}, ['/to', '/text']],
    ['recipients taken away for this send', { to: 'x@example.com', text: 'a' }, { to: [] }, ['/to']],
  ])('%s is 400 draft_incomplete, and the draft stays editable', async (_name, body, overrides, paths) => {
    const draft = await create({ subject: 'Incomplete', attachments: [{ filename: 'a', content: base64('a') }], ...(body as object) })
    const answer = await send(draft.id, overrides)
    expect([...codeOf(answer), answer.body.error.details.map((one: Json) => one.path)]).toEqual([400, 'draft_incomplete', paths])
    const after = await get(draft.id)
    expect({ ...after, attachments: [] }).toEqual({ ...draft, attachments: [] })
    expect(after.status).toBe('draft')
    const mended = { to: 'x@example.com', text: 'Now complete' }
    expect((await send(draft.id, mended)).status).toBe(201)
  })

  test('fields of the request apply to this send only', async () => {
    const draft = await create({ to: 'x@example.com', cc: 'c@example.com', subject: 'Stored', text: 'Stored text', html: '<p>Stored</p>' })
    // A send that is refused shows that the stored draft is left alone.
    const overrides = { to: ['y@example.com', 'z@example.com'], cc: [], subject: 'Given', body_text: 'Given text', html: '' }
    expect(codeOf(await send(draft.id, { ...overrides, bcc: 'nobody' }))).toEqual([400, 'validation_error'])
    expect(codeOf(await send(draft.id, { ...overrides, body_text: '' }))).toEqual([400, 'draft_incomplete'])
    expect(await get(draft.id)).toEqual(draft)
    const { id } = (await send(draft.id, overrides)).body
    expect(await harness.getMessage('ann', id)).toMatchObject({
      to: ['y@example.com', 'z@example.com'],
      cc: [],
      subject: 'Given',
      text: 'Given text',
      html: '',
    })
  })

  test.each<[string, unknown, string]>([
    ['both names of the text', { text: 'a', body_text: 'b' }, '/body_text'],
    ['null', { subject: null }, '/subject'],
    ['a bad address', { to: 'nobody' }, '/to/0'],
    ['headers', { headers: {} }, '/headers'],
    ['an unknown field', { add_attachments: [] }, '/add_attachments'],
  ])('%s in the request is 400 naming the field', async (_name, body, path) => {
    const { id } = await create({ to: 'x@example.com', text: 'a' })
    const answer = await send(id, body)
    expect([...codeOf(answer), answer.body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })

  test('a send with a version sends exactly the reviewed version', async () => {
    const draft = await create({ to: 'x@example.com', text: 'a' })
    await harness.expectApi(200, 'PATCH', `${drafts}/${draft.id}`, { body: { text: 'b' } })
    expect(codeOf(await send(draft.id, { version: 1 }))).toEqual([409, 'draft_version_conflict'])
    expect((await send(draft.id, { version: 2 })).status).toBe(201)
  })

  test('of twenty concurrent sends exactly one goes, and the others are 409 draft_send_in_progress', async () => {
    const draft = await create({
      to: 'x@example.com',
      subject: 'Race of sends',
      text: 'a',
      attachments: [{ filename: 'a', content: base64('a') }],
    })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(draft.id, undefined, i % 2 ? { 'idempotency-key': `race-${i}` } : {})),
    )
    const sent = answers.filter((answer) => answer.status === 201)
    expect(sent).toHaveLength(1)
    expect(new Set(answers.filter((answer) => answer.status !== 201).map((answer) => codeOf(answer).join()))).toEqual(
      new Set(['409,draft_send_in_progress']),
    )
    expect(await countSent('Race of sends')).toBe(1)
    await expectSent(draft.id)
  })

  test('concurrent updates, deletions and sends leave one whole version sent, and later requests are refused with the reason', async () => {
    for (let round = 0; round < 8; round++) {
      const subject = `Mixed race ${round}`
      const draft = await create({ to: 'x@example.com', subject, text: 'Version 1' })
      const update = () => harness.api('PATCH', `${drafts}/${draft.id}`, { body: { text: 'changed' } })
      const answers = await Promise.all([
        update(),
        update(),
        send(draft.id),
        update(),
        send(draft.id),
        ...(round % 2 ? [harness.api('DELETE', `${drafts}/${draft.id}`)] : []),
        update(),
      ])
      const [sends, others] = [
        [answers[2], answers[4]],
        [answers[0], answers[1], answers[3], answers.at(-1)],
      ] as [Json[], Json[]]
      const isDeleted = round % 2 === 1 && answers[5]?.status === 200
      expect(sends.filter((answer) => answer.status === 201)).toHaveLength(isDeleted ? 0 : 1)
      for (const answer of others) {
        const wanted = isDeleted ? [404, 'not_found'] : [409, 'draft_not_editable']
        if (answer.status !== 200) expect(codeOf(answer)).toEqual(wanted)
      }
      expect(await countSent(subject)).toBe(isDeleted ? 0 : 1)
      const sent = sends.find((answer) => answer.status === 201)
      const changes = others.filter((answer) => answer.status === 200).length
      if (sent) expect((await harness.getMessage('ann', sent.body.id)).text).toBe(changes > 0 ? 'changed' : 'Version 1')
    }
  })

  test('while a send holds the draft, an update waits and gets draft_not_editable, and a send gets draft_send_in_progress', async () => {
    const draft = await create({ to: 'x@example.com', text: 'a' })
    let answers: Promise<Json[]> = Promise.resolve([])
    await harness.db.transact(async (tx) => {
      const { rows } = await tx.query<{ mailbox_id: string }>({
        text: 'SELECT mailbox_id FROM drafts WHERE id = $1 FOR UPDATE',
        values: [draft.id],
      })
      answers = Promise.all([harness.api('PATCH', `${drafts}/${draft.id}`, { body: { text: 'b' } }), send(draft.id), get(draft.id)])
      await waitFor('both to wait for the draft', async () => {
        const waiting = `SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM drafts%'
          AND datname = current_database()`
        return (await countRows(waiting)) === 2
      })
      await tx.query({ text: 'DELETE FROM drafts WHERE id = $1', values: [draft.id] })
      await tx.query({
        text: `INSERT INTO sent_drafts (mailbox_id, draft_id, message_id, sent_at) VALUES ($1, $2, 'msg_x', now())`,
        values: [rows[0]?.mailbox_id, draft.id],
      })
    })
    const [update, second, read] = await answers
    expect([codeOf(update), codeOf(second)]).toEqual([
      [409, 'draft_not_editable'],
      [409, 'draft_send_in_progress'],
    ])
    expect(read.status).toBe('draft')
  })
})

describe('Idempotency-Key', () => {
  test('a replay answers the original 201 with Idempotent-Replayed and sends no second message', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'Keyed', text: 'a' })
    const first = await send(draft.id, { subject: 'Keyed once' }, { 'idempotency-key': 'key-1' })
    const again = await send(draft.id, { subject: 'Keyed once' }, { 'idempotency-key': 'key-1' })
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null])
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body])
    expect(await countSent('Keyed once')).toBe(1)
    expect(codeOf(await send(draft.id, { subject: 'Other' }, { 'idempotency-key': 'key-1' }))).toEqual([422, 'idempotency_key_reused'])
    expect(codeOf(await send(draft.id, undefined, { 'idempotency-key': 'key-2' }))).toEqual([409, 'draft_send_in_progress'])
  })

  test('a refused send frees its key', async () => {
    const draft = await create({ to: 'x@example.com' })
    const key = { 'idempotency-key': 'key-3' }
    expect(codeOf(await send(draft.id, undefined, key))).toEqual([400, 'draft_incomplete'])
    await harness.expectApi(200, 'PATCH', `${drafts}/${draft.id}`, { body: { text: 'a' } })
    expect((await send(draft.id, undefined, key)).status).toBe(201)
  })

  test('of ten concurrent requests with one key one sends, and the others replay or are refused as in progress', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'Keyed race', text: 'a' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(draft.id, undefined, { 'idempotency-key': 'key-4' })))
    const first = answers.filter((answer) => answer.status === 201 && !answer.headers.get('idempotent-replayed'))
    expect(first).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(first[0]?.body)
      else expect(codeOf(answer)).toEqual([409, 'idempotency_in_progress'])
    }
    expect(await countSent('Keyed race')).toBe(1)
  })
})

/** A message that has arrived for ann. */
let count = 0
async function arrive(more: object = {}): Promise<Json> {
  const subject = `Question ${++count}`
  await harness.deliver({ from: 'Eve <eve@example.org>', to: 'ann@agents.localhost', subject, text: 'What now?', ...more })
  return harness.waitForMail('ann', (more as { subject?: string }).subject ?? subject)
}

describe('replies', () => {
  test('recipient, subject and thread come from the message, with In-Reply-To and References', async () => {
    const original = await arrive()
    const draft = await create({ in_reply_to: original.id, text: 'This.' })
    expect(draft).toMatchObject({
      to: ['Eve <eve@example.org>'],
      cc: [],
      subject: `Re: ${original.subject}`,
      thread_id: original.thread_id,
      in_reply_to_message_id: original.id,
      forward_of_message_id: null,
    })
    const { body } = await send(draft.id)
    expect(body.thread_id).toBe(original.thread_id)
    const message = await harness.getMessage('ann', body.id)
    expect(message).toMatchObject({ in_reply_to_message_id: original.id, references: [original.message_id], to: ['eve@example.org'] })
    const { parsed } = await sunk(message)
    expect(parsed).toMatchObject({ inReplyTo: original.message_id, references: original.message_id, to: [{ name: 'Eve' }] })
    const thread = await harness.expectApi(200, 'GET', `/mailboxes/ann/threads/${original.thread_id}`)
    expect(thread.messages.map((one: Json) => one.id)).toEqual([original.id, body.id])
  })

  test('reply_all goes to everyone except the agent, and given recipients and subject override', async () => {
    const original = await arrive({ to: 'ann+tag@agents.localhost, zed@example.org', cc: ['carol@example.org'] })
    expect(await create({ in_reply_to: original.id, reply_all: true })).toMatchObject({
      to: ['Eve <eve@example.org>', 'zed@example.org'],
      cc: ['carol@example.org'],
      reply_all: true,
    })
    expect(await create({ in_reply_to: original.id, reply_all: true, to: 'x@example.com', cc: [], subject: 'Mine' })).toMatchObject({
      to: ['x@example.com'],
      cc: [],
      subject: 'Mine',
      thread_id: original.thread_id,
    })
  })

  test('a sender whose name fits no address field still gets the reply', async () => {
    const original = await arrive({ from: '"Eve, the <eve@other.example> \\"one\\"" <eve@example.org>' })
    const draft = await create({ in_reply_to: original.id, text: 'a' })
    const { body } = await send(draft.id)
    expect((await harness.getMessage('ann', body.id)).to).toEqual(['eve@example.org'])
  })

  test('the reply still goes after its parent was deleted', async () => {
    const original = await arrive()
    const draft = await create({ in_reply_to: original.id, text: 'Late' })
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${original.id}`)
    const { body } = await send(draft.id)
    expect(body.thread_id).toBe(original.thread_id)
    expect((await sunk(await harness.getMessage('ann', body.id))).parsed.inReplyTo).toBe(original.message_id)
  })
})

describe('forwards', () => {
  const pdf = Buffer.alloc(50_000, 'P')
  const attachments = [
    { filename: 'plan.pdf', content: pdf },
    { filename: 'note.txt', content: 'a note' },
  ]

  test('the original is quoted below the new text, and its attachments come before the new ones', async () => {
    const original = await arrive({ html: '<p>What <b>now</b>?</p>', attachments })
    const draft = await create({
      forward_of: original.id,
      to: 'y@example.com',
      text: 'See below.',
      attachments: [{ filename: 'own.txt', content: base64('own') }],
    })
    expect(draft).toMatchObject({
      forward_of_message_id: original.id,
      subject: `Fwd: ${original.subject}`,
      thread_id: null,
      forward_attachments: true,
      text: 'See below.',
      attachments: [{ filename: 'own.txt' }],
    })
    const { body } = await send(draft.id)
    expect(body.thread_id).not.toBe(original.thread_id)
    const message = await harness.getMessage('ann', body.id)
    expect(message.text).toMatch(/^See below\.\n\n-+ Forwarded message -+\nFrom: Eve <eve@example\.org>[\s\S]*What now\?/)
    expect(message.html).toContain('<b>now</b>')
    const { parsed } = await sunk(message)
    expect(parsed.attachments.map((one) => one.filename)).toEqual(['plan.pdf', 'note.txt', 'own.txt'])
    expect(Buffer.from(parsed.attachments[0]?.content as ArrayBuffer).equals(pdf)).toBe(true)
  })

  test('does not need a text of its own, and leaves the attachments out on request', async () => {
    const original = await arrive({ attachments })
    const draft = await create({ forward_of: original.id, forward_attachments: false, to: 'y@example.com' })
    const { id } = (await send(draft.id)).body
    const message = await harness.getMessage('ann', id)
    expect([message.attachments, message.text.includes('What now?')]).toEqual([[], true])
  })

  test('bytes are shared, and stay until the last message that has them is deleted', async () => {
    const original = await arrive({ attachments })
    const forward = async () => (await send((await create({ forward_of: original.id, to: 'y@example.com' })).id)).body.id as string
    const first = await forward()
    const { id: second } = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${first}/forward`, {
      body: { to: 'z@example.com' },
    })
    const rawIds = async () =>
      (
        await harness.db.query<{ raw_id: string }>({
          text: 'SELECT DISTINCT raw_id FROM attachments WHERE message_id = ANY($1)',
          values: [[first, second]],
        })
      ).rows
    const [raw, ...others] = await rawIds()
    expect(others).toEqual([])
    const hasRaw = () => countRows('SELECT count(*) AS count FROM raw_messages WHERE id = $1', raw?.raw_id)
    for (const gone of [original.id, first]) {
      await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${gone}`)
      const [plan] = (await harness.getMessage('ann', second)).attachments
      expect((await bytesOf(plan.url)).body.equals(pdf)).toBe(true)
      expect(await hasRaw()).toBe(1)
    }
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${second}`)
    expect(await hasRaw()).toBe(0)
  })

  test('attachments with a blob are shared as well', async () => {
    const content = base64(pdf)
    const { id } = (await send((await create({ to: 'x@example.com', text: 'a', attachments: [{ filename: 'plan.pdf', content }] })).id))
      .body
    const forwarded = (await send((await create({ forward_of: id, to: 'y@example.com' })).id)).body.id
    const keys = (
      await harness.db.query<{ blob_key: string }>({
        text: 'SELECT blob_key FROM attachments WHERE message_id = ANY($1)',
        values: [[id, forwarded]],
      })
    ).rows
    expect([keys.length, new Set(keys.map((row) => row.blob_key)).size]).toEqual([2, 1])
    const blobs = createDiskBlobs(join(harness.dataDir, 'blobs'))
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`)
    expect((await bytesOf((await harness.getMessage('ann', forwarded)).attachments[0].url)).body.equals(pdf)).toBe(true)
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${forwarded}`)
    await waitFor('the blob to go', () =>
      blobs.get(keys[0]?.blob_key as string).then(
        () => false,
        () => true,
      ),
    )
  })

  test('a deleted message cannot be forwarded, which is 409 conflict, and the draft stays', async () => {
    const original = await arrive({ attachments })
    const draft = await create({ forward_of: original.id, to: 'y@example.com', text: 'a' })
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${original.id}`)
    expect(codeOf(await send(draft.id))).toEqual([409, 'conflict'])
    expect(await get(draft.id)).toEqual(draft)
  })

  test('new attachments and those of the original together stay under 25 MB', async () => {
    const content = base64(Buffer.alloc(13 * 1024 * 1024))
    const { id } = (await send((await create({ to: 'x@example.com', text: 'a', attachments: [{ filename: 'a', content }] })).id)).body
    const draft = await create({ forward_of: id, to: 'y@example.com', attachments: [{ filename: 'b', content }] })
    expect(codeOf(await send(draft.id))).toEqual([413, 'payload_too_large'])
  })
})

describe('send_at', () => {
  const soon = (ms: number) => new Date(Date.now() + ms).toISOString()
  const hour = 3_600_000
  const countJobs = (id: string) => countRows(`SELECT count(*) AS count FROM jobs WHERE kind = 'send-draft' AND subject = $1`, id)
  const isGone = (id: string) => waitFor('the draft to be sent', async () => (await harness.api('GET', `${drafts}/${id}`)).status === 404)

  test('the draft is sent once, at its time', async () => {
    const at = soon(5000)
    const draft = await create({ to: 'x@example.com', subject: 'At its time', text: 'a', send_at: at })
    expect(draft.send_at).toBe(at)
    await isGone(draft.id)
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/messages?direction=outbound&subject=At%20its%20time')
    expect(data).toHaveLength(1)
    expect(Date.parse(data[0].created_at)).toBeGreaterThanOrEqual(Date.parse(at))
    await expectSent(draft.id)
    expect(await countJobs(draft.id)).toBe(0)
    const sent = await harness.expectApi(200, 'GET', `${drafts}/${draft.id}/message`)
    expect(sent).toEqual({ draft_id: draft.id, message_id: data[0].id, sent_at: data[0].created_at })
    expect((await harness.api('GET', `${drafts}/${draft.id}/message`, { key: harness.otherOrganization.key })).status).toBe(404)
  })

  test('another time moves it, and null or deletion cancels it', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'Moved', text: 'a', send_at: soon(hour) })
    const patch = (body: unknown) => harness.expectApi(200, 'PATCH', `${drafts}/${draft.id}`, { body })
    const later = soon(2 * hour)
    expect(await patch({ send_at: later })).toMatchObject({ send_at: later, version: 2 })
    expect((await patch({ subject: 'Moved on' })).send_at).toBe(later)
    expect(codeOf(await harness.api('GET', `${drafts}/${draft.id}/message`))).toEqual([404, 'not_found'])
    expect(await countJobs(draft.id)).toBe(1)
    expect((await patch({ send_at: null })).send_at).toBeNull()
    expect(await countJobs(draft.id)).toBe(0)
    await patch({ send_at: soon(hour) })
    await harness.makeDraftsDue(draft.id)
    await isGone(draft.id)
    expect(await countSent('Moved on')).toBe(1)

    const other = await create({ to: 'x@example.com', subject: 'Cancelled', text: 'a', send_at: soon(hour) })
    await harness.expectApi(200, 'DELETE', `${drafts}/${other.id}`)
    expect(await countJobs(other.id)).toBe(0)
  })

  test('a send by request before its time sends it once', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'By hand', text: 'a', send_at: soon(hour) })
    expect((await send(draft.id)).status).toBe(201)
    expect(await countJobs(draft.id)).toBe(0)
    expect(await countSent('By hand')).toBe(1)
  })

  test('a cancelled job does nothing', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'Stale', text: 'a', send_at: soon(hour) })
    // As a worker finds it that claimed the job just before the draft was moved.
    await harness.db.query({
      text: `INSERT INTO jobs (id, organization_id, kind, subject, run_at, created_at)
        SELECT 'job_stale', organization_id, kind, subject, now(), now() FROM jobs WHERE subject = $1`,
      values: [draft.id],
    })
    await waitFor('the stale job to end', async () => (await countJobs(draft.id)) === 1)
    expect((await get(draft.id)).send_at).toBe(draft.send_at)
  })

  test('a draft that cannot be sent at its time stays with a reason until it is changed', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'Unfinished', send_at: soon(hour) })
    await harness.makeDraftsDue(draft.id)
    const failed = await waitFor('the reason', async () => {
      const now = await get(draft.id)
      return now.send_error !== null && now
    })
    expect(failed).toMatchObject({ status: 'draft', send_at: null, version: 2, send_error: expect.stringContaining('text or html') })
    const mended = await harness.expectApi(200, 'PATCH', `${drafts}/${draft.id}`, { body: { version: 2, text: 'a', send_at: soon(hour) } })
    expect([mended.send_error, mended.version]).toEqual([null, 3])
    await harness.makeDraftsDue(draft.id)
    await isGone(draft.id)
    expect(await countSent('Unfinished')).toBe(1)
  })
})

describe('draft_approval: required', () => {
  const box = '/mailboxes/writer'
  const whole = { to: ['x@example.com'], subject: 'For review', text: 'a' }
  let key: string
  beforeAll(async () => {
    expect((await harness.createAgent('writer', { draft_approval: 'required' })).draft_approval).toBe('required')
    key = await harness.agentKey('writer')
  })

  test('the default is none, PATCH changes it, and agent keys may not', async () => {
    expect((await harness.expectApi(200, 'GET', '/identities/ann')).draft_approval).toBe('none')
    const change = (value: string, ask: object = {}) => harness.api('PATCH', '/identities/ben', { body: { draft_approval: value }, ...ask })
    expect((await change('required')).body.draft_approval).toBe('required')
    expect((await harness.expectApi(200, 'GET', '/identities/ben')).draft_approval).toBe('required')
    expect(codeOf(await change('none', { key: await harness.agentKey('ben') }))).toEqual([403, 'forbidden'])
    expect(codeOf(await change('sometimes'))).toEqual([400, 'validation_error'])
    expect((await change('none')).body.draft_approval).toBe('none')
  })

  test('the agent writes drafts, and every send is 403 approval_required for its key and allowed for the organization', async () => {
    await harness.deliver({ from: 'eve@example.org', to: 'writer@agents.localhost', subject: 'Ask', text: 'What now?' })
    const { id: message } = await harness.waitForMail('writer', 'Ask')
    const draft = await harness.expectApi(201, 'POST', `${box}/drafts`, { key, body: whole })
    await harness.expectApi(200, 'PATCH', `${box}/drafts/${draft.id}`, { key, body: { text: 'b' } })
    const ways: [string, unknown][] = [
      [`${box}/drafts/${draft.id}/send`, undefined],
      [`${box}/messages`, whole],
      ['/mail/send', { agent: 'writer', ...whole }],
      [`${box}/messages/${message}/reply`, { text: 'a' }],
      [`${box}/messages/${message}/forward`, { to: 'x@example.com' }],
    ]
    for (const [path, body] of ways) {
      const answer = await harness.api('POST', path, { key, body })
      expect(codeOf(answer)).toEqual([403, 'approval_required'])
      expect(answer.body.error.message).toMatch(/organization key/)
    }
    expect((await harness.expectApi(200, 'GET', `${box}/messages?direction=outbound`)).data).toEqual([])
    for (const [path, body] of ways) expect((await harness.api('POST', path, { body })).status).toBe(201)
  })

  test('the agent may not schedule or change a schedule of the organization, but may cancel it', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const path = `${box}/drafts`
    expect(codeOf(await harness.api('POST', path, { key, body: { ...whole, send_at: at } }))).toEqual([403, 'approval_required'])
    const draft = await harness.expectApi(201, 'POST', path, { key, body: whole })
    const patch = (body: unknown, ask: object = { key }) => harness.api('PATCH', `${path}/${draft.id}`, { body, ...ask })
    expect(codeOf(await patch({ send_at: at }))).toEqual([403, 'approval_required'])
    expect((await patch({ send_at: at }, {})).status).toBe(200)
    expect(codeOf(await patch({ text: 'Something else' }))).toEqual([403, 'approval_required'])
    expect((await patch({ text: 'Something else', send_at: null })).body).toMatchObject({ text: 'Something else', send_at: null })
  })

  test('a draft scheduled by an agent before approval was required is not sent', async () => {
    await harness.createAgent('early')
    const early = await harness.agentKey('early')
    const path = '/mailboxes/early/drafts'
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const draft = await harness.expectApi(201, 'POST', path, { key: early, body: { ...whole, send_at: at } })
    const reviewed = await harness.expectApi(201, 'POST', path, { body: { ...whole, send_at: at } })
    await harness.expectApi(200, 'PATCH', '/identities/early', { body: { draft_approval: 'required' } })
    await harness.makeDraftsDue(draft.id, reviewed.id)
    await waitFor('the reviewed one to be sent', async () => (await harness.api('GET', `${path}/${reviewed.id}`)).status === 404)
    const kept = await waitFor('the other one to be held', async () => {
      const now = await harness.expectApi(200, 'GET', `${path}/${draft.id}`)
      return now.send_at === null && now
    })
    expect(kept.send_error).toMatch(/approval/)
    expect((await harness.expectApi(200, 'GET', '/mailboxes/early/messages?direction=outbound')).data).toHaveLength(1)
  })
})

test("a draft that is sent, changed and scheduled during its agent's deletion is sent or gone, never a 500", async () => {
  for (let round = 0; round < 8; round++) {
    const handle = `leaving_${round}`
    await harness.createAgent(handle)
    const path = `/mailboxes/${handle}/drafts`
    const made = await Promise.all(
      [1, 2, 3].map((number) =>
        harness.expectApi(201, 'POST', path, { body: { to: 'x@example.com', subject: `${number}`, text: 'Soon gone' } }),
      ),
    )
    const attachment = { filename: 'a.txt', content: base64('abc') }
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const answers = await Promise.all([
      harness.api('POST', `${path}/${made[0].id}/send`),
      harness.api('DELETE', `/identities/${handle}`),
      harness.api('PATCH', `${path}/${made[1].id}`, { body: { add_attachments: [attachment], send_at: later } }),
      harness.api('POST', path, { body: { to: 'x@example.com', subject: 'New', text: 'x', attachments: [attachment] } }),
      harness.api('POST', `${path}/${made[2].id}/send`),
    ])
    expect(answers[1]?.status).toBe(204)
    for (const { status } of answers) expect([200, 201, 204, 404]).toContain(status)
  }
})
