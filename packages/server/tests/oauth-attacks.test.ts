// Attacks on OAuth, after RFC 9700: each has to fail, and some have to end the access.
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSecret } from '../src/core/secret-seal.ts'
import { createCertificate } from './harness/certificate.ts'
import { allowed, challengeOf, createAppTools, createVerifier, type Fields, redirectUri } from './harness/connected-app.ts'
import { openBrowser } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let owner: ReturnType<typeof openBrowser>
let app: ReturnType<typeof createAppTools>

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  await harness.createAgent('sales')
  owner = openBrowser(harness)
  await owner.signInByKey(harness.organizationKey)
  app = createAppTools(harness)
})
afterAll(() => harness?.stop())
// Registrations are limited per address.
beforeEach(() => harness.db.query({ text: 'DELETE FROM console_attempts' }))

function drip(response: ServerResponse, start: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).write(start)
  const timer = setInterval(() => response.write('x'), 100)
  response.once('close', () => clearInterval(timer))
}

function pour(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = (): void => {
    while (!response.destroyed && response.write('x'.repeat(16_384)));
  }
  response.on('drain', more)
  more()
}

const bomb = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(10_000_000)))

const newClient = async (metadata: Json = {}): Promise<string> => (await app.register(metadata)).body.client_id
const grants = async (): Promise<number> => (await harness.db.query({ text: 'SELECT 1 FROM oauth_grants' })).rowCount
const errorOf = ({ status, body }: { status: number; body: Json }) => [status, body?.error]

describe('a code', () => {
  test('that is used twice ends the access that it gave', async () => {
    const { clientId, code, verifier, access, refresh } = await app.connectApp(owner)
    expect(errorOf(await app.redeem(clientId, code, verifier))).toEqual([400, 'invalid_grant'])
    expect(await app.mcpStatus(access)).toBe(401)
    expect(errorOf(await app.refresh(clientId, refresh))).toEqual([400, 'invalid_grant'])
  })

  test('that is redeemed by many at once gives at most one of them access, and that ends', async () => {
    const clientId = await newClient()
    const { code, verifier } = await app.codeFor(owner, clientId)
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.redeem(clientId, code, verifier)))
    const given = answers.filter(({ status }) => status === 200)
    expect(given).toHaveLength(1)
    expect(await app.mcpStatus(given[0]?.body.access_token)).toBe(401)
  })

  test('of one client is not redeemed by another, and stays usable', async () => {
    const [clientId, other] = [await newClient(), await newClient()]
    const { code, verifier } = await app.codeFor(owner, clientId)
    expect(errorOf(await app.redeem(other, code, verifier))).toEqual([400, 'invalid_grant'])
    expect((await app.redeem(clientId, code, verifier)).status).toBe(200)
  })

  test.each<[string, (verifier: string) => Fields, string]>([
    ['another verifier', () => ({ code_verifier: createVerifier() }), 'invalid_grant'],
    ['the challenge as verifier', (verifier) => ({ code_verifier: challengeOf(verifier) }), 'invalid_grant'],
    ['a short verifier', () => ({ code_verifier: 'short' }), 'invalid_grant'],
    ['no verifier', () => ({ code_verifier: undefined }), 'invalid_request'],
    ['another redirect URI', () => ({ redirect_uri: 'http://127.0.0.1:1/callback' }), 'invalid_grant'],
    ['no redirect URI', () => ({ redirect_uri: undefined }), 'invalid_request'],
    ['another resource', () => ({ resource: 'https://other.example/mcp' }), 'invalid_target'],
    ['the code twice', () => ({ code: ['a', 'b'] }), 'invalid_request'],
    ['another grant type', () => ({ grant_type: 'password' }), 'unsupported_grant_type'],
    ['a name of an object as grant type', () => ({ grant_type: 'constructor' }), 'unsupported_grant_type'],
  ])('with %s is refused', async (_name, more, error) => {
    const clientId = await newClient()
    const { code, verifier } = await app.codeFor(owner, clientId)
    expect(errorOf(await app.redeem(clientId, code, verifier, more(verifier)))).toEqual([400, error])
  })

  test('ends after a minute', async () => {
    const clientId = await newClient()
    const { code, verifier } = await app.codeFor(owner, clientId)
    await harness.db.query({ text: "UPDATE oauth_codes SET expires_at = now() - interval '1 second'" })
    expect(errorOf(await app.redeem(clientId, code, verifier))).toEqual([400, 'invalid_grant'])
  })

  test('is refused as JSON', async () => {
    const answer = await app.page('POST', '/oauth/token', { 'content-type': 'application/json' }, '{"grant_type":"refresh_token"}')
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_request'])
  })
})

