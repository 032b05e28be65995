// Drafts through the client, against the real server.
import { operations } from '@callsign/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { Callsign } from '../src/index.ts'
import { createWire } from './wire.ts'

let harness: Harness
let client: Callsign
const wire = createWire()
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey, fetch: wire.fetch })
})
afterAll(() => harness.stop())

test('a draft has versions, and the second of two changes to one version is rejected', async () => {
  const draft = await client.drafts.create('ann', { to: 'x@example.com', subject: 'Offer' })
  expect(draft).toMatchObject({ version: 1, to: ['x@example.com'], subject: 'Offer', text: null })
  expect(await client.drafts.get('ann', draft.id)).toEqual(draft)
  expect(await client.drafts.update('ann', draft.id, { version: 1, text: 'Words', subject: null })).toMatchObject({
    version: 2,
    text: 'Words',
    subject: null,
    to: ['x@example.com'],
  })
  const late = client.drafts.update('ann', draft.id, { version: 1, text: 'Other words' })
  await expect(late).rejects.toMatchObject({ status: 409, code: 'draft_version_conflict' })
  expect(await client.drafts.delete('ann', draft.id)).toEqual({ id: draft.id, deleted: true })
  await expect(client.drafts.get('ann', draft.id)).rejects.toMatchObject({ status: 404 })
})

test('files are added, listed and removed, each a new version', async () => {
  const { id } = await client.drafts.create('ann')
  const file = (filename: string) => ({ filename, content: Buffer.from(filename).toString('base64') })
  const added = await client.drafts.attachments.add('ann', id, [file('a.txt'), file('b.txt')], { version: 1 })
  expect([added.version, added.has_attachments]).toEqual([2, true])
  const files = await client.drafts.attachments.list('ann', id)
  expect(files.map((one) => [one.filename, one.size_bytes])).toEqual([
    ['a.txt', 5],
    ['b.txt', 5],
  ])
  const again = client.drafts.attachments.add('ann', id, [file('c.txt')], { version: 1 })
  await expect(again).rejects.toMatchObject({ code: 'draft_version_conflict' })
  const left = await client.drafts.attachments.remove('ann', id, [files[0]?.id as string])
  expect([left.version, left.attachments.map((one) => one.filename)]).toEqual([3, ['b.txt']])
  await client.drafts.delete('ann', id)
})

test('a draft is sent once, the same key gets the same answer, another key is rejected, and an outdated version is not sent', async () => {
  const draft = await client.drafts.create('ann', { to: 'x@example.com', subject: 'Once', text: 'Words' })
  await expect(client.drafts.send('ann', draft.id, { version: 2 })).rejects.toMatchObject({ code: 'draft_version_conflict' })
  const idempotencyKey = 'drafts-once'
  const sent = await client.drafts.send('ann', draft.id, { version: 1 }, { idempotencyKey })
  expect(sent.status).toBe('sent')
  expect(await client.drafts.send('ann', draft.id, { version: 1 }, { idempotencyKey })).toEqual(sent)
  await expect(client.drafts.send('ann', draft.id)).rejects.toMatchObject({ status: 409, code: 'draft_send_in_progress' })
  expect(await client.messages.get('ann', sent.id)).toMatchObject({ subject: 'Once', thread_id: sent.thread_id })
  const { data } = await client.messages.list('ann', { direction: 'outbound' })
  expect(data.map((one) => one.id)).toEqual([sent.id])
})

test('a send whose answer is lost is repeated under the same key and returns the first message', async () => {
  const draft = await client.drafts.create('ann', { to: 'x@example.com', subject: 'Lost answer', text: 'Words' })
  let first: { id: string } | undefined
  wire.tamper = (sent, body) => {
    if (first || !sent.path.endsWith('/send')) return body
    first = body
    return new Response('', { status: 502 })
  }
  const sent = await client.drafts.send('ann', draft.id).finally(() => {
    wire.tamper = undefined
  })
  expect(sent.id).toMatch(/^msg_/)
  expect(sent).toEqual(first)
})

test('lists are read in pages by offset, and completely', async () => {
  await client.identities.create({ agent_handle: 'bob' })
  expect(await client.drafts.all('bob')).toEqual([])
  const created: string[] = []
  for (let i = 0; i < 52; i++) created.unshift((await client.drafts.create('bob', { subject: `Draft ${i}` })).id)
  const page = await client.drafts.list('bob', { limit: 2, offset: 1 })
  expect([page.count, page.limit, page.offset]).toEqual([52, 2, 1])
  expect(page.drafts.map((one) => one.id)).toEqual(created.slice(1, 3))
  const before = wire.sent.length
  expect((await client.drafts.all('bob')).map((one) => one.id)).toEqual(created)
  expect(wire.sent.slice(before).map((one) => one.query)).toEqual(['?offset=0', '?offset=50'])
})

test("under draft approval an agent's own key writes, and an organization key sends or schedules", async () => {
  await harness.createAgent('carl', { draft_approval: 'required' })
  const agent = new Callsign({ url: harness.baseUrl, apiKey: await harness.agentKey('carl'), fetch: wire.fetch })
  const { id } = await agent.drafts.create('carl', { to: 'x@example.com', text: 'Words' })
  await expect(agent.drafts.send('carl', id)).rejects.toMatchObject({ status: 403, code: 'approval_required' })
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  await expect(agent.drafts.update('carl', id, { send_at })).rejects.toMatchObject({ code: 'approval_required' })
  expect((await client.drafts.update('carl', id, { send_at })).send_at).toBe(send_at)
  await expect(agent.drafts.update('carl', id, { text: 'Other words' })).rejects.toMatchObject({ code: 'approval_required' })
  expect((await client.drafts.send('carl', id, { version: 2 })).status).toBe('sent')
})

test('every request is in the contract', () => {
  const known = operations.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace('/api/v1', '').replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  expect(wire.sent.length).toBeGreaterThan(50)
  expect(wire.sent.filter(({ method, path }) => !known.some((one) => one.method === method && one.pattern.test(path)))).toEqual([])
})
