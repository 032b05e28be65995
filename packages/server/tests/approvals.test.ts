// Requests for approval: their events, their end, the queue of an organization, and the one-time link.
import { fetch, type RequestInit } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let key: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann', { draft_approval: 'required', display_name: 'Ann' })
  await harness.createAgent('ben')
  key = await harness.agentKey('ann')
})
afterAll(() => harness.stop())

const drafts = '/mailboxes/ann/drafts'
const complete = { to: ['ada@example.com'], subject: 'Offer', text: 'Ten apples' }
const create = (body: Json = complete): Promise<Json> => harness.expectApi(201, 'POST', drafts, { key, body })
const typesOf = async (id: string) => (await harness.eventsOf(id)).map(({ type }) => type)
const linkOf = async (id: string): Promise<string> => (await harness.expectApi(200, 'POST', `${drafts}/${id}/approval-link`)).url
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

async function open(url: string, form?: Record<string, string>): Promise<{ status: number; html: string; headers: Headers }> {
  const init: RequestInit = form ? { method: 'POST', body: new URLSearchParams(form).toString() } : {}
  if (form) init.headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await fetch(url.replace(/^https?:\/\/[^/]+/, harness.baseUrl), init)
  return { status: response.status, html: await response.text(), headers: response.headers as unknown as Headers }
}

/** The draft's request as the organization sees it in the event log. */
async function requestedEvent(id: string, ask: Json = {}): Promise<Json> {
  const { data } = await harness.expectApi(200, 'GET', '/events?types=draft.approval_requested&limit=100', ask)
  return data.filter((one: Json) => one.data.id === id).at(-1)
}

test('a complete draft of the agent waits, and an incomplete one does not', async () => {
  const partial = await create({ subject: 'Offer' })
  expect(partial.approval).toBeNull()
  expect(await typesOf(partial.id)).toEqual([])
  const whole = await harness.expectApi(200, 'PATCH', `${drafts}/${partial.id}`, {
    key,
    body: { to: 'ada@example.com', text: 'Ten apples' },
  })
  expect(whole.approval).toMatchObject({ status: 'requested', reasons: [] })
  expect(Date.parse(whole.approval.expires_at) - Date.parse(whole.approval.requested_at)).toBe(72 * 3_600_000)
  expect(await typesOf(partial.id)).toEqual(['draft.approval_requested'])
  await harness.expectApi(200, 'DELETE', `${drafts}/${partial.id}`)
})

test('deleting a waiting draft ends its request with an event, and deleting another draft has none', async () => {
  const waiting = await create()
  await harness.expectApi(200, 'DELETE', `${drafts}/${waiting.id}`, { key })
  const events = await harness.eventsOf(waiting.id)
  expect(events.map(({ type }) => type)).toEqual(['draft.approval_requested', 'draft.rejected'])
  expect(events[1]?.data).toMatchObject({ reason: 'The draft was deleted.', decided_by: 'key' })
  await harness.api('DELETE', `${drafts}/${waiting.id}`, { key })
  expect(await typesOf(waiting.id)).toHaveLength(2)
  const partial = await create({ subject: 'Offer' })
  await harness.expectApi(200, 'DELETE', `${drafts}/${partial.id}`, { key })
  expect(await typesOf(partial.id)).toEqual([])
})

test('an agent key does not get the link of the event', async () => {
  const { id } = await create()
  const seen = await requestedEvent(id)
  expect(seen.data).toMatchObject({ id, version: 1, to: ['ada@example.com'], subject: 'Offer', agent_handle: 'ann' })
  expect(seen.data.approval_url).toBe(await linkOf(id))
  const own = await requestedEvent(id, { key })
  expect(own.data.version).toBe(1)
  expect(JSON.stringify(own)).not.toContain('approve/')
  expect(JSON.stringify(own)).not.toContain('apl_')
  expect((await harness.api('POST', `${drafts}/${id}/approval-link`, { key })).status).toBe(403)
  expect((await harness.api('DELETE', `${drafts}/${id}/approval-link`, { key })).status).toBe(403)
})

test('sending and scheduling by an organization key approve', async () => {
  const sent = await create()
  await harness.expectApi(403, 'POST', `${drafts}/${sent.id}/send`, { key })
  const { id: messageId } = await harness.expectApi(201, 'POST', `${drafts}/${sent.id}/send`, { body: { version: 1 } })
  const [, approved] = await harness.eventsOf(sent.id)
  expect(approved).toMatchObject({ type: 'draft.approved', data: { message_id: messageId, send_at: null, decided_by: 'key' } })

  const later = await create()
  const at = inSeconds(3600)
  const scheduled = await harness.expectApi(200, 'PATCH', `${drafts}/${later.id}`, { body: { send_at: at } })
  expect(scheduled.approval).toBeNull()
  const [, decided] = await harness.eventsOf(later.id)
  expect(decided).toMatchObject({ type: 'draft.approved', data: { message_id: null, send_at: at } })
})

