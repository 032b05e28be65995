// Lists of scopes are stored whole, so that one list means the same from every edge.
import { defaultAgentScopes } from '@callsign/contract/scopes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('box')
})
afterAll(() => harness.stop())

/** An inbox key of AgentMail's API with these permissions. */
async function agentMailKey(...names: string[]): Promise<{ api_key: string; permissions: Json }> {
  const response = await fetch(`${harness.baseUrl}/compat/agentmail/v0/inboxes/box@agents.localhost/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Reader', permissions: Object.fromEntries(names.map((name) => [name, true])) }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as { api_key: string; permissions: Json }
}
const native = async (body: object): Promise<Json> =>
  harness.expectApi(201, 'POST', '/keys', { body: { name: 'Native', type: 'agent', agent_handle: 'box', ...body } })
const send = async (key: string) =>
  (await harness.api('POST', '/mail/send', { key, body: { agent: 'box', to: ['ada@park.example'], subject: 'x', text: 'x' } })).status
const statusesOf = async (key: string): Promise<Record<string, number>> => ({
  read: (await harness.api('GET', '/mailboxes/box/messages', { key })).status,
  quarantine: (await harness.api('GET', '/mailboxes/box/messages?status=quarantined', { key })).status,
  send: await send(key),
})
const storedOf = async (key: string): Promise<string[]> => (await harness.expectApi(200, 'GET', '/me', { key })).key.scopes

test('a key of AgentMail with two permissions has their scope and no other', async () => {
  const made = await agentMailKey('label_blocked_read', 'label_unauthenticated_read')
  expect(made.permissions).toEqual({ label_blocked_read: true, label_unauthenticated_read: true })
  expect(await statusesOf(made.api_key)).toMatchObject({ read: 403, send: 403 })
  expect(await storedOf(made.api_key)).toEqual(['quarantine:read'])
})

test('a key of AgentMail with permissions for mail works as before', async () => {
  const { api_key } = await agentMailKey('message_read', 'message_send', 'label_blocked_read', 'label_unauthenticated_read')
  expect(await statusesOf(api_key)).toEqual({ read: 200, quarantine: 200, send: 201 })
})

test('a native key with these scopes alone has the default of agents too, and its list says so', async () => {
  for (const scopes of [['vault:read'], ['quarantine:read'], ['vault:read', 'quarantine:read']]) {
    const { key, scopes: stored } = await native({ scopes })
    expect(stored).toEqual([...defaultAgentScopes, ...scopes])
    expect(await storedOf(key)).toEqual(stored)
    expect(await send(key)).toBe(201)
  }
})

test('the preset none leaves a list as it is', async () => {
  for (const scopes of [['vault:read'], ['quarantine:read'], ['mail:read']]) {
    const { key, scopes: stored } = await native({ scopes, preset: 'none' })
    expect(stored).toEqual(scopes)
    expect(await send(key)).toBe(403)
  }
  for (const body of [{ preset: 'none' }, { preset: 'none', scopes: [] }]) {
    const refused = await harness.api('POST', '/keys', { body: { name: 'x', type: 'agent', agent_handle: 'box', ...body } })
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, '/scopes'])
  }
})
