// Drafts as they are written. Covers create, list, get, update and delete, with each field, limit and error.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDiskBlobs } from '../src/edges/blobs/disk.ts'
import { findNamedBlobs } from '../src/features/mail/stored/filing/raw-store.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann', { display_name: 'Ann' })
  await harness.createAgent('ben')
})
afterAll(() => harness.stop())

const drafts = '/mailboxes/ann/drafts'
const create = (body?: unknown): Promise<Json> => harness.expectApi(201, 'POST', drafts, { body })
const get = (id: string): Promise<Json> => harness.expectApi(200, 'GET', `${drafts}/${id}`)
const patch = (id: string, body: unknown) => harness.api('PATCH', `${drafts}/${id}`, { body })
const patched = (id: string, body: unknown): Promise<Json> => harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { body })
const send = (id: string, body?: unknown) => harness.api('POST', `${drafts}/${id}/send`, { body })
const codes = ({ status, body }: Json) => [status, body.error.code, body.error.details?.[0]?.path]
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const download = async (url: string): Promise<string> =>
  ((await harness.api('GET', new URL(url).pathname + new URL(url).search, { key: null })).body as Buffer).toString()
const blobKeyOf = async (attachmentId: string): Promise<string | null> =>
  (await harness.db.query<{ blob_key: string | null }>({ text: 'SELECT blob_key FROM attachments WHERE id = $1', values: [attachmentId] }))
    .rows[0]?.blob_key ?? null
const hasBlob = (key: string): Promise<boolean> =>
  createDiskBlobs(join(harness.dataDir, 'blobs'))
    .get(key)
    .then(
      () => true,
      () => false,
    )

