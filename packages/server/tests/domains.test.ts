// Custom domains on the built-in mail engine, with each operation and error over real DNS.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { ownDomain, publish, withdraw } from './harness/published-records.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
  harness = await startHarness({ CALLSIGN_DNS_SERVERS: dns.address })
})
afterAll(async () => {
  await harness.stop()
  await dns.stop()
})

let key: string
let organizations = 0
/** Each test has its own organization, because the first domain of one is special. */
const fresh = async () => {
  key = (await harness.createOrganization(`domains ${++organizations}`)).key
}
const call = (method: string, path: string, body?: unknown) => harness.api(method, path, { key, ...(body === undefined ? {} : { body }) })
const create = async (domain: string): Promise<Json> => (await harness.expectApi(201, 'POST', '/domains', { key, body: { domain } })).data
const verify = (id: string): Promise<Json> => harness.expectApi(200, 'POST', `/domains/${id}/verify`, { key })
const get = async (id: string): Promise<Json> => (await harness.expectApi(200, 'GET', `/domains/${id}`, { key })).data
const list = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/domains', { key })).data
const statuses = (domain: Json) => Object.fromEntries(domain.dns_records.map((record: Json) => [record.purpose, record.status]))
const recordOf = (domain: Json, purpose: string): Json => domain.dns_records.find((record: Json) => record.purpose === purpose)
const code = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code]

let names = 0
const someName = () => `d${++names}.owner.example`

