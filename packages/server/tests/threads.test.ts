// Threads in one mailbox and across the organization: folders, labels, read state, filters, search, the trash and its purge.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp } from '../src/app.ts'
import { readConfig } from '../src/config/settings.ts'
import { createLog } from '../src/core/log.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let subjects = 0
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'bob']) await harness.createAgent(handle)
})
afterAll(() => harness?.stop())
/** Each test sees only threads of its own, by their subject. */
let mark = ''
beforeEach(() => {
  mark = `mark${++subjects}x`
})

const arrive = async (handle: string, more: Record<string, unknown> = {}): Promise<Json> => {
  const subject = `${mark} ${++subjects}`
  await harness.deliver({ from: 'Eve <eve@example.org>', to: `${handle}@agents.localhost`, subject, text: 'Plain words', ...more })
  return harness.waitForMail(handle, (more.subject as string) ?? subject)
}
const answerOf = (message: Json, more: Record<string, unknown> = {}) => ({
  subject: `Re: ${message.subject}`,
  inReplyTo: message.message_id,
  messageId: `<${++subjects}@example.org>`,
  ...more,
})
const threads = async (query = '', key?: string): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/threads?subject=${mark}&${query}`, key === undefined ? {} : { key })).data
const ids = async (query = '', key?: string): Promise<string[]> => (await threads(query, key)).map((one) => one.id)
const thread = (id: string): Promise<Json> => harness.expectApi(200, 'GET', `/threads/${id}`)
const update = (id: string, body: object, key?: string): Promise<Json> =>
  harness.expectApi(200, 'PATCH', `/threads/${id}`, key === undefined ? { body } : { body, key })
const totalOf = async (handle: string): Promise<number> =>
  (await harness.expectApi(200, 'GET', `/mail/messages?agent=${handle}&limit=1`)).total

describe('lists', () => {
  test('an organization key lists every mailbox, an agent key its own, newest message first', async () => {
    const [first, second] = [await arrive('ann'), await arrive('bob')]
    expect(await ids()).toEqual([second.thread_id, first.thread_id])
    expect(await ids('agent=ann')).toEqual([first.thread_id])
    const key = await harness.agentKey('ann')
    expect(await ids('', key)).toEqual([first.thread_id])
    expect((await harness.api('GET', '/threads?agent=bob', { key })).status).toBe(403)
    expect((await harness.api('GET', `/threads/${second.thread_id}`, { key })).status).toBe(404)
    expect(await ids('', harness.otherOrganization.key)).toEqual([])
    expect((await harness.api('GET', `/threads/${second.thread_id}`, { key: harness.otherOrganization.key })).status).toBe(404)
    await arrive('ann', answerOf(first))
    expect(await ids()).toEqual([first.thread_id, second.thread_id])
  })

  test('a thread has its folder, labels, participants and counts', async () => {
    const message = await arrive('ann', { cc: 'Carol@Example.org' })
    expect((await threads())[0]).toEqual({
      id: message.thread_id,
      mailbox_id: message.mailbox_id,
      subject: message.subject,
      snippet: 'Plain words',
      folder: 'inbox',
      labels: [],
      metadata: {},
      participants: ['eve@example.org', 'ann@agents.localhost', 'carol@example.org'],
      senders: ['eve@example.org'],
      recipients: ['ann@agents.localhost', 'carol@example.org'],
      size_bytes: message.size_bytes,
      last_message_id: message.id,
      last_received_at: message.created_at,
      last_sent_at: null,
      message_count: 1,
      unread_count: 1,
      last_message_at: message.created_at,
      created_at: message.created_at,
    })
    expect(await thread(message.thread_id)).toMatchObject({ id: message.thread_id, messages: [{ id: message.id }] })
  })

  test('senders, recipients, size and times are those of the latest messages, also in the trash', async () => {
    const first = await arrive('ann')
    const { id } = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${first.id}/reply`, { body: { text: 'An answer' } })
    const answer = await harness.getMessage('ann', id)
    const facts = {
      senders: ['ann@agents.localhost', 'eve@example.org'],
      recipients: ['ann@agents.localhost', 'eve@example.org'],
      size_bytes: first.size_bytes + answer.size_bytes,
      last_message_id: id,
      last_received_at: first.created_at,
      last_sent_at: answer.created_at,
    }
    expect(await thread(first.thread_id)).toMatchObject(facts)
    expect(await update(first.thread_id, { folder: 'trash' })).toMatchObject(facts)
    expect((await threads('folder=trash'))[0]).toMatchObject(facts)
  })

  test('filters by read state, participant, time and mailbox combine', async () => {
    const read = await arrive('ann', { from: 'zoe@example.net' })
    await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${read.id}`, { body: { is_read: true } })
    const [unread, other] = [await arrive('ann', { from: 'zoe@example.net' }), await arrive('bob', { from: 'max@example.net' })]
    expect(await ids('is_unread=true')).toEqual([other.thread_id, unread.thread_id])
    expect(await ids('is_unread=false')).toEqual([read.thread_id])
    expect(await ids('participant=ZOE@example.net')).toEqual([unread.thread_id, read.thread_id])
    expect(await ids('participant=zoe@example.net&is_unread=true')).toEqual([unread.thread_id])
    expect(await ids('participant=zoe@example')).toEqual([])
    // Ids of one millisecond may have the next one, when there are many.
    const after = new Date(Date.parse(unread.created_at) + 1).toISOString()
    expect(await ids(`after=${after}`)).toEqual([other.thread_id])
    expect(await ids(`before=${unread.created_at}`)).toEqual([read.thread_id])
    const { data } = await harness.expectApi(200, 'GET', `/mailboxes/ann/threads?subject=${mark}&is_unread=true`)
    expect(data.map((one: Json) => one.id)).toEqual([unread.thread_id])
    expect((await harness.expectApi(200, 'GET', '/threads?subject=_%25')).data).toEqual([])
  })

  test('the latest message is part of a thread for a list that asks for it', async () => {
    const first = await arrive('ann')
    const last = await arrive('ann', answerOf(first, { text: 'The latest words', subject: `Re: ${first.subject}` }))
    const other = await arrive('bob')
    const found = await threads('with_last_message=true')
    expect(found.map((one) => [one.id, one.last_message.id])).toEqual([
      [other.thread_id, other.id],
      [first.thread_id, last.id],
    ])
    expect(found[1].last_message).toMatchObject({ from: 'Eve <eve@example.org>', snippet: 'The latest words', is_starred: false })
    expect(found[1].last_message).not.toHaveProperty('text')
    await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${last.id}`, { body: { is_starred: true } })
    expect((await threads('with_last_message=true&agent=ann'))[0].last_message.is_starred).toBe(true)
    expect((await threads())[0]).not.toHaveProperty('last_message')
    await harness.expectApi(200, 'DELETE', `/threads/${other.thread_id}`)
    expect((await threads('with_last_message=true&folder=trash'))[0].last_message.id).toBe(other.id)
  })

  test('pages have every thread once', async () => {
    const expected: string[] = []
    for (const handle of ['ann', 'bob', 'ann', 'ann', 'bob']) expected.unshift((await arrive(handle)).thread_id)
    await update(expected[1] as string, { is_read: true })
    await update(expected[3] as string, { folder: 'archive' })
    const found: string[] = []
    for (let cursor = ''; ; ) {
      const page = await harness.expectApi(200, 'GET', `/threads?subject=${mark}&limit=2${cursor}`)
      found.push(...page.data.map((one: Json) => one.id))
      expect(page.has_more).toBe(page.next_cursor !== null)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(found).toEqual(expected)
    expect((await harness.api('GET', '/threads?cursor=thrd_wrong')).status).toBe(400)
  })
})

