// The suppression list. Covers its additions and removals, and that every way of sending obeys it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccounts } from '../src/features/account/organizations/operations.ts'
import { createSuppressions } from '../src/features/mail/suppressions/operations.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
})
afterAll(() => harness.stop())

const add = (email_address: string, more: Record<string, unknown> = {}) =>
  harness.expectApi(201, 'POST', '/suppressions', { body: { email_address, ...more } })
const list = (query = '') => harness.expectApi(200, 'GET', `/suppressions${query}`)
const remove = (address: string, status = 200) => harness.expectApi(status, 'DELETE', `/suppressions/${encodeURIComponent(address)}`)
const addresses = (page: Json): string[] => page.data.map((one: Json) => one.email_address)

describe('the list', () => {
  test('an address is added in one spelling, and is listed newest first by cursor', async () => {
    expect(await add('Gone@Example.COM', { reason: 'Asked by telephone' })).toEqual({
      id: expect.stringMatching(/^sup_/),
      email_address: 'gone@example.com',
      source: 'manual',
      reason: 'Asked by telephone',
      message_id: null,
      created_at: expect.any(String),
    })
    await add('jörg@bücher.test')
    await add('"third"@example.com')
    const all = ['third@example.com', 'jörg@xn--bcher-kva.test', 'gone@example.com']
    expect(addresses(await list())).toEqual(all)
    const first = await list('?limit=2')
    expect([addresses(first), first.has_more]).toEqual([all.slice(0, 2), true])
    const second = await list(`?limit=2&cursor=${first.next_cursor}`)
    expect([addresses(second), second.has_more, second.next_cursor]).toEqual([all.slice(2), false, null])
    expect(addresses(await list('?email_address=GONE@example.com'))).toEqual(['gone@example.com'])
    expect(addresses(await list('?source=bounce'))).toEqual([])
  })

  test('adding again keeps the entry, with the new reason when one is given', async () => {
    const first = await add('again@example.com', { reason: 'one' })
    expect(await add('AGAIN@example.com')).toEqual(first)
    expect(await add('again@example.com', { reason: 'two' })).toEqual({ ...first, reason: 'two' })
  })

  test('removal is idempotent, an address never added is 404, and adding again makes a new entry', async () => {
    const { id } = await add('back@example.com', { reason: 'one' })
    expect(await remove('Back@example.com')).toEqual({ id, deleted: true })
    expect(await remove('back@example.com')).toEqual({ id, deleted: true })
    expect(addresses(await list('?email_address=back@example.com'))).toEqual([])
    expect((await remove('never@example.com', 404)).error.code).toBe('not_found')
    const fresh = await add('back@example.com')
    expect(fresh).toMatchObject({ reason: null, source: 'manual' })
    expect(fresh.id > id).toBe(true)
  })

  test('a malformed address or an unknown field is 400', async () => {
    for (const email_address of ['ann', 'Ann <ann@example.com>', 'a@b..c', '@example.com', 'a b@example.com', 'a\u202enn@example.com', ''])
      expect(await harness.api('POST', '/suppressions', { body: { email_address } })).toMatchObject({
        status: 400,
        body: { error: { code: 'validation_error', details: [{ path: '/email_address' }] } },
      })
    expect((await harness.api('POST', '/suppressions', { body: { email_address: 'a@b.c', why: 'x' } })).status).toBe(400)
    expect((await harness.api('POST', '/suppressions', { body: { email_address: 'a@b.c', reason: 'x'.repeat(501) } })).status).toBe(400)
    expect((await harness.api('GET', '/suppressions?cursor=x')).status).toBe(400)
  })

  test('an Idempotency-Key gives the first answer again', async () => {
    const ask = { body: { email_address: 'keyed@example.com' }, headers: { 'idempotency-key': 'suppress-1' } }
    const [first, second] = [await harness.api('POST', '/suppressions', ask), await harness.api('POST', '/suppressions', ask)]
    expect([second.status, second.headers.get('idempotent-replayed'), second.body]).toEqual([201, 'true', first.body])
  })

  test("is per organization, and closed to an agent's key", async () => {
    const { key } = harness.otherOrganization
    expect((await harness.expectApi(200, 'GET', '/suppressions', { key })).data).toEqual([])
    expect((await harness.api('DELETE', '/suppressions/gone@example.com', { key })).status).toBe(404)
    const agentKey = await harness.agentKey('ann')
    for (const [method, path] of [
      ['GET', '/suppressions'],
      ['POST', '/suppressions'],
      ['DELETE', '/suppressions/gone@example.com'],
    ] as const) {
      const body = method === 'POST' ? { email_address: 'x@example.com' } : undefined
      expect((await harness.api(method, path, { key: agentKey, body })).status, `${method} ${path}`).toBe(403)
    }
    await harness.createAgent('stranger', {}, key)
    const send = { agent: 'stranger', to: ['gone@example.com'], subject: 's', text: 't' }
    expect((await harness.api('POST', '/mail/send', { key, body: send })).status).toBe(201)
  })

  test('the audit log has additions and removals', async () => {
    const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100')
    const of = (action: string) => data.filter((one: Json) => one.action === action).map((one: Json) => one.details.email_address)
    expect(of('suppression.created')).toContain('back@example.com')
    expect(of('suppression.deleted')).toEqual(['back@example.com'])
  })

  test('concurrent additions and removals of one address leave one entry or none, without errors', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2
          ? harness.api('POST', '/suppressions', { body: { email_address: 'race@example.com' } })
          : harness.api('DELETE', '/suppressions/race@example.com'),
      ),
    )
    expect(answers.filter(({ status }) => ![200, 201, 404].includes(status))).toEqual([])
    expect(addresses(await list('?email_address=race@example.com')).length).toBeLessThanOrEqual(1)
  })
})

