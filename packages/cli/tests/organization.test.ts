// The organization, its keys, requests, usage, storage and retention, and the addresses of agents, against the real server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { waitFor } from '../../server/tests/harness/wait.ts'
import { commandsOn, createCommandLine } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['sales', 'support']) await harness.createAgent(handle)
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const { run, json } = commandsOn(line, () => harness)

test('sending is paused with a reason, messages are held, and a resume lets them go', async () => {
  expect((await run('organization', 'show')).out).toMatch(/Sending is on\.\nAll mail together: no limits\nEach key: no limits\n/)
  expect((await run('organization', 'pause', '--reason', 'An agent loops.')).out).toMatch(
    /Sending is paused since \S+Z: An agent loops\.\n/,
  )
  const sent = await json('mail', 'send', '--agent', 'sales', '--to', 'support@agents.localhost', '--subject', 'Held', '--text', 'x')
  expect(sent.status).toBe('queued')
  expect((await json('mail', 'list', '--agent', 'support')).messages).toEqual([])
  expect((await json('organization', 'resume')).paused_at).toBeNull()
  await harness.waitForMail('support', 'Held')
  const actions = (await json('audit', 'list')).data.map((one: { action: string }) => one.action)
  expect(actions).toEqual(expect.arrayContaining(['organization.paused', 'organization.resumed']))
})

test('limits of all mail and of each key are set and removed', async () => {
  expect(await run('organization', 'limits')).toMatchObject({ code: 2, error: expect.stringContaining('Give a limit') })
  const out = (await run('organization', 'limits', '--messages-per-hour', '500', '--recipients-per-message', '20')).out
  expect(out).toContain('All mail together: 20 recipients per message, 500 messages per hour\nEach key: no limits\n')
  expect((await run('organization', 'limits', '--of-keys', '--messages-per-day', '9')).out).toContain('Each key: 9 messages per day\n')
  const kept = await json('organization', 'limits', '--messages-per-hour', '0')
  expect(kept.sending_limits).toMatchObject({ messages_per_hour: null, recipients_per_message: 20 })
  expect(kept.key_sending_limits).toMatchObject({ messages_per_day: 9 })
  const { sending_limits } = await json('identities', 'update', 'sales', '--messages-per-minute', '1')
  expect(sending_limits.messages_per_minute).toBe(1)
  await json('organization', 'limits', '--of-keys', '--messages-per-day', '0')
})

test('the modes of every agent are set', async () => {
  expect(await run('organization', 'modes')).toMatchObject({ code: 2, error: expect.stringContaining('--inbound') })
  expect((await run('organization', 'modes', '--inbound', 'allowlist')).out).toContain('inbound allowlist, outbound open')
  expect((await json('organization', 'modes', '--inbound', 'open')).inbound_mode).toBe('open')
})

test('a key has the given agents, scopes and addresses, and is renamed and revoked', async () => {
  const created = await json('keys', 'create', 'Reader', '--agent', 'sales', '--scope', 'mail:read', '--allow-ip', '127.0.0.0/8')
  expect(created).toMatchObject({ type: 'agent', agent_handles: ['sales'], scopes: ['mail:read'], allowed_ips: ['127.0.0.0/8'] })
  const { run: asKey } = commandsOn(line, () => ({ baseUrl: harness.baseUrl, organizationKey: created.key }))
  // A key that cannot list mailboxes gets their ids.
  expect(await asKey('mail', 'list')).toMatchObject({ code: 0, out: expect.stringMatching(/mbx_\w+ +out .*Held/) })
  const refused = await asKey('mail', 'send', '--agent', 'sales', '--to', 'a@b.example', '--subject', 'x', '--text', 'x')
  expect(refused).toMatchObject({ code: 3, error: expect.stringContaining('mail:send') })
  expect((await run('keys', 'rename', created.id, 'Reader of mail')).out).toBe(`${created.id} is named "Reader of mail".\n`)
  expect((await run('keys', 'list')).out).toMatch(new RegExp(`${created.id} +Reader of mail +sales +mail:read .*127\\.0\\.0\\.0/8 +active`))
  const wide = await json('keys', 'create', 'Wide', '--preset', 'read_only')
  const [first, second, ...others] = wide.scopes
  expect((await run('keys', 'list')).out).toContain(` ${first} ${second} +${others.length} `)
  expect((await json('keys', 'list')).data[0].scopes).toEqual(wide.scopes)
  expect((await run('keys', 'revoke', created.id)).out).toBe(`${created.id} is revoked.\n`)
  expect((await asKey('mail', 'list')).code).toBe(3)
})

