// Caller info and the common parts of the API, which are errors, unknown paths, health, readiness and metrics.
import { defaultAgentScopes } from '@callsign/contract/scopes'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKey } from '../src/features/account/keys/model.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

describe('GET /me', () => {
  test('an organization key sees the flat caller info and its key', async () => {
    const { status, body } = await harness.api('GET', '/me')
    expect(status).toBe(200)
    expect(body).toEqual({
      user_id: expect.stringMatching(/^user_/),
      organization_id: expect.stringMatching(/^org_/),
      organization_name: expect.any(String),
      role: 'owner',
      key: {
        id: expect.stringMatching(/^key_/),
        name: 'First key',
        type: 'organization',
        scopes: [],
        agent_handle: null,
        agent_handles: [],
      },
    })
  })

  test('an agent-scoped key has the role agent and names its agent', async () => {
    await harness.createAgent('scout')
    const key = await harness.agentKey('scout', { scopes: ['vault:read'] })
    const { body } = await harness.api('GET', '/me', { key })
    expect(body).toMatchObject({
      role: 'agent',
      key: { type: 'agent', scopes: [...defaultAgentScopes, 'vault:read'], agent_handle: 'scout' },
    })
    const own = await harness.expectApi(200, 'GET', '/me')
    expect([body.organization_id, body.organization_name]).toEqual([own.organization_id, own.organization_name])
  })

  test('one server holds many organizations', async () => {
    const { body } = await harness.api('GET', '/me', { key: harness.otherOrganization.key })
    expect(body).toMatchObject({ organization_id: harness.otherOrganization.id, organization_name: 'Other organization' })
  })
})

describe('authentication', () => {
  const flip = (key: string) => key.slice(0, 30) + (key[30] === 'a' ? 'b' : 'a') + key.slice(31)
  test.each([
    ['no key', () => ({ key: null })],
    ['another scheme', () => ({ key: null, headers: { authorization: `Basic ${btoa('a:b')}` } })],
    ['a malformed key', () => ({ key: 'svc_live_short' })],
    ['a key with a wrong checksum', () => ({ key: flip(harness.organizationKey) })],
    ['a well-formed key that nobody has', () => ({ key: generateKey() })],
  ])('%s is 401 unauthorized with a Bearer challenge in WWW-Authenticate', async (_name, ask) => {
    const { status, headers, body } = await harness.api('GET', '/me', ask())
    expect([status, body.error.code, headers.get('www-authenticate')]).toEqual([401, 'unauthorized', 'Bearer'])
  })

  test('the scheme is accepted in any case', async () => {
    await harness.expectApi(200, 'GET', '/me', { headers: { authorization: `bearer ${harness.organizationKey}` } })
  })
})

