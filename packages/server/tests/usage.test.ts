// Counts of mail per day: their statuses, days in UTC, exactness with concurrent senders and two processes, pages and isolation.
import { usageCounts } from '@callsign/contract/usage'
import { fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countMail, createUsage } from '../src/features/mail/usage/operations.ts'
import { startCallsignd } from './harness/callsignd.ts'
import { type MailSink, startMailSink } from './harness/mail-sink.ts'
import { captured, complaint, handIn } from './harness/return-mail.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let sink: MailSink
let harness: Harness
beforeAll(async () => {
  sink = await startMailSink()
  sink.answerRecipients((address) => (address.startsWith('bad') ? '550 5.1.1 no such user' : null))
  harness = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: sink.url })
})
afterAll(async () => {
  await harness.stop()
  await sink.close()
})

const nothing = Object.fromEntries(usageCounts.map((name) => [name, 0]))
const list = (query = '', key = harness.organizationKey): Promise<Json> => harness.expectApi(200, 'GET', `/usage${query}`, { key })
/** Counts of one agent on all its days together, so that a test may run over midnight. */
const countsOf = async (query: string, key?: string): Promise<Json> => {
  const { data } = await list(query, key)
  return Object.fromEntries(
    usageCounts.flatMap((name) => {
      const sum = data.reduce((total: number, day: Json) => total + day.messages[name], 0)
      return sum === 0 ? [] : [[name, sum]]
    }),
  )
}

test('each status that a message reaches is counted for its agent, its domain and the organization', async () => {
  const { id: organizationId, key } = await harness.createOrganization('Counting')
  for (const handle of ['count_a', 'count_b']) await harness.createAgent(handle, {}, key)
  const sendTo = async (agent: string, to: string[], status: string) => {
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', { key, body: { agent, to, subject: 'Hello', text: 'Hello' } })
    await waitFor(
      `${status} of ${id}`,
      async () => (await harness.expectApi(200, 'GET', `/mailboxes/${agent}/messages/${id}`, { key })).status === status,
    )
  }
  await sendTo('count_a', ['good@example.com'], 'sent')
  await sendTo('count_a', ['bad@example.com', 'other@example.com'], 'bounced')
  await sendTo('count_b', ['bad@example.org'], 'bounced')
  await harness.deliver({ from: 'ada@example.org', to: 'count_b@agents.localhost', subject: 'One', text: 'One' })

  expect(await countsOf('?agent_handle=count_a', key)).toEqual({ queued: 2, sent: 1, bounced: 1 })
  expect(await countsOf('?agent_handle=@count_b', key)).toEqual({ queued: 1, bounced: 1, received: 1 })
  const all = { queued: 3, sent: 1, bounced: 2, received: 1 }
  expect(await countsOf('', key)).toEqual(all)
  expect(await countsOf('?domain=AGENTS.localhost', key)).toEqual(all)
  expect(await countsOf('?domain=other.example', key)).toEqual({})

  // A complaint changes no status. A bounce after the relay accepted the message does.
  const returnPath = sink.mails.find((mail) => mail.to[0] === 'good@example.com')?.from as string
  await handIn(harness.smtpPort, { from: 'feedback@provider.example', to: returnPath, raw: complaint(returnPath) })
  for (const _twice of [1, 2]) await handIn(harness.smtpPort, { to: returnPath, raw: captured('postfix-unknown', returnPath).raw })
  expect(await countsOf('?agent_handle=count_a', key)).toEqual({ queued: 2, sent: 1, bounced: 2, complained: 1 })

  // Counts outlive their messages and their agents, and no other organization sees them.
  const found = await harness.expectApi(200, 'GET', '/mailboxes/count_b/messages?direction=inbound', { key })
  await harness.expectApi(200, 'DELETE', `/mailboxes/count_b/messages/${found.data[0].id}`, { key })
  await harness.expectApi(204, 'DELETE', '/identities/count_b', { key })
  expect(await countsOf('?agent_handle=count_b', key)).toEqual({ queued: 1, bounced: 1, received: 1 })
  expect(await countsOf('?agent_handle=count_a')).toEqual({})
  expect((await list('', harness.otherOrganization.key)).data).toEqual([])
  await harness.db.query({ text: 'DELETE FROM usage_counts WHERE organization_id = $1', values: [organizationId] })
})

