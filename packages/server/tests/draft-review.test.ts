// Review of drafts by people. Covers earlier versions, and rejection with a reason.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let key: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann', { draft_approval: 'required' })
  await harness.createAgent('ben')
  key = await harness.agentKey('ann')
})
afterAll(() => harness.stop())

const drafts = '/mailboxes/ann/drafts'
const create = (body: unknown): Promise<Json> => harness.expectApi(201, 'POST', drafts, { key, body })

test('earlier versions are listed newest first, with their writer', async () => {
  const { id } = await create({ to: ['ada@example.com'], subject: 'One', text: 'first' })
  expect((await harness.expectApi(200, 'GET', `${drafts}/${id}/versions`)).data).toEqual([])
  await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { body: { text: 'second' } })
  await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { key, body: { subject: 'Two' } })
  const { data } = await harness.expectApi(200, 'GET', `${drafts}/${id}/versions`, { key })
  expect(data).toMatchObject([
    { version: 2, subject: 'One', text: 'second', written_by: 'organization' },
    { version: 1, to: ['ada@example.com'], subject: 'One', text: 'first', written_by: 'agent' },
  ])
})

test('the last 20 versions are kept, and none above 256 KB', async () => {
  const { id } = await create({ text: 'v1' })
  for (let version = 2; version <= 24; version++)
    await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { key, body: { text: `v${version}` } })
  const { data } = await harness.expectApi(200, 'GET', `${drafts}/${id}/versions`)
  expect(data.map((one: Json) => one.version)).toEqual(Array.from({ length: 20 }, (_, index) => 23 - index))

  const large = await create({ text: 'x'.repeat(256 * 1024 + 1) })
  await harness.expectApi(200, 'PATCH', `${drafts}/${large.id}`, { key, body: { text: 'short' } })
  expect((await harness.expectApi(200, 'GET', `${drafts}/${large.id}/versions`)).data).toEqual([])
})

test('rejection deletes the draft with its versions and reports the reason', async () => {
  const { id } = await create({ to: ['ada@example.com'], subject: 'Offer', text: 'first' })
  await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { key, body: { text: 'second' } })
  const rejected = await harness.expectApi(200, 'POST', `${drafts}/${id}/reject`, { body: { version: 2, reason: 'Wrong date.' } })
  expect(rejected).toEqual({ id, rejected: true })
  expect((await harness.api('GET', `${drafts}/${id}`)).status).toBe(404)
  expect((await harness.api('GET', `${drafts}/${id}/versions`)).status).toBe(404)
  expect((await harness.api('POST', `${drafts}/${id}/reject`, { body: {} })).status).toBe(404)
  const { data } = await harness.expectApi(200, 'GET', '/events?types=draft.rejected', { key })
  expect(data.at(-1).data).toMatchObject({
    id,
    version: 2,
    reason: 'Wrong date.',
    to: ['ada@example.com'],
    subject: 'Offer',
    agent_handle: 'ann',
  })
  const kept = await harness.db.query({ text: 'SELECT 1 FROM draft_versions WHERE draft_id = $1', values: [id] })
  expect(kept.rowCount).toBe(0)
})

test('a rejection of another version, by the agent, or in another mailbox changes nothing', async () => {
  const { id } = await create({ text: 'first' })
  const reject = (path: string, ask: Json) => harness.api('POST', `${path}/${id}/reject`, ask)
  expect((await reject(drafts, { body: { version: 2 } })).body.error.code).toBe('draft_version_conflict')
  expect((await reject(drafts, { key, body: {} })).status).toBe(403)
  expect((await reject('/mailboxes/ben/drafts', {})).status).toBe(404)
  expect((await reject(drafts, { key: harness.otherOrganization.key, body: {} })).status).toBe(404)
  expect((await harness.api('GET', `${drafts}/${id}`)).status).toBe(200)
  expect(await harness.eventsOf(id)).toEqual([])
})