describe('a refresh token', () => {
  /** Moves the first use of all refresh tokens before the time in which a second one is allowed. */
  const endGrace = () => harness.db.query({ text: `UPDATE oauth_tokens SET used_at = used_at - interval '31 seconds'` })

  test('that is used again later ends the access of both users', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const { body } = await app.refresh(clientId, refresh)
    await endGrace()
    expect(errorOf(await app.refresh(clientId, refresh))).toEqual([400, 'invalid_grant'])
    expect(await app.mcpStatus(body.access_token)).toBe(401)
    expect(errorOf(await app.refresh(clientId, body.refresh_token))).toEqual([400, 'invalid_grant'])
  })

  test('that is used by many at once gives all of them the same new one', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.refresh(clientId, refresh)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1)
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(8)
    for (const { body } of answers) expect(await app.mcpStatus(body.access_token)).toBe(200)
    expect((await app.refresh(clientId, answers[0]?.body.refresh_token)).status).toBe(200)
  })

  test('that is used again after its replacement was used ends the access, even at once', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const second = (await app.refresh(clientId, refresh)).body
    const third = (await app.refresh(clientId, second.refresh_token)).body
    expect(errorOf(await app.refresh(clientId, refresh))).toEqual([400, 'invalid_grant'])
    expect(await app.mcpStatus(third.access_token)).toBe(401)
  })

  test('that was stolen and used at once by both leaves one chain, and the next second use ends it', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const [mine, stolen] = [(await app.refresh(clientId, refresh)).body, (await app.refresh(clientId, refresh)).body]
    expect(stolen.refresh_token).toBe(mine.refresh_token)
    const next = (await app.refresh(clientId, stolen.refresh_token)).body
    await endGrace()
    expect(errorOf(await app.refresh(clientId, mine.refresh_token))).toEqual([400, 'invalid_grant'])
    expect(await app.mcpStatus(next.access_token)).toBe(401)
  })

  test('returns no replacement to another client, for another resource, or after the access was revoked', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const { body } = await app.refresh(clientId, refresh)
    expect(errorOf(await app.refresh(await newClient(), refresh))).toEqual([400, 'invalid_grant'])
    expect(errorOf(await app.refresh(clientId, refresh, { resource: 'https://other.example/mcp' }))).toEqual([400, 'invalid_target'])
    expect((await app.refresh(clientId, refresh)).status).toBe(200)
    await app.post('/oauth/revoke', { token: body.refresh_token, client_id: clientId })
    expect(errorOf(await app.refresh(clientId, refresh))).toEqual([400, 'invalid_grant'])
  })

  test('is stored neither as text nor with a key that the database has', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const { body } = await app.refresh(clientId, refresh)
    const { rows } = await harness.db.query<{ token_hash: Buffer; successor: Buffer }>({
      text: 'SELECT token_hash, successor FROM oauth_tokens WHERE successor IS NOT NULL',
    })
    expect(rows.length).toBeGreaterThan(0)
    for (const { successor, token_hash } of rows) {
      expect(successor.includes(body.refresh_token)).toBe(false)
      expect(() => openSecret(token_hash, 'any', successor)).toThrow()
    }
  })

  test('of one client is neither used nor revoked by another', async () => {
    const { clientId, refresh, access } = await app.connectApp(owner)
    const other = await newClient()
    expect(errorOf(await app.refresh(other, refresh))).toEqual([400, 'invalid_grant'])
    expect(errorOf(await app.post('/oauth/revoke', { token: refresh, client_id: other }))).toEqual([401, 'invalid_client'])
    expect(await app.mcpStatus(access)).toBe(200)
    expect((await app.refresh(clientId, refresh)).status).toBe(200)
  })

  test('does not call tools, and an access token is not exchanged', async () => {
    const { clientId, refresh, access } = await app.connectApp(owner)
    expect(await app.mcpStatus(refresh)).toBe(401)
    expect(errorOf(await app.refresh(clientId, access))).toEqual([400, 'invalid_grant'])
  })
})

