// The account through the SDK of Resend: usage, metrics, logs, names of keys, OAuth grants, claims of domains, and pages in both directions.
import type { Resend } from 'resend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAppTools } from './harness/connected-app.ts'
import { openBrowser } from './harness/console-browser.ts'
import { createResend, dataOf } from './harness/resend-sdk.ts'
import { type Harness, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let resend: Resend
const sent: string[] = []
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('support')
  resend = createResend(harness)
  for (const subject of ['One', 'Two', 'Three']) {
    const { id } = await dataOf(resend.emails.send({ from: 'sales@agents.localhost', to: 'support@agents.localhost', subject, text: 'x' }))
    await harness.waitForStatus('sales', id, 'delivered', 'sent')
    sent.unshift(id)
  }
  // One message to an agent that does not exist bounces.
  const missing = { from: 'sales@agents.localhost', to: 'missing@agents.localhost', subject: 'Lost', text: 'x' }
  const { id } = await dataOf(resend.emails.send(missing))
  await harness.waitForStatus('sales', id, 'bounced', 'failed')
  sent.unshift(id)
})
afterAll(() => harness?.stop())

const today = (): string => new Date().toISOString().slice(0, 10)
const usageOf = async () => (await harness.expectApi(200, 'GET', '/usage')).data[0].messages

test('usage has the counts of today and of the month, and the limit for sending', async () => {
  await harness.expectApi(200, 'PATCH', '/organization', { body: { sending_limits: { messages_per_day: 500 } } })
  const { queued: sentCount, received } = await usageOf()
  const usage = await dataOf(resend.usage.get())
  const counts = { sent: sentCount, received, used: sentCount + received }
  expect([sentCount, received]).toEqual([4, 3])
  expect(usage.emails).toMatchObject({ daily: { ...counts, limit: 500 }, monthly: counts })
  expect(Date.parse(usage.emails.daily.resets_at)).toBeGreaterThan(Date.now())
  expect(Date.parse(usage.emails.monthly.resets_at)).toBeGreaterThanOrEqual(Date.parse(usage.emails.daily.resets_at))
  await harness.expectApi(201, 'POST', '/domains', { body: { domain: 'used.example.com' } })
  expect((await dataOf(resend.usage.get())).domains.used).toBe(usage.domains.used + 1)
  await harness.expectApi(200, 'PATCH', '/organization', { body: { sending_limits: { messages_per_day: null } } })
})

test('metrics are our counts: in total, by period, by domain and by email', async () => {
  const { queued: sentCount, received, bounced, failed, delivered } = await usageOf()
  const total = await dataOf(resend.emails.metrics())
  expect(total).toMatchObject({ object: 'metrics', dimensions: [], granularity: 'daily' })
  expect(total.totals).toMatchObject({
    sent: sentCount,
    received,
    bounced,
    failed,
    delivered,
    delivery_rate: (delivered / sentCount) * 100,
  })
  expect([total.data, bounced + failed]).toEqual([undefined, 1])
  const daily = await dataOf(resend.emails.metrics({ dimensions: ['period', 'domain'], metrics: ['sent', 'received'] }))
  expect(daily.data).toEqual([{ period: today(), domain_id: '', domain_name: 'agents.localhost', sent: sentCount, received }])
  const monthly = await dataOf(resend.emails.metrics({ dimensions: ['period'], granularity: 'monthly', metrics: ['sent'] }))
  expect(monthly.data).toEqual([{ period: `${today().slice(0, 7)}-01`, sent: sentCount }])
  const [lost = '', three = ''] = sent
  const single = await dataOf(resend.emails.metrics({ dimensions: ['email'], emailId: [lost, three], metrics: ['delivered', 'sent'] }))
  expect(single.totals).toEqual({ delivered: 1, sent: 2 })
  expect(single.data).toContainEqual({ email_id: three, delivered: 1, sent: 1 })
  const before = await dataOf(resend.emails.metrics({ startDate: '2020-01-01', endDate: '2020-01-31' }))
  expect([before.totals.sent, before.totals.delivery_rate]).toEqual([0, 0])
})

test.each([
  [{ metrics: ['opened'] }, 501],
  [{ timezone: 'Europe/Zurich' }, 501],
  [{ granularity: 'hourly' }, 501],
  [{ dimensions: ['broadcast'] }, 501],
  [{ startDate: 'yesterday' }, 422],
])('metrics refuse %o', async (options, statusCode) => {
  expect((await resend.emails.metrics(options as never)).error).toMatchObject({ statusCode })
})

test('logs are our log of requests, without bodies', async () => {
  const logged = await waitFor('the log', async () => {
    const { data } = await dataOf(resend.logs.list({ limit: 100 }))
    return data.some(({ endpoint }) => endpoint.endsWith('/messages')) && data
  })
  const [entry] = logged.filter(({ endpoint }) => endpoint.endsWith('/messages'))
  const own = await harness.expectApi(200, 'GET', `/requests/${entry?.id}`)
  expect(entry).toMatchObject({ method: own.method, endpoint: own.path, response_status: own.status, created_at: own.created_at })
  expect(await dataOf(resend.logs.get(own.id))).toMatchObject({ object: 'log', id: own.id, request_body: null, response_body: null })
  expect((await resend.logs.get('req_x')).error).toMatchObject({ statusCode: 404, name: 'not_found' })
})

