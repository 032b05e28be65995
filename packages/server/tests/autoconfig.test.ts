// Settings of submission for mail programs, over HTTP as Thunderbird and Outlook request them.
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findFreePort } from './harness/peer-process.ts'
import { ownDomain } from './harness/published-records.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let ports: number[]
beforeAll(async () => {
  ports = [await findFreePort(), await findFreePort()]
  harness = await startHarness({ CALLSIGN_SUBMISSION_PORT: String(ports[0]), CALLSIGN_SUBMISSIONS_PORT: String(ports[1]) })
  await ownDomain(harness, harness.dns, 'own.example')
  await harness.expectApi(201, 'POST', '/domains', { body: { domain: 'pending.example' } })
})
afterAll(() => harness.stop())

type Answer = { status: number; type: string; body: string }

/** A request with the Host header of a name that leads to this server. */
function ask(host: string, path: string, body?: string): Promise<Answer> {
  const { hostname, port } = new URL(harness.baseUrl)
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ hostname, port, path, method, headers: { host, ...(body === undefined ? {} : { 'content-type': 'text/xml' }) } })
    sent.on('error', reject)
    sent.on('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode as number, type: response.headers['content-type'] ?? '', body: text })
    })
    sent.end(body)
  })
}

const valuesOf = (xml: string, tag: string): string[] =>
  [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map(([, value]) => value as string)

describe('Thunderbird', () => {
  test.each([
    ['autoconfig.own.example', '/mail/config-v1.1.xml', 'own.example'],
    ['autoconfig.own.example:8080', '/mail/config-v1.1.xml?emailaddress=anna%40own.example', 'own.example'],
    ['own.example', '/.well-known/autoconfig/mail/config-v1.1.xml', 'own.example'],
    ['AUTOCONFIG.Agents.localhost', '/mail/config-v1.1.xml', 'agents.localhost'],
  ])('at %s%s gets the ports of submission and no other', async (host, path, domain) => {
    const { status, type, body } = await ask(host, path)
    expect([status, type]).toEqual([200, 'text/xml; charset=utf-8'])
    expect(body).toContain(`<emailProvider id="${domain}">`)
    expect(valuesOf(body, 'hostname')).toEqual(['agents.localhost', 'agents.localhost'])
    expect(valuesOf(body, 'port')).toEqual([String(ports[1]), String(ports[0])])
    expect(valuesOf(body, 'socketType')).toEqual(['SSL', 'STARTTLS'])
    expect(valuesOf(body, 'username')).toEqual(['%EMAILADDRESS%', '%EMAILADDRESS%'])
    expect(body).not.toMatch(/incomingServer|imap|pop3/i)
  })

  test.each([
    ['autoconfig.else.example', ''],
    ['autoconfig.pending.example', ''],
    ['autoconfig.own.example', '?emailaddress=x%40else.example'],
    ['autoconfig."><x>', ''],
    ['', ''],
  ])('gets nothing for a domain that is not here: %s %s', async (host, query) => {
    const { status, body } = await ask(host, `/mail/config-v1.1.xml${query}`)
    expect([400, 404]).toContain(status)
    expect(body).not.toContain('<x>')
  })

  test('gets no text of the query', async () => {
    const { body } = await ask('own.example', '/mail/config-v1.1.xml?emailaddress=%22%3E%3Cx%3E%40%22%3E%3Cx%3E')
    expect(body).not.toContain('<x>')
  })
})

describe('Outlook', () => {
  const requestFor = (address: string) => `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006"><Request><EMailAddress>${address}</EMailAddress>
<AcceptableResponseSchema>http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a</AcceptableResponseSchema></Request></Autodiscover>`

  test.each(['/autodiscover/autodiscover.xml', '/Autodiscover/Autodiscover.xml'])('gets both ports at %s', async (path) => {
    const { status, type, body } = await ask('autodiscover.own.example', path, requestFor('anna@own.example'))
    expect([status, type]).toEqual([200, 'text/xml; charset=utf-8'])
    expect(valuesOf(body, 'Type')).toEqual(['SMTP', 'SMTP'])
    expect(valuesOf(body, 'Port')).toEqual([String(ports[1]), String(ports[0])])
    expect(valuesOf(body, 'Encryption')).toEqual(['SSL', 'TLS'])
    expect(valuesOf(body, 'LoginName')).toEqual(['anna@own.example', 'anna@own.example'])
  })

  test('gets its address escaped, and an error for others', async () => {
    const path = '/autodiscover/autodiscover.xml'
    const odd = await ask('autodiscover.own.example', path, requestFor(`a"b'c@own.example`))
    expect(valuesOf(odd.body, 'LoginName')[0]).toBe('a&#34;b&#39;c@own.example')
    expect(valuesOf((await ask('own.example', path, requestFor('anna@else.example'))).body, 'ErrorCode')).toEqual(['500'])
    for (const body of ['', 'hello', requestFor('<x>@own.example'), requestFor('anna')]) {
      const answer = await ask('own.example', path, body)
      expect(valuesOf(answer.body, 'ErrorCode')).toEqual(['600'])
      expect(answer.body).not.toContain('<x>')
    }
    expect((await ask('own.example', path, 'x'.repeat(20_000))).status).toBe(413)
  })
})

test('a GET of Autodiscover and other methods get 405', async () => {
  expect((await ask('autodiscover.own.example', '/autodiscover/autodiscover.xml')).status).toBe(405)
  expect((await ask('autoconfig.own.example', '/mail/config-v1.1.xml', 'x')).status).toBe(405)
})
