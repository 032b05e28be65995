// Items of lists are cached as JSON: every change of a message shows in the next list, and the summary view leaves out the bodies.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let messageId: string
let threadId: string
const text = `Grüße aus 東京. ${'Long. '.repeat(300)}`.trim()
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.deliver({
    from: 'Eve <eve@example.org>',
    to: 'ann@agents.localhost',
    subject: 'Listed',
    text,
    attachments: [{ filename: 'a.txt', content: 'File' }],
  })
  ;({ id: messageId, thread_id: threadId } = await harness.waitForMail('ann', 'Listed'))
})
afterAll(() => harness?.stop())

const get = (path: string): Promise<Json> => harness.expectApi(200, 'GET', path)
/** The message in a view as each list shows it, twice, so that the second answer comes from the cache. */
async function listed(view = ''): Promise<Json[]> {
  const query = view && `&view=${view}`
  const items: Json[] = []
  for (let i = 0; i < 2; i++) {
    const [mail, mailbox, thread] = await Promise.all([
      get(`/mail/messages?limit=5${query}`),
      get(`/mailboxes/ann/messages?limit=5${query}`),
      get(`/threads/${threadId}?${query}`),
    ])
    items.push(...[...mail.messages, ...mailbox.data, ...thread.messages].filter(({ id }) => id === messageId))
  }
  return items
}
/** The fields of an item that a message has too. The message shows the bare address of its author, and links are signed again. */
const comparable = ({ from: _from, attachments, ...item }: Json): Json => ({
  ...item,
  attachments: attachments.map(({ url: _url, ...file }: Json) => file),
})
async function expectShown(): Promise<void> {
  const { authentication: _a, raw_url: _r, delivery: _d, ...message } = await harness.getMessage('ann', messageId)
  const { headers: _h, ...standard } = message
  for (const [view, expected] of [
    ['', standard],
    ['standard', standard],
    ['full', message],
  ]) {
    const items = await listed(view)
    expect(items).toHaveLength(6)
    for (const item of items) expect(comparable(item)).toEqual(comparable(expected))
  }
}

describe('items of lists', () => {
  test('are the message, from both lists and its thread', async () => {
    await expectShown()
    expect((await listed())[0]).toMatchObject({ from: 'Eve <eve@example.org>', text })
  })

  test('show every change at once', async () => {
    const path = `/mailboxes/ann/messages/${messageId}`
    for (const change of [
      { is_read: true },
      { is_read: false, is_starred: true },
      { add_labels: ['a'] },
      { metadata: { k: 'ü' } },
      { tags: [] },
    ]) {
      await harness.expectApi(200, 'PATCH', path, { body: change })
      await expectShown()
    }
    await harness.expectApi(200, 'POST', `${path}/trash`)
    expect((await get('/mail/messages')).messages).toEqual([])
    await harness.expectApi(200, 'POST', `${path}/restore`)
    await expectShown()
  })

  test('have links that work, and that are signed for each answer', async () => {
    for (const item of await listed()) {
      const answer = await fetch(item.attachments[0].url)
      expect([answer.status, await answer.text()]).toEqual([200, 'File'])
    }
  })

  test('show the status of a sent message as it changes', async () => {
    const { id } = await harness.send('ann', 'x@example.com', { subject: 'Out' })
    const statusListed = async () => (await get('/mail/messages?limit=1')).messages.map((one: Json) => [one.id, one.status])
    await statusListed()
    await harness.waitForStatus('ann', id, 'sent')
    expect(await statusListed()).toEqual([[id, 'sent']])
    await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`)
    expect((await get('/mail/messages?limit=1')).messages[0].id).toBe(messageId)
  })

  test('without attachments are written once, and every change shows in the next list', async () => {
    await harness.createAgent('bob')
    for (const subject of ['first', 'second']) {
      await harness.deliver({ from: 'eve@example.org', to: 'bob@agents.localhost', subject, text: subject })
      await harness.waitForMail('bob', subject)
    }
    const key = await harness.agentKey('bob')
    const shown = async (query = '') => {
      const { messages, total, next_cursor } = await harness.expectApi(200, 'GET', `/mail/messages${query}`, { key })
      return { read: messages.map((one: Json) => [one.subject, one.is_read]), total, next_cursor, ids: messages.map((one: Json) => one.id) }
    }
    const first = await shown()
    const both = {
      read: [
        ['second', false],
        ['first', false],
      ],
      total: 2,
      next_cursor: null,
    }
    expect(first).toMatchObject(both)
    expect(await shown()).toEqual(first)
    const [newer, older] = first.ids
    expect(await shown('?limit=1')).toMatchObject({ read: [['second', false]], total: 2, next_cursor: newer })
    expect(await shown(`?limit=1&cursor=${newer}`)).toMatchObject({ read: [['first', false]], total: 2, next_cursor: null })
    await harness.expectApi(200, 'PATCH', `/mailboxes/bob/messages/${older}`, { key, body: { is_read: true } })
    expect((await shown()).read).toEqual([
      ['second', false],
      ['first', true],
    ])
    await harness.expectApi(200, 'DELETE', `/mailboxes/bob/messages/${newer}`, { key })
    expect(await shown()).toMatchObject({ read: [['first', true]], total: 1, next_cursor: null })
    expect((await get('/mail/messages')).total).toBeGreaterThan(1)
  })

  test('in the summary view lack the bodies, headers and references, and nothing else', async () => {
    const [full] = await listed()
    const { text: _t, html: _h, extracted_text: _e, headers: _s, references: _r, ...rest } = full as Json
    const items = await listed('summary')
    expect(items).toHaveLength(6)
    for (const item of items) expect(comparable({ ...item, from: '' })).toEqual(comparable({ ...rest, from: '' }))
    const search = await get('/mailboxes/ann/search?q=Listed&view=summary')
    expect(search.data.map(({ highlights: _, ...hit }: Json) => comparable({ ...hit, from: '' }))).toEqual([
      comparable({ ...rest, from: '' }),
    ])
    const { status, body } = await harness.api('GET', '/mail/messages?view=short')
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('view')])
  })
})