test('an agent may ask for approval of one draft, and cannot send it from then on', async () => {
  const benKey = await harness.agentKey('ben')
  const { id } = await harness.expectApi(201, 'POST', '/mailboxes/ben/drafts', { key: benKey, body: complete })
  const path = `/mailboxes/ben/drafts/${id}`
  expect((await harness.api('POST', `${path}/request-approval`, { key: benKey, body: { version: 2 } })).status).toBe(409)
  const far = await harness.api('POST', `${path}/request-approval`, { key: benKey, body: { expires_at: inSeconds(31 * 86_400) } })
  expect(far.body.error.details).toEqual([{ path: '/expires_at', message: 'expires_at must be within 30 days' }])
  const asked = await harness.expectApi(200, 'POST', `${path}/request-approval`, { key: benKey, body: { version: 1 } })
  expect(asked.approval.status).toBe('requested')
  expect((await harness.api('POST', `${path}/send`, { key: benKey })).body.error.code).toBe('approval_required')
  await harness.expectApi(200, 'PATCH', path, { key: benKey, body: { text: 'Nine apples' } })
  expect((await harness.api('POST', `${path}/send`, { key: benKey })).body.error.code).toBe('approval_required')
  await harness.expectApi(201, 'POST', `${path}/send`)
})

test('the queue has the waiting drafts of all mailboxes, from the oldest or the newest request on', async () => {
  const own = await harness.createOrganization('Queue')
  await harness.createAgent('queue_a', {}, own.key)
  await harness.createAgent('queue_b', {}, own.key)
  const ids: string[] = []
  for (const handle of ['queue_a', 'queue_b', 'queue_a']) {
    const { id } = await harness.expectApi(201, 'POST', `/mailboxes/${handle}/drafts`, { key: own.key, body: complete })
    await harness.expectApi(200, 'POST', `/mailboxes/${handle}/drafts/${id}/request-approval`, { key: own.key })
    ids.push(id)
  }
  const first = await harness.expectApi(200, 'GET', '/approvals?limit=2', { key: own.key })
  expect(first.data.map((one: Json) => [one.draft.id, one.agent_handle])).toEqual([
    [ids[0], 'queue_a'],
    [ids[1], 'queue_b'],
  ])
  const second = await harness.expectApi(200, 'GET', `/approvals?limit=2&cursor=${first.next_cursor}`, { key: own.key })
  expect(second).toMatchObject({ has_more: false, data: [{ email_address: 'queue_a@agents.localhost', draft: { id: ids[2] } }] })
  const ofB = await harness.expectApi(200, 'GET', '/approvals?agent=queue_b', { key: own.key })
  expect(ofB.data.map((one: Json) => one.draft.id)).toEqual([ids[1]])
  const agentKey = await harness.agentKey('queue_a', {}, own.key)
  const ofA = await harness.expectApi(200, 'GET', '/approvals', { key: agentKey })
  expect(ofA.data.map((one: Json) => one.draft.id)).toEqual([ids[0], ids[2]])

  const newest = await harness.expectApi(200, 'GET', '/approvals?order=desc&limit=2', { key: own.key })
  expect(newest.data.map((one: Json) => one.draft.id)).toEqual([ids[2], ids[1]])
  const older = await harness.expectApi(200, 'GET', `/approvals?order=desc&cursor=${newest.next_cursor}`, { key: own.key })
  expect(older.data.map((one: Json) => one.draft.id)).toEqual([ids[0]])
  const newestOfA = await harness.expectApi(200, 'GET', '/approvals?order=desc', { key: agentKey })
  expect(newestOfA.data.map((one: Json) => one.draft.id)).toEqual([ids[2], ids[0]])
})

test('an expired draft is sent only after a new request', async () => {
  const { id } = await create()
  const url = await linkOf(id)
  await harness.expectApi(200, 'POST', `${drafts}/${id}/request-approval`, { body: { expires_at: inSeconds(3600) } })
  // As if the hour had passed.
  await harness.db.query({ text: `UPDATE drafts SET approval_expires_at = now() - interval '1 second' WHERE id = $1`, values: [id] })
  await harness.db.query({
    text: 'UPDATE jobs SET run_at = now() WHERE id = (SELECT approval_job_id FROM drafts WHERE id = $1)',
    values: [id],
  })
  await waitFor('the request to expire', async () => (await typesOf(id)).at(-1) === 'draft.expired')
  const { approval } = await harness.expectApi(200, 'GET', `${drafts}/${id}`)
  expect(approval.status).toBe('expired')
  const codeOf = async (method: string, path: string, body?: Json) => (await harness.api(method, path, { body })).body.error.code
  expect(await codeOf('POST', `${drafts}/${id}/send`, {})).toBe('approval_expired')
  expect(await codeOf('PATCH', `${drafts}/${id}`, { send_at: inSeconds(60) })).toBe('approval_expired')
  expect(await codeOf('POST', `${drafts}/${id}/approval-link`)).toBe('approval_expired')
  expect((await open(url, { decision: 'approve' })).status).toBe(404)
  expect((await harness.expectApi(200, 'GET', '/approvals?agent=ann')).data.map((one: Json) => one.draft.id)).not.toContain(id)
  await harness.expectApi(200, 'POST', `${drafts}/${id}/request-approval`)
  await harness.expectApi(201, 'POST', `${drafts}/${id}/send`)
})

