// Apps that connect to /mcp over OAuth 2.1: metadata, registration, consent, tokens and revocation, and the official client's own flow.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { auth, Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCertificate } from './harness/certificate.ts'
import { allowed, createAppTools, createVerifier, redirectUri } from './harness/connected-app.ts'
import { openBrowser } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let owner: ReturnType<typeof openBrowser>
let app: ReturnType<typeof createAppTools>
let documents: Awaited<ReturnType<typeof serveDocuments>>

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
  await harness.createAgent('sales')
  await harness.createAgent('support')
  owner = openBrowser(harness)
  await owner.signInByKey(harness.organizationKey)
  app = createAppTools(harness)
  documents = await serveDocuments()
})
afterAll(async () => {
  documents?.close()
  await harness?.stop()
})

/** A site over https with metadata documents, by path. */
async function serveDocuments() {
  const trusted = getCACertificates('default')
  const authority = createCertificate({ commonName: 'Test authority' })
  setDefaultCACertificates([...trusted, authority.cert])
  harness.dns.set('app.example', { A: ['127.0.0.1'] })
  const pages = new Map<string, { status?: number; headers?: Record<string, string>; body: string }>()
  const asked: string[] = []
  const server = createServer(createCertificate({ commonName: 'x', dnsNames: ['app.example'], issuer: authority }), (request, response) => {
    asked.push(request.url as string)
    const found = pages.get(request.url as string) ?? { status: 404, body: '' }
    response.writeHead(found.status ?? 200, { 'content-type': 'application/json', ...found.headers }).end(found.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `https://app.example:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    serve(path: string, document: Json, more: { status?: number; headers?: Record<string, string> } = {}): string {
      const url = `${origin}${path}`
      const whole = { client_id: url, client_name: 'Desk app', redirect_uris: [redirectUri], ...document }
      pages.set(path, { ...more, body: typeof document === 'string' ? document : JSON.stringify(whole) })
      return url
    },
    close() {
      setDefaultCACertificates(trusted)
      server.close()
    },
  }
}

const json = async (path: string) => {
  const answer = await app.page('GET', path)
  return { status: answer.status, body: JSON.parse(answer.text) as Json }
}

describe('discovery', () => {
  test('a request without a token names the metadata of the resource', async () => {
    const challenge = async (headers: Record<string, string>) =>
      String((await app.page('POST', '/mcp', { 'content-type': 'application/json', ...headers }, '{}')).headers['www-authenticate'])
    const expected = `resource_metadata="${harness.publicUrl}/.well-known/oauth-protected-resource/mcp"`
    expect(await challenge({})).toBe(`Bearer ${expected}`)
    expect(await challenge({ authorization: 'Bearer wrong' })).toBe(`Bearer error="invalid_token", ${expected}`)
  })

  test('the resource is described at both paths (RFC 9728)', async () => {
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
      expect(await json(path)).toMatchObject({
        status: 200,
        body: { resource: `${harness.publicUrl}/mcp`, authorization_servers: [harness.publicUrl], bearer_methods_supported: ['header'] },
      })
  })

  test('the authorization server is described (RFC 8414, RFC 9207)', async () => {
    expect((await json('/.well-known/oauth-authorization-server')).body).toMatchObject({
      issuer: harness.publicUrl,
      authorization_endpoint: `${harness.publicUrl}/oauth/authorize`,
      token_endpoint: `${harness.publicUrl}/oauth/token`,
      registration_endpoint: `${harness.publicUrl}/oauth/register`,
      revocation_endpoint: `${harness.publicUrl}/oauth/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
  })
})

