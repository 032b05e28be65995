// Tags and metadata through the API: given when sending, changed later, filtered by, and carried by events. Their limits, also in the schema.
import { metadataBytesMax, metadataKeysMax, tagsMax } from '@callsign/contract/metadata'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let count = 0
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'bob']) await harness.createAgent(handle)
})
afterAll(() => harness?.stop())

const marks = { tags: [{ name: 'campaign', value: 'spring_26' }], metadata: { order: 4711, paid: true, note: 'über:all' } }
const unique = () => `m${++count}x`
const arrive = async (handle: string): Promise<Json> => {
  const subject = `Arrival ${++count}`
  await harness.deliver({ from: 'eve@example.org', to: `${handle}@agents.localhost`, subject, text: 'Plain words' })
  return harness.waitForMail(handle, subject)
}
const idsOf = (page: Json): string[] => page.data.map((one: Json) => one.id)
const list = async (query: string, path = '/mailboxes/ann/messages'): Promise<string[]> =>
  idsOf(await harness.expectApi(200, 'GET', `${path}?${query}`))
const keysOf = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, n) => [`key${n}`, n]))
const refusal = async (method: string, path: string, body: object): Promise<Json> => {
  const { status, body: answer } = await harness.api(method, path, { body })
  expect([status, answer.error?.code]).toEqual([400, 'validation_error'])
  return answer.error
}

