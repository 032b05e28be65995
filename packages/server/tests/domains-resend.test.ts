// Custom domains at Resend, against a stand-in that the vendor's own SDK has driven. Covers records as Resend returns them, and failures.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Failure, type ResendServer, startResendServer } from './harness/resend-server.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let resend: ResendServer
let harness: Harness
beforeAll(async () => {
  resend = await startResendServer()
  harness = await startHarness({
    CALLSIGN_DOMAIN_PROVIDER: 'resend',
    CALLSIGN_RESEND_API_KEY: resend.apiKey,
    CALLSIGN_RESEND_URL: resend.url,
    CALLSIGN_DOMAIN_RECHECK_SECONDS: '0.2',
  })
})
afterAll(async () => {
  // Through all these failures, the key was sent to Resend only.
  const log = harness.logLines().join('')
  await harness.stop()
  expect(log).toContain('registration from the provider failed')
  expect(log).not.toContain(resend.apiKey)
  await resend.stop()
})

let key: string
let count = 0
beforeEach(async () => {
  key = (await harness.createOrganization(`resend ${++count}`)).key
  resend.slowness = 0
})
const someName = () => `r${++count}.example.com`
const post = (domain: string, more: Json = {}) => harness.api('POST', '/domains', { key, body: { domain, ...more } })
const create = async (domain: string): Promise<Json> => (await harness.expectApi(201, 'POST', '/domains', { key, body: { domain } })).data
const verify = (id: string): Promise<Json> => harness.expectApi(200, 'POST', `/domains/${id}/verify`, { key })
const get = async (id: string): Promise<Json> => (await harness.expectApi(200, 'GET', `/domains/${id}`, { key })).data
const list = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/domains', { key })).data
const code = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code]
const everything = ['SPF MX', 'SPF TXT', 'DKIM TXT']

