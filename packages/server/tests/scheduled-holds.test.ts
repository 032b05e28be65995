// Scheduled drafts obey the limits and holds of every other send: those of the key that scheduled them, of the outbound guard and of the loop guard.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
const draftsOf = (handle: string) => `/mailboxes/${handle}/drafts`
const schedule = (handle: string, body: Json, key = harness.organizationKey): Promise<Json> =>
  harness.expectApi(201, 'POST', draftsOf(handle), { key, body: { send_at: inAnHour(), ...body } })

/** Ends the wait of scheduled drafts, as if their hour had passed, and returns what remains of each when its job has run. Null for a sent one. */
async function runJobs(handle: string, drafts: Json[]): Promise<(Json | null)[]> {
  await harness.makeDraftsDue(...drafts.map(({ id }) => id))
  return Promise.all(
    drafts.map(({ id }) =>
      waitFor('the job of a scheduled draft', async () => {
        const { status, body } = await harness.api('GET', `${draftsOf(handle)}/${id}`)
        return status === 404 ? { rest: null } : body.send_at === null && { rest: body }
      }).then(({ rest }) => rest),
    ),
  )
}

test('a scheduled draft counts for the key that scheduled it, and for that of a later change', async () => {
  await harness.createAgent('keyed')
  const [first, second] = [await harness.agentKey('keyed'), await harness.agentKey('keyed')]
  await harness.expectApi(200, 'PATCH', '/organization', { body: { key_sending_limits: { messages_per_day: 1 } } })
  try {
    const body = { to: ['ada@example.com'], subject: 'Later', text: 'Hello' }
    const [sent] = await runJobs('keyed', [await schedule('keyed', body, first)])
    expect(sent).toBeNull()
    const [refused] = await runJobs('keyed', [await schedule('keyed', body, first)])
    expect(refused?.send_error).toContain('key_sending_limits allow 1 for messages_per_day')
    const path = `${draftsOf('keyed')}/${refused?.id}`
    await harness.expectApi(200, 'PATCH', path, { key: second, body: { send_at: inAnHour() } })
    expect(await runJobs('keyed', [refused as Json])).toEqual([null])
    const direct = await harness.api('POST', '/mail/send', { key: second, body: { agent: 'keyed', ...body } })
    expect(direct.body.error.details[0].limit).toMatchObject({ scope: 'key', left: 0 })
  } finally {
    await harness.expectApi(200, 'PATCH', '/organization', { body: { key_sending_limits: { messages_per_day: null } } })
  }
})

test('a held file of a scheduled draft waits for approval, and is sent at its new time once a person approves', async () => {
  await harness.createAgent('held')
  await harness.expectApi(200, 'PATCH', '/identities/held', { body: { outbound_guard: 'hold' } })
  const token = `ghp_${randomBytes(18).toString('hex')}`
  const file = { filename: 'keys.txt', content_type: 'text/plain', content: Buffer.from(token).toString('base64') }
  const body = { to: ['ada@example.com'], subject: 'Access', text: 'See the file', attachments: [file] }
  for (const key of [harness.organizationKey, await harness.agentKey('held')]) {
    const [held] = await runJobs('held', [await schedule('held', body, key)])
    expect(held?.approval).toMatchObject({ status: 'requested', reasons: [expect.stringContaining('the file keys.txt')] })
    expect(held?.send_error).toContain('GitHub token')
    const { data } = await harness.expectApi(200, 'GET', '/events?types=draft.approval_requested')
    expect(data.filter((event: Json) => event.data.id === held?.id)).toMatchObject([{ data: { version: held?.version } }])
    const path = `${draftsOf('held')}/${held?.id}`
    await harness.expectApi(200, 'PATCH', path, { body: { version: held?.version, send_at: inAnHour() } })
    expect(await runJobs('held', [held as Json])).toEqual([null])
  }
})

test('approval ends with the next change of a scheduled draft', async () => {
  const token = `ghp_${randomBytes(18).toString('hex')}`
  const key = await harness.agentKey('held')
  const body = { to: ['ada@example.com'], subject: 'Access', text: 'Hello' }
  const made = await harness.expectApi(201, 'POST', draftsOf('held'), { key, body })
  const path = `${draftsOf('held')}/${made.id}`
  await harness.expectApi(200, 'POST', `${path}/request-approval`, { key })
  await harness.expectApi(200, 'PATCH', path, { body: { send_at: inAnHour() } })
  const file = { filename: 'keys.txt', content_type: 'text/plain', content: Buffer.from(token).toString('base64') }
  await harness.expectApi(200, 'PATCH', path, { key, body: { add_attachments: [file] } })
  const [held] = await runJobs('held', [made])
  expect(held?.approval?.reasons).toEqual([expect.stringContaining('the file keys.txt')])
})

test('approval that is required later holds what was scheduled without the right to approve, and nothing else', async () => {
  await harness.createAgent('later')
  const scopes = ['mail:send', 'drafts:read', 'drafts:write']
  const { key: writer } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Writer', type: 'organization', scopes } })
  const agent = await harness.agentKey('later')
  const body = { to: ['ada@example.com'], subject: 'Later', text: 'Hello' }
  const drafts = [await schedule('later', body, writer), await schedule('later', body, agent), await schedule('later', body)]
  // A change by a key without the right makes it the key's schedule.
  const changed = await schedule('later', body)
  await harness.expectApi(200, 'PATCH', `${draftsOf('later')}/${changed.id}`, { key: writer, body: { text: 'Changed' } })
  await harness.expectApi(200, 'PATCH', '/identities/later', { body: { draft_approval: 'required' } })
  const [byWriter, byAgent, byOrganization, byChange] = await runJobs('later', [...drafts, changed])
  for (const held of [byWriter, byAgent, byChange]) expect(held?.approval?.status).toBe('requested')
  expect(byOrganization).toBeNull()
})

test('scheduled replies to one correspondent elsewhere are held above 20', async () => {
  await harness.createAgent('patient')
  await harness.deliver({ from: 'Bot <bot@example.net>', to: 'patient@agents.localhost', subject: 'Ping', text: 'ping' })
  const { id } = await harness.waitForMail('patient', 'Ping')
  const key = await harness.agentKey('patient')
  const drafts: Json[] = []
  for (let index = 0; index < 22; index++) drafts.push(await schedule('patient', { in_reply_to: id, text: 'pong' }, key))
  const rest = await runJobs('patient', drafts)
  const held = rest.filter((one) => one !== null)
  expect(held.length).toBeGreaterThanOrEqual(2)
  for (const one of held) expect(one.approval.reasons).toEqual([expect.stringContaining('bot@example.net')])
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/patient/messages?direction=outbound&limit=50')
  expect(data.length + held.length).toBe(22)
  expect(data.length).toBeLessThanOrEqual(20)
  expect(data.length).toBeGreaterThanOrEqual(19)
})