describe('an access token', () => {
  test('for another resource is refused', async () => {
    const { access } = await app.connectApp(owner)
    await harness.db.query({ text: "UPDATE oauth_grants SET resource = 'https://other.example/mcp'" })
    expect(await app.mcpStatus(access)).toBe(401)
  })

  test('in the address is not read', async () => {
    const { access } = await app.connectApp(owner)
    const { status } = await app.page('POST', `/mcp?access_token=${access}`, { 'content-type': 'application/json' }, '{}')
    expect(status).toBe(401)
  })

  test('ends with its agent', async () => {
    await harness.createAgent('short_lived')
    const { access } = await app.connectApp(owner, { agent: 'short_lived' })
    expect(await app.mcpStatus(access)).toBe(200)
    await harness.expectApi(204, 'DELETE', '/identities/short_lived')
    expect(await app.mcpStatus(access)).toBe(401)
  })
})

describe('an authorization request', () => {
  const registered = ['https://app.example/cb', 'http://127.0.0.1:5000/cb', 'com.example.app:/cb']

  test.each([
    'https://app.example/cb/',
    'https://app.example/cb?x=1',
    'https://app.example/cb#x',
    'https://app.example/cb/../evil',
    'https://app.example/%63b',
    'https://app.example:8443/cb',
    'https://APP.example/cb',
    'https://app.example./cb',
    'https://evil.app.example/cb',
    'https://app.example.evil.example/cb',
    'https://app.example@evil.example/cb',
    'https://evil.example\\@app.example/cb',
    'https://evil.example/cb',
    'http://app.example/cb',
    '//evil.example/cb',
    'http://localhost:5000/cb',
    'http://127.0.0.1:5000/cb2',
    'http://127.0.0.1.evil.example:5000/cb',
    'http://127.0.0.1:5000@evil.example/cb',
    'http://[::1]:5000/cb',
    'com.example.app:/other',
    'javascript:alert(1)',
    '',
  ])('for the redirect URI %s is refused without a redirect', async (uri) => {
    const clientId = await newClient({ redirect_uris: registered })
    const { status, headers, text } = await app.consent(owner, app.requestOf(clientId, createVerifier(), { redirect_uri: uri }))
    expect([status, headers.location]).toEqual([400, undefined])
    expect(text).not.toContain('href')
  })

  test('for a loopback address may name another port (RFC 8252)', async () => {
    const clientId = await newClient({ redirect_uris: registered })
    const asked = app.requestOf(clientId, createVerifier(), { redirect_uri: 'http://127.0.0.1:61000/cb' })
    expect(app.returnIn(await app.answer(owner, asked, allowed)).href).toMatch(/^http:\/\/127\.0\.0\.1:61000\/cb\?code=oac_/)
  })

  test.each<[string, Fields, string]>([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with the plain method', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['with a challenge of another length', { code_challenge: 'abc' }, 'invalid_request'],
    ['for a token in the address', { response_type: 'token' }, 'unsupported_response_type'],
    ['for a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['with a request object', { request_uri: 'https://evil.example/r' }, 'invalid_request'],
    ['for another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for the resource with a user name', { resource: 'http://a@localhost/mcp' }, 'invalid_target'],
    ['with two states', { state: ['a', 'b'] }, 'invalid_request'],
    ['with two challenges', { code_challenge: [challengeOf('a'), challengeOf('b')] }, 'invalid_request'],
  ])('%s is answered on a page, because a redirect without a click is open to anyone', async (_name, more, error) => {
    const clientId = await newClient()
    const before = await grants()
    const asked = app.requestOf(clientId, createVerifier(), more)
    const { status, headers, text } = await app.consent(owner, asked)
    expect([status, headers.location]).toEqual([400, undefined])
    const link = /href="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') as string
    expect(link.startsWith(`${redirectUri}?error=${error}&`)).toBe(true)
    expect(new URL(link).searchParams.get('iss')).toBe(harness.publicUrl)
    expect((await app.answer(owner, asked, allowed)).status).toBe(400)
    expect(await grants()).toBe(before)
  })

  test.each([
    ['unknown', 'oacl_01arz3ndektsv4rrffq69g5fav'],
    ['malformed', "x' OR 1=1"],
    ['missing', ''],
    ['given twice', ['a', 'b']],
  ])('with a client id that is %s is refused without a redirect', async (_name, clientId) => {
    const { status, headers } = await app.consent(owner, app.requestOf('x', createVerifier(), { client_id: clientId }))
    expect([status, headers.location]).toEqual([400, undefined])
  })

  test('is answered with the issuer, so that a client notices a mix-up (RFC 9207)', async () => {
    const { response } = await app.codeFor(owner, await newClient())
    expect(response.getAll('iss')).toEqual([harness.publicUrl])
    expect(response.getAll('state')).toEqual(['state-1'])
  })
})

describe('the consent page', () => {
  test('cannot be framed, scripted, or sent elsewhere', async () => {
    const clientId = await newClient({ redirect_uris: ['https://app.example/cb'] })
    const { headers } = await app.consent(owner, app.requestOf(clientId, createVerifier(), { redirect_uri: 'https://app.example/cb' }))
    const policy = String(headers['content-security-policy'])
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"])
      expect(policy.split('; ')).toContain(part)
    expect(policy).not.toContain('script-src')
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'no-store', 'referrer-policy': 'same-origin' })
  })

  test.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</title><script>alert(1)</script>',
    '&lt;b&gt;',
  ])('shows the client name %s as text', async (name) => {
    const clientId = await newClient({ client_name: name })
    const { text } = await app.consent(owner, app.requestOf(clientId, createVerifier(), { state: name, scope: name }))
    expect(text).not.toMatch(/<(script|img|b)\b/)
    expect(text).not.toMatch(/<[^>]*\son\w+=/)
    expect(text).toContain(
      name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    )
  })

  test('shows a name without characters that people cannot see', async () => {
    const { body } = await app.register({ client_name: 'Cl\u200baude \u202eedualc\u0007\n app' })
    expect(body.client_name).toBe('Claude edualc app')
  })

  test('takes no answer from the page of another site', async () => {
    const other = openBrowser(harness)
    await other.signInByKey(harness.organizationKey)
    const asked = app.requestOf(await newClient(), createVerifier())
    const before = await grants()
    const answers = [
      app.answer(owner, asked, { ...allowed, csrf: undefined }),
      app.answer(owner, asked, { ...allowed, csrf: 'wrong' }),
      app.answer(owner, asked, { ...allowed, csrf: other.csrf }),
      app.answer(owner, asked, allowed, { origin: 'https://evil.example' }),
      app.answer(owner, asked, allowed, { origin: 'null' }),
      app.answer(owner, asked, allowed, { origin: 'null', 'sec-fetch-site': 'cross-site' }),
      app.answer(owner, asked, allowed, { origin: 'null', 'sec-fetch-site': 'same-site' }),
      app.answer(owner, asked, allowed, { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }),
      app.answer(owner, asked, allowed, { 'content-type': 'text/plain' }),
      app.answer(owner, asked, allowed, { cookie: '' }),
    ]
    for (const { status, headers } of await Promise.all(answers)) expect([status, headers.location]).toEqual([403, undefined])
    expect(await grants()).toBe(before)
  })

  test('gives no access to agents of another organization', async () => {
    await harness.createAgent('foreign', {}, harness.otherOrganization.key)
    const { status } = await app.answer(owner, app.requestOf(await newClient(), createVerifier()), { ...allowed, agent: 'foreign' })
    expect(status).toBe(400)
  })
})