test('requests are listed by status and method, and one is shown with its fields', async () => {
  await run('identities', 'show', 'unknown')
  // Requests are logged in groups, some time after their answers.
  const request = await waitFor('the request to be logged', async () => {
    const { data } = await json('requests', 'list', '--status', '4xx', '--method', 'GET', '--path', '/api/v1/identities')
    return data[0]
  })
  expect(request).toMatchObject({ method: 'GET', path: '/api/v1/identities/{handle}', status: 404, error_code: 'not_found' })
  expect((await run('requests', 'show', request.id)).out).toMatch(
    /GET +\/api\/v1\/identities\/\{handle\} +404 +not_found[\s\S]*Fields: none\n$/,
  )
  expect(await run('requests', 'show', 'req_01h455vb4pex5vsknk084sn02q')).toMatchObject({ code: 4 })
})

test('usage is counted for the organization and each agent', async () => {
  const day = new Date().toISOString().slice(0, 10)
  expect((await run('usage', 'list', '--from', day, '--to', day)).out).toMatch(new RegExp(`${day} +organization +1 +0 +1 `))
  const { data } = await json('usage', 'list', '--by', 'agent', '--from', day)
  expect(data).toMatchObject([
    { agent_handle: 'sales', messages: { received: 0, queued: 1 } },
    { agent_handle: 'support', messages: { received: 1, queued: 0 } },
  ])
  expect((await run('usage', 'storage', '--by-agent')).out).toMatch(/sales +[\d.]+ (bytes|kB) +none/)
})

test('a retention is previewed and set, with the quota', async () => {
  expect((await run('retention', 'preview', '--messages-days', '30')).out).toContain('Would delete 0 messages (0 bytes).')
  expect(await run('retention', 'preview')).toMatchObject({ code: 2 })
  expect((await run('retention', 'set', '--messages-days', '365', '--events-days', '7', '--quota-mb', '100')).out).toMatch(
    /^organization: .*messages: 365 days.*events: 7 days.* Storage quota: 100\.0 MB\.\n$/,
  )
  expect((await run('retention', 'set', '--agent', 'sales', '--quota-mb', '1')).out).toMatch(/^sales: .*Storage quota: 1\.0 MB\.\n$/)
  expect(await run('retention', 'set', '--agent', 'sales', '--events-days', '7')).toMatchObject({ code: 2 })
})

test('an agent gets an alias, a generated and a catch-all address, and another primary one', async () => {
  expect((await run('addresses', 'create', 'sales', 'jane.doe')).out).toBe('sales has the address jane.doe@agents.localhost.\n')
  const generated = await json('addresses', 'create', 'sales')
  expect(generated.email_address).toMatch(/^[a-z0-9.-]+@agents\.localhost$/)
  expect((await run('addresses', 'set-primary', 'sales', 'jane.doe@agents.localhost')).out).toBe(
    'jane.doe@agents.localhost is the primary address of sales.\n',
  )
  const { out } = await run('addresses', 'list', 'sales')
  expect(out).toMatch(/jane\.doe@agents\.localhost +primary/)
  expect(out).toMatch(/sales@agents\.localhost +alias/)
  expect((await run('addresses', 'delete', 'sales', generated.email_address)).out).toBe(`${generated.email_address} is deleted.\n`)
  expect(await run('addresses', 'delete', 'sales', 'jane.doe@agents.localhost')).toMatchObject({ code: 5 })
})