describe('POST /domains', () => {
  test('registers upstream, and stores the records exactly as Resend returns them', async () => {
    const name = someName()
    const domain = await create(name)
    const upstream = resend.find(name)
    expect(domain).toMatchObject({
      status: 'pending',
      provider: 'resend',
      provider_domain_id: upstream.id,
      is_default: true,
      verified_at: null,
    })
    expect(domain.dns_records).toEqual(
      upstream.records.map(({ record, type, name, value, priority }: Json) => ({
        type,
        name,
        value,
        ...(priority === undefined ? {} : { priority }),
        status: 'pending',
        purpose: record,
        required: true,
      })),
    )
    expect(await get(domain.id)).toEqual(domain)
  })

  test('a domain that Resend considers verified is verified at once, with its event', async () => {
    const name = someName()
    resend.knowAlready(name)
    const domain = await create(name)
    expect(domain).toMatchObject({ status: 'verified', verified_at: domain.created_at })
    expect(new Set(domain.dns_records.map((record: Json) => record.status))).toEqual(new Set(['valid']))
    expect((await harness.eventsOf(domain.id)).map((event) => event.type)).toEqual(['domain.verified'])
  })

  test('mail to other addresses at a domain of Resend leaves, because it may be served elsewhere', async () => {
    const name = someName()
    resend.knowAlready(name)
    await create(name)
    const handle = `resent_${count}`
    await harness.createAgent(handle, {}, key)
    const { id } = await harness.expectApi(201, 'POST', '/mail/send', {
      key,
      body: { agent: handle, to: [`human@${name}`, `${handle}@${name}`], subject: 'Both', text: 'x' },
    })
    const message = await waitFor('both to have it', async () => {
      const one = await harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages/${id}`, { key })
      return one.status === 'sent' && one
    })
    const statuses = message.delivery.recipients.map((recipient: Json) => [recipient.address, recipient.status])
    expect(Object.fromEntries(statuses)).toEqual({ [`human@${name}`]: 'sent', [`${handle}@${name}`]: 'delivered' })
  })

  test('builtin can be requested by name, and registers nothing upstream', async () => {
    const name = someName()
    expect((await post(name, { provider: 'builtin' })).body.data).toMatchObject({ provider: 'builtin', provider_domain_id: null })
    expect(resend.find(name)).toBeUndefined()
  })

  test.each<[string, Failure]>([
    ['500', { status: 500 }],
    ['503 with a page', { status: 503, body: '<html>down</html>' }],
    ['a key that is refused', { status: 401, body: '{"statusCode":401,"name":"validation_error","message":"API key is invalid"}' }],
    ['a plan that is full', { status: 403, body: '{"statusCode":403,"name":"validation_error","message":"Upgrade to add more domains"}' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
    ['an answer that is no JSON', { status: 201, body: 'created' }],
    [
      'an answer without records',
      { status: 201, body: '{"id":"x","name":"y","status":"not_started","created_at":"2026-01-01T00:00:00Z"}' },
    ],
    ['a connection that is cut', 'cut'],
  ])('%s is 502 upstream_provider_error, leaves no registration, and a retry works', async (_what, failure) => {
    const name = someName()
    resend.fail('POST', /^\/domains$/, failure)
    const answer = await post(name)
    expect(code(answer)).toEqual([502, 'upstream_provider_error'])
    expect(JSON.stringify(answer.body)).not.toContain(resend.apiKey)
    expect(await list()).toEqual([])
    expect((await create(name)).provider_domain_id).toBe(resend.find(name).id)
  })

  test('too many requests are retried', async () => {
    resend.fail('POST', /^\/domains$/, { status: 429, headers: { 'retry-after': '0' } }, 2)
    await create(someName())
  })

  test('a retry adopts a registration whose answer was lost, so there is one upstream', async () => {
    const name = someName()
    resend.fail('POST', /^\/domains$/, 'lost')
    expect(code(await post(name))).toEqual([502, 'upstream_provider_error'])
    const registered = resend.find(name)
    expect(registered).toBeDefined()
    expect((await create(name)).provider_domain_id).toBe(registered.id)
    expect(resend.asked().filter((one) => one === `DELETE /domains/${registered.id}`)).toEqual([])
    // The record of the lost attempt is deleted with it.
    const { rows } = await harness.db.query({ text: 'SELECT 1 FROM domain_registrations WHERE domain = $1', values: [name] })
    expect(rows).toEqual([])
  })

  test('a name registered there by another organization, by hand, or by another account is 409 domain_exists', async () => {
    const [ours, byHand, foreign] = [someName(), someName(), someName()]
    await create(ours)
    const response = await fetch(`${resend.url}/domains`, {
      method: 'POST',
      headers: { authorization: `Bearer ${resend.apiKey}` },
      body: JSON.stringify({ name: byHand }),
    })
    expect(response.status).toBe(201)
    resend.takeElsewhere(foreign)
    expect(code(await post(ours))).toEqual([409, 'domain_exists'])
    key = (await harness.createOrganization(`stranger ${++count}`)).key
    for (const name of [ours, byHand, foreign]) {
      expect(code(await post(name)), name).toEqual([409, 'domain_exists'])
      expect(code(await post(name)), `${name} again`).toEqual([409, 'domain_exists'])
    }
    expect(await list()).toEqual([])
    expect(resend.find(byHand)).toBeDefined()
  })

  test('of several concurrent requests for one name one succeeds, upstream too', async () => {
    const name = someName()
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(name)))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 409, 409, 409, 409])
    expect((await list())[0]?.provider_domain_id).toBe(resend.find(name).id)
  })
})

describe('POST /domains/{id}/verify', () => {
  test('starts a check at Resend, waits for its result, and updates each record separately', async () => {
    const name = someName()
    const domain = await create(name)
    resend.slowness = 1
    const seen: string[] = []
    for (const published of [[], ...everything.map((one) => [one])]) {
      resend.publish(name, ...published)
      const { data, message } = await verify(domain.id)
      seen.push([data.status, ...data.dns_records.map((record: Json) => record.status)].join(' '))
      if (data.status === 'failed') expect(message).toContain('resend._domainkey.')
    }
    expect(seen).toEqual([
      'failed failed failed failed',
      'failed valid failed failed',
      'failed valid valid failed',
      'verified valid valid valid',
    ])
    expect((await get(domain.id)).verified_at).toMatch(/^\d{4}-/)
    // A second verification makes Resend report pending, and the domain stays verified.
    expect((await verify(domain.id)).data.status).toBe('verified')
    resend.withdraw(name, 'SPF MX')
    expect((await verify(domain.id)).data).toMatchObject({
      status: 'failed',
      dns_records: [{ status: 'failed' }, { status: 'valid' }, { status: 'valid' }],
    })
  })

  test('a slow verification leaves a verified domain verified, and says to try again', async () => {
    const name = someName()
    const domain = await create(name)
    resend.publish(name, ...everything)
    await verify(domain.id)
    resend.slowness = 1000
    resend.withdraw(name, 'SPF MX')
    const { data, message } = await verify(domain.id)
    expect([data.status, message]).toEqual(['verified', expect.stringContaining('verify again')])
  })

  // The failures are those of one domain, because jobs ask for others meanwhile.
  test.each<[string, string, string, Failure]>([
    ['the verification fails', 'POST', '/verify', { status: 500 }],
    ['the answer is cut off', 'GET', '', 'cut'],
    ['the key is refused', 'GET', '', { status: 401 }],
    ['it is throttled for long', 'POST', '/verify', { status: 429, headers: { 'retry-after': '0' } }],
  ])('when %s it is 500 verification_failed, and nothing changes', async (_what, method, action, failure) => {
    const name = someName()
    const domain = await create(name)
    resend.publish(name, ...everything)
    resend.fail(method, new RegExp(`^/domains/${domain.provider_domain_id}${action}$`), failure, 3)
    try {
      expect(code(await harness.api('POST', `/domains/${domain.id}/verify`, { key }))).toEqual([500, 'verification_failed'])
      expect(await get(domain.id)).toEqual(domain)
    } finally {
      // Remaining failures of the three would affect the other tests.
      resend.heal()
    }
    expect((await verify(domain.id)).data.status).toBe('verified')
  })

  test('a domain deleted upstream is failed, and the message says so', async () => {
    const name = someName()
    const domain = await create(name)
    await fetch(`${resend.url}/domains/${domain.provider_domain_id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${resend.apiKey}` },
    })
    const { data, message } = await verify(domain.id)
    expect([data.status, message]).toEqual(['failed', expect.stringContaining('not registered at Resend any more')])
  })
})

describe('DELETE /domains/{id}', () => {
  test('removes the registration, and accepts one that is already gone', async () => {
    const [one, two] = [await create(someName()), await create(someName())]
    await harness.expectApi(200, 'DELETE', `/domains/${one.id}`, { key })
    expect(resend.find(one.domain)).toBeUndefined()
    await fetch(`${resend.url}/domains/${two.provider_domain_id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${resend.apiKey}` },
    })
    await harness.expectApi(200, 'DELETE', `/domains/${two.id}`, { key })
    const { rows } = await harness.db.query({ text: `SELECT 1 FROM jobs WHERE kind = 'domain.unregister'` })
    expect(rows).toEqual([])
  })

  test('a deletion succeeds while Resend is unreachable, and a job removes the registration later', async () => {
    const domain = await create(someName())
    resend.fail('DELETE', /./, { status: 503 }, 1)
    await harness.expectApi(200, 'DELETE', `/domains/${domain.id}`, { key })
    expect(await list()).toEqual([])
    expect(resend.find(domain.domain)).toBeDefined()
    await harness.db.query({ text: `UPDATE jobs SET run_at = now() WHERE kind = 'domain.unregister'` })
    await waitFor('the registration to be taken back', () => resend.find(domain.domain) === undefined)
    await waitFor('the job to end', async () => {
      const { rows } = await harness.db.query({ text: `SELECT 1 FROM jobs WHERE kind = 'domain.unregister'` })
      return rows.length === 0
    })
  })
})

describe('in the background', () => {
  const age = (id: string) =>
    harness.db.query({
      text: `UPDATE domains SET failing_since = failing_since - interval '71 hours 59 minutes 58 seconds' WHERE id = $1`,
      values: [id],
    })

  test('wrong records show at once and fail a verified domain after 72 hours with one event, and right ones end the count', async () => {
    const name = someName()
    const domain = await create(name)
    resend.publish(name, ...everything)
    await verify(domain.id)
    resend.withdraw(name, 'DKIM TXT')
    resend.look(name)
    const failing = await waitFor('the wrong record to be noticed', async () => {
      const now = await get(domain.id)
      return now.failing_since !== null && now
    })
    expect([failing.status, failing.dns_records[2].status]).toEqual(['verified', 'failed'])
    resend.publish(name, 'DKIM TXT')
    resend.look(name)
    await waitFor('the count to end', async () => (await get(domain.id)).failing_since === null)

    resend.withdraw(name, 'DKIM TXT')
    resend.look(name)
    await waitFor('a new count', async () => (await get(domain.id)).failing_since !== null)
    await age(domain.id)
    const failed = await waitFor('the domain to fail', async () => {
      const now = await get(domain.id)
      return now.status === 'failed' && now
    })
    expect(failed).toMatchObject({ verified_at: null, failing_since: null, is_default: true })
    expect((await harness.eventsOf(domain.id)).map((event) => event.type)).toEqual(['domain.verified', 'domain.failed'])
  })

  test('a provider outage changes nothing, for any duration', async () => {
    const name = someName()
    const domain = await create(name)
    resend.publish(name, ...everything)
    const { data } = await verify(domain.id)
    const path = new RegExp(domain.provider_domain_id)
    const before = resend.asked().length
    resend.fail('GET', path, { status: 500 }, 3)
    await waitFor(
      'three checks',
      () =>
        resend
          .asked()
          .slice(before)
          .filter((one) => path.test(one)).length >= 3,
    )
    expect(await get(domain.id)).toEqual(data)
  })
})