test('an email is shared by a link to a page', async () => {
  const [, id = ''] = sent
  const shared = await dataOf(resend.emails.share(id, { expiresIn: 'in 2 days' }))
  expect(shared).toMatchObject({ object: 'email', id })
  const expires = Number(new URL(shared.url).searchParams.get('expires')) * 1000
  expect(Math.abs(expires - Date.now() - 2 * 86_400_000)).toBeLessThan(60_000)
  expect(await (await fetch(shared.url)).text()).toContain('<td><div>Three</div></td>')
  expect((await dataOf(resend.emails.share(id))).url).toContain('/media/shr_')
  expect((await resend.emails.share(id, { expiresIn: 'for ever' })).error).toMatchObject({ statusCode: 422 })
  expect((await resend.emails.share('msg_x')).error).toMatchObject({ statusCode: 404 })
})

test('a key is renamed', async () => {
  const { id } = await dataOf(resend.apiKeys.create({ name: 'Old' }))
  expect(await dataOf(resend.apiKeys.update(id, { name: 'New' }))).toEqual({ object: 'api_key', id })
  const { data } = await harness.expectApi(200, 'GET', '/keys')
  expect(data.find((key: { id: string }) => key.id === id).name).toBe('New')
  expect((await resend.apiKeys.update('key_x', { name: 'New' })).error).toMatchObject({ statusCode: 404 })
  expect((await resend.apiKeys.update(id, {} as never)).error).toMatchObject({ statusCode: 422 })
})

test('OAuth grants are listed and revoked', async () => {
  const owner = openBrowser(harness)
  await owner.signInByKey(harness.organizationKey)
  const app = createAppTools(harness)
  const { access, clientId } = await app.connectApp(owner, {}, { client_name: 'Desk app' })
  const [grant, ...others] = (await dataOf(resend.oauthGrants.list())).data
  expect([grant, others]).toMatchObject([{ client_id: clientId, client: { name: 'Desk app' }, revoked_at: null }, []])
  const { id: plain } = await dataOf(resend.apiKeys.create({ name: 'No grant' }))
  expect((await resend.oauthGrants.revoke(plain)).error).toMatchObject({ statusCode: 404 })
  const revoked = await dataOf(resend.oauthGrants.revoke(grant?.id as string))
  expect(revoked).toMatchObject({ object: 'oauth_grant', id: grant?.id, revoked_at: expect.any(String) })
  expect(await app.mcpStatus(access)).toBe(401)
})

test('a claim of a domain is its registration', async () => {
  const claim = await dataOf(resend.domains.claims.create({ name: 'claimed.example.com' }))
  const { data } = await harness.expectApi(200, 'GET', `/domains/${claim.id}`)
  expect(claim).toMatchObject({ object: 'domain_claim', name: 'claimed.example.com', status: 'pending', domain_id: data.id })
  expect(data.dns_records).toContainEqual(expect.objectContaining({ type: 'TXT', name: claim.record.name, value: claim.record.value }))
  expect(await dataOf(resend.domains.claims.get(claim.id))).toEqual(claim)
  expect(await dataOf(resend.domains.claims.verify(claim.id))).toMatchObject({ id: claim.id, status: 'pending' })
  expect((await resend.domains.claims.get('dom_x')).error).toMatchObject({ statusCode: 404 })
})

test('pages go backwards in front of an item, as forwards behind one', async () => {
  const [first, second, third, fourth] = sent as [string, string, string, string]
  const ids = async (page: object) => {
    const { data, has_more } = await dataOf(resend.emails.list(page))
    return [data.map(({ id }) => id), has_more]
  }
  expect(await ids({ after: second, limit: 2 })).toEqual([[third, fourth], false])
  expect(await ids({ before: fourth, limit: 2 })).toEqual([[second, third], true])
  expect(await ids({ before: third, limit: 2 })).toEqual([[first, second], false])
  expect(await ids({ before: first })).toEqual([[], false])
  for (const page of [{ before: 'msg_x' }, { before: first, after: first }, { limit: 0 }])
    expect((await resend.emails.list(page as never)).error).toMatchObject({ statusCode: 422, name: 'validation_error' })

  for (const domain of ['one.example.com', 'two.example.com']) await harness.expectApi(201, 'POST', '/domains', { body: { domain } })
  const domains = (await dataOf(resend.domains.list())).data
  const last = domains.at(-1)?.id as string
  expect((await dataOf(resend.domains.list({ before: last, limit: 1 }))).data).toEqual([domains.at(-2)])
  const inboxes = (await dataOf(resend.inboxes.list())).data
  expect((await dataOf(resend.inboxes.list({ before: inboxes[1]?.id as string }))).data).toEqual([inboxes[0]])
  const inboxId = inboxes.find(({ email_address }) => email_address.startsWith('support'))?.id as string
  const threads = (await dataOf(resend.inboxes.threads.list({ inboxId }))).data
  expect((await dataOf(resend.inboxes.threads.list({ inboxId, before: threads[2]?.id as string, limit: 1 }))).data).toEqual([threads[1]])
})
