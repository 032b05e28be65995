// Events of changed labels: by every operation that changes them, for messages whose labels differ only, and without the content of a message.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  for (const handle of ['ann', 'bob']) await harness.createAgent(handle)
})
afterAll(() => harness?.stop())

const arrive = async (handle: string, subject: string): Promise<Json> => {
  await harness.deliver({ from: 'eve@example.org', to: `${handle}@agents.localhost`, subject, text: subject })
  return harness.waitForMail(handle, subject)
}

const events = async (query = ''): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/events?types=email.labels_changed&limit=100${query}`)).data

/** The changes of one message, oldest first, each as `+added -removed`. */
const changesOf = async (id: string): Promise<string[]> =>
  (await events())
    .filter(({ data }) => data.id === id)
    .map(({ data: { added, removed } }) =>
      [...added.map((label: string) => `+${label}`), ...removed.map((label: string) => `-${label}`)].join(' '),
    )

test('a change of one message names what was added and removed, and a change of nothing writes no event', async () => {
  const { id, thread_id, mailbox_id } = await arrive('ann', 'One')
  const change = (body: object) => harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${id}`, { body })
  await change({ is_read: true, is_starred: true, add_labels: ['b', 'a'] })
  await change({ is_read: true, add_labels: ['a'], metadata: { order: '1' } })
  await change({ labels: ['c', 'a'], is_starred: false })
  expect(await changesOf(id)).toEqual(['+a +b +read +starred -unread', '+c -b -starred'])
  const [event] = await events('&agent=ann&order=desc')
  expect(event?.data).toEqual({
    id,
    thread_id,
    mailbox_id,
    added: ['c'],
    removed: ['b', 'starred'],
    agent_handle: 'ann',
    agent_identity_id: expect.any(String),
  })
})

test('the trash and threads change labels too, and sent messages are neither read nor unread', async () => {
  const { id, thread_id } = await arrive('ann', 'Two')
  const reply = await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${id}/reply`, { body: { text: 'Yes.' } })
  const thread = (body: object) => harness.expectApi(200, 'PATCH', `/threads/${thread_id}`, { body })
  await thread({ is_read: true })
  await thread({ is_read: true })
  await thread({ folder: 'trash' })
  await harness.expectApi(200, 'POST', `/threads/${thread_id}/restore`)
  await harness.expectApi(200, 'POST', `/mailboxes/ann/messages/${id}/trash`)
  await harness.expectApi(200, 'POST', `/mailboxes/ann/messages/${id}/trash`)
  await harness.expectApi(200, 'POST', `/mailboxes/ann/messages/${id}/restore`)
  expect(await changesOf(id)).toEqual(['+read -unread', '+trash', '-trash', '+trash', '-trash'])
  await harness.expectApi(200, 'DELETE', `/threads/${thread_id}`)
  await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${reply.id}`, { body: { is_read: false } })
  expect(await changesOf(reply.id)).toEqual(['+trash', '-trash', '+trash'])
})

test('a batch over several mailboxes is written once, newest first in pages', async () => {
  const [first, second] = [await arrive('ann', 'Three'), await arrive('bob', 'Three')]
  const ids = [first.id, second.id]
  await harness.expectApi(200, 'PATCH', '/mail/messages', { body: { ids, is_read: true } })
  await harness.expectApi(200, 'PATCH', '/mail/messages', { body: { ids, is_read: true, is_trashed: true } })
  expect([await changesOf(first.id), await changesOf(second.id)]).toEqual([
    ['+read -unread', '+trash'],
    ['+read -unread', '+trash'],
  ])
  const all = await events()
  const paged: Json[] = []
  for (let cursor = ''; ; ) {
    const page = await harness.expectApi(200, 'GET', `/events?types=email.labels_changed&order=desc&limit=3${cursor}`)
    paged.push(...page.data)
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  expect(paged).toEqual(all.toReversed())
  expect(await events('&agent=bob&order=desc')).toEqual(paged.filter(({ data }) => data.agent_handle === 'bob'))
  const since = all[1]?.timestamp
  const late = await harness.expectApi(
    200,
    'GET',
    `/events?order=desc&limit=1&since=${new Date(Date.parse(since) + 3_600_000).toISOString()}`,
  )
  expect(late.data).toEqual([])
})

test('the event of a quarantined message shows nothing of its content', async () => {
  const body = { direction: 'inbound', action: 'block', entry: 'mallory@example.org' }
  await harness.expectApi(201, 'POST', '/identities/ann/mail-rules', { body })
  await harness.deliver({ from: 'mallory@example.org', to: 'ann@agents.localhost', subject: 'Held', text: 'Secret body' })
  const held = await harness.waitForMail('ann', 'Held', 'quarantined')
  await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${held.id}`, { body: { is_read: true } })
  const { data } = await harness.expectApi(200, 'GET', '/events?order=desc&limit=1', { key: await harness.agentKey('ann') })
  expect(Object.keys(data[0].data).toSorted()).toEqual([
    'added',
    'agent_handle',
    'agent_identity_id',
    'id',
    'mailbox_id',
    'removed',
    'thread_id',
  ])
})

test('`*` of a webhook in the format of another service leaves the event out, and its name does not', async () => {
  const create = async (format: string, events: string[]): Promise<string> =>
    (await harness.expectApi(201, 'POST', '/webhooks', { body: { url: 'http://127.0.0.1:60999/hook', events, format } })).id
  const [own, resend, agentMail, named] = [
    await create('callsign', ['*']),
    await create('resend', ['*']),
    await create('agentmail', ['*']),
    await create('resend', ['email.labels_changed']),
  ]
  const { id } = await arrive('ann', 'Hooked')
  await harness.expectApi(200, 'PATCH', `/mailboxes/ann/messages/${id}`, { body: { is_read: true } })
  const typesOf = async (webhook: string): Promise<string[]> =>
    (await harness.expectApi(200, 'GET', `/webhooks/${webhook}/deliveries`)).data.map((one: Json) => one.event_type).toSorted()
  const [received, changed] = ['email.received', 'email.labels_changed']
  expect(await Promise.all([own, resend, agentMail, named].map(typesOf))).toEqual([[changed, received], [received], [received], [changed]])
})