describe('a send to a suppressed address is 403 recipient_suppressed', () => {
  const refused = (answer: { status: number; body: Json }, address = 'no@example.com') => {
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'recipient_suppressed' } } })
    expect(answer.body.error.message.toLowerCase()).toContain(address.toLowerCase())
  }
  const total = async (): Promise<number> => (await harness.expectApi(200, 'GET', '/mail/messages')).total
  let inbound: Json
  beforeAll(async () => {
    await add('no@example.com', { reason: 'Left the company' })
    await harness.deliver({ from: 'no@example.com', to: 'ann@agents.localhost', cc: 'fine@example.com', subject: 'From no', text: 'Hi' })
    inbound = await harness.waitForMail('ann', 'From no')
  })

  test('in any spelling, in to, cc and bcc, and nothing of the message is stored', async () => {
    const before = await total()
    for (const written of ['no@example.com', 'No <NO@Example.com>', '"no"@example.com', 'no+tag@example.com', 'no@ｅxample.com'])
      for (const field of ['to', 'cc', 'bcc']) {
        const body = { agent: 'ann', to: ['fine@example.com'], subject: 's', text: 't', [field]: [written] }
        refused(await harness.api('POST', '/mail/send', { body }), written.replace(/.*<|>/g, '').trim())
      }
    refused(await harness.api('POST', '/mailboxes/ann/messages', { body: { to: ['no@example.com'], subject: 's', text: 't' } }))
    expect(await total()).toBe(before)
  })

  test('the answer has the reason, and details name every such address', async () => {
    await add('second@example.com')
    const body = { agent: 'ann', to: ['no@example.com', 'fine@example.com'], bcc: ['second@example.com'], subject: 's', text: 't' }
    const { error } = (await harness.api('POST', '/mail/send', { body })).body
    expect(error.message).toContain('Left the company')
    expect(error.details).toEqual([
      { path: '/to', message: expect.stringContaining('no@example.com') },
      { path: '/bcc', message: expect.stringContaining('second@example.com') },
    ])
  })

  test('by reply, reply to all and forward', async () => {
    const path = `/mailboxes/ann/messages/${inbound.id}`
    refused(await harness.api('POST', `${path}/reply`, { body: { text: 't' } }))
    refused(await harness.api('POST', `${path}/reply`, { body: { text: 't', reply_all: true } }))
    refused(await harness.api('POST', `${path}/reply`, { body: { text: 't', to: 'fine@example.com', cc: 'no@example.com' } }))
    refused(await harness.api('POST', `${path}/forward`, { body: { to: 'no@example.com' } }))
    expect((await harness.api('POST', `${path}/reply`, { body: { text: 't', to: 'fine@example.com' } })).status).toBe(201)
  })

  test('a draft stays a draft, and can be sent when the address is off the list', async () => {
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', {
      body: { to: 'later@example.com', subject: 's', text: 't' },
    })
    await add('later@example.com')
    refused(await harness.api('POST', `/mailboxes/ann/drafts/${draft.id}/send`), 'later@example.com')
    expect(await harness.expectApi(200, 'GET', `/mailboxes/ann/drafts/${draft.id}`)).toEqual(draft)
    await remove('later@example.com')
    await harness.expectApi(201, 'POST', `/mailboxes/ann/drafts/${draft.id}/send`)
  })

  test('a scheduled draft stays a draft with its reason', async () => {
    const send_at = new Date(Date.now() + 3_600_000).toISOString()
    const body = { to: 'no@example.com', subject: 's', text: 't', send_at }
    const { id } = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body })
    await harness.makeDraftsDue(id)
    const draft = await waitFor('the draft to say why', async () => {
      const found = await harness.expectApi(200, 'GET', `/mailboxes/ann/drafts/${id}`)
      return found.send_error && found
    })
    expect(draft).toMatchObject({ status: 'draft', send_at: null, send_error: expect.stringContaining('no@example.com') })
  })

  test('before an attachment is fetched', async () => {
    const attachments = [{ filename: 'a.txt', content_type: 'text/plain', url: 'http://127.0.0.1:9/never' }]
    refused(await harness.api('POST', `/mailboxes/ann/messages/${inbound.id}/reply`, { body: { text: 't', attachments } }))
  })

  test('one refused message among many concurrent ones fails alone', async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        harness.api('POST', '/mail/send', {
          body: { agent: 'ann', to: [i % 6 === 0 ? 'no@example.com' : `x${i}@example.com`], subject: 's', text: 't' },
        }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 6 === 0 ? 403 : 201)))
  })
})

