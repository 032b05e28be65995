// Storage quotas and retention: exact counters, refusals on every way in, events, and what retention deletes and keeps.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { createBusinessEvents } from '../src/core/business-events.ts'
import { createLog } from '../src/core/log.ts'
import { openKeyring } from '../src/edges/keyring/keyring.ts'
import { preview } from '../src/features/mail/storage/retention-store.ts'
import { createServerParts } from '../src/wiring/server.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_MAIL_RETRY_SECONDS: Array(100).fill('0.3').join(',') })
})
afterAll(() => harness.stop())

const serverMb = 50

const useOf = async (handle: string, key?: string): Promise<Json> =>
  (await harness.expectApi(200, 'GET', `/usage/storage?agent_handle=${handle}`, key ? { key } : {})).data[0]
const organizationUse = async (key: string): Promise<Json> => (await harness.expectApi(200, 'GET', '/usage/storage', { key })).data[0]

/** Stored bytes as the rows have them. */
async function bytesInRows(handle: string): Promise<number> {
  const { rows } = await harness.db.query<{ bytes: number }>({
    text: `SELECT ((SELECT coalesce(sum(coalesce(m.kept_bytes, m.size_bytes)), 0) FROM messages m WHERE m.mailbox_id = b.id)
        + (SELECT coalesce(sum(a.size_bytes), 0) FROM attachments a JOIN drafts d ON d.id = a.draft_id WHERE d.mailbox_id = b.id))::float8 AS bytes
      FROM mailboxes b JOIN identities i ON i.id = b.identity_id WHERE i.agent_handle = $1`,
    values: [handle],
  })
  return rows[0]?.bytes as number
}

const rawOf = (to: string, subject: string, bytes: number): string => {
  const head = `From: ada@example.org\r\nTo: ${to}\r\nSubject: ${subject}\r\nMessage-ID: <${subject.replaceAll(' ', '-')}@example.org>\r\n\r\n`
  return `${head}${'x'
    .repeat(70)
    .concat('\r\n')
    .repeat(Math.ceil((bytes - head.length) / 72))}`
}

/** Hands mail in on a connection of its own. Returns the code of the refusal, or 250. `size` announces its size. */
async function handInCode(to: string, raw: string, size?: number): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: harness.smtpPort, ignoreTLS: true })
  try {
    await transport.sendMail({ envelope: { from: 'ada@example.org', to, ...(size === undefined ? {} : { size }) }, raw })
    return '250'
  } catch (error) {
    const { response, rejectedErrors } = error as { response?: string; rejectedErrors?: { response: string }[] }
    return (rejectedErrors?.[0]?.response ?? response ?? String(error)).slice(0, 9)
  } finally {
    transport.close()
  }
}

const setQuota = (handle: string, bytes: number | null, key?: string) =>
  harness.expectApi(200, 'PATCH', `/identities/${handle}`, { body: { storage_quota_bytes: bytes }, ...(key ? { key } : {}) })

const file = (bytes: number) => ({ filename: 'data.bin', content: Buffer.alloc(bytes, 7).toString('base64') })