test('the page shows everything that is sent, as text, and GET decides nothing', async () => {
  const { id } = await create({
    to: ['Ada <ada@example.com>'],
    bcc: ['boss@example.com'],
    reply_to: ['desk@agents.localhost'],
    subject: '<script>alert(1)</script>',
    text: 'Pay \u202enow',
    html: '<p>Other <b>words</b></p><script>evil()</script>',
    headers: { 'X-Order': '1042' },
    attachments: [{ filename: 'a"<b>.txt', content_type: 'text/plain', content: Buffer.from('file').toString('base64') }],
  })
  const { status, html, headers } = await open(await linkOf(id))
  expect(status).toBe(200)
  for (const part of [
    'Ada &#60;ada@example.com&#62;',
    'boss@example.com',
    'desk@agents.localhost',
    'X-Order',
    'Pay [U+202E]now',
    'Other words',
    'a&#34;&#60;b&#62;.txt',
  ])
    expect(html).toContain(part)
  expect(html).not.toMatch(/<script|evil\(\)/)
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^ ]+'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
  )
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(await typesOf(id)).toEqual(['draft.approval_requested'])
})

test('the link approves once, and the audit log names it', async () => {
  const { id } = await create()
  const url = await linkOf(id)
  expect((await open(url, { decision: 'maybe' })).status).toBe(400)
  const answers = await Promise.all([open(url, { decision: 'approve' }), open(url, { decision: 'approve' })])
  expect(answers.map((one) => one.status).toSorted()).toEqual([200, 404])
  expect((await open(url)).status).toBe(404)
  expect(await typesOf(id)).toEqual(['draft.approval_requested', 'draft.approved'])
  const [, approved] = await harness.eventsOf(id)
  expect(approved?.data.decided_by).toBe('link')
  await harness.waitForStatus('ann', approved?.data.message_id, 'sent', 'delivered')
  const { data } = await harness.expectApi(200, 'GET', '/audit')
  expect(data.filter((one: Json) => one.target_id === id).map((one: Json) => [one.action, one.actor_type])).toEqual([
    ['draft.approved', 'link'],
    ['draft.approval_link_created', 'key'],
  ])
})

test('the link rejects with a reason', async () => {
  const { id } = await create()
  expect((await open(await linkOf(id), { decision: 'reject', reason: ' Wrong date. ' })).status).toBe(200)
  expect((await harness.eventsOf(id)).at(-1)).toMatchObject({ type: 'draft.rejected', data: { reason: 'Wrong date.', decided_by: 'link' } })
  expect((await harness.api('GET', `${drafts}/${id}`)).status).toBe(404)
})

test('a change of the draft and a revocation make the link invalid', async () => {
  const { id } = await create()
  const first = await linkOf(id)
  await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { key, body: { text: 'Eleven apples' } })
  const second = await linkOf(id)
  expect(second).not.toBe(first)
  await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, { body: { text: 'Twelve apples' } })
  const third = await linkOf(id)
  for (const url of [first, second]) expect((await open(url, { decision: 'approve' })).status).toBe(404)
  await harness.expectApi(200, 'DELETE', `${drafts}/${id}/approval-link`)
  expect((await open(third, { decision: 'approve' })).status).toBe(404)
  expect(await typesOf(id)).toEqual(['draft.approval_requested', 'draft.approval_requested'])
  expect((await open(await linkOf(id), { decision: 'approve' })).status).toBe(200)
})

test('a link that was not made here is not valid, and many of them are throttled', async () => {
  const { id } = await create()
  const url = await linkOf(id)
  const forged = url.replace(/\.[^.]*$/, '.AAAA')
  expect((await open(forged, { decision: 'approve' })).status).toBe(404)
  const answers = await Promise.all(Array.from({ length: 400 }, () => open(forged)))
  expect(answers.some((one) => one.status === 429)).toBe(true)
  expect((await open(url, { decision: 'approve' })).status).toBe(200)
  expect(harness.logLines().join('')).not.toContain(url.slice(url.lastIndexOf('.')))
})

test('a message that cannot be sent stays, and the page says why', async () => {
  const { id } = await create({ ...complete, to: ['gone@example.com'] })
  await harness.expectApi(201, 'POST', '/suppressions', { body: { email_address: 'gone@example.com' } })
  const answer = await open(await linkOf(id), { decision: 'approve' })
  expect(answer.status).toBe(403)
  expect(answer.html).toContain('gone@example.com')
  expect((await harness.expectApi(200, 'GET', `${drafts}/${id}`)).approval.status).toBe('requested')
})