describe('POST …/drafts', () => {
  test('without a body every field has its empty value, version is 1 and status is draft', async () => {
    const draft = await create()
    expect(draft).toEqual({
      id: expect.stringMatching(/^drf_[0-7][0-9a-z]{25}$/),
      mailbox_id: expect.stringMatching(/^mbx_/),
      thread_id: null,
      in_reply_to_message_id: null,
      forward_of_message_id: null,
      reply_all: false,
      forward_attachments: true,
      from: null,
      to: [],
      cc: [],
      bcc: [],
      reply_to: [],
      subject: null,
      snippet: null,
      text: null,
      html: null,
      status: 'draft',
      version: 1,
      has_attachments: false,
      attachments: [],
      headers: {},
      automatic: false,
      labels: [],
      tags: [],
      metadata: {},
      send_at: null,
      send_error: null,
      approval: null,
      client_id: null,
      created_at: expect.any(String),
      updated_at: draft.created_at,
    })
    expect(await get(draft.id)).toEqual(draft)
    expect((await create({})).version).toBe(1)
  })

  test('every field is kept, and a single address becomes a list', async () => {
    const body = {
      to: 'Xavier <x@example.com>',
      cc: ['c@example.com', 'd@example.com'],
      bcc: 'e@example.com',
      reply_to: 'Desk <f@example.com>',
      subject: 'Grüße',
      text: 'Some   words\nmore',
      html: '<p>Some words</p>',
      reply_all: true,
      forward_attachments: false,
      headers: { 'X-Campaign': 'spring' },
    }
    expect(await create(body)).toMatchObject({
      ...body,
      to: [body.to],
      bcc: [body.bcc],
      reply_to: [body.reply_to],
      snippet: 'Some words more',
      has_attachments: false,
    })
  })

  test('body_text and body_html are aliases of text and html', async () => {
    expect(await create({ body_text: 'a', body_html: '<b>b</b>' })).toMatchObject({ text: 'a', html: '<b>b</b>' })
  })

  test('the snippet of a draft with html alone is the visible text of the html', async () => {
    expect((await create({ html: '<style>p{}</style><p>Shown &amp; told</p>' })).snippet).toBe('Shown & told')
    expect((await create({ text: 'x'.repeat(500) })).snippet).toHaveLength(200)
  })

  test('attachments need only filename and base64 content, and each has a signed link', async () => {
    const draft = await create({
      attachments: [
        { filename: 'a.txt', content: base64('abc') },
        { filename: 'b.bin', content: base64('de'), content_type: 'application/x-thing', content_id: '<logo>' },
      ],
    })
    expect(draft.has_attachments).toBe(true)
    expect(draft.attachments).toMatchObject([
      { id: expect.stringMatching(/^att_/), filename: 'a.txt', content_type: 'text/plain', size_bytes: 3, content_id: null },
      { filename: 'b.bin', content_type: 'application/x-thing', size_bytes: 2, content_id: 'logo' },
    ])
    expect((await get(draft.id)).attachments.map((one: Json) => one.id)).toEqual(draft.attachments.map((one: Json) => one.id))
    expect(await download(draft.attachments[0].url)).toBe('abc')
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['both names of the text', { text: 'a', body_text: 'a' }, '/body_text'],
    ['both names of the html', { html: 'a', body_html: 'b' }, '/body_html'],
    ['an address that is none', { to: ['x@example.com', 'nobody'] }, '/to/1'],
    ['two addresses in one', { cc: 'a@example.com, b@example.com' }, '/cc/0'],
    ['51 recipients', { to: 'a@example.com', cc: Array.from({ length: 50 }, (_, i) => `r${i}@example.com`) }, '/to'],
    ['a subject of two lines', { subject: 'a\nBcc: b@example.com' }, '/subject'],
    ['a subject of 999 characters', { subject: 'x'.repeat(999) }, '/subject'],
    ['an own From', { headers: { From: 'a@example.com' } }, '/headers/From'],
    ['an own In-Reply-To', { headers: { 'In-Reply-To': '<a@b>' } }, '/headers/In-Reply-To'],
    ['an attachment without content', { attachments: [{ filename: 'a' }] }, '/attachments/0/content'],
    ['an attachment by url', { attachments: [{ filename: 'a', content: '', url: 'https://x' }] }, '/attachments/0/url'],
    ['content that is not base64', { attachments: [{ filename: 'a', content: '***' }] }, '/attachments/0/content'],
    ['51 attachments', { attachments: Array.from({ length: 51 }, () => ({ filename: 'a', content: '' })) }, '/attachments'],
    ['a version', { version: 1 }, '/version'],
    ['a send_at in the past', { send_at: '2020-01-01T00:00:00Z' }, '/send_at'],
    ['a send_at in two years', { send_at: new Date(Date.now() + 2 * 366 * 86_400_000).toISOString() }, '/send_at'],
    ['a send_at without zone', { send_at: '2027-01-01T00:00:00' }, '/send_at'],
    ['an unknown field', { subjekt: 'a' }, '/subjekt'],
  ])('%s is 400 naming the field', async (_name, body, path) => {
    expect(codes(await harness.api('POST', drafts, { body }))).toEqual([400, 'validation_error', path])
  })

  test('a draft over 25 MB is 413', async () => {
    const content = base64(Buffer.alloc(13 * 1024 * 1024))
    const body = {
      attachments: [
        { filename: 'a', content },
        { filename: 'b', content },
      ],
    }
    expect(codes(await harness.api('POST', drafts, { body }))).toMatchObject([413, 'payload_too_large', undefined])
  })

  test('an Idempotency-Key makes one draft', async () => {
    const ask = { body: { subject: 'Once' }, headers: { 'idempotency-key': 'draft-once' } }
    const first = await harness.api('POST', drafts, ask)
    const second = await harness.api('POST', drafts, ask)
    expect([second.status, second.headers.get('idempotent-replayed'), second.body]).toEqual([201, 'true', first.body])
  })

  test('the message to answer or forward must be in this mailbox', async () => {
    const { id } = await harness.send('ben', 'x@example.com')
    for (const body of [{ in_reply_to: id }, { forward_of: id }]) {
      expect(codes(await harness.api('POST', drafts, { body }))).toEqual([404, 'not_found', undefined])
    }
    const own = (await harness.send('ann', 'x@example.com')).id
    expect(codes(await harness.api('POST', drafts, { body: { in_reply_to: own, forward_of: own } }))).toEqual([
      400,
      'validation_error',
      '/forward_of',
    ])
  })
})

