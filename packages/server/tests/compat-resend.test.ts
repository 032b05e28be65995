// Emails, domains, keys and suppressions through the SDK of Resend, with their effects in our own API.
import { Resend } from 'resend'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createResend, dataOf } from './harness/resend-sdk.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let resend: Resend
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales', { display_name: 'Sales' })
  await harness.createAgent('support')
  resend = createResend(harness)
})
afterAll(() => harness?.stop())

const from = 'Sales <sales@agents.localhost>'

describe('emails', () => {
  test('send delivers from the agent of the address, with attachments, and get shows it', async () => {
    const { id } = await dataOf(
      resend.emails.send({
        from,
        to: 'support@agents.localhost',
        cc: ['ada@example.com'],
        replyTo: 'sales@agents.localhost',
        subject: 'Order 1042',
        html: '<p>It ships <b>today</b>.</p>',
        headers: { 'X-Order': '1042' },
        tags: [{ name: 'kind', value: 'order' }],
        attachments: [{ filename: 'note.txt', content: Buffer.from('Line one') }],
      }),
    )
    const message = await harness.waitForMail('support', 'Order 1042')
    expect(message).toMatchObject({ from: 'sales@agents.localhost', cc: ['ada@example.com'], attachments: [{ filename: 'note.txt' }] })
    expect(message.headers['x-order']).toBe('1042')
    expect(message.headers.from).toBe('Sales <sales@agents.localhost>')
    await harness.waitForStatus('sales', id, 'delivered', 'sent')

    const email = await dataOf(resend.emails.get(id))
    expect(email).toMatchObject({
      object: 'email',
      id,
      to: ['support@agents.localhost'],
      cc: ['ada@example.com'],
      bcc: null,
      subject: 'Order 1042',
    })
    expect(email.html).toContain('<b>today</b>')
    expect(email.tags).toEqual([{ name: 'kind', value: 'order' }])
    expect((await harness.getMessage('sales', id)).tags).toEqual(email.tags)
    const [attachment] = (await dataOf(resend.emails.attachments.list({ emailId: id }))).data
    expect(attachment).toMatchObject({ filename: 'note.txt', size: 8, content_disposition: 'attachment' })
    const one = await dataOf(resend.emails.attachments.get({ emailId: id, id: attachment?.id as string }))
    expect(new Date(one.expires_at).getTime()).toBeGreaterThan(Date.now())
    expect(await (await fetch(one.download_url)).text()).toBe('Line one')
  })

  test('an idempotency key sends once', async () => {
    const email = { from, to: ['support@agents.localhost'], subject: 'Once', text: 'Once' }
    const first = await dataOf(resend.emails.send(email, { idempotencyKey: 'order-1042' }))
    expect(await dataOf(resend.emails.send(email, { idempotencyKey: 'order-1042' }))).toEqual(first)
    const { error } = await resend.emails.send({ ...email, subject: 'Other' }, { idempotencyKey: 'order-1042' })
    expect(error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' })
  })

  test('receiving.get shows what came in', async () => {
    const message = await harness.waitForMail('support', 'Order 1042')
    const email = await dataOf(resend.emails.receiving.get(message.id))
    expect(email).toMatchObject({
      id: message.id,
      received_for: ['support@agents.localhost'],
      attachments: [{ filename: 'note.txt', size: 8 }],
    })
    const { data } = await dataOf(resend.emails.receiving.attachments.list({ emailId: message.id }))
    expect(data).toHaveLength(1)
    expect((await resend.emails.receiving.get('msg_unknown')).error).toMatchObject({ statusCode: 404, name: 'not_found' })
    expect((await resend.emails.get(message.id)).error).toMatchObject({ statusCode: 404, name: 'not_found' })
  })

  test('receiving.forward sends the original, as the SDK downloads it', async () => {
    const message = await harness.waitForMail('support', 'Order 1042')
    const email = await dataOf(resend.emails.receiving.get(message.id))
    const raw = await fetch(email.raw?.download_url as string)
    expect(await raw.text()).toContain('Subject: Order 1042')
    expect(Date.parse(email.raw?.expires_at as string)).toBeGreaterThan(Date.now())
    const forwarded = { emailId: message.id, from: 'support@agents.localhost', to: 'sales@agents.localhost' }
    await dataOf(resend.emails.receiving.forward(forwarded))
    const plain = await harness.waitForMail('sales', 'Order 1042')
    expect(plain).toMatchObject({ from: 'support@agents.localhost', attachments: [{ filename: 'note.txt' }] })
    await dataOf(resend.emails.receiving.forward({ ...forwarded, passthrough: false, text: 'See inside' }))
    const wrapped = await harness.waitForMail('sales', 'Fwd: Order 1042')
    expect(wrapped.attachments).toMatchObject([{ filename: 'forwarded_message.eml', content_type: 'message/rfc822' }])
  })

  test('lists have one direction, and pages', async () => {
    const ids = async (direction: string): Promise<string[]> =>
      (await harness.expectApi(200, 'GET', `/mail/messages?direction=${direction}`)).messages.map((one: { id: string }) => one.id)
    const sent = await dataOf(resend.emails.list({ limit: 100 }))
    expect(sent.data.map(({ id }) => id)).toEqual(await ids('outbound'))
    const [newest] = sent.data
    expect(await harness.getMessage('support', newest?.id as string)).toMatchObject({ direction: 'outbound', subject: newest?.subject })
    const first = await dataOf(resend.emails.list({ limit: 2 }))
    const second = await dataOf(resend.emails.list({ limit: 2, after: first.data[1]?.id as string }))
    expect([first.has_more, [...first.data, ...second.data]]).toEqual([true, sent.data.slice(0, 4)])

    const received = await resend.emails.receiving.list({ limit: 100 })
    expect(received.data?.data.map(({ id }) => id)).toEqual(await ids('inbound'))
    expect(received.data?.data.at(-1)).toMatchObject({ subject: 'Order 1042', received_for: ['support@agents.localhost'] })
    const agent = createResend(harness, await harness.agentKey('sales'))
    const own = (await dataOf(agent.emails.list({ limit: 100 }))).data
    expect(own.length).toBeGreaterThan(0)
    expect(own.length).toBeLessThan(sent.data.length)
    for (const { from: author } of own) expect(author).toContain('sales@agents.localhost')
  })

  test('batch sends all in order, and refuses all or some', async () => {
    const email = (subject: string, to = 'support@agents.localhost') => ({ from, to, subject, text: 'Hello' })
    const { data } = await dataOf(
      resend.batch.send([email('Batch 1'), { ...email('Batch 2'), from: 'support@agents.localhost', to: 'sales@agents.localhost' }]),
    )
    expect(data).toHaveLength(2)
    await harness.waitForMail('support', 'Batch 1')
    expect(await harness.waitForMail('sales', 'Batch 2')).toMatchObject({ from: 'support@agents.localhost' })

    await harness.expectApi(201, 'POST', '/suppressions', { body: { email_address: 'gone@example.com' } })
    const strict = await resend.batch.send([email('Strict'), email('Strict', 'gone@example.com')])
    expect(strict.error).toMatchObject({ statusCode: 422 })
    const some = await dataOf(resend.batch.send([email('Some', 'gone@example.com'), email('Some')], { batchValidation: 'permissive' }))
    expect(some.data).toHaveLength(1)
    expect(some.errors).toMatchObject([{ index: 0 }])
    await harness.waitForMail('support', 'Some')
    const { data: listed } = await harness.expectApi(200, 'GET', '/mailboxes/support/messages?direction=inbound')
    expect(listed.filter((one: { subject: string }) => one.subject === 'Strict')).toEqual([])
  })

  test.each([
    [{ from: 'nobody@agents.localhost', to: 'a@example.com', subject: 'x', text: 'x' }, 403, 'invalid_from_address'],
    [{ from, to: 'a@example.com', subject: 'x' }, 422, 'missing_required_field'],
    [{ from, to: 'not an address', subject: 'x', text: 'x' }, 422, 'validation_error'],
    [{ from, to: 'a@example.com', subject: 'x', text: 'x', scheduledAt: 'whenever' }, 422, 'validation_error'],
    [{ from, to: 'a@example.com', subject: 'x', text: 'x', scheduledAt: '2020-01-01T00:00:00Z' }, 422, 'validation_error'],
    [{ from, to: 'a@example.com', subject: 'x', text: 'x', scheduledAt: 'in 2 years' }, 422, 'validation_error'],
    [{ from, to: 'a@example.com', subject: 'x', text: 'x', attachments: [{ filename: 'x' }] }, 422, 'invalid_attachment'],
  ])('refuses %o', async (email, statusCode, name) => {
    const { data, error } = await resend.emails.send(email as never)
    expect({ data, error }).toMatchObject({ data: null, error: { statusCode, name, message: expect.stringMatching(/\w/) } })
  })

  test('a batch must be a list of emails', async () => {
    for (const batch of [[], [null], ['x'], [[]], Array.from({ length: 101 }, () => ({ from }))]) {
      const headers = { authorization: `Bearer ${harness.organizationKey}`, 'content-type': 'application/json' }
      const answer = await fetch(`${harness.baseUrl}/compat/resend/emails/batch`, { method: 'POST', headers, body: JSON.stringify(batch) })
      expect([answer.status, await answer.json()]).toMatchObject([422, { name: 'validation_error' }])
    }
  })

  test('an idempotency key of the wrong form', async () => {
    const email = { from, to: 'a@example.com', subject: 'x', text: 'x' }
    const { error } = await resend.emails.send(email, { idempotencyKey: 'x'.repeat(300) })
    expect(error).toMatchObject({ statusCode: 400, name: 'invalid_idempotency_key' })
  })

  test('a wrong key and no key', async () => {
    const wrong = new Resend('re_123', { baseUrl: `${harness.baseUrl}/compat/resend` })
    expect((await wrong.domains.list()).error).toMatchObject({ statusCode: 403, name: 'invalid_api_key' })
    const none = await fetch(`${harness.baseUrl}/compat/resend/domains`)
    expect([none.status, await none.json()]).toMatchObject([401, { name: 'missing_api_key' }])
  })

  test('a scheduled email is sent at its time, under its id', async () => {
    const [content, tags] = [Buffer.from('Line one'), [{ name: 'kind', value: 'order' }]]
    const email = {
      from,
      to: 'support@agents.localhost',
      subject: 'Later',
      text: 'Later',
      replyTo: 'me@example.com',
      tags,
      attachments: [{ filename: 'note.txt', content }],
    }
    const { id } = await dataOf(resend.emails.send({ ...email, scheduledAt: 'in 1 hour' }))
    const waiting = await dataOf(resend.emails.get(id))
    expect(waiting).toMatchObject({
      object: 'email',
      id,
      from,
      to: [email.to],
      subject: 'Later',
      last_event: 'scheduled',
      tags,
      reply_to: ['me@example.com'],
    })
    expect(Math.abs(Date.parse(waiting.scheduled_at as string) - Date.now() - 3_600_000)).toBeLessThan(60_000)
    const { drafts } = await harness.expectApi(200, 'GET', '/mailboxes/sales/drafts')
    expect(drafts).toMatchObject([{ subject: 'Later', send_at: waiting.scheduled_at, attachments: [{ filename: 'note.txt' }] }])

    const later = new Date(Date.now() + 7_200_000).toISOString()
    expect(await dataOf(resend.emails.update({ id, scheduledAt: later }))).toEqual({ object: 'email', id })
    expect(await dataOf(resend.emails.get(id))).toMatchObject({ last_event: 'scheduled', scheduled_at: later })
    expect((await harness.makeDraftsDue(drafts[0].id)).rowCount).toBe(1)
    const message = await harness.waitForMail('support', 'Later')
    expect(message).toMatchObject({ attachments: [{ filename: 'note.txt' }], reply_to: ['me@example.com'] })
    expect(await dataOf(resend.emails.get(id))).toMatchObject({ id, subject: 'Later', message_id: message.message_id, scheduled_at: null })
    expect((await resend.emails.cancel(id)).error).toMatchObject({ statusCode: 404, name: 'not_found' })
  })

  test('a canceled email is not sent', async () => {
    const { id } = await dataOf(
      resend.emails.send({ from, to: 'a@example.com', subject: 'Never', text: 'x', scheduledAt: 'tomorrow at 9am' }),
    )
    expect(await dataOf(resend.emails.cancel(id))).toEqual({ object: 'email', id })
    expect(await dataOf(resend.emails.get(id))).toMatchObject({ id, last_event: 'canceled', scheduled_at: null })
    const { drafts } = await harness.expectApi(200, 'GET', '/mailboxes/sales/drafts')
    expect(drafts).toMatchObject([{ subject: 'Never', send_at: null }])
    expect((await resend.emails.update({ id, scheduledAt: 'in 1 hour' })).error).toMatchObject({ statusCode: 422 })
    for (const unknown of [id.replace('drf_', 'drf_1'), 'drf_1.other@agents.localhost', 'x'])
      expect((await resend.emails.cancel(unknown)).error).toMatchObject({ statusCode: 404, name: 'not_found' })
    const email = { from, to: 'a@example.com', subject: 'x', text: 'x' }
    const withPath = { ...email, scheduledAt: 'in 1 min', attachments: [{ filename: 'x', path: 'https://example.com/x' }] }
    expect((await resend.emails.send(withPath)).error).toMatchObject({ statusCode: 501 })
    expect((await resend.batch.send([{ ...email, scheduledAt: 'in 1 min' }] as never)).error).toMatchObject({ statusCode: 501 })
  })

  test('an agent key sends as its agent only', async () => {
    const agent = createResend(harness, await harness.agentKey('support'))
    expect((await agent.emails.send({ from, to: 'a@example.com', subject: 'x', text: 'x' })).error?.statusCode).toBeGreaterThanOrEqual(400)
    await dataOf(agent.emails.send({ from: 'support@agents.localhost', to: 'a@example.com', subject: 'x', text: 'x' }))
  })
})

test('domains', async () => {
  const created = await dataOf(resend.domains.create({ name: 'mail.example.com' }))
  expect(created).toMatchObject({ name: 'mail.example.com', status: 'pending', capabilities: { sending: 'enabled' } })
  expect(created.records.some(({ record }) => record === 'DKIM')).toBe(true)
  expect((await dataOf(resend.domains.list())).data).toMatchObject([{ id: created.id }])
  expect(await dataOf(resend.domains.get(created.id))).toMatchObject({ object: 'domain', id: created.id })
  expect(await dataOf(resend.domains.verify(created.id))).toMatchObject({ id: created.id })
  expect((await resend.domains.update({ id: created.id, clickTracking: true })).error).toMatchObject({ statusCode: 501 })
  expect(await dataOf(resend.domains.remove(created.id))).toMatchObject({ deleted: true })
  expect(await harness.expectApi(200, 'GET', '/domains')).toMatchObject({ data: [] })
})

test('API keys', async () => {
  const sending = await dataOf(resend.apiKeys.create({ name: 'Sender', permission: 'sending_access' }))
  await dataOf(createResend(harness, sending.token).emails.send({ from, to: 'a@example.com', subject: 'x', text: 'x' }))
  expect((await createResend(harness, sending.token).domains.list()).error).toMatchObject({ statusCode: 401, name: 'restricted_api_key' })
  expect((await resend.apiKeys.create({ name: 'x', domain_id: 'dom_1' })).error).toMatchObject({ statusCode: 501 })
  const { id, token } = await dataOf(resend.apiKeys.create({ name: 'CI' }))
  await harness.expectApi(200, 'GET', '/me', { key: token })
  expect((await dataOf(resend.apiKeys.list())).data.map((key) => key.id)).toContain(id)
  await dataOf(resend.apiKeys.remove(id))
  expect((await harness.api('GET', '/me', { key: token })).status).toBe(401)
})

test('suppressions', async () => {
  const { id } = await dataOf(resend.suppressions.add({ email: 'left@example.com' }))
  expect((await dataOf(resend.suppressions.list({ origin: 'manual' }))).data.map((one) => one.id)).toContain(id)
  expect(await dataOf(resend.suppressions.get('left@example.com'))).toMatchObject({ id, email: 'left@example.com', origin: 'manual' })
  expect(await dataOf(resend.suppressions.remove('left@example.com'))).toMatchObject({ id, deleted: true })
  expect(
    ((await dataOf(resend.suppressions.batch.add({ emails: ['b1@example.com', 'b2@example.com'] } as never))) as { data: unknown[] }).data,
  ).toHaveLength(2)
  const { id: byId } = await dataOf(resend.suppressions.add({ email: 'byid@example.com' }))
  expect(await dataOf(resend.suppressions.get(byId))).toMatchObject({ id: byId, email: 'byid@example.com' })
  await dataOf(resend.suppressions.remove(byId))
  for (const name of ['none@example.com', byId, 'x'])
    expect((await resend.suppressions.get(name)).error).toMatchObject({ statusCode: 404, name: 'not_found' })
  expect((await dataOf(resend.suppressions.batch.remove({ emails: ['b1@example.com', 'b2@example.com'] }))).data).toMatchObject([
    { object: 'suppression', deleted: true },
    { deleted: true },
  ])
  const { data: left } = await harness.expectApi(200, 'GET', '/suppressions')
  expect(left.map((one: { email_address: string }) => one.email_address)).toEqual(['gone@example.com'])
})