describe('stored bytes', () => {
  test('are exact after mail, drafts, the trash, deletion and the deletion of an agent', async () => {
    const { key } = await harness.createOrganization('Exact')
    for (const handle of ['bytes_a', 'bytes_b']) await harness.createAgent(handle, {}, key)
    const expectExact = async () => {
      const [a, b] = await Promise.all(
        ['bytes_a', 'bytes_b'].map(async (one) => [(await useOf(one, key))?.used_bytes, await bytesInRows(one)]),
      )
      expect(a?.[0]).toBe(a?.[1])
      expect(b?.[0]).toBe(b?.[1])
      expect((await organizationUse(key)).used_bytes).toBe((a?.[0] as number) + (b?.[0] as number))
      return a?.[0] as number
    }
    await harness.deliver({
      from: 'ada@example.org',
      to: 'bytes_a@agents.localhost',
      cc: 'bytes_b@agents.localhost',
      subject: 'One',
      text: 'One',
    })
    expect(await expectExact()).toBeGreaterThan(0)
    const sent = { agent: 'bytes_a', to: ['bytes_b@agents.localhost'], subject: 'Two', text: 'Two', attachments: [file(40_000)] }
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { key, body: sent })
    await waitFor('the message to arrive', async () => {
      const { data } = await harness.expectApi(200, 'GET', '/mailboxes/bytes_b/messages?direction=inbound', { key })
      return data.length === 2
    })
    const before = await expectExact()
    expect(before).toBeGreaterThan(40_000)

    const draft = await harness.expectApi(201, 'POST', '/mailboxes/bytes_a/drafts', {
      key,
      body: { to: ['ada@example.com'], subject: 'Three', text: 'Three', attachments: [file(1000), file(2000)] },
    })
    expect((await expectExact()) - before).toBe(3000)
    const path = `/mailboxes/bytes_a/drafts/${draft.id}`
    await harness.expectApi(200, 'PATCH', path, {
      key,
      body: { remove_attachments: [draft.attachments[0].id], add_attachments: [file(500)] },
    })
    expect((await expectExact()) - before).toBe(2500)
    const queued = await harness.expectApi(201, 'POST', `${path}/send`, { key })
    expect((await expectExact()) - before).toBe(2505)
    const other = await harness.expectApi(201, 'POST', '/mailboxes/bytes_a/drafts', { key, body: { attachments: [file(700)] } })
    await harness.expectApi(200, 'DELETE', `/mailboxes/bytes_a/drafts/${other.id}`, { key })
    expect((await expectExact()) - before).toBe(2505)

    await harness.expectApi(200, 'POST', `/mailboxes/bytes_a/messages/${id}/trash`, { key })
    expect((await expectExact()) - before).toBe(2505)
    for (const one of [id, queued.id]) await harness.expectApi(200, 'DELETE', `/mailboxes/bytes_a/messages/${one}`, { key })
    await expectExact()
    await harness.expectApi(204, 'DELETE', '/identities/bytes_a', { key })
    expect((await organizationUse(key)).used_bytes).toBe(await bytesInRows('bytes_b'))
  })
})