describe('GET …/drafts', () => {
  test('lists newest update first, 50 by default, with count as the total', async () => {
    await harness.createAgent('lister')
    const path = '/mailboxes/lister/drafts'
    expect(await harness.expectApi(200, 'GET', path)).toEqual({
      drafts: [],
      count: 0,
      limit: 50,
      offset: 0,
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    })
    const ids: string[] = []
    for (let i = 0; i < 55; i++) ids.push((await harness.expectApi(201, 'POST', path, { body: { subject: `Number ${i}` } })).id)
    const touched = ids[20] as string
    const draft = await harness.expectApi(200, 'PATCH', `${path}/${touched}`, { body: { subject: 'Touched' } })
    const order = [touched, ...ids.toReversed().filter((id) => id !== touched)]
    const first = await harness.expectApi(200, 'GET', path)
    expect([first.count, first.limit, first.offset]).toEqual([55, 50, 0])
    expect(first.drafts.map((one: Json) => one.id)).toEqual(order.slice(0, 50))
    expect(first.drafts[0]).toEqual(draft)
    const page = await harness.expectApi(200, 'GET', `${path}?limit=3&offset=53`)
    expect([page.drafts.map((one: Json) => one.id), page.count, page.limit, page.offset]).toEqual([order.slice(53), 55, 3, 53])
    expect((await harness.expectApi(200, 'GET', `${path}?limit=100&offset=1000`)).drafts).toEqual([])
    expect([first.object, first.data, first.has_more]).toEqual(['list', first.drafts, true])
    const rest = await harness.expectApi(200, 'GET', `${path}?cursor=${first.next_cursor}`)
    expect([rest.data.map((one: Json) => one.id), rest.has_more, rest.next_cursor]).toEqual([order.slice(50), false, null])
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=99999999999', 'cursor=a'])('%s is 400', async (query) => {
    expect((await harness.api('GET', `${drafts}?${query}`)).body.error.code).toBe('validation_error')
  })

  test('the order comes from an index', async () => {
    const { rows } = await harness.db.query<{ 'QUERY PLAN': string }>({
      text: `EXPLAIN SELECT id FROM drafts WHERE mailbox_id = 'x' ORDER BY change_id DESC LIMIT 50 OFFSET 100`,
    })
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/drafts_latest/)
  })
})