describe('messages', () => {
  const base = { to: ['pat@example.com'], subject: 'Marked', text: 'Text' }

  test('every way to send takes labels, tags and metadata', async () => {
    const given = { ...marks, labels: ['first', 'second'] }
    const arrived = await arrive('ann')
    expect(arrived).toMatchObject({ tags: [], metadata: {} })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { ...base, ...given } })
    expect(draft).toMatchObject(given)
    const sent = [
      await harness.expectApi(201, 'POST', '/mail/send', { body: { agent: 'ann', ...base, ...given } }),
      await harness.expectApi(201, 'POST', '/mailboxes/ann/messages', { body: { ...base, ...given } }),
      await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, { body: { text: 'Yes', ...given } }),
      await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/forward`, { body: { to: 'pat@example.com', ...given } }),
      await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${arrived.id}/reply`, {
        body: { text: 'Away', automatic: true, ...given },
      }),
      await harness.expectApi(201, 'POST', `/mailboxes/ann/drafts/${draft.id}/send`),
      ...(await harness.expectApi(201, 'POST', '/mail/batch', { body: { messages: [{ agent: 'ann', ...base, ...given }] } })).data,
    ]
    for (const { id } of sent) expect(await harness.getMessage('ann', id)).toMatchObject(given)
    expect(await list('tag=campaign:spring_26')).toEqual(sent.map(({ id }) => id).toReversed())
    for (const filter of ['order:4711', 'paid:true', `note:${encodeURIComponent('über:all')}`])
      expect((await list(`metadata=${filter}`)).length).toBe(sent.length)
    for (const filter of ['tag=campaign:spring', 'tag=spring_26:campaign', 'metadata=order:04711', 'metadata=paid:1', 'metadata=note:über'])
      expect(await list(filter)).toEqual([])
  })

  test('a draft changes its tags as a whole and its metadata by key', async () => {
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { ...base, ...marks } })
    const path = `/mailboxes/ann/drafts/${draft.id}`
    const change = { labels: ['first'], tags: [], metadata: { order: null, more: 'x' } }
    expect(await harness.expectApi(200, 'PATCH', path, { body: change })).toMatchObject({
      labels: ['first'],
      tags: [],
      metadata: { paid: true, more: 'x' },
    })
    expect(await harness.expectApi(200, 'PATCH', path, { body: { subject: 'Other' } })).toMatchObject({
      metadata: { paid: true, more: 'x' },
    })
  })

  test('a change replaces tags, merges metadata, and leaves the rest', async () => {
    const { id } = await arrive('ann')
    const path = `/mailboxes/ann/messages/${id}`
    const patch = (body: object) => harness.expectApi(200, 'PATCH', path, { body })
    expect(await patch({ is_read: true, ...marks })).toEqual({ id, is_read: true, is_starred: false, labels: [], ...marks })
    expect(await patch({ metadata: { order: '4711', paid: null } })).toMatchObject({
      tags: marks.tags,
      metadata: { order: '4711', note: 'über:all' },
    })
    expect(await patch({ is_starred: true })).toMatchObject({ tags: marks.tags, metadata: { order: '4711', note: 'über:all' } })
    expect(await patch({ tags: [{ name: 'b', value: '2' }] })).toMatchObject({ tags: [{ name: 'b', value: '2' }] })
    expect(await patch({ tags: [], metadata: { order: null, note: null } })).toMatchObject({ tags: [], metadata: {} })
    expect(await harness.getMessage('ann', id)).toMatchObject({ tags: [], metadata: {}, is_starred: true })
    const { rows } = await harness.db.query({ text: 'SELECT tags, metadata FROM messages WHERE id = $1', values: [id] })
    expect(rows).toEqual([{ tags: null, metadata: null }])
  })

  test('a batch changes many messages, and their metadata stays within the limit', async () => {
    const [one, two] = [await arrive('ann'), await arrive('bob')]
    const ids = [one.id, two.id]
    const changed = await harness.expectApi(200, 'PATCH', '/mail/messages', { body: { ids, metadata: { batch: 1 }, tags: marks.tags } })
    expect(changed.data).toMatchObject(ids.map((id) => ({ id, metadata: { batch: 1 }, tags: marks.tags })))
    await refusal('PATCH', '/mail/messages', { ids, metadata: keysOf(metadataKeysMax) })
    expect((await harness.getMessage('bob', two.id)).metadata).toEqual({ batch: 1 })
  })

  test('lists and searches filter by both, with other filters and over pages', async () => {
    const word = unique()
    const send = (n: number) =>
      harness.expectApi(201, 'POST', '/mail/send', {
        body: { agent: 'ann', ...base, subject: word, tags: [{ name: word, value: String(n % 2) }], metadata: { [word]: n } },
      })
    const sent: Json[] = []
    for (let n = 0; n < 5; n++) sent.push(await send(n))
    const even = [sent[4], sent[2], sent[0]].map((one) => one?.id)
    expect(await list(`tag=${word}:0`)).toEqual(even)
    expect(await list(`q=${word}&tag=${word}:0`, '/mailboxes/ann/search')).toEqual(even)
    expect(await list(`q=${word}&tag=${word}:0&metadata=${word}:2`, '/mailboxes/ann/search')).toEqual([even[1]])
    expect(await list(`tag=${word}:0&metadata=${word}:2&folder=sent`)).toEqual([even[1]])
    expect(await list(`tag=${word}:0&folder=inbox`)).toEqual([])
    expect(await list(`tag=${word}:0`, '/mailboxes/bob/messages')).toEqual([])
    const first = await harness.expectApi(200, 'GET', `/mailboxes/ann/messages?tag=${word}:0&limit=2`)
    expect(idsOf(first)).toEqual(even.slice(0, 2))
    expect(await list(`tag=${word}:0&limit=2&cursor=${first.next_cursor}`)).toEqual(even.slice(2))
  })

  test('events have the tags and metadata that the message had at their time', async () => {
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', {
      body: { agent: 'ann', ...base, to: ['bob@agents.localhost'], ...marks },
    })
    await harness.waitForStatus('ann', id, 'delivered')
    await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${id}`, { body: { tags: [], metadata: { order: 1 } } })
    const { data } = await harness.expectApi(200, 'GET', '/events?types=email.delivered,email.received&limit=100')
    expect(data.find((event: Json) => event.type === 'email.delivered' && event.data.id === id)?.data).toMatchObject(marks)
    expect(data.filter((event: Json) => event.type === 'email.received').at(-1)?.data).toMatchObject({ tags: [], metadata: {} })
  })
})

describe('limits', () => {
  const send = (body: object) => refusal('POST', '/mail/send', { agent: 'ann', to: ['pat@example.com'], subject: '', text: 'x', ...body })
  const tag = (name: string, value = 'v') => ({ name, value })

  test.each([
    ['a name with a space', [tag('a b')]],
    ['a value with an umlaut', [tag('a', 'ü')]],
    ['an empty value', [tag('a', '')]],
    ['a long name', [tag('a'.repeat(257))]],
    ['a name twice', [tag('a', '1'), tag('a', '2')]],
    ['too many', Array.from({ length: tagsMax + 1 }, (_, n) => tag(`n${n}`))],
    ['another field', [{ ...tag('a'), more: 1 }]],
  ])('tags: %s is 400', async (_, tags) => {
    expect(JSON.stringify(await send({ tags }))).toContain('/tags')
  })

  test.each([
    ['a colon in a key', { 'a:b': 1 }],
    ['an empty key', { '': 1 }],
    ['a long key', { ['k'.repeat(101)]: 1 }],
    ['a long value', { k: 'v'.repeat(1001) }],
    ['a control character in a key', { 'a\nb': 1 }],
    ['an object', { k: {} }],
    ['a list', { k: ['x'] }],
    ['null', { k: null }],
    ['an exponent', { k: 1e-9 }],
    ['too many keys', keysOf(metadataKeysMax + 1)],
    ['too many bytes', Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, 'ü'.repeat(300)]))],
  ])('metadata: %s is 400', async (_, metadata) => {
    expect(JSON.stringify(await send({ metadata }))).toContain('/metadata')
  })

  test('the largest values are accepted and found', async () => {
    const tags = Array.from({ length: tagsMax }, (_, n) => tag(`${n}-`.padEnd(256, 'n'), `${n}_`.padEnd(256, 'v')))
    const metadata = keysOf(metadataKeysMax - 1) as Record<string, unknown>
    metadata['\u{1f600}'.repeat(100)] = '\u{1f600}'.repeat(500)
    const body = { agent: 'ann', to: ['pat@example.com'], subject: '', text: 'x', tags, metadata }
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { body })
    expect(await harness.getMessage('ann', id)).toMatchObject({ tags, metadata })
    expect(await list(`tag=${tags[49]?.name}:${tags[49]?.value}`)).toEqual([id])
    expect(await list(`metadata=${encodeURIComponent(`${'\u{1f600}'.repeat(100)}:${'\u{1f600}'.repeat(500)}`)}`)).toEqual([id])
  })

  test.each(['tag=a', 'tag=a:', 'tag=:b', 'tag=a:b:c', 'metadata=a', 'metadata=:a'])('the filter %s is 400', async (query) => {
    expect((await harness.api('GET', `/mailboxes/ann/messages?${query}`)).status).toBe(400)
  })

  test('changes cannot exceed the size together', async () => {
    const { id, thread_id } = await arrive('ann')
    const half = (name: string) => Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${name}${n}`, 'x'.repeat(990)]))
    for (const path of [`/mailboxes/ann/messages/${id}`, `/threads/${thread_id}`, '/identities/bob']) {
      await harness.expectApi(200, 'PATCH', path, { body: { metadata: half('a') } })
      expect((await refusal('PATCH', path, { metadata: half('b') })).message).toContain('16 KB')
      await harness.expectApi(200, 'PATCH', path, {
        body: { metadata: Object.fromEntries(Object.keys(half('a')).map((key) => [key, null])) },
      })
    }
  })

  test('the schema refuses what the API never writes', async () => {
    const { id } = await arrive('ann')
    const set = (column: string, value: unknown) =>
      harness.db.query({ text: `UPDATE messages SET ${column} = $2 WHERE id = $1`, values: [id, value] })
    for (const tags of [[], ['a'], ['a:b:c'], ['a b:c'], ['a:1', 'a:2'], ['a:'], Array.from({ length: 51 }, (_, n) => `n${n}:v`)])
      await expect(set('tags', tags)).rejects.toThrow('messages_tags')
    const texts = ['{}', '[]', '1', 'null', '{"a":null}', '{"a":{}}', `{"${'k'.repeat(101)}":1}`, JSON.stringify(keysOf(51))]
    for (const text of [...texts, JSON.stringify({ k: 'x'.repeat(metadataBytesMax) })])
      await expect(set('metadata', text)).rejects.toThrow('messages_metadata')
  })
})