test('bounces and complaints are listed in the transaction that records them, and never replace an entry', async () => {
  const suppressions = createSuppressions({ db: harness.db, accounts: createAccounts(harness.db) })
  const { organization_id: organizationId } = await harness.expectApi(200, 'GET', '/me')
  const message = { organizationId, messageId: 'msg_01h455vb4pex5vsknk084sn02q' }
  await add('kept@example.com', { reason: 'by hand' })
  const additions = [
    { ...message, address: 'Bounced@Example.com', source: 'bounce' as const, reason: `550 5.1.1 No such user\0${'x'.repeat(1000)}` },
    { ...message, address: 'bounced@example.com', source: 'complaint' as const, reason: 'twice in one report' },
    { ...message, address: 'angry@example.com', source: 'complaint' as const, reason: 'abuse' },
    { ...message, address: 'kept@example.com', source: 'bounce' as const, reason: '550' },
    { ...message, address: 'not an address', source: 'bounce' as const, reason: '550' },
  ]
  await expect(
    harness.db.transact(async (tx) => {
      await suppressions.suppress(tx, additions)
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  expect((await list('?source=bounce')).data).toEqual([])
  await harness.db.transact((tx) => suppressions.suppress(tx, additions))
  await harness.db.transact((tx) => suppressions.suppress(tx, []))
  const { data } = await list('?limit=3')
  expect(data.find((one: Json) => one.email_address === 'bounced@example.com')).toMatchObject({
    source: 'bounce',
    reason: expect.stringMatching(/^550 5\.1\.1 No such userx+$/),
    message_id: message.messageId,
  })
  expect(data.find((one: Json) => one.email_address === 'angry@example.com')).toMatchObject({ source: 'complaint', reason: 'abuse' })
  expect((await list('?email_address=kept@example.com')).data[0]).toMatchObject({ source: 'manual', reason: 'by hand', message_id: null })
  const send = await harness.api('POST', '/mail/send', { body: { agent: 'ann', to: ['angry@example.com'], subject: 's', text: 't' } })
  expect(send.body.error.message).toContain('its owner complained')
})
