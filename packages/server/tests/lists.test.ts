// GET /mail/messages and the lists by cursor. Covers order, totals, and complete walks while more arrives.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('ben')
})
afterAll(() => harness.stop())

const mail = (query = '') => harness.expectApi(200, 'GET', `/mail/messages${query}`)
const none = { messages: [], total: 0, object: 'list', data: [], has_more: false, next_cursor: null }
const ids = (items: Json[]): string[] => items.map((item) => item.id)

describe('GET /mail/messages', () => {
  test('is empty at first with {messages, total}', async () => {
    expect(await mail()).toEqual(none)
  })

  test('items have the fields of the contract, newest first, with a default limit of 50', async () => {
    const sent: string[] = []
    for (let i = 0; i < 55; i++) sent.push((await harness.send(i % 2 ? 'ann' : 'ben', 'x@example.com', { subject: `Number ${i}` })).id)
    const all = await mail()
    expect([all.messages.length, all.total]).toEqual([50, 55])
    expect(ids(all.messages)).toEqual(sent.toReversed().slice(0, 50))
    expect([all.object, all.data, all.has_more]).toEqual(['list', all.messages, true])
    expect(all.messages[0]).toMatchObject({
      id: sent[54],
      thread_id: expect.stringMatching(/^thrd_/),
      direction: 'outbound',
      from: 'ben@agents.localhost',
      to: ['x@example.com'],
      subject: 'Number 54',
      text: 'Hello there',
      html: '',
      attachments: [],
      created_at: expect.any(String),
    })
    const rest = await mail(`?cursor=${all.next_cursor}`)
    expect([ids(rest.messages), rest.total, rest.next_cursor]).toEqual([sent.toReversed().slice(50), 55, null])
  })

  test('agent and thread_id filter, and total counts the matches', async () => {
    const own = await mail('?agent=ann&limit=3')
    expect([own.messages.length, own.total, new Set(own.messages.map((one: Json) => one.from))]).toEqual([
      3,
      27,
      new Set(['ann@agents.localhost']),
    ])
    expect((await mail('?agent=@ann&limit=1')).total).toBe(27)
    const [{ id, thread_id }] = own.messages
    for (const query of [`?thread_id=${thread_id}`, `?thread_id=${thread_id}&agent=ann`]) {
      const one = await mail(query)
      expect([ids(one.messages), one.total]).toEqual([[id], 1])
    }
    expect(await mail(`?thread_id=${thread_id}&agent=ben`)).toEqual(none)
  })

  test('an unknown agent is 404, and limit is 1-100', async () => {
    expect((await harness.api('GET', '/mail/messages?agent=nobody')).body.error.code).toBe('not_found')
    expect((await mail('?limit=100')).messages).toHaveLength(55)
    for (const limit of ['0', '101', '-1', 'x']) expect((await harness.api('GET', `/mail/messages?limit=${limit}`)).status).toBe(400)
  })

  test('another organization sees none of it', async () => {
    const { messages, total } = await harness.expectApi(200, 'GET', '/mail/messages', { key: harness.otherOrganization.key })
    expect([messages, total]).toEqual([[], 0])
    const [{ thread_id }] = (await mail('?limit=1')).messages
    const key = harness.otherOrganization.key
    expect((await harness.expectApi(200, 'GET', `/mail/messages?thread_id=${thread_id}`, { key })).total).toBe(0)
    expect((await harness.api('GET', '/mail/messages?agent=ann', { key })).status).toBe(404)
  })

  test('total is correct immediately after deletes', async () => {
    const { messages } = await mail('?agent=ben&limit=5')
    let [all, own] = [(await mail()).total, (await mail('?agent=ben')).total]
    for (const { id } of messages) {
      await harness.expectApi(200, 'DELETE', `/mailboxes/ben/messages/${id}`)
      expect([(await mail()).total, (await mail('?agent=ben')).total]).toEqual([--all, --own])
    }
    const rest = await mail('?limit=100')
    expect(rest.total).toBe(rest.messages.length)
  })

  test('total is correct after many concurrent requests', async () => {
    const before = (await mail()).total
    const made = await Promise.all(Array.from({ length: 30 }, () => harness.send('ann', 'ben@agents.localhost')))
    // Hosted mail is filed a second time, in the mailbox of the recipient.
    await waitFor('every copy to be filed', async () => (await mail()).total === before + 60)
    await Promise.all(made.map(({ id }) => harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`)))
    expect((await mail()).total).toBe(before + 30)
    const { rows } = await harness.db.query<{ n: number }>({ text: 'SELECT count(*)::int AS n FROM messages' })
    expect(rows[0]?.n).toBe(before + 30)
  })
})

describe('walks by cursor', () => {
  /** Walks a list to its end, while `meanwhile` changes things after every page. */
  async function walk(path: string, key: string, meanwhile: () => Promise<unknown>): Promise<Json[]> {
    const seen: Json[] = []
    let cursor: string | null = null
    do {
      const page: Json = await harness.expectApi(200, 'GET', `${path}?limit=7${cursor ? `&cursor=${cursor}` : ''}`, { key })
      seen.push(...(page.messages ?? page.data))
      cursor = page.next_cursor
      await meanwhile()
    } while (cursor)
    return seen
  }

  test('see each old message exactly once under concurrent inserts, in order', async () => {
    await harness.createAgent('walker')
    const old: string[] = []
    for (let i = 0; i < 40; i++) old.push((await harness.send('walker', 'x@example.com')).id)
    const meanwhile = () => Promise.all([1, 2, 3].map(() => harness.send('walker', 'x@example.com')))
    for (const path of ['/mailboxes/walker/messages', '/mail/messages']) {
      const seen = ids(await walk(path, harness.organizationKey, meanwhile))
      expect(seen).toEqual(seen.toSorted().reverse())
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.filter((id) => old.includes(id))).toEqual(old.toReversed())
    }
  })

  test('see each message that stays exactly once under concurrent deletes', async () => {
    await harness.createAgent('reaper')
    const made: string[] = []
    for (let i = 0; i < 30; i++) made.push((await harness.send('reaper', 'x@example.com')).id)
    // From the middle outwards, ahead of the walk and behind it.
    const doomed = [14, 22, 7, 27, 3].map((index) => made[index] as string)
    const seen = ids(
      await walk('/mailboxes/reaper/messages', harness.organizationKey, async () => {
        const id = doomed.shift()
        if (id) await harness.expectApi(200, 'DELETE', `/mailboxes/reaper/messages/${id}`)
      }),
    )
    const staying = made.filter((_, index) => ![14, 22, 7, 27, 3].includes(index))
    expect(seen.filter((id) => staying.includes(id))).toEqual(staying.toReversed())
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('identities, mailboxes, keys, audit, threads and search walk the same way', async () => {
    const { key } = await harness.createOrganization('Walkers')
    for (let i = 0; i < 16; i++) {
      await harness.createAgent(`walk_${i}`, {}, key)
      await harness.agentKey(`walk_${i}`, {}, key)
      const body = { agent: 'walk_0', to: ['x@example.com'], subject: 'Needle', text: 'a' }
      await harness.expectApi(201, 'POST', '/mail/send', { key, body })
    }
    for (const path of ['/identities', '/mailboxes', '/keys', '/audit', '/mailboxes/walk_0/threads']) {
      const seen = ids(await walk(path, key, async () => {}))
      expect([path, new Set(seen).size, seen.length >= 16]).toEqual([path, seen.length, true])
      expect(seen).toEqual(seen.toSorted().reverse())
    }
    const first = await harness.expectApi(200, 'GET', '/mailboxes/walk_0/search?q=needle&limit=10', { key })
    const second = await harness.expectApi(200, 'GET', `/mailboxes/walk_0/search?q=needle&limit=10&cursor=${first.next_cursor}`, { key })
    expect([first.has_more, second.has_more, new Set(ids([...first.data, ...second.data])).size]).toEqual([true, false, 16])
  })

  test('a cursor of another list is 400', async () => {
    for (const cursor of ['ident_01h455vb4pex5vsknk084sn02q', 'x', '%27']) {
      const answer = await harness.api('GET', `/mail/messages?cursor=${cursor}`)
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, '/cursor'])
    }
  })
})