describe('threads', () => {
  const update = (id: string, body: object): Promise<Json> => harness.expectApi(200, 'PATCH', `/threads/${id}`, { body })

  test('metadata is set, merged, shown and filtered by, also after the next message', async () => {
    const key = unique()
    const [one, two] = [await arrive('ann'), await arrive('bob')]
    expect(await update(one.thread_id, { metadata: { [key]: 7 }, add_labels: [key] })).toMatchObject({
      metadata: { [key]: 7 },
      labels: [key],
    })
    await update(two.thread_id, { metadata: { [key]: '7', more: true } })
    expect(await list(`metadata=${key}:7`, '/threads')).toEqual([two.thread_id, one.thread_id])
    expect(await list(`metadata=${key}:7`, '/mailboxes/ann/threads')).toEqual([one.thread_id])
    expect(await list(`metadata=${key}:7&label=${key}`, '/threads')).toEqual([one.thread_id])
    expect(await list(`metadata=${key}:7&folder=archive`, '/threads')).toEqual([])
    expect(await list(`label=${key}`, '/threads')).toEqual([one.thread_id])
    const { id } = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${one.id}/reply`, { body: { text: 'Later' } })
    expect(await list(`metadata=${key}:7&limit=1`, '/threads')).toEqual([one.thread_id])
    expect((await harness.getMessage('ann', id)).metadata).toEqual({})
    expect(await update(two.thread_id, { metadata: { [key]: null } })).toMatchObject({ metadata: { more: true } })
    expect(await list(`metadata=${key}:7`, '/threads')).toEqual([one.thread_id])
    expect(await harness.expectApi(200, 'GET', `/threads/${one.thread_id}`)).toMatchObject({ metadata: { [key]: 7 }, labels: [key] })
  })

  test('pages continue in the order of the latest message', async () => {
    const key = unique()
    const made: string[] = []
    for (let n = 0; n < 3; n++) {
      const { thread_id } = await arrive('ann')
      await update(thread_id, { metadata: { [key]: 'x' } })
      made.unshift(thread_id)
    }
    const first = await harness.expectApi(200, 'GET', `/threads?metadata=${key}:x&limit=2`)
    expect(idsOf(first)).toEqual(made.slice(0, 2))
    expect(await list(`metadata=${key}:x&limit=2&cursor=${first.next_cursor}`, '/threads')).toEqual(made.slice(2))
  })

  test('threads that become one keep the metadata of both', async () => {
    const [key, mark] = [unique(), `<${unique()}@example.org>`]
    const root = `<root${mark.slice(1)}`
    const deliver = async (subject: string, more: object) => {
      await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject, text: 'x', ...more })
      return harness.waitForMail('ann', subject)
    }
    const one = await deliver(`${key} one`, { messageId: mark })
    const two = await deliver(`${key} two`, { messageId: root })
    expect(one.thread_id).not.toBe(two.thread_id)
    await update(one.thread_id, { metadata: { [key]: 1, one: true } })
    await update(two.thread_id, { metadata: { [key]: 2, two: true } })
    const joined = await deliver(`Re: ${key}`, { messageId: `<re${mark.slice(1)}`, inReplyTo: mark, references: `${root} ${mark}` })
    const { metadata } = await harness.expectApi(200, 'GET', `/threads/${joined.thread_id}`)
    expect(metadata).toMatchObject({ one: true, two: true })
    expect(await list('metadata=one:true', '/threads')).toEqual([joined.thread_id])
    expect(await list('metadata=two:true', '/threads')).toEqual([joined.thread_id])
    expect(await list(`metadata=${key}:${metadata[key]}`, '/threads')).toEqual([joined.thread_id])
    expect(await list(`metadata=${key}:${3 - metadata[key]}`, '/threads')).toEqual([])
  })
})

describe('identities', () => {
  test('metadata is given, merged and filtered by, newest first over pages', async () => {
    const key = unique()
    const made: Json[] = []
    for (let n = 0; n < 3; n++)
      made.unshift(
        await harness.expectApi(201, 'POST', '/identities', { body: { agent_handle: `${key}_${n}`, metadata: { [key]: 'yes', n } } }),
      )
    expect(made[0]).toMatchObject({ metadata: { [key]: 'yes', n: 2 } })
    const first = await harness.expectApi(200, 'GET', `/identities?metadata=${key}:yes&limit=2`)
    expect(idsOf(first)).toEqual(made.slice(0, 2).map((one) => one.id))
    expect(await list(`metadata=${key}:yes&cursor=${first.next_cursor}`, '/identities')).toEqual([made[2]?.id])
    const changed = await harness.expectApi(200, 'PATCH', `/identities/${key}_0`, { body: { metadata: { [key]: null, n: false } } })
    expect(changed.metadata).toEqual({ n: false })
    expect(await list(`metadata=${key}:yes`, '/identities')).toEqual(made.slice(0, 2).map((one) => one.id))
    await harness.expectApi(204, 'DELETE', `/identities/${key}_1`)
    expect(await list(`metadata=${key}:yes`, '/identities')).toEqual([made[0]?.id])
    const key2 = await harness.agentKey(`${key}_2`)
    const own = await harness.expectApi(200, 'GET', `/identities?metadata=${key}:yes`, { key: key2 })
    expect(idsOf(own)).toEqual([made[0]?.id])
    const foreign = await harness.expectApi(200, 'GET', `/identities?metadata=${key}:yes`, { key: harness.otherOrganization.key })
    expect(foreign.data).toEqual([])
  })

  test('changes at the same time lose no key', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `same${n}`)
    const { id, thread_id } = await arrive('ann')
    for (const path of ['/identities/ann', `/threads/${thread_id}`, `/mailboxes/ann/messages/${id}`])
      await Promise.all(names.map((name) => harness.expectApi(200, 'PATCH', path, { body: { metadata: { [name]: 1 } } })))
    const shown = [
      await harness.expectApi(200, 'GET', '/identities/ann'),
      await harness.expectApi(200, 'GET', `/threads/${thread_id}`),
      await harness.getMessage('ann', id),
    ]
    for (const { metadata } of shown) expect(Object.keys(metadata).toSorted()).toEqual(names)
  })
})
