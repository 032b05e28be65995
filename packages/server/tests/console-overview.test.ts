// The overview: what waits for a person, and the traffic of 24 hours, for an organization and for an agent.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Callsign } from '../../sdk/src/index.ts'
import { openBrowser } from './harness/console-browser.ts'
import { startOrigin, visit } from './harness/origin.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let owner: ReturnType<typeof openBrowser>

beforeAll(async () => {
  harness = await startHarness()
  owner = openBrowser(harness)
  await owner.signInByLink(harness.consoleUrl)
})
afterAll(() => harness.stop())

const overview = (browser = owner): Promise<Json> => browser.expect(200, 'GET', 'overview')
const channel = (of: Json, name: string): Json => of.channels.find((one: Json) => one.channel === name)

test('is all zeros on a new server, with what the operator should know', async () => {
  const { waiting, channels, findings } = await overview()
  expect(waiting).toEqual({ drafts: 0, quarantine: 0, webhooks_failing: 0, domains_unverified: 0, keys_expiring: 0 })
  expect(channels.map((one: Json) => one.channel)).toEqual(['mail', 'phone', 'imessage', 'tunnels', 'webhooks', 'vault'])
  for (const one of channels) expect(one).toMatchObject({ in: 0, out: 0, failed: 0 })
  expect(findings).toContainEqual({
    level: 'info',
    code: 'mail_simulator',
    message: 'Mail to other hosts is recorded and not sent.',
    fix: 'Set CALLSIGN_MAIL_TRANSPORT to relay or direct.',
  })
})

test('counts what waits and what passed, and an agent gets its own', async () => {
  await harness.createAgent('asking')
  await harness.createAgent('other')
  await harness.expectApi(200, 'PATCH', '/identities/asking', { body: { draft_approval: 'required' } })
  const agentKey = await harness.agentKey('asking', { expires_at: new Date(Date.now() + 86_400_000).toISOString() })
  await harness.expectApi(201, 'POST', '/mailboxes/asking/drafts', {
    key: agentKey,
    body: { to: ['a@example.com'], subject: 'May I?', text: 'x' },
  })
  await harness.expectApi(201, 'POST', '/mailboxes/other/drafts', { body: { to: ['a@example.com'], subject: 'Mine', text: 'x' } })
  await harness.expectApi(201, 'POST', '/domains', { body: { domain: 'unverified.example' } })
  // Mail without exactly one author is quarantined.
  await harness.deliver({
    envelope: { from: 'a@example.com', to: 'other@agents.localhost' },
    raw: 'From: a@example.com, b@example.com\r\nTo: other@agents.localhost\r\nSubject: Two authors\r\n\r\nHello',
  })
  await harness.waitForMail('other', 'Two authors', 'quarantined')
  const sent = await harness.send('other', 'asking@agents.localhost', { subject: 'Between agents' })
  await harness.waitForMail('asking', 'Between agents')
  await harness.waitForStatus('other', sent.id, 'delivered')
  const whole = await overview()
  expect(whole.waiting).toEqual({ drafts: 1, quarantine: 1, webhooks_failing: 0, domains_unverified: 1, keys_expiring: 1 })
  expect(channel(whole, 'mail')).toEqual({ channel: 'mail', in: 1, out: 1, failed: 0 })
  const agent = openBrowser(harness)
  await agent.signInByKey(agentKey)
  const own = await overview(agent)
  expect(own.waiting).toEqual({ drafts: 1, quarantine: 0, webhooks_failing: 0, domains_unverified: 0, keys_expiring: 0 })
  expect(channel(own, 'mail')).toEqual({ channel: 'mail', in: 1, out: 0, failed: 0 })
  expect(own.findings).toEqual([])
  expect(own.first_steps).toBeNull()
  const stranger = openBrowser(harness)
  await stranger.signInByKey(harness.otherOrganization.key)
  expect((await overview(stranger)).waiting).toMatchObject({ drafts: 0, quarantine: 0, domains_unverified: 0 })
})

test('leaves out what is older than 24 hours', async () => {
  await harness.db.query({ text: "UPDATE events SET id = 'evt_00000000000000000000000000' WHERE type = 'email.sent'" })
  expect(channel(await overview(), 'mail')).toMatchObject({ in: 1, out: 0 })
})

