// The outbound guard by its modes, and the loop guard for correspondents elsewhere.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
})
afterAll(() => harness.stop())

const token = `ghp_${Buffer.from(randomBytes(64))
  .toString('base64')
  .replace(/[^A-Za-z0-9]/g, 'x')
  .slice(0, 36)}`
const guard = (handle: string, body: Json) => harness.expectApi(200, 'PATCH', `/identities/${handle}`, { body })
const flagsOf = async (id: string) => (await harness.getMessage('ann', id)).flags

test('flag is the default, sends the message, and shows the masked secret', async () => {
  expect((await harness.expectApi(200, 'GET', '/identities/ann')).outbound_guard).toBe('flag')
  const { id } = await harness.send('ann', 'ada@example.com', { text: `The token is ${token}.` })
  const flags = await flagsOf(id)
  expect(flags).toEqual([
    { type: 'api_key', reason: 'In the text, there seems to be a secret: GitHub token.', evidence: `ghp_…${token.slice(-2)}` },
  ])
  expect(await flagsOf((await harness.send('ann', 'ada@example.com')).id)).toEqual([])
})

test('subject, HTML and text attachments are searched, other files are not', async () => {
  const content = Buffer.from(`TOKEN=${token}`).toString('base64')
  const wheres = async (more: Json) =>
    (await flagsOf((await harness.send('ann', 'ada@example.com', more)).id)).map((flag: Json) => flag.reason)
  expect(await wheres({ subject: token })).toEqual([expect.stringContaining('the subject')])
  expect(await wheres({ html: `<p>${token.slice(0, 9)}<b></b>${token.slice(9)}</p>` })).toEqual([expect.stringContaining('the HTML')])
  expect(await wheres({ attachments: [{ filename: '.env', content_type: 'application/octet-stream', content }] })).toEqual([
    expect.stringContaining('the file .env'),
  ])
  expect(await wheres({ attachments: [{ filename: 'a.png', content_type: 'image/png', content }] })).toEqual([])
})

test('off searches nothing', async () => {
  await guard('ann', { outbound_guard: 'off' })
  expect(await flagsOf((await harness.send('ann', 'ada@example.com', { text: token })).id)).toEqual([])
  await guard('ann', { outbound_guard: 'flag' })
})

test('patterns of the organization are searched, and unusable ones are refused', async () => {
  const refused = await harness.api('PATCH', '/identities/ann', { body: { outbound_guard_patterns: ['fine', '(a+'] } })
  expect(refused.body.error.details[0].path).toBe('/outbound_guard_patterns/1')
  const changed = await guard('ann', { outbound_guard_patterns: ['(?i)project falcon', '(x+x+)+y'] })
  expect(changed.outbound_guard_patterns).toEqual(['(?i)project falcon', '(x+x+)+y'])
  const { id } = await harness.send('ann', 'ada@example.com', { text: `${'x'.repeat(50_000)} about Project Falcon` })
  expect((await flagsOf(id)).map((flag: Json) => flag.type)).toEqual(['custom_pattern'])
  await guard('ann', { outbound_guard_patterns: [] })
})

test('hold refuses the send, and a draft of it waits with the reason and is sent once a person approves', async () => {
  await harness.createAgent('held')
  await guard('held', { outbound_guard: 'hold' })
  const key = await harness.agentKey('held')
  const body = { to: ['ada@example.com'], subject: 'Access', text: `Use ${token}` }
  for (const by of [key, harness.organizationKey]) {
    const refused = await harness.api('POST', '/mail/send', { key: by, body: { agent: 'held', ...body } })
    expect(refused.status).toBe(403)
    expect(refused.body.error.code).toBe('approval_required')
    expect(refused.body.error.message).toContain('GitHub token')
    expect(refused.body.error.message).not.toContain(token)
  }
  await harness.send('held', 'ada@example.com')
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/held/drafts', { key, body })
  expect(draft.approval).toMatchObject({ status: 'requested', reasons: [expect.stringMatching(/GitHub token \(ghp_….{2}\)\.$/)] })
  expect((await harness.api('POST', `/mailboxes/held/drafts/${draft.id}/send`, { key })).status).toBe(403)
  const { id } = await harness.expectApi(201, 'POST', `/mailboxes/held/drafts/${draft.id}/send`, { body: { version: 1 } })
  expect((await harness.getMessage('held', id)).flags.map((flag: Json) => flag.type)).toEqual(['api_key'])
})

test('hold covers the files of a draft, its schedule, and drafts of organization keys', async () => {
  const path = '/mailboxes/held/drafts'
  const base = { to: ['ada@example.com'], subject: 'Access', text: 'See the file' }
  const file = { filename: 'keys.txt', content_type: 'text/plain', content: Buffer.from(token).toString('base64') }
  const withFile = await harness.expectApi(201, 'POST', path, { body: { ...base, attachments: [file] } })
  expect((await harness.api('POST', `${path}/${withFile.id}/send`)).body.error.code).toBe('approval_required')
  const asked = await harness.expectApi(200, 'POST', `${path}/${withFile.id}/request-approval`)
  expect(asked.approval.reasons).toEqual([expect.stringContaining('the file keys.txt')])
  await harness.expectApi(201, 'POST', `${path}/${withFile.id}/send`)
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const scheduled = await harness.api('POST', path, { body: { ...base, text: token, send_at: at } })
  expect(scheduled.body.error.code).toBe('approval_required')
})

test('replies to one correspondent elsewhere are held above 20 messages on a thread', async () => {
  await harness.createAgent('loop')
  await harness.deliver({ from: 'Eve <eve@example.org>', to: 'loop@agents.localhost', subject: 'Ping', text: 'ping' })
  const { id } = await harness.waitForMail('loop', 'Ping')
  const reply = () => harness.api('POST', `/mailboxes/loop/messages/${id}/reply`, { body: { text: 'pong' } })
  const statuses: number[] = []
  for (let index = 0; index < 20; index++) statuses.push((await reply()).status)
  expect(statuses).toEqual([...Array(19).fill(201), 403])
  const held = await reply()
  expect(held.body.error.code).toBe('approval_required')
  expect(held.body.error.message).toContain('More than 20 messages with eve@example.org on this thread in 600 seconds.')
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/loop/drafts', {
    key: await harness.agentKey('loop'),
    body: { in_reply_to: id, text: 'pong' },
  })
  expect(draft.approval.reasons).toEqual([expect.stringContaining('eve@example.org')])
  await harness.send('loop', 'eve@example.org')
})