describe('PATCH …/drafts/{draft_id}', () => {
  test('omitted fields stay, given fields change, and the version counts', async () => {
    const draft = await create({ to: 'x@example.com', subject: 'One', text: 'a', html: '<b>a</b>', headers: { 'X-A': '1' } })
    const changed = await patched(draft.id, { version: 1, subject: 'Two', body_text: 'b' })
    expect(changed).toEqual({ ...draft, subject: 'Two', text: 'b', snippet: 'b', version: 2, updated_at: expect.any(String) })
    expect(Date.parse(changed.updated_at)).toBeGreaterThanOrEqual(Date.parse(draft.updated_at))
    expect(await get(draft.id)).toEqual(changed)
    expect((await patched(draft.id, {})).version).toBe(3)
  })

  test('null clears a field', async () => {
    const draft = await create({
      to: 'x@example.com',
      cc: 'c@example.com',
      bcc: 'b@example.com',
      reply_to: 'r@example.com',
      subject: 'One',
      text: 'a',
      html: 'b',
      headers: { 'X-A': '1' },
    })
    const body = { to: null, cc: null, bcc: null, reply_to: null, subject: null, text: null, body_html: null, headers: null }
    expect(await patched(draft.id, body)).toMatchObject({
      to: [],
      cc: [],
      bcc: [],
      reply_to: [],
      subject: null,
      text: null,
      html: null,
      snippet: null,
      headers: {},
    })
  })

  test('a version other than the current one is 409 draft_version_conflict, and nothing changes', async () => {
    const draft = await create({ subject: 'One' })
    for (const version of [2, 7]) {
      const answer = await patch(draft.id, { version, subject: 'Two', add_attachments: [{ filename: 'a', content: '' }] })
      expect(codes(answer)).toEqual([409, 'draft_version_conflict', undefined])
    }
    expect(await get(draft.id)).toEqual(draft)
  })

  test('of twenty updates with one version exactly one succeeds', async () => {
    const draft = await create({ subject: 'Start' })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => patch(draft.id, { version: 1, subject: `Writer ${i}`, text: `Text ${i}` })),
    )
    const won = answers.filter((answer) => answer.status === 200)
    expect(won).toHaveLength(1)
    const lost = answers.filter((answer) => answer.status !== 200)
    expect(new Set(lost.map((answer) => answer.body.error.code))).toEqual(new Set(['draft_version_conflict']))
    expect(await get(draft.id)).toEqual(won[0]?.body)
  })

  test('twenty updates without a version all succeed, one after the other', async () => {
    const draft = await create()
    const add = (i: number) => [{ filename: `${i}.txt`, content: base64(`${i}`) }]
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => patched(draft.id, { add_attachments: add(i) })))
    expect(answers.map((answer) => answer.version).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 2))
    const last = await get(draft.id)
    expect(last.attachments.map((one: Json) => one.filename).toSorted()).toEqual(
      Array.from({ length: 20 }, (_, i) => `${i}.txt`).toSorted(),
    )
  })

  test('attachments are added and removed, and the bytes of removed ones are deleted', async () => {
    const large = Buffer.alloc(50_000, 'L')
    const draft = await create({
      attachments: [
        { filename: 'large', content: base64(large) },
        { filename: 'small', content: base64('s') },
      ],
    })
    const [first, second] = draft.attachments as Json[]
    const key = (await blobKeyOf(first.id)) as string
    expect(await hasBlob(key)).toBe(true)
    // The sweep of blobs that no row names leaves a draft's alone.
    expect(await findNamedBlobs(harness.db, [key, 'attachments/none'])).toEqual(new Set([key]))
    const changed = await patched(draft.id, {
      remove_attachments: [first.id],
      add_attachments: [{ filename: 'new', content: base64('n') }],
    })
    expect(changed.attachments.map((one: Json) => one.filename)).toEqual(['small', 'new'])
    expect(changed.attachments[0].id).toBe(second.id)
    await waitFor('the blob to go', async () => !(await hasBlob(key)))
    expect((await harness.api('GET', new URL(first.url).pathname + new URL(first.url).search, { key: null })).status).toBe(404)
    const none = await patched(draft.id, { remove_attachments: changed.attachments.map((one: Json) => one.id) })
    expect([none.has_attachments, none.attachments]).toEqual([false, []])
  })

  test('removing a missing attachment is 404 and changes nothing', async () => {
    const other = await create({ attachments: [{ filename: 'a', content: '' }] })
    const draft = await create({ attachments: [{ filename: 'b', content: '' }] })
    const body = { remove_attachments: [draft.attachments[0].id, other.attachments[0].id] }
    expect(codes(await patch(draft.id, body))).toEqual([404, 'not_found', undefined])
    expect((await get(draft.id)).attachments).toHaveLength(1)
  })

  test('limits hold for existing and added parts together', async () => {
    const content = base64(Buffer.alloc(13 * 1024 * 1024))
    const draft = await create({ attachments: [{ filename: 'a', content }] })
    expect(codes(await patch(draft.id, { add_attachments: [{ filename: 'b', content }] }))).toEqual([413, 'payload_too_large', undefined])
    const many = await create({ attachments: Array.from({ length: 50 }, (_, i) => ({ filename: `${i}`, content: '' })) })
    expect(codes(await patch(many.id, { add_attachments: [{ filename: 'b', content: '' }] }))).toEqual([
      400,
      'validation_error',
      '/add_attachments',
    ])
    const wide = await create({ cc: Array.from({ length: 50 }, (_, i) => `r${i}@example.com`) })
    expect(codes(await patch(wide.id, { to: 'x@example.com' }))).toEqual([400, 'validation_error', '/to'])
  })

  test.each<[string, unknown, string]>([
    ['both names', { text: null, body_text: 'a' }, '/body_text'],
    ['version 0', { version: 0 }, '/version'],
    ['a version as text', { version: '1' }, '/version'],
    ['a bad address', { bcc: 'nobody' }, '/bcc/0'],
    ['a bad address to reply to', { reply_to: ['nobody'] }, '/reply_to/0'],
    ['null headers inside', { headers: { 'X-A': null } }, '/headers/X-A'],
    ['null attachments', { add_attachments: null }, '/add_attachments'],
    ['what only creation takes', { in_reply_to: 'msg_01h455vb4pex5vsknk084sn02q' }, '/in_reply_to'],
  ])('%s is 400', async (_name, body, path) => {
    const { id } = await create()
    expect(codes(await patch(id, body))).toEqual([400, 'validation_error', path])
  })
})

describe('DELETE …/drafts/{draft_id}', () => {
  test('answers 200 {id, deleted}, and the draft and the bytes of its attachments are gone', async () => {
    const draft = await create({ attachments: [{ filename: 'large', content: base64(Buffer.alloc(50_000)) }] })
    const key = (await blobKeyOf(draft.attachments[0].id)) as string
    expect(await hasBlob(key)).toBe(true)
    expect(await harness.expectApi(200, 'DELETE', `${drafts}/${draft.id}`)).toEqual({ id: draft.id, deleted: true })
    await waitFor('the blob to go', async () => !(await hasBlob(key)))
    for (const [method, suffix] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/send'],
    ] as const) {
      expect(codes(await harness.api(method, `${drafts}/${draft.id}${suffix}`))).toEqual([404, 'not_found', undefined])
    }
    expect(codes(await patch(draft.id, {}))).toEqual([404, 'not_found', undefined])
  })

  test('of ten concurrent deletions one answers 200', async () => {
    const { id } = await create()
    const answers = await Promise.all(Array.from({ length: 10 }, () => harness.api('DELETE', `${drafts}/${id}`)))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array(9).fill(404)])
  })

  test('deleting the identity deletes its drafts and their bytes', async () => {
    await harness.createAgent('leaver')
    const body = { attachments: [{ filename: 'large', content: base64(Buffer.alloc(50_000)) }] }
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/leaver/drafts', { body })
    const key = (await blobKeyOf(draft.attachments[0].id)) as string
    expect(await hasBlob(key)).toBe(true)
    await harness.expectApi(204, 'DELETE', '/identities/leaver')
    await waitFor('the blob to go', async () => !(await hasBlob(key)))
    expect(await blobKeyOf(draft.attachments[0].id)).toBeNull()
  })
})