describe('the consent page', () => {
  test('the authorization endpoint continues at the page, so that the strict cookie is sent', async () => {
    const { body } = await app.register()
    const asked = app.requestOf(body.client_id, createVerifier())
    const { status, text, headers } = await app.page('GET', `/oauth/authorize?${asked}`)
    expect(status).toBe(200)
    expect(text).toContain(`content="0; url=/console/connect?${String(asked).replaceAll('&', '&amp;')}"`)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  })

  test('a browser without a session signs in first, and comes back', async () => {
    const { body } = await app.register()
    const asked = app.requestOf(body.client_id, createVerifier())
    const { status, headers } = await app.page('GET', `/console/connect?${asked}`)
    expect([status, headers.location]).toEqual([302, `/console/?next=${encodeURIComponent(`/console/connect?${asked}`)}`])
  })

  test('shows a registered app as not verified, with the receiver of the access', async () => {
    const { body } = await app.register({ client_name: 'Claude' })
    const { status, text } = await app.consent(owner, app.requestOf(body.client_id, createVerifier()))
    expect(status).toBe(200)
    for (const part of ['Connect “Claude”', 'Not verified', 'A program on this computer', 'Continue only if', 'value="sales"'])
      expect(text).toContain(part)
  })

  test('shows the host of an app with a metadata document, fetched once', async () => {
    const id = documents.serve('/client.json', {})
    const asked = app.requestOf(id, createVerifier())
    const { text } = await app.consent(owner, asked)
    expect(text).toContain('Connect “Desk app”')
    expect(text).toContain(new URL(id).host)
    expect(text).not.toContain('Not verified')
    await app.consent(owner, asked)
    expect(documents.asked.filter((path) => path === '/client.json')).toHaveLength(1)
  })

  test('proposes what the scopes of the request need', async () => {
    const { body } = await app.register()
    const { text } = await app.consent(owner, app.requestOf(body.client_id, createVerifier(), { scope: 'mail:read' }))
    expect(text).toContain('value="mail" checked')
    expect(text).not.toContain('value="imessage" checked')
    expect(text).toContain('name="read_only" value="1" checked')
  })

  test('is for owners only', async () => {
    const agent = openBrowser(harness)
    await agent.signInByKey(await harness.agentKey('sales'))
    const { body } = await app.register()
    const { status, text } = await app.consent(agent, app.requestOf(body.client_id, createVerifier()))
    expect([status, text.includes('Only an owner')]).toEqual([403, true])
  })

  test('returns an answer that has to be corrected with its reason', async () => {
    const { body } = await app.register()
    const asked = app.requestOf(body.client_id, createVerifier())
    for (const choice of [{ agent: undefined }, { agent: 'nobody' }, { toolset: undefined }, { mail_approval: 'never' }]) {
      const answer = await app.answer(owner, asked, { ...allowed, ...choice })
      expect([choice, answer.status, answer.text.includes('Choose')]).toEqual([choice, 400, true])
    }
  })

  test('Cancel returns access_denied with state and issuer', async () => {
    const { body } = await app.register()
    const response = app.responseIn(await app.answer(owner, app.requestOf(body.client_id, createVerifier()), { decision: 'deny' }))
    expect(Object.fromEntries(response)).toEqual({ error: 'access_denied', state: 'state-1', iss: harness.publicUrl })
  })
})