test('quarantined mail is counted when it arrives, and as received when it is released', async () => {
  await harness.createAgent('strict', { inbound_mode: 'allowlist' })
  await harness.deliver({ from: 'stranger@example.org', to: 'strict@agents.localhost', subject: 'Held', text: 'Held' })
  const { id } = await harness.waitForMail('strict', 'Held', 'quarantined')
  expect(await countsOf('?agent_handle=strict')).toEqual({ quarantined: 1 })
  for (const _twice of [1, 2]) await harness.expectApi(200, 'POST', `/mailboxes/strict/messages/${id}/release`)
  expect(await countsOf('?agent_handle=strict')).toEqual({ quarantined: 1, received: 1 })
})

test('counts are exact with 16 concurrent senders on two server processes', async () => {
  for (const handle of ['race_a', 'race_b']) await harness.createAgent(handle)
  const before = await countsOf('')
  const other = await startCallsignd({ ...harness.environment, CALLSIGN_SMTP_PORT: '0' })
  try {
    const bases = [harness.baseUrl, other.baseUrl]
    const headers = { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' }
    const send = async (index: number): Promise<number> => {
      const body = JSON.stringify({
        agent: index % 3 ? 'race_a' : 'race_b',
        to: [`to${index}@example.com`],
        subject: 'Hello',
        text: 'Hello',
      })
      const response = await fetch(`${bases[index % 2]}/api/v1/mail/send`, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_, sender) => {
        const own: number[] = []
        for (let index = 0; index < 3; index++) own.push(await send(3 * sender + index))
        return own
      }),
    )
    expect(statuses.flat().every((status) => status === 201)).toBe(true)
    const isSent = async () => (await countsOf('?agent_handle=race_a')).sent === 32 && (await countsOf('?agent_handle=race_b')).sent === 16
    await waitFor('48 messages to be counted as sent', isSent, 90_000)
    expect(await countsOf('?agent_handle=race_a')).toEqual({ queued: 32, sent: 32 })
    expect(await countsOf('?agent_handle=race_b')).toEqual({ queued: 16, sent: 16 })
    const after = await countsOf('')
    expect([after.queued - (before.queued ?? 0), after.sent - (before.sent ?? 0)]).toEqual([48, 48])
  } finally {
    await other.stop()
  }
})

test('a transaction that is rolled back counts nothing', async () => {
  await harness.createAgent('undone')
  const { organization_id: organizationId } = await harness.expectApi(200, 'GET', '/me')
  const before = await countsOf('?agent_handle=undone')
  const failed = harness.db.transact(async (tx) => {
    await countMail(tx, [{ organizationId, handle: 'undone', domain: 'agents.localhost', name: 'received', at: new Date() }])
    throw new Error('undo')
  })
  await expect(failed).rejects.toThrow('undo')
  expect(await countsOf('?agent_handle=undone')).toEqual(before)
})