test('counts requests to a tunnel without a client apart from those that failed', async () => {
  await harness.createAgent('tunneled')
  const visitTunnel = () => visit(Number(new URL(harness.baseUrl).port), 'tunneled.tunnel.localhost', '/')
  const tunnels = (wanted: number) =>
    waitFor('the counted requests', async () => {
      const found = channel(await overview(), 'tunnels')
      return found.in === wanted && found
    })
  await visitTunnel()
  expect(await tunnels(1)).toEqual({ channel: 'tunnels', in: 1, out: 0, failed: 0, no_client: 1 })
  const origin = await startOrigin()
  await origin.stop()
  const client = new Callsign({ url: harness.baseUrl, apiKey: harness.organizationKey })
  const listener = await client.tunnels.listen('tunneled', origin.port)
  await visitTunnel()
  expect(await tunnels(2)).toEqual({ channel: 'tunnels', in: 2, out: 0, failed: 1, no_client: 1 })
  await listener.close(0)
})

test('is 401 for a stranger', async () => {
  expect((await openBrowser(harness).ask('GET', 'overview')).status).toBe(401)
})

test('counts the folders of the organization and of one mailbox, and an agent gets its own', async () => {
  const before = await owner.expect(200, 'GET', 'folders')
  await harness.createAgent('reader')
  await harness.createAgent('writer')
  for (const subject of ['First', 'Second', 'Third'])
    await harness.deliver({ from: 'Eve <eve@people.example>', to: 'reader@agents.localhost', subject, text: 'Hi' })
  const [first, , third] = await Promise.all(['First', 'Second', 'Third'].map((subject) => harness.waitForMail('reader', subject)))
  await harness.expectApi(200, 'PATCH', `/threads/${first.thread_id}`, { body: { is_read: true } })
  await harness.expectApi(200, 'PATCH', `/threads/${third.thread_id}`, { body: { folder: 'spam' } })
  const send_at = new Date(Date.now() + 86_400_000).toISOString()
  await harness.expectApi(201, 'POST', '/mailboxes/reader/drafts', { body: { in_reply_to: first.id, text: 'Later', send_at } })
  await harness.expectApi(201, 'POST', '/mailboxes/writer/drafts', { body: { text: 'Draft' } })
  const reader = { inbox: 1, spam: 1, drafts: 1, scheduled: 1 }
  const writer = { inbox: 0, spam: 0, drafts: 1, scheduled: 0 }
  expect(await owner.expect(200, 'GET', 'folders?mailbox=reader')).toEqual(reader)
  expect(await owner.expect(200, 'GET', 'folders?mailbox=writer')).toEqual(writer)
  expect(await owner.expect(200, 'GET', 'folders?mailbox=unknown')).toEqual({ inbox: 0, spam: 0, drafts: 0, scheduled: 0 })
  const whole = await owner.expect(200, 'GET', 'folders')
  for (const name of ['inbox', 'spam', 'drafts', 'scheduled'] as const) expect(whole[name]).toBe(before[name] + reader[name] + writer[name])
  const agent = openBrowser(harness)
  await agent.signInByKey(await harness.agentKey('writer'))
  for (const path of ['folders', 'folders?mailbox=reader']) expect(await agent.expect(200, 'GET', path)).toEqual(writer)
})

test('names the first steps that are done, from what happened', async () => {
  // The one-time link is not a sign-in of the member's own.
  expect((await overview()).first_steps).toMatchObject({ agent: true, sign_in: false })
  const key = openBrowser(harness)
  await key.signInByKey(harness.otherOrganization.key)
  expect((await overview(key)).first_steps).toMatchObject({ agent: false, sign_in: null })
  const { key: first } = await harness.createOrganization('Steps')
  const steps = openBrowser(harness)
  await steps.signInByKey(first)
  await harness.createAgent('stepping', {}, first)
  await harness.expectApi(201, 'POST', '/mail/send', {
    key: first,
    body: { agent: 'stepping', to: ['a@example.com'], subject: 'Out', text: 'x' },
  })
  // Mail that an agent sends has not arrived.
  expect((await overview(steps)).first_steps).toMatchObject({ agent: true, arrived: false })
  await harness.expectApi(201, 'POST', '/simulator/mail', {
    key: first,
    body: { to: 'stepping', from: 'a@example.com', subject: 'In', text: 'x' },
  })
  await waitFor('the use of the key', async () => (await overview(steps)).first_steps.client)
  expect((await overview(steps)).first_steps).toEqual({ agent: true, arrived: true, client: true, sign_in: null })
  // A password without an address does not sign in.
  await harness.db.query({
    text: "UPDATE users SET password_hash = 'x' WHERE id = $1",
    values: [(await owner.expect(200, 'GET', 'me')).id],
  })
  expect((await overview()).first_steps).toMatchObject({ sign_in: false })
  expect(await owner.expect(200, 'GET', 'state')).toMatchObject({ setup_needed: true, sign_in: { password: false } })
  await owner.expect(200, 'PATCH', 'me', { body: { email: 'owner@example.com' } })
  await owner.expect(204, 'PUT', 'me/password', { body: { password: 'a long enough passphrase' } })
  expect((await overview()).first_steps).toMatchObject({ sign_in: true })
})