describe('quotas', () => {
  test('16 concurrent deliveries fill a quota exactly, and the event is emitted once', async () => {
    const { id: identityId } = await harness.createAgent('narrow')
    await harness.createAgent('neighbour')
    const to = 'narrow@agents.localhost'
    expect(await handInCode(to, rawOf(to, 'Measure', 9000))).toBe('250')
    const one = (await useOf('narrow')).used_bytes
    await setQuota('narrow', Math.floor(6.5 * one))
    const codes = await Promise.all(
      Array.from({ length: 16 }, (_, index) => handInCode(to, rawOf(to, `Race ${String(index).padStart(2, '0')}`, 9000))),
    )
    expect(codes.filter((code) => code === '250')).toHaveLength(5)
    expect(new Set(codes)).toEqual(new Set(['250', '452 4.2.2']))
    const { used_bytes, quota_bytes } = await useOf('narrow')
    expect(used_bytes).toBe(await bytesInRows('narrow'))
    expect(used_bytes).toBeLessThanOrEqual(quota_bytes)
    expect(used_bytes).toBeGreaterThan(quota_bytes - one)
    // At RCPT with an announced size, and at the end of the data without one.
    expect(await handInCode(to, rawOf(to, 'Announced', 9000), 9000)).toBe('452 4.2.2')
    expect((await harness.eventsOf(identityId)).map((event) => event.type)).toEqual(['storage.nearly_full', 'storage.full'])
    // Mail for others is received, and a smaller message fits.
    expect(await handInCode('neighbour@agents.localhost', rawOf('neighbour@agents.localhost', 'Other', 9000))).toBe('250')
    expect(await handInCode(to, rawOf(to, 'Small', 200))).toBe('250')

    // Below 80 percent, the events are emitted again.
    await setQuota('narrow', 20 * one)
    expect(await handInCode(to, rawOf(to, 'Room', 9000))).toBe('250')
    await setQuota('narrow', 100)
    expect(await handInCode(to, rawOf(to, 'None', 200))).toBe('452 4.2.2')
    expect((await harness.eventsOf(identityId)).map((event) => event.type)).toEqual(['storage.nearly_full', 'storage.full', 'storage.full'])
  })

  test('sends, drafts and attachments above a quota are 409, and mail between agents waits for room', async () => {
    for (const handle of ['full_a', 'full_b']) await harness.createAgent(handle)
    await setQuota('full_a', 5000)
    const body = { agent: 'full_a', to: ['ada@example.com'], subject: 'Hello', text: 'Hello', attachments: [file(6000)] }
    const refused = await harness.expectApi(409, 'POST', '/mail/send', { body })
    expect(refused.error).toMatchObject({ code: 'storage_quota_exceeded', message: expect.stringContaining('has 5000 of 5000 left') })
    await harness.expectApi(409, 'POST', '/mailboxes/full_a/drafts', { body: { attachments: [file(6000)] } })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/full_a/drafts', { body: { attachments: [file(4000)] } })
    await harness.expectApi(409, 'PATCH', `/mailboxes/full_a/drafts/${draft.id}`, { body: { add_attachments: [file(2000)] } })
    // The bytes that a draft stores already are not counted twice.
    await harness.expectApi(200, 'PATCH', `/mailboxes/full_a/drafts/${draft.id}`, {
      body: { to: ['ada@example.com'], subject: 'S', text: 'T' },
    })
    await harness.expectApi(201, 'POST', `/mailboxes/full_a/drafts/${draft.id}/send`)

    const { id } = await harness.expectApi(201, 'POST', '/mail/send', {
      body: { agent: 'full_b', to: ['full_a@agents.localhost'], subject: 'Waits', text: 'x'.repeat(3000) },
    })
    const refusal = await waitFor('a refused attempt', async () => {
      const [recipient] = (await harness.getMessage('full_b', id)).delivery.recipients
      return recipient.last_answer?.startsWith('452 4.2.2') && recipient
    })
    expect(refusal.status).toBe('queued')
    await setQuota('full_a', null)
    await harness.waitForMail('full_a', 'Waits')
  })

  test('an organization quota covers its agents together, and no other organization', async () => {
    const { key } = await harness.createOrganization('Tight')
    for (const handle of ['tight_a', 'tight_b']) await harness.createAgent(handle, {}, key)
    const organization = await harness.expectApi(200, 'PATCH', '/organization', { key, body: { storage_quota_bytes: 10_000 } })
    expect(organization.storage_quota_bytes).toBe(10_000)
    expect(await handInCode('tight_a@agents.localhost', rawOf('tight_a@agents.localhost', 'A', 7000))).toBe('250')
    expect(await handInCode('tight_b@agents.localhost', rawOf('tight_b@agents.localhost', 'B', 7000))).toBe('452 4.2.2')
    expect((await harness.eventsOf(organization.id)).map(({ type, data }) => [type, data.scope])).toEqual([
      ['storage.full', 'organization'],
    ])
    expect(await organizationUse(key)).toMatchObject({ agent_handle: null, quota_bytes: 10_000 })
    const { data } = await harness.expectApi(200, 'GET', '/usage/storage?by=agent&limit=1', { key })
    expect(data).toMatchObject([{ agent_handle: 'tight_b', used_bytes: 0, quota_bytes: null }])
    const audit = await harness.expectApi(200, 'GET', '/audit', { key })
    expect(audit.data.map((entry: Json) => entry.action)).toContain('organization.storage_changed')
  })
})

/** Runs a scheduled task as a worker does. */
async function runTask(name: string): Promise<void> {
  const config = readConfig(harness.environment)
  const log = createLog('silent')
  const parts = createServerParts({
    config,
    db: harness.db,
    keyring: await openKeyring(harness.dataDir),
    log,
    businessEvents: createBusinessEvents(log),
    running: { worker: null, publicUrl: '' },
  })
  try {
    await parts.scheduledTasks.find((task) => task.name === name)?.run()
  } finally {
    await parts.close()
  }
}