describe('errors', () => {
  test('an unknown path is 404 not_found', async () => {
    expect((await harness.api('GET', '/api/v1/nothing')).body.error.code).toBe('not_found')
    expect((await harness.api('GET', '/api/v2/me')).status).toBe(404)
  })

  test('another method on a path is 405 method_not_allowed with Allow', async () => {
    const { status, headers, body } = await harness.api('DELETE', '/me')
    expect([status, body.error.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET, HEAD'])
    expect((await harness.api('PUT', '/identities/scout')).headers.get('allow')).toBe('DELETE, GET, HEAD, PATCH')
  })

  test('a body that is not JSON is 415 unsupported_media_type, and a broken one 400 validation_error', async () => {
    const headers = { 'content-type': 'text/plain' }
    const text = await harness.api('POST', '/identities', { body: 'agent_handle=a', headers })
    expect([text.status, text.body.error.code]).toEqual([415, 'unsupported_media_type'])
    const broken = await harness.api('POST', '/identities', { body: '{"agent_handle":' })
    expect([broken.status, broken.body.error.code]).toEqual([400, 'validation_error'])
  })

  test('unknown body and query fields are a 400 that names them', async () => {
    const { body } = await harness.api('POST', '/identities', { body: { agent_handle: 'fine', colour: 'red' } })
    expect(body.error).toMatchObject({ code: 'validation_error', details: [{ path: '/colour' }] })
    const query = await harness.api('GET', '/identities?colour=red')
    expect([query.status, query.body.error.details[0].path]).toEqual([400, '/colour'])
  })

  test.each([
    ['NUL in a string', '{"agent_handle":"ab","display_name":"a\\u0000b"}'],
    ['a lone surrogate', '{"agent_handle":"ab","display_name":"\\ud800"}'],
    ['__proto__', '{"agent_handle":"ab","__proto__":{"a":1}}'],
    ['a body nested deeper than 32', `{"agent_handle":"ab","display_name":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['a number out of range', '{"agent_handle":"ab","display_name":1e999}'],
    ['no object', '"ab"'],
    ['null', 'null'],
  ])('%s is a clean 400', async (_name, body) => {
    expect((await harness.api('POST', '/identities', { body })).body.error.code).toBe('validation_error')
  })

  test.each([
    'limit=0',
    'limit=101',
    'limit=ten',
    'limit=1.5',
    'limit=99999999999999999999',
    'cursor=nonsense',
    'cursor=msg_short',
    'limit=1&limit=2',
  ])('a list with %s is 400', async (query) => {
    expect((await harness.api('GET', `/identities?${query}`)).body.error.code).toBe('validation_error')
    expect((await harness.api('GET', `/mail/messages?${query}`)).status).toBe(400)
  })

  test('a JSON body over 1 MB is 413 payload_too_large on routes without attachments', async () => {
    const body = JSON.stringify({ agent_handle: 'big', description: 'x'.repeat(1024 * 1024) })
    const answer = await harness.api('POST', '/identities', { body })
    expect([answer.status, answer.body.error.code]).toEqual([413, 'payload_too_large'])
  })

  test('answers contain no stack, SQL or internal address', async () => {
    const { body } = await harness.api('GET', '/mailboxes/%27%20OR%201=1--/messages')
    expect(JSON.stringify(body)).not.toMatch(/SELECT|at \w+ \(|node:|127\.0\.0\.1:\d+/)
  })
})

test('a key over its rate limit gets 429 rate_limited with Retry-After, and other keys are unaffected', async () => {
  const limited = await startHarness({ CALLSIGN_RATE_LIMIT_AGENT_KEY: '1' })
  try {
    await limited.createAgent('busy')
    const [one, two] = [await limited.agentKey('busy'), await limited.agentKey('busy')]
    const answers = await Promise.all(Array.from({ length: 20 }, () => limited.api('GET', '/me', { key: one })))
    const refused = answers.filter((answer) => answer.status !== 200)
    expect(refused.length).toBeGreaterThan(10)
    for (const { status, headers, body } of refused) {
      expect([status, body.error.code, Number(headers.get('retry-after'))]).toEqual([429, 'rate_limited', 1])
    }
    await limited.expectApi(200, 'GET', '/me', { key: two })
    await limited.expectApi(200, 'GET', '/me')
  } finally {
    await limited.stop()
  }
})

describe('beside the API', () => {
  test('GET /healthz and /readyz report a healthy server', async () => {
    expect((await harness.api('GET', '/healthz', { key: null })).body).toEqual({ status: 'ok' })
    const { body } = await harness.api('GET', '/readyz', { key: null })
    expect(body.status).toBe('ready')
    expect(body.checks).toMatchObject({ database: true, worker: true })
  })

  test('metrics count requests by route, not by path', async () => {
    const text = await harness.metrics()
    expect(text).toContain('route="/api/v1/me"')
    expect(text).toContain('callsign_keys_refused_total{reason="malformed"}')
    expect(text).not.toContain('scout')
  })

  test('GET /openapi.json is valid OpenAPI 3.1 and GET /docs/api/mail is a page', async () => {
    expect(await new Validator().validate(structuredClone(harness.document))).toEqual({ valid: true })
    const page = await fetch(`${harness.baseUrl}/docs/api/mail`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('/api/v1/mail/send')
  })
})