describe('permissions', () => {
  test('the drafts of all mailboxes are listed newest first, in pages, and an agent key sees its own', async () => {
    const key = await harness.agentKey('ben')
    const made = [await create(), await harness.expectApi(201, 'POST', '/mailboxes/ben/drafts', { body: {} }), await create()]
    const ids = made.map(({ id }) => id).toReversed()
    const list = (query: string, ask = {}): Promise<Json> => harness.expectApi(200, 'GET', `/drafts?${query}`, ask)
    const first = await list('limit=2')
    expect([...first.data, ...(await list(`limit=1&cursor=${first.next_cursor}`)).data].map(({ id }: Json) => id)).toEqual(ids)
    expect((await list('limit=1', { key })).data[0].id).toBe(ids[1])
    expect((await list('limit=2&agent=ann')).data.map(({ id }: Json) => id)).toEqual([ids[0], ids[2]])
    expect((await list('', { key: harness.otherOrganization.key })).data).toEqual([])
    expect((await harness.api('GET', '/drafts?agent=ann', { key })).status).toBe(403)
    expect(await harness.expectApi(200, 'GET', `/drafts/${ids[1]}`, { key })).toEqual(made[1])
    for (const ask of [{ key, id: ids[0] }, { key: harness.otherOrganization.key, id: ids[0] }, { id: 'drf_unknown' }])
      expect((await harness.api('GET', `/drafts/${ask.id}`, ask)).status).toBe(404)
  })

  test('the drafts of one thread are those that answer its messages', async () => {
    await harness.deliver({ from: 'Eve <eve@people.example>', to: 'ann@agents.localhost', subject: 'Thread with drafts', text: 'Hi' })
    const message = await harness.waitForMail('ann', 'Thread with drafts')
    const answers = [await create({ in_reply_to: message.id }), await create({ in_reply_to: message.id })]
    await create()
    const list = (query: string, ask = {}) => harness.expectApi(200, 'GET', `/drafts?thread_id=${message.thread_id}${query}`, ask)
    const ids = answers.map(({ id }) => id).toReversed()
    const first = await list('&limit=1')
    expect([...first.data, ...(await list(`&cursor=${first.next_cursor}`)).data].map(({ id }: Json) => id)).toEqual(ids)
    expect((await list('&agent=ben')).data).toEqual([])
    expect((await list('', { key: await harness.agentKey('ben') })).data).toEqual([])
    expect((await list('', { key: harness.otherOrganization.key })).data).toEqual([])
  })

  test('an agent key works in its own mailbox, another mailbox is 403, and its draft under the own mailbox is 404', async () => {
    const key = await harness.agentKey('ben')
    const own = await harness.expectApi(201, 'POST', '/mailboxes/ben/drafts', { key, body: { subject: 'Mine' } })
    expect((await harness.api('GET', `/mailboxes/ben@agents.localhost/drafts/${own.id}`, { key })).status).toBe(200)
    const foreign = await create()
    for (const [method, suffix, body] of [
      ['GET', '', undefined],
      ['PATCH', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/send', undefined],
    ] as const) {
      expect((await harness.api(method, `${drafts}/${foreign.id}${suffix}`, { key, body })).status).toBe(403)
      expect((await harness.api(method, `/mailboxes/ben/drafts/${foreign.id}${suffix}`, { key, body })).status).toBe(404)
      expect((await harness.api(method, `${drafts}/${foreign.id}${suffix}`, { key: harness.otherOrganization.key, body })).status).toBe(404)
      expect((await harness.api(method, `${drafts}/${foreign.id}${suffix}`, { key: null, body })).status).toBe(401)
    }
    expect((await harness.api('GET', drafts, { key })).status).toBe(403)
    expect((await harness.api('POST', drafts, { key, body: {} })).status).toBe(403)
    expect((await get(foreign.id)).version).toBe(1)
  })

  test('an id of any other form is 404', async () => {
    expect((await harness.api('GET', `${drafts}/msg_1`)).status).toBe(404)
    expect((await send('nothing')).status).toBe(404)
  })
})