describe('days', () => {
  const handles = ['day_a', 'day_b', 'day_c']
  const days = ['2026-02-28', '2026-03-01', '2026-03-02']
  beforeAll(async () => {
    for (const handle of handles) {
      await harness.createAgent(handle)
      await harness.send(handle, 'x@example.com')
    }
    const { organization_id: organizationId } = await harness.expectApi(200, 'GET', '/me')
    await harness.db.transact(async (tx) => {
      // The time zone of a connection does not move the days.
      await tx.query({ text: `SET LOCAL timezone = 'Pacific/Kiritimati'` })
      const times = ['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00.000Z']
      await countMail(
        tx,
        handles.flatMap((handle) =>
          times.map((time) => ({ organizationId, handle, domain: 'agents.localhost', name: 'failed' as const, at: new Date(time) })),
        ),
      )
    })
  })
  const range = 'start_date=2026-02-28&end_date=2026-03-02'

  test('begin at midnight in UTC', async () => {
    const { data } = await list(`?agent_handle=day_a&${range}`)
    expect(data).toEqual(
      days
        .toReversed()
        .map((date) => ({ date, agent_handle: 'day_a', domain: null, messages: { ...nothing, failed: date === '2026-03-01' ? 2 : 1 } })),
    )
    expect((await list(`?${range}`)).data.map((day: Json) => [day.date, day.agent_handle, day.domain, day.messages.failed])).toEqual([
      ['2026-03-02', null, null, 3],
      ['2026-03-01', null, null, 6],
      ['2026-02-28', null, null, 3],
    ])
    expect((await list(`?by=domain&${range}`)).data.map((day: Json) => day.domain)).toEqual(Array(3).fill('agents.localhost'))
  })

  test.each([1, 2, 4])('a walk by pages of %i finds every item once, in order', async (limit) => {
    const found: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 20; pages++) {
      const page = await list(`?by=agent&${range}&limit=${limit}${cursor}`)
      found.push(...page.data.map((day: Json) => `${day.date} ${day.agent_handle}`))
      expect(page.has_more).toBe(page.next_cursor !== null)
      if (!page.has_more) break
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    expect(found).toEqual(days.toReversed().flatMap((date) => ['day_a', 'day_b', 'day_c'].map((handle) => `${date} ${handle}`)))
    expect((await list(`?agent_handle=day_b&${range}&limit=1&cursor=2026-03-02~day_b`)).data).toMatchObject([{ date: '2026-03-01' }])
  })

  test('start and end are included, and a list without them ends today', async () => {
    expect((await list('?agent_handle=day_a&start_date=2026-03-01&end_date=2026-03-01')).data).toHaveLength(1)
    expect((await list('?agent_handle=day_a&end_date=2026-03-01')).data).toHaveLength(2)
    const today = await list('?agent_handle=day_a')
    expect(today.data.every((day: Json) => day.messages.failed === 0 && day.messages.queued === 1)).toBe(true)
  })

  test.each([
    ['?start_date=2026-02-29', '/start_date'],
    ['?end_date=2026-1-1', '/end_date'],
    ['?end_date=2026-13-01', '/end_date'],
    ['?start_date=2026-03-02&end_date=2026-03-01', '/start_date'],
    ['?by=agent&domain=a.example', '/by'],
    ['?agent_handle=day_a&domain=a.example', '/domain'],
    ['?cursor=day_a', '/cursor'],
    ['?cursor=2026-02-40~day_a', '/cursor'],
  ])('%s is refused with the name of the field', async (query, path) => {
    const { status, body } = await harness.api('GET', `/usage${query}`)
    expect([status, body.error.details[0].path]).toEqual([400, path])
  })

  test('an agent key is refused', async () => {
    expect((await harness.api('GET', '/usage', { key: await harness.agentKey('day_a') })).status).toBe(403)
  })

  test('counts older than 400 days are deleted', async () => {
    await harness.db.query({ text: `UPDATE usage_counts SET day = (now() AT TIME ZONE 'UTC')::date - 401 WHERE day = '2026-02-28'` })
    await harness.db.query({ text: `UPDATE usage_counts SET day = (now() AT TIME ZONE 'UTC')::date - 399 WHERE day = '2026-03-01'` })
    await harness.db.query({ text: `UPDATE usage_counts SET day = (now() AT TIME ZONE 'UTC')::date - 398 WHERE day = '2026-03-02'` })
    await createUsage(harness.db).sweep()
    const kept = (await list('?agent_handle=day_a&start_date=2020-01-01')).data
    expect(kept.map((day: Json) => day.messages.failed)).toEqual([0, 1, 2])
  })
})
