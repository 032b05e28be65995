// Roles of members in the API: decisions of a reviewer, and a change of role.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signInMembers } from './harness/members.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let tokens: Map<string, string>

beforeAll(async () => {
  harness = await startHarness()
  tokens = await signInMembers(harness)
})
afterAll(() => harness.stop())

describe('a reviewer', () => {
  const draftOf = async (handle: string, key = harness.organizationKey) => {
    const body = { to: ['ada@park.example'], subject: 'A draft', text: 'As written' }
    return (await harness.expectApi(201, 'POST', `/mailboxes/${handle}/drafts`, { key, body })).id
  }
  const decide = async (method: string, path: string, body?: object) =>
    (await harness.api(method, path, { key: tokens.get('reviewer') as string, ...(body && { body }) })).status

  test('decides on drafts that wait for approval, and sends them unchanged', async () => {
    await harness.createAgent('reviewed', { draft_approval: 'required' })
    const key = await harness.agentKey('reviewed')
    const drafts = '/mailboxes/reviewed/drafts'
    const [sent, rejected, deleted] = [await draftOf('reviewed', key), await draftOf('reviewed', key), await draftOf('reviewed', key)]
    for (const change of [{ to: ['eve@evil.example'] }, { subject: 'Other' }, { text: 'Other' }])
      expect(await decide('POST', `${drafts}/${sent}/send`, { version: 1, ...change })).toBe(403)
    expect(await decide('POST', `${drafts}/${sent}/send`, { version: 1 })).toBe(201)
    expect(await decide('POST', `${drafts}/${rejected}/reject`, { reason: 'No' })).toBe(200)
    expect(await decide('POST', `${drafts}/${deleted}/request-approval`)).toBe(200)
    expect(await decide('DELETE', `${drafts}/${deleted}`)).toBe(200)
  })

  test('decides on no other draft, and cannot make one wait', async () => {
    await harness.createAgent('trusted')
    const others = [
      `trusted/drafts/${await draftOf('trusted')}`,
      `trusted/drafts/${await draftOf('trusted', await harness.agentKey('trusted'))}`,
      `reviewed/drafts/${await draftOf('reviewed')}`,
    ]
    for (const path of others.map((other) => `/mailboxes/${other}`)) {
      expect(await decide('POST', `${path}/send`, { version: 1 })).toBe(403)
      expect(await decide('POST', `${path}/reject`)).toBe(403)
      expect(await decide('POST', `${path}/request-approval`)).toBe(403)
      expect(await decide('DELETE', path)).toBe(403)
      expect((await harness.expectApi(200, 'GET', path)).subject).toBe('A draft')
    }
  })
})

test('a change of role holds on the next request', async () => {
  const operator = tokens.get('operator') as string
  expect((await harness.api('GET', '/vault/secrets', { key: operator })).status).not.toBe(403)
  await harness.db.query({ text: "UPDATE users SET role = 'reviewer' WHERE id = 'user_operator'" })
  expect((await harness.api('GET', '/vault/secrets', { key: operator })).status).toBe(403)
  expect((await harness.expectApi(200, 'GET', '/me', { key: operator })).role).toBe('reviewer')
})