describe('retention', () => {
  const days = { messages_days: null, attachments_days: null, events_days: null, requests_days: null }

  test('is set by organization and agent, and previewed', async () => {
    const { key } = await harness.createOrganization('Kept')
    await harness.createAgent('kept', {}, key)
    const organization = await harness.expectApi(200, 'PATCH', '/organization', {
      key,
      body: { retention: { messages_days: 30, events_days: 7 } },
    })
    expect(organization.retention).toEqual({ ...days, messages_days: 30, events_days: 7 })
    const identity = await harness.expectApi(200, 'PATCH', '/identities/kept', { key, body: { retention: { attachments_days: 10 } } })
    expect(identity.retention).toEqual({ messages_days: null, attachments_days: 10 })
    await harness.deliver({ from: 'ada@example.org', to: 'kept@agents.localhost', subject: 'New', text: 'New' })
    const nothing = { messages: 0, messages_bytes: 0, attachments: 0, attachments_bytes: 0, held_messages: 0 }
    expect(await harness.expectApi(200, 'GET', '/retention/preview?messages_days=1', { key })).toEqual(nothing)
    await harness.expectApi(404, 'GET', '/retention/preview?messages_days=1&agent_handle=nobody_here', { key })
    await harness.expectApi(400, 'GET', '/retention/preview?agent_handle=kept', { key })
    await harness.expectApi(400, 'PATCH', '/organization', { key, body: { retention: { messages_days: 0 } } })
    await runTask('apply retention')
    expect((await harness.expectApi(200, 'GET', '/mailboxes/kept/messages', { key })).data).toHaveLength(1)
  })

  test('deletes what is older with its blobs, and keeps what is held, scheduled or not sent', async () => {
    const { id: organizationId, key } = await harness.createOrganization('Swept')
    const ask = { key }
    await harness.createAgent('swept', {}, key)
    const to = 'swept@agents.localhost'
    const deliver = (subject: string, more = {}) => harness.deliver({ from: 'ada@example.org', to, subject, text: subject, ...more })
    await deliver('Answered')
    await deliver('Waiting')
    await deliver('Plain')
    await deliver('With a file', { attachments: [{ filename: 'big.bin', content: Buffer.alloc(100_000, 3) }] })
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/swept/messages', ask)
    const idOf = (subject: string): string => data.find((one: Json) => one.subject === subject).id
    const sendAt = new Date(Date.now() + 86_400_000).toISOString()
    await harness.expectApi(201, 'POST', '/mailboxes/swept/drafts', {
      key,
      body: { in_reply_to: idOf('Answered'), text: 'Later', send_at: sendAt },
    })
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/swept/drafts', {
      key,
      body: { to: ['ada@example.org'], forward_of: idOf('Waiting'), text: 'See' },
    })
    await harness.expectApi(200, 'POST', `/mailboxes/swept/drafts/${draft.id}/request-approval`, { key, body: { version: draft.version } })
    await harness.expectApi(200, 'POST', '/organization/pause', { key, body: {} })
    const queued = await harness.expectApi(201, 'POST', '/mail/send', {
      key,
      body: { agent: 'swept', to: ['ada@example.org'], subject: 'Queued', text: 'Queued' },
    })
    await harness.expectApi(200, 'POST', `/mailboxes/swept/messages/${idOf('Plain')}/trash`, ask)

    const mailboxId = (await harness.expectApi(200, 'GET', '/mailboxes/swept', ask)).id
    const soon = new Date(Date.now() + 60_000)
    const seen = await preview(harness.db, { messagesOf: [mailboxId], messagesBefore: soon, filesOf: [mailboxId], filesBefore: soon })
    expect(seen).toMatchObject({ messages: 2, attachments: 0, held_messages: 3 })
    const before = (await useOf('swept', key)).used_bytes

    const blobsLeft = async () =>
      (await readdir(join(harness.dataDir, 'blobs'), { recursive: true })).filter((name) => name.includes('raw_')).length
    const blobsBefore = await blobsLeft()
    // Retention leaves events without a position, and a process gives it to them soon.
    const unplaced = { text: 'SELECT 1 FROM events WHERE organization_id = $1 AND position IS NULL', values: [organizationId] }
    await waitFor('the positions of all events', async () => (await harness.db.query(unplaced)).rowCount === 0)
    // No message is a day old in a test, so the day is zero.
    await harness.db.query({
      text: `UPDATE organizations SET retention = '{"messages_days": 0, "events_days": 0}' WHERE id = $1`,
      values: [organizationId],
    })
    await runTask('apply retention')
    const left = await harness.expectApi(200, 'GET', '/mailboxes/swept/messages', ask)
    expect(left.data.map((one: Json) => one.subject).toSorted()).toEqual(['Answered', 'Queued', 'Waiting'])
    await harness.expectApi(404, 'GET', `/mailboxes/swept/messages/${idOf('Plain')}`, ask)
    expect(before - (await useOf('swept', key)).used_bytes).toBe(seen.messages_bytes)
    expect((await useOf('swept', key)).used_bytes).toBe(await bytesInRows('swept'))
    await waitFor('the blob of the raw message to be deleted', async () => (await blobsLeft()) === blobsBefore - 1)
    const audit = await harness.expectApi(200, 'GET', '/audit', ask)
    expect(audit.data[0]).toMatchObject({
      action: 'retention.applied',
      details: { messages: 2, attachments: 0, bytes: seen.messages_bytes },
    })
    expect(audit.data[0].actor_type).toBe('host')
    const { rows } = await harness.db.query({
      text: 'SELECT 1 FROM events WHERE organization_id = $1 AND position IS NOT NULL',
      values: [organizationId],
    })
    expect(rows).toEqual([])
    await harness.expectApi(200, 'GET', `/mailboxes/swept/messages/${queued.id}`, ask)
  })

  test('deletes files and keeps their messages', async () => {
    const { id: organizationId, key } = await harness.createOrganization('Files')
    const ask = { key }
    for (const handle of ['files', 'files_too']) await harness.createAgent(handle, {}, key)
    await harness.deliver({
      from: 'ada@example.org',
      to: ['files@agents.localhost', 'files_too@agents.localhost'],
      subject: 'Report',
      text: 'The report.',
      attachments: [{ filename: 'report.bin', content: Buffer.alloc(90_000, 5) }],
    })
    const [item] = (await harness.expectApi(200, 'GET', '/mailboxes/files/messages', ask)).data
    const message = await harness.expectApi(200, 'GET', `/mailboxes/files/messages/${item.id}`, ask)
    const seen = await preview(harness.db, {
      messagesOf: [],
      messagesBefore: null,
      filesOf: [message.mailbox_id],
      filesBefore: new Date(Date.now() + 60_000),
    })
    expect(seen).toMatchObject({ messages: 0, attachments: 1 })
    await harness.db.query({
      text: `UPDATE identities SET retention = '{"attachments_days": 0}' WHERE organization_id = $1 AND agent_handle = 'files'`,
      values: [organizationId],
    })
    const before = (await useOf('files', key)).used_bytes
    for (const _twice of [1, 2]) await runTask('apply retention')
    expect(before - (await useOf('files', key)).used_bytes).toBe(seen.attachments_bytes)
    expect((await useOf('files', key)).used_bytes).toBe(await bytesInRows('files'))

    const kept = await harness.expectApi(200, 'GET', `/mailboxes/files/messages/${item.id}`, ask)
    expect(kept).toMatchObject({ subject: 'Report', size_bytes: message.size_bytes, attachments: [{ filename: 'report.bin' }] })
    const gone = await harness.expectApi(404, 'GET', kept.attachments[0].url.slice(harness.publicUrl.length), { key: null })
    expect(gone.error.message).toContain('deleted by the retention')
    await harness.expectApi(404, 'GET', `/mailboxes/files/messages/${item.id}/raw`, ask)
    await harness.expectApi(409, 'POST', `/mailboxes/files/messages/${item.id}/forward`, {
      key,
      body: { to: ['ada@example.org'], text: 'See' },
    })
    // The other mailbox has its copy of the bytes, which are stored once.
    const [other] = (await harness.expectApi(200, 'GET', '/mailboxes/files_too/messages', ask)).data
    const whole = await harness.expectApi(200, 'GET', `/mailboxes/files_too/messages/${other.id}`, ask)
    expect(await harness.expectApi(200, 'GET', whole.attachments[0].url.slice(harness.publicUrl.length), { key: null })).toHaveLength(
      90_000,
    )
    const entries = (await harness.expectApi(200, 'GET', '/audit', ask)).data.filter((entry: Json) => entry.action === 'retention.applied')
    expect(entries).toMatchObject([{ details: { attachments: 1 } }])
    await harness.expectApi(200, 'DELETE', `/mailboxes/files/messages/${item.id}`, ask)
    expect((await useOf('files', key)).used_bytes).toBe(0)
  })
})

test('the quota of the server limits every organization', async () => {
  const config = readConfig({ ...harness.environment, CALLSIGN_ORGANIZATION_STORAGE_MB: String(serverMb) })
  expect(config.storageQuotaMax).toBe(serverMb * 1_000_000)
})