describe('POST /domains', () => {
  test('answers 201 {data: Domain}, which is pending with the records to publish, and the default if it is the first', async () => {
    await fresh()
    const { status, body } = await call('POST', '/domains', { domain: 'first.example' })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^dom_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      domain: 'first.example',
      status: 'pending',
      is_default: true,
      provider: 'builtin',
      provider_domain_id: null,
      dns_records: expect.any(Array),
      verified_at: null,
      failing_since: null,
      client_id: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: body.data.created_at,
    })
    expect(body.data.dns_records).toEqual([
      { type: 'MX', name: 'first.example', value: 'agents.localhost', priority: 10, status: 'pending', purpose: 'mx', required: true },
      { type: 'TXT', name: 'first.example', value: 'v=spf1 mx ~all', status: 'pending', purpose: 'spf', required: true },
      {
        type: 'TXT',
        name: expect.stringMatching(/^[a-z0-9]+\._domainkey\.first\.example$/),
        value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]+=*$/),
        status: 'pending',
        purpose: 'dkim',
        required: true,
      },
      {
        type: 'TXT',
        name: '_callsign.first.example',
        value: expect.stringMatching(/^callsign-verification=[0-9a-f]{40}$/),
        status: 'pending',
        purpose: 'ownership',
        required: true,
      },
      {
        type: 'TXT',
        name: '_dmarc.first.example',
        value: 'v=DMARC1; p=none; rua=mailto:dmarc-reports@first.example',
        status: 'pending',
        purpose: 'dmarc',
        required: false,
      },
      {
        type: 'TXT',
        name: '_smtp._tls.first.example',
        value: 'v=TLSRPTv1; rua=mailto:tls-reports@first.example',
        status: 'pending',
        purpose: 'tls_rpt',
        required: false,
      },
    ])
    // 2048 bits make a SubjectPublicKeyInfo of 294 octets.
    expect(Buffer.from(recordOf(body.data, 'dkim').value.split('p=')[1], 'base64')).toHaveLength(294)
    expect((await create('second.example')).is_default).toBe(false)
  })

  test.each([
    '',
    'https://example.com',
    'example.com/path',
    'example.com:25',
    'someone@example.com',
    'Example.com',
    'EXAMPLE.COM',
    'münchen.example',
    'example.com.',
    'localhost',
    '.example.com',
    'a..example',
    '-a.example',
    'a-.example',
    'a_b.example',
    'a b.example',
    'a.example\n',
    '192.0.2.1',
    '[192.0.2.1]',
    '*.example.com',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(110)}example`,
    'xn--a.example',
    'agents.localhost',
    7,
    null,
    undefined,
    ['example.com'],
  ])('the domain %j is 400 validation_error', async (domain) => {
    await fresh()
    const answer = await call('POST', '/domains', { domain })
    expect(code(answer)).toEqual([400, 'validation_error'])
    expect(answer.body.error.details[0].path).toBe('/domain')
    expect(await list()).toEqual([])
  })

  test('the error message has the correct spelling', async () => {
    const message = async (domain: string) => (await call('POST', '/domains', { domain })).body.error.message
    expect(await message('MÜNCHEN.example')).toContain('write it as xn--mnchen-3ya.example')
    expect(await message('https://x.example/')).toMatch(/^domain has to be the bare name/)
  })

  test('other alphabets as xn--, and names with digits and hyphens, are accepted', async () => {
    await fresh()
    for (const domain of ['xn--mnchen-3ya.example', '3com.example', 'a-b.c-d.example', 'x.y.z.example']) await create(domain)
  })

  test('an unknown provider, or one that is not configured, is 400', async () => {
    for (const provider of ['resend', 'postbox']) {
      const answer = await call('POST', '/domains', { domain: 'x.example', provider })
      expect([...code(answer), answer.body.error.details[0].path]).toEqual([400, 'validation_error', '/provider'])
    }
  })

  test('a registered domain is 409 domain_exists, also for concurrent requests, and another organization may register it', async () => {
    await fresh()
    const name = someName()
    const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST', '/domains', { domain: name })))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([201, 409, 409, 409, 409, 409])
    expect(code(await call('POST', '/domains', { domain: name }))).toEqual([409, 'domain_exists'])
    await fresh()
    await create(name)
  })

  test('runs once for one Idempotency-Key', async () => {
    await fresh()
    const ask = { key, body: { domain: someName() }, headers: { 'Idempotency-Key': 'register-1' } }
    const first = await harness.api('POST', '/domains', ask)
    const again = await harness.api('POST', '/domains', ask)
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', first.body])
    expect(await list()).toHaveLength(1)
  })
})

describe('GET /domains', () => {
  test('answers {data: [...]} newest first, each with mailboxes_count', async () => {
    await fresh()
    expect(await list()).toEqual([])
    const verified = await ownDomain(harness, dns, someName(), key)
    await create(someName())
    await harness.createAgent('counted_a', { custom_domain_id: verified.id }, key)
    await harness.createAgent('counted_b', { custom_domain_id: verified.id }, key)
    const domains = await list()
    expect(domains.map((one) => one.mailboxes_count)).toEqual([0, 2])
    expect(domains[1]).toEqual({ ...verified, mailboxes_count: 2 })
  })

  test('GET /domains/{id} answers {data: Domain}, 404 for an unknown or foreign one, and 403 for an agent’s key', async () => {
    await fresh()
    const domain = await create(someName())
    expect(await get(domain.id)).toEqual(domain)
    expect(code(await call('GET', '/domains/dom_01h455vb4pex5vsknk084sn02q'))).toEqual([404, 'not_found'])
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/zone-file'],
      ['POST', '/verify'],
      ['POST', '/set-default'],
      ['DELETE', ''],
    ] as const)
      expect(code(await harness.api(method, `/domains/${domain.id}${path}`))).toEqual([404, 'not_found'])
    await harness.createAgent('domainless', {}, key)
    const agentKey = await harness.agentKey('domainless', {}, key)
    for (const path of ['/domains', `/domains/${domain.id}`])
      expect(code(await harness.api('GET', path, { key: agentKey }))).toEqual([403, 'forbidden'])
  })
})

describe('POST /domains/{id}/verify', () => {
  afterEach(() => dns.fail('*', null))

  test('unpublished records fail the domain and every record, and the message names them', async () => {
    await fresh()
    const domain = await create(someName())
    const { data, message } = await verify(domain.id)
    expect(data).toMatchObject({ status: 'failed', verified_at: null, is_default: true })
    expect(statuses(data)).toEqual({ mx: 'failed', spf: 'failed', dkim: 'failed', ownership: 'failed', dmarc: 'failed', tls_rpt: 'failed' })
    for (const purpose of ['mx', 'spf', 'dkim', 'ownership']) expect(message).toContain(`${recordOf(domain, purpose).name} (not found)`)
    expect(message).toMatch(/is not verified.*Recommended as well: TXT _dmarc/)
  })

  test('each record turns valid separately, and all required ones make the domain verified', async () => {
    await fresh()
    const domain = await create(someName())
    const published: Json[] = []
    const seen: Record<string, string>[] = []
    for (const purpose of ['mx', 'ownership', 'dkim', 'spf', 'dmarc', 'tls_rpt']) {
      published.push(recordOf(domain, purpose))
      publish(dns, published)
      const { data, message } = await verify(domain.id)
      seen.push({ ...statuses(data), domain: data.status })
      expect(data.status === 'verified').toBe(published.length >= 4)
      expect(message.includes('is verified')).toBe(published.length >= 4)
      expect(await get(domain.id)).toEqual(data)
    }
    expect(seen.map((one) => Object.values(one).join(' '))).toEqual([
      'valid failed failed failed failed failed failed',
      'valid failed failed valid failed failed failed',
      'valid failed valid valid failed failed failed',
      'valid valid valid valid failed failed verified',
      'valid valid valid valid valid failed verified',
      'valid valid valid valid valid valid verified',
    ])
    expect(Object.keys(seen[0] as object)).toEqual(['mx', 'spf', 'dkim', 'ownership', 'dmarc', 'tls_rpt', 'domain'])
    // And back, one by one.
    for (const purpose of ['dkim', 'ownership', 'mx']) {
      withdraw(dns, [recordOf(domain, purpose)])
      const { data } = await verify(domain.id)
      expect([data.status, statuses(data)[purpose]]).toEqual(['failed', 'failed'])
    }
    publish(dns, domain.dns_records)
    expect((await verify(domain.id)).data.status).toBe('verified')
  })

  test('can be repeated, and verified_at and the single event stay', async () => {
    await fresh()
    const domain = await ownDomain(harness, dns, someName(), key)
    expect(domain.verified_at).toMatch(/^\d{4}-/)
    const answers = await Promise.all(Array.from({ length: 5 }, () => verify(domain.id)))
    for (const { data } of answers) expect(data).toEqual(domain)
    expect((await harness.eventsOf(domain.id)).map((event) => event.type)).toEqual(['domain.verified'])
  })

  test('each change of status is an event with the domain, and an entry of the audit log', async () => {
    await fresh()
    const domain = await ownDomain(harness, dns, someName(), key)
    withdraw(dns, domain.dns_records)
    await verify(domain.id)
    const events = await harness.expectApi(200, 'GET', '/events', { key })
    expect(events.data.map((event: Json) => [event.type, event.data.domain, event.data.status])).toEqual([
      ['domain.verified', domain.domain, 'verified'],
      ['domain.failed', domain.domain, 'failed'],
    ])
    const { data } = await harness.expectApi(200, 'GET', '/audit', { key })
    expect(data.map((entry: Json) => entry.action).slice(0, 3)).toEqual(['domain.failed', 'domain.verified', 'domain.created'])
  })

  test.each([
    ['silence', 'TXT'],
    ['SERVFAIL', 'TXT'],
    ['REFUSED', 'MX'],
  ] as const)('a DNS failure (%s) is 500 verification_failed, and nothing changes', async (failure, type) => {
    await fresh()
    for (const domain of [await create(someName()), await ownDomain(harness, dns, someName(), key)]) {
      withdraw(dns, domain.dns_records)
      dns.fail(type === 'MX' ? domain.domain : `_callsign.${domain.domain}`, failure, type)
      const answer = await call('POST', `/domains/${domain.id}/verify`)
      expect(code(answer)).toEqual([500, 'verification_failed'])
      expect(answer.body.error.message).toContain(domain.domain)
      expect(await get(domain.id)).toEqual(domain)
    }
  })

  test.each<[string, string, (domain: Json) => void, RegExp]>([
    ['mx', 'another host', (d) => setMx(d, [[10, 'mx.elsewhere.example']]), /found "10 mx\.elsewhere\.example"/],
    [
      'mx',
      'another host before ours',
      (d) =>
        setMx(d, [
          [5, 'mx.elsewhere.example'],
          [10, 'agents.localhost'],
        ]),
      /others first/,
    ],
    ['spf', 'no SPF', (d) => setTxt(d, ['something=else']), /no SPF record/],
    ['spf', 'two records', (d) => setTxt(d, ['v=spf1 mx ~all', 'v=spf1 -all']), /2 SPF records/],
    ['spf', 'one without us', (d) => setTxt(d, ['v=spf1 include:_spf.elsewhere.example ~all']), /does not have mx/],
    ['spf', 'one that refuses us', (d) => setTxt(d, ['v=spf1 -mx ~all']), /does not have mx/],
    ['spf', 'us behind all', (d) => setTxt(d, ['v=spf1 ~all mx']), /does not have mx/],
    ['dkim', 'another key', (d) => dkimIs(d, (value) => value.replace(/p=....../, 'p=AAAAAA')), /another key/],
    ['dkim', 'a key that was cut off', (d) => dkimIs(d, (value) => value.slice(0, 255)), /cut off/],
    ['dkim', 'a revoked key', (d) => dkimIs(d, (value) => value.replace(/p=.*/, 'p=')), /another key/],
    ['dkim', 'two keys', (d) => dns.set(recordOf(d, 'dkim').name, { TXT: [recordOf(d, 'dkim').value, 'v=DKIM1; p=AAAA'] }), /2 DKIM keys/],
    ['ownership', 'another token', (d) => dns.set(`_callsign.${d.domain}`, { TXT: ['callsign-verification=0'] }), /found "callsign-ver/],
  ])('%s fails for %s, and the message names the records found', async (purpose, _what, spoil, note) => {
    await fresh()
    const domain = await create(someName())
    publish(dns, domain.dns_records)
    spoil(domain)
    const { data, message } = await verify(domain.id)
    const wrong = Object.entries(statuses(data)).flatMap(([name, status]) => (status === 'failed' ? [name] : []))
    expect([data.status, wrong]).toEqual(['failed', [purpose]])
    expect(message).toMatch(note)
  })

  test.each<[string, (domain: Json) => void]>([
    ['SPF merged with others', (d) => setTxt(d, ['v=spf1 include:_spf.elsewhere.example +MX -all', 'other=1'])],
    [
      'MX beside a later one, in capitals and with its dot',
      (d) =>
        setMx(d, [
          [10, 'AGENTS.LOCALHOST'],
          [20, 'backup.example'],
        ]),
    ],
    ['DKIM spaced otherwise', (d) => dkimIs(d, (value) => value.replace('v=DKIM1; k=rsa; ', 'k=rsa;t=s;'))],
    [
      'DKIM behind a CNAME',
      (d) => {
        dns.set(`key.elsewhere.example`, { TXT: [recordOf(d, 'dkim').value] })
        dns.set(recordOf(d, 'dkim').name, { CNAME: 'key.elsewhere.example' })
      },
    ],
    ['a DMARC policy of their own', (d) => dns.set(`_dmarc.${d.domain}`, { TXT: ['v=DMARC1; p=reject; rua=mailto:x@example.com'] })],
    ['ownership beside another', (d) => dns.set(`_callsign.${d.domain}`, { TXT: ['old', recordOf(d, 'ownership').value] })],
  ])('%s is valid', async (_what, change) => {
    await fresh()
    const domain = await create(someName())
    publish(dns, domain.dns_records)
    change(domain)
    expect((await verify(domain.id)).data.dns_records.map((record: Json) => record.status)).toEqual(Array(6).fill('valid'))
  })

  const setMx = (domain: Json, hosts: [number, string][]) =>
    dns.set(domain.domain, { MX: hosts.map(([preference, exchange]) => ({ preference, exchange })), TXT: ['v=spf1 mx ~all'] })
  const setTxt = (domain: Json, texts: string[]) =>
    dns.set(domain.domain, { MX: [{ preference: 10, exchange: 'agents.localhost' }], TXT: texts })
  const dkimIs = (domain: Json, change: (value: string) => string) =>
    dns.set(recordOf(domain, 'dkim').name, { TXT: [change(recordOf(domain, 'dkim').value)] })

  test('DNS values are shown as one harmless line', async () => {
    await fresh()
    const domain = await create(someName())
    dns.set(`_callsign.${domain.domain}`, { TXT: [`\u001b[2J\r\n<script>${'x'.repeat(4000)}`] })
    const { message } = await verify(domain.id)
    expect(message).toMatch(/^[ -~…]{1,900}$/)
  })
})

describe('a name that several organizations want', () => {
  test('is verified by one organization, and the other gets 409 domain_exists in spite of its records until the first has failed', async () => {
    await fresh()
    const name = someName()
    const first = await ownDomain(harness, dns, name, key)
    await harness.createAgent('holder', { domain: name }, key)
    const firstKey = key
    await fresh()
    const second = await create(name)
    publish(dns, [...second.dns_records, recordOf(first, 'ownership')])
    const answer = await call('POST', `/domains/${second.id}/verify`)
    expect(code(answer)).toEqual([409, 'domain_exists'])
    expect((await get(second.id)).status).toBe('pending')
    withdraw(dns, [recordOf(first, 'dkim')])
    // Once the first has failed, the organization that proves the name holds it, and its mail no longer goes to the first.
    await harness.expectApi(200, 'POST', `/domains/${first.id}/verify`, { key: firstKey })
    expect((await verify(second.id)).data.status).toBe('verified')
    await expect(harness.deliver({ from: 'x@example.com', to: `holder@${name}`, subject: 'Whose', text: 'x' })).rejects.toThrow(/550/)
    // The first still reads its mailbox, and can move it.
    await harness.expectApi(200, 'GET', `/mailboxes/holder@${name}/messages`, { key: firstKey })
    expect(code(await harness.api('POST', `/domains/${first.id}/verify`, { key: firstKey }))[0]).toBe(200)
    publish(dns, [...second.dns_records, ...first.dns_records.filter((record: Json) => record.type === 'TXT' && record.purpose !== 'spf')])
    expect(code(await harness.api('POST', `/domains/${first.id}/verify`, { key: firstKey }))).toEqual([409, 'domain_exists'])
  })

  test('of two concurrent verifications exactly one succeeds', async () => {
    const name = someName()
    const rivals = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const { key: rival } = await harness.createOrganization(`rival ${index}`)
        const { data } = await harness.expectApi(201, 'POST', '/domains', { key: rival, body: { domain: name } })
        return { rival, domain: data }
      }),
    )
    publish(dns, [
      recordOf(rivals[0]?.domain, 'mx'),
      recordOf(rivals[0]?.domain, 'spf'),
      ...rivals.flatMap(({ domain }) => [recordOf(domain, 'dkim'), recordOf(domain, 'ownership')]),
    ])
    const answers = await Promise.all(
      rivals.map(({ rival, domain }) => harness.api('POST', `/domains/${domain.id}/verify`, { key: rival })),
    )
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409, 409, 409])
  })
})

describe('POST /domains/{id}/set-default', () => {
  test('the domain is the default with is_default true, and every other one loses it', async () => {
    await fresh()
    const [one, two] = [await ownDomain(harness, dns, someName(), key), await ownDomain(harness, dns, someName(), key)]
    const body = await harness.expectApi(200, 'POST', `/domains/${two.id}/set-default`, { key })
    expect(body).toEqual({ ...two, is_default: true, updated_at: body.updated_at })
    expect((await list()).map((domain) => [domain.id, domain.is_default])).toEqual([
      [two.id, true],
      [one.id, false],
    ])
    expect(await harness.expectApi(200, 'POST', `/domains/${two.id}/set-default`, { key })).toEqual(body)
  })

  test('a domain that is not verified is 400 domain_not_verified, even the default', async () => {
    await fresh()
    const pending = await create(someName())
    expect(code(await call('POST', `/domains/${pending.id}/set-default`))).toEqual([400, 'domain_not_verified'])
    await verify(pending.id)
    expect(code(await call('POST', `/domains/${pending.id}/set-default`))).toEqual([400, 'domain_not_verified'])
  })

  test('an unknown domain is 404', async () => {
    expect(code(await call('POST', '/domains/dom_01h455vb4pex5vsknk084sn02q/set-default'))).toEqual([404, 'not_found'])
  })

  test('new identities are on the default, unless they name another domain or the mail domain', async () => {
    await fresh()
    const [one, two] = [await ownDomain(harness, dns, someName(), key), await ownDomain(harness, dns, someName(), key)]
    const agent = async (handle: string, more: Json = {}) => {
      const { mailbox_address, custom_domain_id, mailbox } = await harness.createAgent(handle, more, key)
      expect(mailbox.email_address).toBe(mailbox_address)
      return [mailbox_address, custom_domain_id]
    }
    expect(await agent('on_default')).toEqual([`on_default@${one.domain}`, one.id])
    expect(await agent('on_two_by_id', { custom_domain_id: two.id })).toEqual([`on_two_by_id@${two.domain}`, two.id])
    expect(await agent('on_two', { domain: two.domain.toUpperCase() })).toEqual([`on_two@${two.domain}`, two.id])
    expect(await agent('both', { custom_domain_id: two.id, domain: one.domain })).toEqual([`both@${two.domain}`, two.id])
    expect(await agent('on_mail_domain', { domain: 'agents.localhost' })).toEqual(['on_mail_domain@agents.localhost', null])
    expect(await agent('nulls', { custom_domain_id: null, domain: null })).toEqual([`nulls@${one.domain}`, one.id])
    await harness.expectApi(200, 'POST', `/domains/${two.id}/set-default`, { key })
    expect(await agent('on_new_default')).toEqual([`on_new_default@${two.domain}`, two.id])
  })

  test('an unverified default is skipped, and naming an unverified domain is 400 and a foreign one 404', async () => {
    await fresh()
    const pending = await create(someName())
    expect(await harness.createAgent('passed_over', {}, key)).toMatchObject({ mailbox_address: 'passed_over@agents.localhost' })
    const foreign = await ownDomain(harness, dns, someName())
    for (const [field, value] of [
      ['custom_domain_id', pending.id],
      ['domain', pending.domain],
      ['domain', foreign.domain],
      ['domain', 'no domain'],
    ] as const) {
      const answer = await call('POST', '/identities', { agent_handle: 'refused', [field]: value })
      expect([...code(answer), answer.body.error.details[0].path], String(value)).toEqual([400, 'validation_error', `/${field}`])
    }
    for (const custom_domain_id of [foreign.id, 'nonsense'])
      expect(code(await call('POST', '/identities', { agent_handle: 'refused', custom_domain_id }))).toEqual([404, 'not_found'])
  })
})

describe('DELETE /domains/{id}', () => {
  test('answers 200 {success, message}, then 404 also to another delete, and the name can be registered again', async () => {
    await fresh()
    const domain = await ownDomain(harness, dns, someName(), key)
    const body = await harness.expectApi(200, 'DELETE', `/domains/${domain.id}`, { key })
    expect(body).toEqual({ success: true, message: expect.stringContaining(domain.domain) })
    for (const method of ['GET', 'DELETE']) expect(code(await call(method, `/domains/${domain.id}`))).toEqual([404, 'not_found'])
    const again = await create(domain.domain)
    expect(recordOf(again, 'dkim').name).not.toBe(recordOf(domain, 'dkim').name)
    expect(recordOf(again, 'ownership').value).not.toBe(recordOf(domain, 'ownership').value)
    const { rows } = await harness.db.query({ text: 'SELECT 1 FROM dkim_keys WHERE domain = $1', values: [domain.domain] })
    expect(rows).toHaveLength(1)
  })

  test('a domain in use is 409 domain_in_use with the number of mailboxes, and force moves them to the mail domain with their mail', async () => {
    await fresh()
    const domain = await ownDomain(harness, dns, someName(), key)
    const before = await harness.createAgent('mover_a', {}, key)
    await harness.createAgent('mover_b', {}, key)
    await harness.deliver({ from: 'x@example.com', to: `mover_a@${domain.domain}`, subject: 'Kept', text: 'x' })
    const refused = await call('DELETE', `/domains/${domain.id}`)
    expect(code(refused)).toEqual([409, 'domain_in_use'])
    expect(refused.body.error.message).toContain('2 mailboxes')
    expect((await harness.expectApi(200, 'DELETE', `/domains/${domain.id}?force=true`, { key })).message).toContain('2 mailboxes moved')
    const after = await harness.expectApi(200, 'GET', '/identities/mover_a', { key })
    expect(after).toMatchObject({ mailbox_address: 'mover_a@agents.localhost', custom_domain_id: null, mailbox: { id: before.mailbox.id } })
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/mover_a@agents.localhost/messages', { key })
    expect(data.map((message: Json) => message.subject)).toEqual(['Kept'])
    await expect(harness.deliver({ from: 'x@example.com', to: `mover_a@${domain.domain}`, subject: 'Late', text: 'x' })).rejects.toThrow(
      /550/,
    )
    await harness.deliver({ from: 'x@example.com', to: 'mover_a@agents.localhost', subject: 'New', text: 'x' })
  })

  test('without a default the mail domain is used, even with other domains', async () => {
    await fresh()
    const one = await ownDomain(harness, dns, someName(), key)
    await ownDomain(harness, dns, someName(), key)
    await harness.expectApi(200, 'DELETE', `/domains/${one.id}`, { key })
    expect((await list()).map((domain) => domain.is_default)).toEqual([false])
    expect(await harness.createAgent('fell_back', {}, key)).toMatchObject({ mailbox_address: 'fell_back@agents.localhost' })
  })

  test("identities created during a domain's deletion are on it or not created, and none is left without a domain", async () => {
    await fresh()
    const domain = await ownDomain(harness, dns, someName(), key)
    const work = Array.from({ length: 8 }, (_, index) =>
      call('POST', '/identities', { agent_handle: `race_${index}`, domain: domain.domain }),
    )
    const [deleted, ...made] = await Promise.all([call('DELETE', `/domains/${domain.id}?force=true`), ...work])
    expect(deleted?.status).toBe(200)
    for (const answer of made) expect([201, 400]).toContain(answer.status)
    for (const answer of made.filter((one) => one.status === 201))
      expect(await harness.expectApi(200, 'GET', `/identities/${answer.body.agent_handle}`, { key })).toMatchObject({
        custom_domain_id: null,
      })
  })
})