describe('tokens', () => {
  test('a code becomes tokens that call tools, within the choice of the person', async () => {
    const { access, scope } = await app.connectApp(owner, { toolset: ['mail'], read_only: '1' })
    expect(scope.split(' ')).not.toContain('vault:read')
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${harness.baseUrl}/mcp?toolsets=mail,imessage&results=data`), {
        requestInit: { headers: { Authorization: `Bearer ${access}` } },
      }),
    )
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names).toEqual('whoami mail_list mail_search mail_get thread_get attachment_get mail_wait quarantine_list'.split(' '))
    const result = await client.callTool({ name: 'whoami', arguments: {} })
    expect(result.structuredContent).toMatchObject({ agent: 'sales' })
    await client.close()
  })

  test('act for every agent that the person chose, and for no other', async () => {
    await harness.createAgent('third')
    const { access } = await app.connectApp(owner, { agent: ['sales', 'support'] })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const requestInit = { headers: { Authorization: `Bearer ${access}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${harness.baseUrl}/mcp`), { requestInit }))
    const list = async (agent: string) => (await client.callTool({ name: 'mail_list', arguments: { agent } })).isError === true
    expect([await list('sales'), await list('support'), await list('third')]).toEqual([false, false, true])
    await client.close()
  })

  test('are for /mcp only, and not cached', async () => {
    const { access, clientId, refresh } = await app.connectApp(owner)
    expect(await app.mcpStatus(access)).toBe(200)
    expect((await harness.api('GET', '/me', { key: access })).status).toBe(401)
    expect((await app.refresh(clientId, refresh)).headers['cache-control']).toBe('no-store')
  })

  test('a refresh token is exchanged for new tokens', async () => {
    const { clientId, refresh } = await app.connectApp(owner)
    const { status, body } = await app.refresh(clientId, refresh)
    expect([status, body.token_type, body.expires_in]).toEqual([200, 'Bearer', 3600])
    expect(body.refresh_token).not.toBe(refresh)
    expect(await app.mcpStatus(body.access_token)).toBe(200)
  })

  test('an access token ends after an hour', async () => {
    const { access } = await app.connectApp(owner)
    await harness.db.query({ text: "UPDATE oauth_tokens SET expires_at = now() - interval '1 second' WHERE kind = 'access'" })
    expect(await app.mcpStatus(access)).toBe(401)
  })

  test('no code or token is stored in readable form', async () => {
    const { access, refresh, code } = await app.connectApp(owner)
    const { rows } = await harness.db.query<{ row: string }>({
      text: 'SELECT row_to_json(t)::text AS row FROM oauth_tokens t UNION ALL SELECT row_to_json(c)::text FROM oauth_codes c',
    })
    const stored = rows.map(({ row }) => row).join('\n')
    for (const secret of [access, refresh, code]) {
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'))
      expect(harness.logLines().join('')).not.toContain(secret)
    }
  })
})

describe('a grant', () => {
  const keyOf = async (name: string): Promise<Json> =>
    (await harness.expectApi(200, 'GET', '/keys')).data.find((key: Json) => key.name === name)

  test('is listed with the keys, and its revocation acts on the next request', async () => {
    const { access, clientId, refresh } = await app.connectApp(owner, {}, { client_name: 'Listed app' })
    const key = await keyOf('Listed app')
    expect(key).toMatchObject({
      type: 'agent',
      agent_handle: 'sales',
      connected_app: { client_id: clientId, host: null, toolsets: ['mail', 'events'], is_read_only: false, mail_approval: 'agent' },
    })
    await harness.expectApi(200, 'DELETE', `/keys/${key.id}`)
    expect(await app.mcpStatus(access)).toBe(401)
    expect(await app.refresh(clientId, refresh)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('is in the audit log, from consent to revocation', async () => {
    const { clientId, refresh } = await app.connectApp(owner, {}, { client_name: 'Audited app' })
    const key = await keyOf('Audited app')
    expect((await app.post('/oauth/revoke', { token: refresh, client_id: clientId })).status).toBe(200)
    const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100')
    const entries = data.filter((entry: Json) => entry.target_id === key.id)
    expect(entries.map((entry: Json) => [entry.action, entry.actor_id === key.id])).toEqual([
      ['key.revoked', true],
      ['key.created', false],
    ])
    expect(entries[1].details).toMatchObject({ name: 'Audited app', connected_app: clientId })
  })

  test('ends with its refresh token (RFC 7009), and an access token ends alone', async () => {
    const first = await app.connectApp(owner)
    expect((await app.post('/oauth/revoke', { token: first.access, client_id: first.clientId })).status).toBe(200)
    expect(await app.mcpStatus(first.access)).toBe(401)
    const { body } = await app.refresh(first.clientId, first.refresh)
    expect((await app.post('/oauth/revoke', { token: body.refresh_token, client_id: first.clientId })).status).toBe(200)
    expect(await app.mcpStatus(body.access_token)).toBe(401)
    expect((await app.post('/oauth/revoke', { token: 'unknown', client_id: first.clientId })).status).toBe(200)
  })

  test('with approval always writes a draft, although the agent may send', async () => {
    const { access } = await app.connectApp(owner, { mail_approval: 'always' })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    const requestInit = { headers: { Authorization: `Bearer ${access}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${harness.baseUrl}/mcp?results=data`), { requestInit }))
    const sent = await client.callTool({ name: 'mail_send', arguments: { to: ['a@example.com'], subject: 'A', text: 'B' } })
    expect(sent.structuredContent).toMatchObject({ state: 'waiting_for_approval' })
    await client.close()
  })
})

test.each<[string, (id: string) => Json]>([
  ['registers itself', () => ({})],
  ['has a metadata document', (id) => ({ clientMetadataUrl: id })],
])('the official client connects by itself when it %s', async (_name, more) => {
  const id = documents.serve('/official.json', { client_name: 'Official client' })
  let client: Json
  let tokens: Json
  let verifier = ''
  let authorizationUrl: URL | undefined
  const provider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: 'Official client', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
    state: () => 'official-state',
    clientInformation: () => client,
    saveClientInformation: (given) => {
      client = given
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given
    },
    redirectToAuthorization: (url) => {
      authorizationUrl = url
    },
    saveCodeVerifier: (given) => {
      verifier = given
    },
    codeVerifier: () => verifier,
    ...more(id),
  }
  // The public URL names localhost, and the test server listens on 127.0.0.1.
  const serverUrl = new URL(`${harness.publicUrl}/mcp`)
  expect(await auth(provider, { serverUrl })).toBe('REDIRECT')
  const asked = (authorizationUrl as unknown as URL).searchParams
  expect(asked.get('client_id') === id).toBe('clientMetadataUrl' in provider && provider.clientMetadataUrl === id)
  const response = app.responseIn(await app.answer(owner, asked, allowed))
  expect(await auth(provider, { serverUrl, authorizationCode: response.get('code') as string, iss: response.get('iss') as string })).toBe(
    'AUTHORIZED',
  )
  const connected = new Client({ name: 'test', version: '1' })
  await connected.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }))
  expect((await connected.listTools()).tools.length).toBeGreaterThan(10)
  await connected.close()
})
