// Mail rules and modes of every agent of an organization.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'ben']) await harness.createAgent(handle)
})
afterAll(() => harness?.stop())

const rules = '/identities/*/mail-rules'
const addRule = (rule: Json, path = rules) =>
  harness.expectApi(201, 'POST', path, { body: { direction: 'both', action: 'block', ...rule } })
const own = (handle: string) => `/identities/${handle}/mail-rules`

let mails = 0
/** The decision on a message from this author to an agent. */
async function arrive(handle: string, from: string): Promise<Json> {
  const subject = `Mail ${++mails}`
  await harness.deliver({ from, to: `${handle}@agents.localhost`, subject, text: 'x' })
  const received = `/mailboxes/${handle}/messages?limit=1`
  for (;;)
    for (const status of ['received', 'quarantined']) {
      const { data } = await harness.expectApi(200, 'GET', `${received}&status=${status}`)
      if (data[0]?.subject === subject) return data[0].guardrail
    }
}

const send = (agent: string, to: string) => harness.api('POST', '/mail/send', { body: { agent, to: [to], subject: 'x', text: 'x' } })

test('a rule of every agent holds for each, and has no agent', async () => {
  const rule = await addRule({ entry: 'evil.example', reason: 'Scams' })
  expect(rule).toMatchObject({ agent_handle: null, entry: 'evil.example' })
  for (const handle of ['ann', 'ben']) {
    expect(await arrive(handle, 'eve@evil.example')).toMatchObject({ decision: 'quarantined', rule_id: rule.id })
    const refused = await send(handle, 'eve@evil.example')
    expect([refused.status, refused.body.error.code]).toEqual([403, 'recipient_not_allowed'])
  }
  expect((await harness.expectApi(200, 'GET', own('ann'))).data).toEqual([])
  expect((await harness.expectApi(200, 'GET', rules)).data).toMatchObject([{ id: rule.id }])
  expect((await harness.api('POST', rules, { body: { direction: 'inbound', action: 'allow', entry: 'evil.example' } })).status).toBe(409)
  await harness.expectApi(200, 'PATCH', `${rules}/${rule.id}`, { body: { status: 'paused' } })
  expect((await send('ann', 'eve@evil.example')).status).toBe(201)
  await harness.expectApi(200, 'DELETE', `${rules}/${rule.id}`)
  expect((await harness.api('GET', `${rules}/${rule.id}`)).status).toBe(404)
})

test('the own rule of an agent for the same entry decides first, and a more exact entry before both', async () => {
  await addRule({ entry: 'mixed.example' })
  const exact = await addRule({ entry: 'mallory@mixed.example' })
  const exception = await addRule({ entry: 'mixed.example', action: 'allow' }, own('ann'))
  expect((await send('ann', 'ada@mixed.example')).status).toBe(201)
  expect((await send('ben', 'ada@mixed.example')).status).toBe(403)
  const refused = await send('ann', 'mallory@mixed.example')
  expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining(exact.id)])
  await harness.expectApi(200, 'DELETE', `${own('ann')}/${exception.id}`)
  expect((await send('ann', 'ada@mixed.example')).status).toBe(403)
})

test('an agent reads the rules of every agent and does not change them, and another organization has its own', async () => {
  const rule = await addRule({ entry: 'seen.example' })
  const key = await harness.agentKey('ann')
  const { data } = await harness.expectApi(200, 'GET', `${rules}?entry=seen.example`, { key })
  expect(data).toMatchObject([{ id: rule.id }])
  for (const [method, path] of [
    ['POST', rules],
    ['PATCH', `${rules}/${rule.id}`],
    ['DELETE', `${rules}/${rule.id}`],
  ] as const) {
    const body =
      method === 'POST' ? { direction: 'both', action: 'allow', entry: 'x.example' } : method === 'PATCH' ? { action: 'allow' } : undefined
    expect((await harness.api(method, path, { key, body })).status).toBe(403)
  }
  const other = { key: harness.otherOrganization.key }
  expect((await harness.expectApi(200, 'GET', rules, other)).data).toEqual([])
  expect((await harness.api('GET', `${rules}/${rule.id}`, other)).status).toBe(404)
  expect((await harness.api('DELETE', `${rules}/${rule.id}`, other)).status).toBe(404)
})

test('the mode allowlist of the organization is that of every agent', async () => {
  const modes = (body: Json) => harness.expectApi(200, 'PATCH', '/organization', { body })
  expect(await modes({ outbound_mode: 'allowlist' })).toMatchObject({ inbound_mode: 'open', outbound_mode: 'allowlist' })
  expect((await send('ann', 'ada@other.example')).status).toBe(403)
  await addRule({ entry: 'other.example', action: 'allow', direction: 'outbound' })
  for (const handle of ['ann', 'ben']) expect((await send(handle, 'ada@other.example')).status).toBe(201)
  expect(await modes({ outbound_mode: 'open', inbound_mode: 'allowlist' })).toMatchObject({
    inbound_mode: 'allowlist',
    outbound_mode: 'open',
  })
  expect(await arrive('ben', 'ada@third.example')).toMatchObject({ decision: 'quarantined', basis: 'mode' })
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=1')
  expect(data).toMatchObject([{ action: 'organization.modes_changed', details: { inbound_mode: 'allowlist', outbound_mode: 'open' } }])
  await modes({ inbound_mode: 'open' })
  expect(await arrive('ben', 'ada@third.example')).toMatchObject({ decision: 'allowed', basis: 'mode' })
})
