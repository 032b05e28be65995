// The stand-in for Resend, driven by the vendor's own SDK, so that it matches Resend as that client expects.
import { Resend } from 'resend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ResendServer, startResendServer } from './harness/resend-server.ts'

let server: ResendServer
let resend: Resend
beforeAll(async () => {
  server = await startResendServer()
  resend = new Resend(server.apiKey, { baseUrl: server.url })
})
afterAll(() => server.stop())

const shownRecord = { record: expect.any(String), name: expect.any(String), value: expect.any(String), ttl: 'Auto', status: 'not_started' }

test('the SDK registers, reads, lists, verifies and removes a domain', async () => {
  const created = await resend.domains.create({ name: 'mail.example.com' })
  expect(created.error).toBeNull()
  expect(created.data).toMatchObject({ name: 'mail.example.com', status: 'not_started', region: 'us-east-1' })
  expect(created.data?.records).toEqual([
    { ...shownRecord, record: 'SPF', type: 'MX', name: 'send.mail', priority: 10 },
    { ...shownRecord, record: 'SPF', type: 'TXT', name: 'send.mail' },
    { ...shownRecord, record: 'DKIM', type: 'TXT', name: 'resend._domainkey.mail' },
  ])
  const id = created.data?.id as string
  expect((await resend.domains.get(id)).data).toMatchObject({ object: 'domain', id, status: 'not_started' })
  expect((await resend.domains.list()).data).toMatchObject({ object: 'list', has_more: false, data: [{ id, name: 'mail.example.com' }] })

  server.slowness = 1
  server.publish('mail.example.com', 'SPF MX', 'SPF TXT')
  expect((await resend.domains.verify(id)).data).toEqual({ object: 'domain', id })
  const statuses = async () => {
    const { data } = await resend.domains.get(id)
    return [data?.status, ...(data?.records ?? []).map((record) => record.status)]
  }
  expect(await statuses()).toEqual(['pending', 'pending', 'pending', 'pending'])
  expect(await statuses()).toEqual(['failed', 'verified', 'verified', 'failed'])
  server.publish('mail.example.com', 'DKIM TXT')
  await resend.domains.verify(id)
  await statuses()
  expect(await statuses()).toEqual(['verified', 'verified', 'verified', 'verified'])
  server.withdraw('mail.example.com', 'SPF MX')
  server.look('mail.example.com')
  expect(await statuses()).toEqual(['failed', 'temporary_failure', 'verified', 'verified'])

  expect((await resend.domains.remove(id)).data).toEqual({ object: 'domain', id, deleted: true })
  expect((await resend.domains.get(id)).error).toMatchObject({ name: 'not_found', statusCode: 404 })
})

test('the SDK reads its errors', async () => {
  await resend.domains.create({ name: 'twice.example.com' })
  expect((await resend.domains.create({ name: 'twice.example.com' })).error).toMatchObject({
    name: 'validation_error',
    message: expect.stringContaining('registered already'),
  })
  expect((await resend.domains.create({ name: 'nonsense' })).error).toMatchObject({ name: 'validation_error' })
  const stranger = new Resend('re_wrong', { baseUrl: server.url })
  expect((await stranger.domains.list()).error).toMatchObject({ statusCode: 401 })
})

test('the SDK walks its pages', async () => {
  for (let index = 0; index < 4; index++) await resend.domains.create({ name: `page${index}.example.com` })
  const first = await resend.domains.list({ limit: 3 })
  expect(first.data).toMatchObject({ has_more: true })
  const rest = await resend.domains.list({ limit: 3, after: first.data?.data.at(-1)?.id as string })
  expect([...(first.data?.data ?? []), ...(rest.data?.data ?? [])].map((one) => one.name)).toEqual([
    'page3.example.com',
    'page2.example.com',
    'page1.example.com',
    'page0.example.com',
    'twice.example.com',
  ])
  expect(rest.data?.has_more).toBe(false)
})