describe('search', () => {
  test('finds threads by words in any of their messages, once, in all mailboxes and in one', async () => {
    const word = `quokka${++subjects}`
    const first = await arrive('ann', { text: `The ${word} jumps` })
    await arrive('ann', answerOf(first, { text: `Another ${word}` }))
    const second = await arrive('bob', { text: `A ${word} and a wombat` })
    const searched = async (path: string) =>
      (await harness.expectApi(200, 'GET', `${path}q=${encodeURIComponent(`${word} -wombat`)}`)).data.map((one: Json) => one.id)
    const all = (await harness.expectApi(200, 'GET', `/threads?q=${word}`)).data
    expect(all.map((one: Json) => one.id)).toEqual([second.thread_id, first.thread_id])
    expect(await searched('/threads?')).toEqual([first.thread_id])
    expect(await searched('/threads?agent=bob&')).toEqual([])
    expect(await searched('/mailboxes/ann/threads?')).toEqual([first.thread_id])
    expect(await searched('/threads?folder=archive&')).toEqual([])
    const pages: string[] = []
    for (let cursor = ''; ; ) {
      const page = await harness.expectApi(200, 'GET', `/threads?q=${word}&limit=1${cursor}`)
      pages.push(...page.data.map((one: Json) => one.id))
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(pages).toEqual([second.thread_id, first.thread_id])
    expect((await harness.api('GET', `/threads?q=${word}&folder=trash`)).status).toBe(400)
  })
})

describe('folders and labels', () => {
  test('a thread that only the agent wrote in is in sent, and an answer moves it to the inbox', async () => {
    const sent = await harness.send('ann', 'eve@example.org', { subject: `${mark} sent` })
    expect(await ids('folder=sent')).toEqual([sent.thread_id])
    expect(await ids('folder=inbox')).toEqual([])
    const { message_id } = await harness.getMessage('ann', sent.id)
    await arrive('ann', { subject: `Re: ${mark} sent`, inReplyTo: message_id })
    expect(await ids('folder=inbox')).toEqual([sent.thread_id])
    expect(await ids('folder=sent')).toEqual([sent.thread_id])
  })

  test('an answer takes a thread out of the archive, not out of spam, and sending changes no folder', async () => {
    const [archived, spam] = [await arrive('ann'), await arrive('ann')]
    expect(await update(archived.thread_id, { folder: 'archive' })).toMatchObject({ folder: 'archive' })
    await update(spam.thread_id, { folder: 'spam' })
    expect(await ids()).toEqual([archived.thread_id])
    expect(await ids('folder=spam')).toEqual([spam.thread_id])
    await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${archived.id}/reply`, { body: { text: 'Later' } })
    expect(await ids('folder=archive')).toEqual([archived.thread_id])
    await arrive('ann', answerOf(archived))
    await arrive('ann', answerOf(spam))
    expect(await ids('folder=inbox')).toEqual([archived.thread_id])
    expect(await ids('folder=spam')).toEqual([spam.thread_id])
  })

  test('scheduled lists the threads with a scheduled draft', async () => {
    const message = await arrive('ann')
    const send_at = new Date(Date.now() + 86_400_000).toISOString()
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', {
      body: { in_reply_to: message.id, text: 'Tomorrow', send_at },
    })
    expect(await ids('folder=scheduled')).toEqual([message.thread_id])
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/drafts/${draft.id}`)
    expect(await ids('folder=scheduled')).toEqual([])
  })

  test('labels of threads filter in every folder, also after a new message', async () => {
    const [first, second] = [await arrive('ann'), await arrive('bob')]
    const name = `order ${++subjects}`
    expect(await update(first.thread_id, { add_labels: [name, 'b'] })).toMatchObject({ labels: ['b', name] })
    expect(await update(second.thread_id, { labels: [name], remove_labels: ['c'] })).toMatchObject({ labels: [name] })
    const label = encodeURIComponent(name)
    expect(await ids(`label=${label}`)).toEqual([second.thread_id, first.thread_id])
    await arrive('ann', answerOf(first))
    expect(await ids(`label=${label}`)).toEqual([first.thread_id, second.thread_id])
    expect(await ids(`label=${label}&agent=bob`)).toEqual([second.thread_id])
    await update(second.thread_id, { folder: 'archive' })
    expect(await ids(`label=${label}&folder=archive`)).toEqual([second.thread_id])
    expect(await update(first.thread_id, { remove_labels: [name] })).toMatchObject({ labels: ['b'] })
    expect(await ids(`label=${label}`)).toEqual([second.thread_id])
    const many = Array.from({ length: 50 }, (_, n) => `l${n}`)
    expect((await harness.api('PATCH', `/threads/${first.thread_id}`, { body: { add_labels: many } })).status).toBe(400)
    expect(await thread(first.thread_id)).toMatchObject({ labels: ['b'] })
  })

  test('marking a thread marks its messages, and marking messages counts in the thread', async () => {
    const first = await arrive('ann')
    const second = await arrive('ann', answerOf(first))
    expect(await thread(first.thread_id)).toMatchObject({ unread_count: 2 })
    expect(await update(first.thread_id, { is_read: true })).toMatchObject({ unread_count: 0 })
    expect(await harness.getMessage('ann', second.id)).toMatchObject({ is_read: true })
    for (const is_read of [false, false])
      await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${second.id}`, { body: { is_read } })
    expect(await thread(first.thread_id)).toMatchObject({ unread_count: 1 })
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${second.id}`)
    expect(await thread(first.thread_id)).toMatchObject({ unread_count: 0, message_count: 1 })
    expect(await update(first.thread_id, { is_read: false })).toMatchObject({ unread_count: 1 })
  })

  test('an agent key changes threads of its own mailbox only', async () => {
    const [own, foreign] = [await arrive('ann'), await arrive('bob')]
    const key = await harness.agentKey('ann')
    expect(await update(own.thread_id, { folder: 'archive' }, key)).toMatchObject({ folder: 'archive' })
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
    ] as const) {
      const body = method === 'PATCH' ? { body: { folder: 'spam' } } : {}
      expect((await harness.api(method, `/threads/${foreign.thread_id}${path}`, { key, ...body })).status).toBe(404)
    }
    expect(await thread(foreign.thread_id)).toMatchObject({ folder: 'inbox' })
  })
})

