// The right to receive events: at a subscription, at a change of it, at a replay, and when a delivery is claimed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isWanted, wants } from '../src/features/events/webhooks/model.ts'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let [trusted, evil]: Receiver[] = []
let hooksOnly: string
let isDown = false

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', CALLSIGN_WEBHOOK_RETRY_SECONDS: '1,1,1,3600' })
  await harness.createAgent('box')
  await harness.createAgent('other')
  await harness.createAgent('asking', { draft_approval: 'required' })
  hooksOnly = await keyWith('webhooks:read', 'webhooks:write', 'tunnels:read')
})
afterAll(() => harness?.stop())
beforeEach(async () => {
  isDown = false
  trusted = await startReceiver(() => ({ status: isDown ? 500 : 200 }))
  evil = await startReceiver()
  return async () => {
    await trusted?.stop()
    await evil?.stop()
  }
})

const at = (receiver: Receiver | undefined) => receiver as Receiver
const keyWith = async (...scopes: string[]): Promise<string> =>
  (await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Limited', type: 'organization', scopes } })).key
const create = (body: object = {}, key = harness.organizationKey): Promise<Json> =>
  harness.expectApi(201, 'POST', '/webhooks', { key, body: { url: at(trusted).url, events: ['email.received'], ...body } })
const change = async (id: string, body: object, key = hooksOnly) => harness.api('PATCH', `/webhooks/${id}`, { key, body })
const arrive = async (handle: string, subject: string): Promise<void> => {
  await harness.deliver({ from: 'eve@example.org', to: `${handle}@agents.localhost`, subject, text: subject })
  await harness.waitForMail(handle, subject)
}
const deliveriesOf = async (id: string): Promise<Json[]> => (await harness.expectApi(200, 'GET', `/webhooks/${id}/deliveries`)).data
const ask = async (): Promise<void> => {
  const key = await harness.agentKey('asking')
  const body = { to: ['ada@park.example'], subject: 'May I', text: 'May I' }
  const { id } = await harness.expectApi(201, 'POST', '/mailboxes/asking/drafts', { key, body })
  await harness.expectApi(200, 'POST', `/mailboxes/asking/drafts/${id}/request-approval`, { key })
}

describe('a key with the right to webhooks and not to mail', () => {
  test('changes nothing of a webhook that receives mail', async () => {
    const { id } = await create({ headers: { authorization: 'Bearer written-only' } })
    const url = at(evil).url
    for (const body of [
      { url },
      { url, events: ['tunnel.connected'] },
      { url, events: ['email.received'] },
      { status: 'paused' },
      { headers: null },
    ])
      expect((await change(id, body)).status).toBe(403)
    expect((await harness.api('POST', `/webhooks/${id}/rotate-secret`, { key: hooksOnly })).status).toBe(403)
    await arrive('box', 'still trusted')
    await at(trusted).waitFor(1)
    expect(at(evil).received).toEqual([])
    expect(await harness.expectApi(200, 'GET', `/webhooks/${id}`)).toMatchObject({ url: at(trusted).url, events: ['email.received'] })
  })

  test('replays neither one delivery nor a range of it', async () => {
    const { id } = await create()
    await arrive('box', 'to be replayed')
    await at(trusted).waitFor(1)
    const [delivery] = (await waitFor('the delivery', async () => {
      const all = await deliveriesOf(id)
      return all[0]?.status === 'delivered' && all
    })) as Json[]
    const since = new Date(Date.now() - 60_000).toISOString()
    for (const key of [hooksOnly, await keyWith('webhooks:write', 'phone:read')]) {
      expect((await harness.api('POST', `/webhooks/deliveries/${delivery?.id}/replay`, { key })).status).toBe(403)
      expect((await harness.api('POST', `/webhooks/${id}/replay`, { key, body: { since } })).status).toBe(403)
    }
    const reader = await keyWith('webhooks:write', 'mail:read')
    await harness.expectApi(200, 'POST', `/webhooks/deliveries/${delivery?.id}/replay`, { key: reader })
    await at(trusted).waitFor(2)
    expect((await harness.expectApi(200, 'POST', `/webhooks/${id}/replay`, { key: reader, body: { since } })).replayed).toBeGreaterThan(0)
    await at(trusted).waitFor(3)
  })

  test('makes, moves and replays a webhook of the events that it may receive', async () => {
    const { id } = await create({ events: ['tunnel.connected'] }, hooksOnly)
    const moved = await change(id, { url: at(evil).url, events: ['tunnel.connected', 'tunnel.disconnected'] })
    expect([moved.status, moved.body.url]).toEqual([200, at(evil).url])
    expect((await change(id, { events: ['tunnel.connected', 'sms.received'] })).status).toBe(403)
    const since = new Date(Date.now() - 60_000).toISOString()
    await harness.expectApi(200, 'POST', `/webhooks/${id}/replay`, { key: hooksOnly, body: { since } })
  })
})

describe('a delivery that its webhook no longer receives', () => {
  test('ends when it is claimed, also after a change by a key that may read it, and cannot be replayed', async () => {
    isDown = true
    const { id } = await create({ events: ['email.received', 'tunnel.connected'] })
    await arrive('box', 'pending')
    await at(trusted).waitFor(1)
    expect((await change(id, { events: ['tunnel.connected'] }, harness.organizationKey)).status).toBe(200)
    expect((await change(id, { url: at(evil).url })).status).toBe(200)
    const [ended] = (await waitFor('the end', async () => {
      const all = await deliveriesOf(id)
      return all[0]?.status === 'failed' && all
    })) as Json[]
    expect(ended).toMatchObject({ last_error_code: 'not_subscribed', last_status_code: null, next_attempt_at: null })
    expect(at(evil).received).toEqual([])
    const { attempts } = await harness.expectApi(200, 'GET', `/webhooks/deliveries/${ended?.id}`)
    expect(attempts.map((one: Json) => one.error_code)).toEqual([...Array(attempts.length - 1).fill('http_5xx'), 'not_subscribed'])
    expect((await harness.api('POST', `/webhooks/deliveries/${ended?.id}/replay`)).status).toBe(409)
    // The webhook itself does not fail, and receives the event again when it wants it again.
    await harness.expectApi(200, 'PATCH', `/webhooks/${id}`, { body: { events: ['email.received'] } })
    await harness.expectApi(200, 'POST', `/webhooks/deliveries/${ended?.id}/replay`)
    expect(JSON.parse(String((await at(evil).waitFor(1))[0]?.body)).data.subject).toBe('pending')
  })

  test('ends as well when its agent is not one of the webhook any more', async () => {
    isDown = true
    const { id } = await create({ agent_handles: ['box', 'other'] })
    await arrive('box', 'of the box')
    await at(trusted).waitFor(1)
    await harness.expectApi(200, 'PATCH', `/webhooks/${id}`, { body: { agent_handles: ['other'] } })
    await waitFor('the end', async () => (await deliveriesOf(id))[0]?.last_error_code === 'not_subscribed')
    isDown = false
    await arrive('other', 'of the other')
    await waitFor('the delivery', () =>
      at(trusted)
        .payloads()
        .some((one) => one.data.subject === 'of the other'),
    )
  })
})

describe('links that approve drafts', () => {
  const linksAt = (receiver: Receiver) => receiver.payloads().map((one) => typeof one.data.approval_url)

  test('go to a URL that was set with the right to approve', async () => {
    const { id } = await create({ events: ['draft.approval_requested'] })
    await ask()
    await at(trusted).waitFor(1)
    expect(linksAt(at(trusted))).toEqual(['string'])
    await harness.expectApi(200, 'PATCH', `/webhooks/${id}`, { body: { url: at(evil).url } })
    await ask()
    await at(evil).waitFor(1)
    expect(linksAt(at(evil))).toEqual(['string'])
    await harness.expectApi(200, 'DELETE', `/webhooks/${id}`)
  })

  test('do not go to a URL that a key without this right set before the events were added', async () => {
    const drafts = await keyWith('webhooks:read', 'webhooks:write', 'drafts:read')
    const { id } = await create({ events: ['draft.rejected'] })
    expect((await change(id, { url: at(evil).url }, drafts)).status).toBe(200)
    for (const events of [['draft.approval_requested'], ['*']]) {
      expect((await change(id, { events }, drafts)).status).toBe(403)
      const refused = await change(id, { events }, harness.organizationKey)
      expect([refused.status, refused.body.error.details[0].path]).toEqual([400, '/url'])
    }
    await harness.expectApi(200, 'PATCH', `/webhooks/${id}`, { body: { events: ['draft.approval_requested'], url: at(trusted).url } })
    expect((await change(id, { url: at(evil).url }, drafts)).status).toBe(403)
    await ask()
    await at(trusted).waitFor(1)
    expect(linksAt(at(trusted))).toEqual(['string'])
    expect(at(evil).received).toEqual([])
    await harness.expectApi(200, 'DELETE', `/webhooks/${id}`)
  })

  test('are bound to their URL by the schema', async () => {
    const { id } = await create({ events: ['draft.rejected'] }, await keyWith('webhooks:write', 'drafts:read'))
    const update = harness.db.query({ text: `UPDATE webhooks SET event_types = '{*}' WHERE id = $1`, values: [id] })
    await expect(update).rejects.toThrow('webhooks_approval_links')
  })
})

describe('custom headers', () => {
  test('are cleared by a URL of another origin, unless they are given again', async () => {
    const { id } = await create({ headers: { authorization: 'Bearer written-only', 'x-tenant': 'a' } })
    const same = await change(id, { url: `${at(trusted).url}/other` }, harness.organizationKey)
    expect(same.body.header_names).toEqual(['authorization', 'x-tenant'])
    const moved = await change(id, { url: at(evil).url }, await keyWith('webhooks:write', 'mail:read'))
    expect([moved.status, moved.body.header_names]).toEqual([200, []])
    await arrive('box', 'without headers')
    const [received] = await at(evil).waitFor(1)
    expect([received?.headers.authorization, received?.headers['x-tenant']]).toEqual([undefined, undefined])
    const [entry] = (await harness.expectApi(200, 'GET', '/audit')).data.filter((one: Json) => one.target_id === id)
    expect(entry.details.fields).toEqual(['url', 'headers'])

    const back = await change(id, { url: at(trusted).url, headers: { authorization: 'Bearer new' } }, harness.organizationKey)
    expect(back.body.header_names).toEqual(['authorization'])
    await arrive('box', 'with new headers')
    expect((await at(trusted).waitFor(1))[0]?.headers.authorization).toBe('Bearer new')
  })
})

test('a subscription is read by the claim as it is by the statement that writes deliveries', async () => {
  const webhooks = [['email.received'], ['*'], ['email.labels_changed', 'sms.received']].flatMap((event_types) =>
    (['callsign', 'resend', 'agentmail'] as const).flatMap((format) =>
      [[], ['ident_1'], ['ident_1', 'ident_2']].map((identity_ids) => ({ event_types, format, identity_ids })),
    ),
  )
  const events = ['email.received', 'email.labels_changed', 'sms.received'].flatMap((type) =>
    [null, 'ident_1', 'ident_3'].map((identity_id) => ({ type, identity_id })),
  )
  for (const webhook of webhooks) {
    const { rows } = await harness.db.query<{ is_wanted: boolean }>({
      text: `SELECT coalesce(${isWanted('w', 'e')}, false) AS is_wanted
        FROM (SELECT $1::text[] AS event_types, $2::text AS format, $3::text[] AS identity_ids) w,
          unnest($4::text[], $5::text[]) WITH ORDINALITY AS e (type, identity_id, place) ORDER BY place`,
      values: [webhook.event_types, webhook.format, webhook.identity_ids, events.map((e) => e.type), events.map((e) => e.identity_id)],
    })
    expect(rows.map((row) => row.is_wanted)).toEqual(events.map((event) => wants(webhook, event)))
  }
})