describe('registration', () => {
  test.each<[string, Json, string]>([
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['data', { redirect_uris: ['data:text/html,x'] }, 'invalid_redirect_uri'],
    ['a file', { redirect_uris: ['file:///etc/passwd'] }, 'invalid_redirect_uri'],
    ['http elsewhere', { redirect_uris: ['http://app.example/cb'] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: ['https://app.example/cb#x'] }, 'invalid_redirect_uri'],
    ['a user name', { redirect_uris: ['https://a@app.example/cb'] }, 'invalid_redirect_uri'],
    ['a line break', { redirect_uris: ['https://app.example/\r\ncb'] }, 'invalid_redirect_uri'],
    ['no redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['many redirect URIs', { redirect_uris: Array.from({ length: 11 }, (_, i) => `https://app.example/${i}`) }, 'invalid_redirect_uri'],
    ['another grant', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    ['a name that is not text', { client_name: { toString: 1 } }, 'invalid_client_metadata'],
  ])('with %s is refused', async (_name, metadata, error) => {
    expect(errorOf(await app.register(metadata))).toEqual([400, error])
  })

  test('is limited per address, and in number', async () => {
    const statuses = []
    for (let i = 0; i < 21; i++) statuses.push((await app.register()).status)
    expect(statuses).toEqual([...Array(20).fill(201), 429])
    await harness.db.query({ text: 'DELETE FROM console_attempts' })
    await harness.db.query({
      text: "INSERT INTO oauth_clients SELECT 'filler_' || i, 'x', '{https://a.example/}', now() FROM generate_series(1, 10000) AS i",
    })
    expect(errorOf(await app.register())).toEqual([201, undefined])
    const { rows } = await harness.db.query<{ clients: number }>({ text: 'SELECT count(*)::int AS clients FROM oauth_clients' })
    expect(rows[0]?.clients).toBeLessThanOrEqual(10_021)
    await harness.db.query({ text: "DELETE FROM oauth_clients WHERE id LIKE 'filler_%'" })
  })
})

test('strangers cannot keep the table of apps full: the oldest without access goes, one with access stays', async () => {
  const { clientId, refresh } = await app.connectApp(owner)
  const abandoned = await newClient()
  await harness.db.query({ text: "UPDATE oauth_clients SET created_at = now() - interval '2 days' WHERE id = $1", values: [clientId] })
  await harness.db.query({ text: "UPDATE oauth_clients SET created_at = now() - interval '1 day' WHERE id = $1", values: [abandoned] })
  await harness.db.query({
    text: "INSERT INTO oauth_clients SELECT 'filler_' || i, 'x', '{https://a.example/}', now() FROM generate_series(1, 10000) AS i",
  })
  const known = async () =>
    (await harness.db.query<{ id: string }>({ text: 'SELECT id FROM oauth_clients WHERE id = ANY($1)', values: [[clientId, abandoned]] }))
      .rows
  const registered = await newClient()
  expect(await known()).toEqual([{ id: clientId }])
  expect((await app.refresh(clientId, refresh)).status).toBe(200)
  expect((await app.consent(owner, app.requestOf(registered, createVerifier()))).status).toBe(200)
  await harness.db.query({ text: "DELETE FROM oauth_clients WHERE id LIKE 'filler_%'" })
})

describe('a metadata document', () => {
  type Page = { status?: number; headers?: Record<string, string>; body?: Json; serve?: (response: ServerResponse) => void }
  const pages = new Map<string, Page>()
  const asked: string[] = []
  let origin = ''
  let close = () => {}

  beforeAll(async () => {
    const trusted = getCACertificates('default')
    const authority = createCertificate({ commonName: 'Test authority' })
    setDefaultCACertificates([...trusted, authority.cert])
    harness.dns.set('app.example', { A: ['127.0.0.1'] })
    harness.dns.set('inside.example', { A: ['10.0.0.1'] })
    const tls = createCertificate({ commonName: 'x', dnsNames: ['app.example'], issuer: authority })
    const server = createServer(tls, (request, response) => {
      asked.push(request.url as string)
      const { status = 200, headers, body, serve }: Page = pages.get(request.url as string) ?? { status: 404 }
      if (serve) return serve(response)
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `https://app.example:${(server.address() as AddressInfo).port}`
    close = () => {
      setDefaultCACertificates(trusted)
      server.close()
    }
  })
  afterAll(() => close())

  const whole = (path: string): Json => ({ client_id: `${origin}${path}`, client_name: 'App', redirect_uris: [redirectUri] })
  const show = (clientId: string) => app.consent(owner, app.requestOf(clientId, createVerifier()))

  test.each<[string, (path: string) => Page]>([
    ['names another client id', (path) => ({ body: { ...whole(path), client_id: 'https://evil.example/client.json' } })],
    ['names no client id', (path) => ({ body: { ...whole(path), client_id: undefined } })],
    ['has a secret', (path) => ({ body: { ...whole(path), client_secret: 'x' } })],
    ['wants a client secret', (path) => ({ body: { ...whole(path), token_endpoint_auth_method: 'client_secret_basic' } })],
    ['is not JSON', () => ({ body: 'hello' })],
    ['is a list', () => ({ body: [] })],
    ['is HTML', (path) => ({ body: whole(path), headers: { 'content-type': 'text/html' } })],
    ['redirects', (path) => ({ status: 302, headers: { location: `${origin}${path}/next` }, body: '' })],
    ['is large', (path) => ({ body: { ...whole(path), padding: 'x'.repeat(20_000) } })],
    ['is not found', (path) => ({ status: 404, body: whole(path) })],
    ['registers another address', (path) => ({ body: { ...whole(path), redirect_uris: ['https://evil.example/cb'] } })],
  ])('that %s is refused', async (name, page) => {
    const path = `/${name.replaceAll(' ', '-')}.json`
    pages.set(path, page(path))
    pages.set(`${path}/next`, { body: whole(path) })
    const { status, headers } = await show(`${origin}${path}`)
    expect([status, headers.location]).toEqual([400, undefined])
    expect(asked).not.toContain(`${path}/next`)
  })

  test.each([
    'https://10.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.1]/client.json',
    'https://0x0a000001/client.json',
    'https://inside.example/client.json',
  ])('at %s is not fetched, and the page does not describe the network', async (clientId) => {
    const { status, text } = await show(clientId)
    expect(status).toBe(400)
    expect(text).toMatch(/cannot be fetched|not registered/)
    expect(text).not.toMatch(/10\.0\.0\.1|private|blocked|ECONN/i)
  })

  test.each([
    'http://app.example/client.json',
    'https://app.example/',
    'https://a@app.example/c',
    'https://app.example/a/../c',
    'https://app.example/c#x',
  ])('at %s is not an id', async (clientId) => {
    const { status, text } = await show(clientId)
    expect([status, text.includes('not registered')]).toEqual([400, true])
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['never comes', () => {}],
    ['comes a byte per 100 ms', (response) => drip(response, '{"client_id": "')],
    ['has no end', (response) => pour(response)],
    ['is small only until it is decompressed', (response) => bomb(response)],
    [
      'breaks off',
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).write('{', () => response.destroy()),
    ],
    ['is no HTTP', (response) => response.socket?.end('hello\r\n\r\n')],
  ])('that %s is refused in time, and delays no other', async (name, serve) => {
    const path = `/${name.replaceAll(' ', '-')}.json`
    pages.set(path, { serve })
    const honest = `/beside${path}`
    pages.set(honest, { body: whole(honest) })
    const startedMs = performance.now()
    const [hostile, beside] = await Promise.all([
      show(`${origin}${path}`).then((answer) => ({ ...answer, ms: performance.now() - startedMs })),
      show(`${origin}${honest}`).then((answer) => ({ ...answer, ms: performance.now() - startedMs })),
    ])
    expect([hostile.status, hostile.text.includes('cannot be fetched'), beside.status]).toEqual([400, true, 200])
    // The limit is 5 seconds. The rest is for a busy machine.
    expect(hostile.ms).toBeLessThan(15_000)
    if (hostile.ms > 5000) expect(beside.ms).toBeLessThan(hostile.ms)
  })

  test('that changes after it was shown gives the access to the app that was shown', async () => {
    pages.set('/changing.json', { body: whole('/changing.json') })
    const clientId = `${origin}/changing.json`
    const verifier = createVerifier()
    const parameters = app.requestOf(clientId, verifier)
    expect((await app.consent(owner, parameters)).text).toContain('Connect “App”')
    pages.set('/changing.json', {
      body: { ...whole('/changing.json'), client_name: 'Another app', redirect_uris: ['https://evil.example/cb'] },
    })
    expect((await app.consent(owner, app.requestOf(clientId, verifier, { redirect_uri: 'https://evil.example/cb' }))).status).toBe(400)
    const returned = app.returnIn(await app.answer(owner, parameters, allowed))
    expect(returned.href.startsWith(`${redirectUri}?code=`)).toBe(true)
    const { rows } = await harness.db.query<{ client_name: string }>({
      text: 'SELECT client_name FROM oauth_grants WHERE client_id = $1',
      values: [clientId],
    })
    expect(rows).toEqual([{ client_name: 'App' }])
  })

  test('is not fetched for a browser without a session', async () => {
    pages.set('/visitor.json', { body: whole('/visitor.json') })
    const parameters = app.requestOf(`${origin}/visitor.json`, createVerifier())
    for (const path of ['/oauth/authorize', '/console/connect']) await app.page('GET', `${path}?${parameters}`)
    expect(asked).not.toContain('/visitor.json')
    expect((await show(`${origin}/visitor.json`)).status).toBe(200)
  })
})

test('many refused codes of one address are throttled', async () => {
  const answers = []
  for (let i = 0; i < 201; i++) answers.push((await app.refresh('x', `guess-${i}`)).status)
  expect(answers).toEqual([...Array(200).fill(400), 429])
})

test.each<[string, Record<string, string>]>([
  ['over http to another machine', { CALLSIGN_PUBLIC_URL: 'http://agents.example:8080' }],
  ['without the console', { CALLSIGN_CONSOLE: 'off' }],
])('%s, OAuth is not offered, and keys work', async (_name, settings) => {
  const plain = await startHarness(settings)
  try {
    const tools = createAppTools(plain)
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/mcp', '/oauth/authorize'])
      expect((await tools.page('GET', path)).status).toBe(404)
    expect((await tools.post('/oauth/token', { grant_type: 'refresh_token' })).status).toBe(404)
    const { headers } = await tools.page('POST', '/mcp', { 'content-type': 'application/json' }, '{}')
    expect(headers['www-authenticate']).toBe('Bearer')
    expect(await tools.mcpStatus(plain.organizationKey)).toBe(200)
  } finally {
    await plain.stop()
  }
})