describe('the trash', () => {
  test('a deleted thread is in the trash only, and restoring puts it back into its folder', async () => {
    const first = await arrive('ann')
    const second = await arrive('ann', answerOf(first))
    await update(first.thread_id, { folder: 'archive' })
    const total = await totalOf('ann')
    for (let n = 0; n < 2; n++)
      expect(await harness.expectApi(200, 'DELETE', `/threads/${first.thread_id}`)).toEqual({
        id: first.thread_id,
        deleted: true,
        permanent: false,
      })
    expect(await ids()).toEqual([])
    expect(await ids('folder=archive')).toEqual([])
    expect(await ids('folder=trash')).toEqual([first.thread_id])
    expect(await totalOf('ann')).toBe(total - 2)
    expect((await thread(first.thread_id)).messages.map((one: Json) => one.id)).toEqual([first.id, second.id])
    expect(await thread(first.thread_id)).toMatchObject({ folder: 'trash', message_count: 2, unread_count: 0 })
    expect(await harness.expectApi(200, 'POST', `/threads/${first.thread_id}/restore`)).toMatchObject({
      folder: 'archive',
      message_count: 2,
      unread_count: 2,
    })
    expect(await totalOf('ann')).toBe(total)
    expect(await ids('folder=archive')).toEqual([first.thread_id])
  })

  test('moving a thread out of the trash to a folder restores it there', async () => {
    const message = await arrive('ann')
    await update(message.thread_id, { folder: 'trash' })
    expect(await update(message.thread_id, { folder: 'spam' })).toMatchObject({ folder: 'spam', message_count: 1 })
    expect((await harness.getMessage('ann', message.id)).trashed_at).toBeNull()
  })

  test('one trashed message leaves lists and search, keeps its content, and comes back', async () => {
    const word = `numbat${++subjects}`
    const first = await arrive('ann')
    const second = await arrive('ann', answerOf(first, { text: word }))
    const path = `/mailboxes/ann/messages/${second.id}`
    const trashed = await harness.expectApi(200, 'POST', `${path}/trash`)
    expect(trashed).toEqual({ id: second.id, thread_id: first.thread_id, trashed_at: expect.any(String) })
    expect(await harness.expectApi(200, 'POST', `${path}/trash`)).toEqual(trashed)
    expect(await harness.getMessage('ann', second.id)).toMatchObject({ text: word, trashed_at: trashed.trashed_at })
    expect((await thread(first.thread_id)).messages.map((one: Json) => one.id)).toEqual([first.id])
    expect(await thread(first.thread_id)).toMatchObject({ message_count: 1, last_message_at: first.created_at, folder: 'inbox' })
    const search = async () => (await harness.expectApi(200, 'GET', `/mailboxes/ann/search?q=${word}`)).data.length
    expect(await search()).toBe(0)
    const list = async (query: string) =>
      (await harness.expectApi(200, 'GET', `/mailboxes/ann/messages?subject=${mark}&${query}`)).data.map((one: Json) => one.id)
    expect(await list('')).toEqual([first.id])
    expect(await list('is_trashed=true')).toEqual([second.id])
    expect(await harness.expectApi(200, 'POST', `${path}/restore`)).toMatchObject({ trashed_at: null })
    expect(await list('')).toEqual([second.id, first.id])
    expect(await search()).toBe(1)
    expect(await thread(first.thread_id)).toMatchObject({ message_count: 2, last_message_at: second.created_at, unread_count: 2 })
  })

  test('a new message shows a trashed thread again, without the trashed messages', async () => {
    const first = await arrive('ann')
    await harness.expectApi(200, 'DELETE', `/threads/${first.thread_id}`)
    const second = await arrive('ann', answerOf(first))
    expect(second.thread_id).toBe(first.thread_id)
    expect((await threads())[0]).toMatchObject({ id: first.thread_id, folder: 'inbox', message_count: 1, subject: first.subject })
    expect((await thread(first.thread_id)).messages.map((one: Json) => one.id)).toEqual([second.id])
    expect(await ids('folder=trash')).toEqual([])
  })

  test('a message in quarantine cannot be moved to the trash', async () => {
    await harness.expectApi(201, 'POST', '/identities/bob/mail-rules', {
      body: { direction: 'inbound', action: 'block', entry: 'mallory@example.org' },
    })
    await harness.deliver({ from: 'mallory@example.org', to: 'bob@agents.localhost', subject: `${mark} held`, text: 'x' })
    const held = await harness.waitForMail('bob', `${mark} held`, 'quarantined')
    const answer = await harness.api('POST', `/mailboxes/bob/messages/${held.id}/trash`)
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    expect((await harness.api('DELETE', `/threads/${held.thread_id}`)).status).toBe(404)
    await harness.expectApi(200, 'DELETE', `/mailboxes/bob/messages/${held.id}`)
  })

  test('a permanent deletion removes messages and bytes, answers again, and leaves no id', async () => {
    const message = await arrive('ann', { attachments: [{ filename: 'big.bin', content: Buffer.alloc(300_000, 1) }] })
    const path = `/threads/${message.thread_id}?permanent=true`
    for (let n = 0; n < 2; n++) expect(await harness.expectApi(200, 'DELETE', path)).toMatchObject({ deleted: true, permanent: true })
    expect((await harness.api('GET', `/threads/${message.thread_id}`)).status).toBe(404)
    expect((await harness.api('GET', `/mailboxes/ann/messages/${message.id}`)).status).toBe(404)
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${message.id}`)
    const { rows } = await harness.db.query({ text: 'SELECT id FROM raw_messages WHERE size_bytes > 300000' })
    expect(rows).toEqual([])
    expect((await harness.api('DELETE', '/threads/thrd_unknown')).status).toBe(404)
    expect((await harness.api('DELETE', path, { key: harness.otherOrganization.key })).status).toBe(404)
  })

  test('messages leave the trash for good after 30 days, with their raw bytes, and others stay', async () => {
    const [old, fresh, listed] = [await arrive('ann'), await arrive('ann'), await arrive('ann')]
    for (const message of [old, fresh]) await harness.expectApi(200, 'DELETE', `/threads/${message.thread_id}`)
    const rawsOf = async () =>
      (
        await harness.db.query({
          text: 'SELECT m.id FROM messages m JOIN raw_messages r ON r.id = m.raw_id WHERE m.id = ANY($1) ORDER BY m.id',
          values: [[old.id, fresh.id, listed.id]],
        })
      ).rows.map((row) => row.id)
    expect(await rawsOf()).toEqual([old.id, fresh.id, listed.id])
    await harness.db.query({ text: `UPDATE messages SET trashed_at = now() - interval '30 days 1 second' WHERE id = $1`, values: [old.id] })
    // Every worker purges when it starts, and then hourly.
    const worker = await startApp(readConfig({ ...harness.environment, CALLSIGN_ROLES: 'worker' }), createLog('silent'))
    await waitFor('the purge', async () => (await harness.api('GET', `/mailboxes/ann/messages/${old.id}`)).status === 404)
    await worker.stop()
    expect(await rawsOf()).toEqual([fresh.id, listed.id])
    expect((await harness.api('GET', `/threads/${old.thread_id}`)).status).toBe(404)
    expect(await ids('folder=trash')).toEqual([fresh.thread_id])
    // Its counters are right after the purge.
    const { rows } = await harness.db.query({
      text: `SELECT ((SELECT sum(count) FROM message_counts) - (SELECT count(*) FROM messages WHERE NOT is_hidden))::integer AS apart,
        (SELECT count(*) FROM threads t WHERE message_count <> (SELECT count(*) FROM messages WHERE thread_id = t.id AND NOT is_hidden)
          OR unread_count <> (SELECT count(*) FROM messages WHERE thread_id = t.id AND NOT is_hidden AND NOT is_read)
          OR trashed_count <> (SELECT count(*) FROM messages WHERE thread_id = t.id AND trashed_at IS NOT NULL)) AS wrong`,
    })
    expect(rows).toEqual([{ apart: 0, wrong: 0 }])
  })
})

test('messages read, trashed, restored, deleted and filed at the same time leave exact counters', async () => {
  const first = await arrive('ann')
  const rest = await Promise.all(Array.from({ length: 9 }, () => arrive('ann', answerOf(first, { subject: `Re: ${mark} ${++subjects}` }))))
  const all = [first, ...rest]
  await Promise.all(
    all.flatMap((message, n) => {
      const path = `/mailboxes/ann/messages/${message.id}`
      return [
        harness.api('PATCH', path, { body: { is_read: n % 2 === 0 } }),
        harness.api('POST', `${path}/trash`),
        harness.api('PATCH', path, { body: { is_read: n % 3 === 0 } }),
        ...(n % 3 === 0 ? [harness.api('POST', `${path}/restore`)] : []),
        ...(n % 5 === 4 ? [harness.api('DELETE', path)] : []),
        harness.api('PATCH', `/threads/${first.thread_id}`, { body: { is_read: true, folder: n % 2 === 0 ? 'archive' : 'spam' } }),
        harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', text: 'x', ...answerOf(first) }),
      ]
    }),
  )
  const { rows } = await harness.db.query({
    text: `SELECT t.message_count = (SELECT count(*) FROM messages WHERE thread_id = t.id AND NOT is_hidden) AS listed,
        t.unread_count = (SELECT count(*) FROM messages WHERE thread_id = t.id AND NOT is_hidden AND NOT is_read) AS unread,
        t.trashed_count = (SELECT count(*) FROM messages WHERE thread_id = t.id AND trashed_at IS NOT NULL) AS trashed
      FROM threads t WHERE t.id = $1`,
    values: [first.thread_id],
  })
  expect(rows).toEqual([{ listed: true, unread: true, trashed: true }])
})
