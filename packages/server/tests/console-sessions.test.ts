// Signing in to the console with links and keys, sessions, CSRF, and tokens for the API.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openKeyring } from '../src/edges/keyring/keyring.ts'
import { createLinks } from '../src/features/account/links/operations.ts'
import { createCredentials } from '../src/wiring/parts.ts'
import { openBrowser, tokenOf } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
let organizationId: string

beforeAll(async () => {
  harness = await startHarness()
  organizationId = (await harness.expectApi(200, 'GET', '/me')).organization_id
})
afterAll(() => harness.stop())

/** The token of a new link for the owner, as `callsignd console-link` makes it. */
async function newLink(): Promise<string> {
  const { accounts } = createCredentials(harness.db)
  return (await createLinks(harness.db, accounts).createForOwner(organizationId)) as string
}

/** A browser with a session of the owner. */
async function ownerBrowser() {
  const browser = openBrowser(harness)
  await browser.signInByLink(`#link=${await newLink()}`)
  return browser
}

const me = async (token: string) => (await harness.api('GET', '/me', { key: token })).status
const codeOf = (answer: { status: number; body: Json }) => [answer.status, answer.body?.error?.code]
const lastAudit = async (action: string): Promise<Json> => {
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100')
  return data.find((entry: Json) => entry.action === action)
}

describe('the one-time link', () => {
  test('of the first start signs the owner in, once, and the cookie has every flag', async () => {
    expect(harness.consoleUrl).toMatch(new RegExp(`^${harness.publicUrl}/console/#link=[A-Za-z0-9_-]{43}$`))
    const browser = openBrowser(harness)
    expect(await browser.expect(200, 'GET', 'state')).toMatchObject({ signed_in: false, setup_needed: true, session: null })
    const answer = await browser.ask('POST', 'sign-in/link', { body: { token: tokenOf(harness.consoleUrl) } })
    expect(answer.body).toMatchObject({
      signed_in: true,
      version: '0.1.0',
      session: { id: expect.stringMatching(/^cses_/), role: 'owner', agent: null, member: { role: 'owner', email: null } },
    })
    expect(answer.headers['set-cookie']).toMatch(
      /^callsign_session=[A-Za-z0-9_-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(await browser.expect(200, 'GET', 'state')).toMatchObject({ signed_in: true })
    const second = await openBrowser(harness).ask('POST', 'sign-in/link', { body: { token: tokenOf(harness.consoleUrl) } })
    expect(codeOf(second)).toEqual([401, 'unauthorized'])
    expect(second.headers['set-cookie']).toBeUndefined()
    expect(await lastAudit('session.started')).toMatchObject({ actor_type: 'member', details: { method: 'link', ip: '127.0.0.1' } })
    expect(await lastAudit('session.failed')).toMatchObject({ actor_type: 'anonymous', details: { method: 'link' } })
  })

  test('says which organization it signs in to, and is not used up by that', async () => {
    const token = await newLink()
    const browser = openBrowser(harness)
    const describe = (body: object, more = {}) => browser.ask('POST', 'sign-in/link/describe', { body, ...more })
    const { organization_name } = await harness.expectApi(200, 'GET', '/me')
    for (let count = 0; count < 2; count++)
      expect(await describe({ token })).toMatchObject({ status: 200, body: { organization_name, member: null } })
    expect((await describe({ token }, { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await browser.expect(200, 'GET', 'state')).signed_in).toBe(false)
    await browser.signInByLink(`#link=${token}`)
    for (const one of [token, 'A'.repeat(43), 'short']) expect((await describe({ token: one })).status).toBe(401)
  })

  test('is refused when it has expired, is unknown or malformed', async () => {
    const token = await newLink()
    await harness.db.query({ text: "UPDATE console_links SET expires_at = now() - interval '1 second'" })
    for (const one of [token, 'A'.repeat(43), 'short', '../x'])
      expect(codeOf(await openBrowser(harness).ask('POST', 'sign-in/link', { body: { token: one } }))).toEqual([401, 'unauthorized'])
  })

  test('lets one of many requests at once in', async () => {
    const token = await newLink()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => openBrowser(harness).ask('POST', 'sign-in/link', { body: { token } })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 401, 401, 401, 401, 401, 401, 401])
  })

  test('stops working when another one is made', async () => {
    const first = await newLink()
    const second = await newLink()
    expect((await openBrowser(harness).ask('POST', 'sign-in/link', { body: { token: first } })).status).toBe(401)
    await openBrowser(harness).signInByLink(`#link=${second}`)
  })

  test('is stored as a hash, like the cookie', async () => {
    const token = await newLink()
    const browser = await ownerBrowser()
    const { rows } = await harness.db.query<{ text: string }>({
      text: 'SELECT row_to_json(l)::text AS text FROM console_links l UNION ALL SELECT row_to_json(s)::text FROM console_sessions s',
    })
    for (const { text } of rows) {
      expect(text).not.toContain(token)
      expect(text).not.toContain(browser.cookie as string)
    }
  })
})

describe('a request with effects', () => {
  test('is refused without the CSRF value, with a wrong one and with that of another session', async () => {
    const browser = await ownerBrowser()
    const other = await ownerBrowser()
    for (const csrf of [undefined, '', 'wrong', other.csrf, `${browser.csrf}x`]) {
      const answer = await browser.ask('POST', 'token', { headers: { 'x-callsign-csrf': csrf } })
      expect(codeOf(answer)).toEqual([403, 'forbidden'])
    }
    await browser.expect(200, 'POST', 'token')
  })

  test('is refused from the page of another origin, also with the CSRF value', async () => {
    const browser = await ownerBrowser()
    const port = new URL(harness.publicUrl).port
    for (const origin of ['https://evil.example', 'null', `http://localhost:${Number(port) + 1}`, `https://localhost:${port}`]) {
      expect(codeOf(await browser.ask('POST', 'token', { headers: { origin } }))).toEqual([403, 'forbidden'])
      const body = { token: await newLink() }
      expect(codeOf(await openBrowser(harness).ask('POST', 'sign-in/link', { headers: { origin }, body }))).toEqual([403, 'forbidden'])
    }
    const body = { token: await newLink() }
    expect((await openBrowser(harness).ask('POST', 'sign-in/link', { headers: { origin: undefined }, body })).status).toBe(403)
    const loopback = { origin: `http://127.0.0.1:${port}` }
    expect((await openBrowser(harness).ask('POST', 'sign-in/link', { headers: loopback, body })).status).toBe(200)
  })

  test('is 401 without a session, and 400 or 415 with a malformed body', async () => {
    expect(codeOf(await openBrowser(harness).ask('POST', 'token'))).toEqual([401, 'unauthorized'])
    const ask = (body: unknown, type = 'application/json') =>
      openBrowser(harness).ask('POST', 'sign-in/link', { body, headers: { 'content-type': type } })
    expect(codeOf(await ask({ token: 1 }))).toEqual([400, 'validation_error'])
    expect(codeOf(await ask({ token: 'a', more: 1 }))).toEqual([400, 'validation_error'])
    expect(codeOf(await ask({ token: 'a' }, 'text/plain'))).toEqual([415, 'unsupported_media_type'])
    expect(codeOf(await openBrowser(harness).ask('GET', 'nothing'))).toEqual([404, 'not_found'])
    expect(codeOf(await openBrowser(harness).ask('GET', 'token'))).toEqual([405, 'method_not_allowed'])
  })
})

describe('a session', () => {
  test('gets a new cookie at every sign-in, and the earlier one ends', async () => {
    const browser = await ownerBrowser()
    const before = browser.cookie as string
    await browser.signInByLink(`#link=${await newLink()}`)
    expect(browser.cookie).not.toBe(before)
    const old = openBrowser(harness)
    old.setCookie(before)
    expect((await old.expect(200, 'GET', 'state')).signed_in).toBe(false)
  })

  test('is not started from a cookie that the request brought', async () => {
    const fixed = 'F'.repeat(43)
    const browser = openBrowser(harness)
    browser.setCookie(fixed)
    await browser.signInByLink(`#link=${await newLink()}`)
    expect(browser.cookie).not.toBe(fixed)
    const attacker = openBrowser(harness)
    attacker.setCookie(fixed)
    expect((await attacker.expect(200, 'GET', 'state')).signed_in).toBe(false)
  })

  test('is not found when the cookie is there twice', async () => {
    const browser = await ownerBrowser()
    const cookie = `callsign_session=${'A'.repeat(43)}; callsign_session=${browser.cookie}`
    expect((await browser.expect(200, 'GET', 'state', { headers: { cookie } })).signed_in).toBe(false)
  })

  test('ends at its time, and without use before that', async () => {
    const browser = await ownerBrowser()
    const token = await browser.token()
    const { session } = await browser.expect(200, 'GET', 'state')
    await harness.db.query({
      text: "UPDATE console_sessions SET last_seen_at = now() - interval '2 minutes', created_at = now() - interval '30 days' + interval '1 hour' WHERE id = $1",
      values: [session.id],
    })
    await browser.expect(200, 'GET', 'state')
    // The use extended the session to its longest life, an hour from now.
    const left = await waitFor('the use to be recorded', async () => {
      const now = await browser.expect(200, 'GET', 'state')
      return now.session.expires_at !== session.expires_at && Date.parse(now.session.expires_at) - Date.now()
    })
    expect(left).toBeGreaterThan(3_500_000)
    expect(left).toBeLessThan(3_700_000)
    await harness.db.query({ text: 'UPDATE console_sessions SET expires_at = now() WHERE id = $1', values: [session.id] })
    expect((await browser.expect(200, 'GET', 'state')).signed_in).toBe(false)
    expect(await me(token)).toBe(401)
  })

  test('is listed with its browser, and signs out here, elsewhere and everywhere', async () => {
    const here = await ownerBrowser()
    const there = await ownerBrowser()
    const { sessions } = await here.expect(200, 'GET', 'sessions')
    expect(sessions.filter((one: Json) => one.current)).toMatchObject([
      { ip: '127.0.0.1', user_agent: 'Test browser', method: 'link', member: { role: 'owner' }, key: null },
    ])
    const other = (await there.expect(200, 'GET', 'state')).session.id
    expect(await here.ask('DELETE', `sessions/${other}`)).toMatchObject({ status: 204 })
    expect((await there.expect(200, 'GET', 'state')).signed_in).toBe(false)
    expect((await here.ask('DELETE', `sessions/${other}`)).status).toBe(404)
    const third = await ownerBrowser()
    const out = await third.ask('POST', 'sign-out')
    expect([out.status, out.headers['set-cookie']]).toEqual([204, expect.stringContaining('callsign_session=; Path=/console; HttpOnly')])
    expect(third.cookie).toBeNull()
    const fourth = await ownerBrowser()
    await here.expect(204, 'DELETE', 'sessions')
    for (const one of [here, fourth]) expect((await one.expect(200, 'GET', 'state')).signed_in).toBe(false)
    expect(await lastAudit('session.ended')).toMatchObject({ actor_type: 'member' })
  })
})

describe('the token for the API', () => {
  test('acts as the member for 10 minutes, and a change carries the member in the audit log', async () => {
    const browser = await ownerBrowser()
    const { token, expires_at } = await browser.expect(200, 'POST', 'token')
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 600_000)).toBeLessThan(60_000)
    const caller = await harness.expectApi(200, 'GET', '/me', { key: token })
    const { session } = await browser.expect(200, 'GET', 'state')
    expect(caller).toMatchObject({ organization_id: organizationId, user_id: session.member.id, role: 'owner', key: { id: session.id } })
    const key = await harness.expectApi(201, 'POST', '/keys', { key: token, body: { name: 'from the console', type: 'organization' } })
    expect(await lastAudit('key.created')).toMatchObject({ actor_type: 'member', actor_id: session.member.id, target_id: key.id })
  })

  test('stops on the next request when its session ends, and event streams of it close', async () => {
    const browser = await ownerBrowser()
    const token = await browser.token()
    const headers = { authorization: `Bearer ${token}` }
    const stream = await fetch(`${harness.baseUrl}/api/v1/events/stream`, { headers })
    expect(stream.status).toBe(200)
    const closed = stream.text()
    expect(await me(token)).toBe(200)
    await browser.expect(204, 'POST', 'sign-out')
    expect(await me(token)).toBe(401)
    await closed
  })

  const craft = async (change: { alg?: string; typ?: string; issuer?: string; audience?: string; expiresIn?: number; own?: boolean }) => {
    const browser = await ownerBrowser()
    const { session } = await browser.expect(200, 'GET', 'state')
    const seed = (await openKeyring(harness.dataDir)).subkey('console-tokens')
    const own = createPrivateKey({
      key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
      format: 'der',
      type: 'pkcs8',
    })
    const { alg = 'EdDSA', typ = 'callsign-console+jwt', issuer = 'callsign', audience = 'callsign-api', expiresIn = 60 } = change
    const jwt = new SignJWT({ sid: session.id }).setProtectedHeader({ alg, typ }).setIssuer(issuer).setAudience(audience)
    jwt.setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn)
    if (alg === 'HS256') return jwt.sign(seed)
    return jwt.sign(change.own === false ? generateKeyPairSync('ed25519').privateKey : own)
  }

  test('is accepted as crafted with the own key, so that the refusals below mean something', async () => {
    expect(await me(await craft({}))).toBe(200)
  })

  test.each([
    ['another key', { own: false }],
    ['HS256 with the secret seed', { alg: 'HS256' }],
    ['another type', { typ: 'JWT' }],
    ['another issuer', { issuer: 'someone' }],
    ['another audience', { audience: 'callsign-vault' }],
    ['a past end', { expiresIn: -1 }],
  ])('is refused with %s', async (_name, change) => {
    expect(await me(await craft(change))).toBe(401)
  })

  test('is refused with alg none, without its signature and with another payload', async () => {
    const browser = await ownerBrowser()
    const { session } = await browser.expect(200, 'GET', 'state')
    const none = new UnsecuredJWT({ sid: session.id }).setIssuer('callsign').setAudience('callsign-api').setExpirationTime('5m').encode()
    expect(await me(none)).toBe(401)
    const [head, payload, signature] = (await browser.token()).split('.') as [string, string, string]
    expect(await me(`${head}.${payload}.`)).toBe(401)
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 3600 })).toString('base64url')
    expect(await me(`${head}.${forged}.${signature}`)).toBe(401)
    expect(await me(`${head}.${payload}.${signature}`)).toBe(200)
  })

  test('does not open the console itself, and the cookie does not open the API', async () => {
    const browser = await ownerBrowser()
    const bare = openBrowser(harness)
    const headers = { authorization: `Bearer ${await browser.token()}` }
    expect((await bare.ask('GET', 'sessions', { headers })).status).toBe(401)
    const answer = await harness.api('GET', '/me', { key: null, headers: { cookie: `callsign_session=${browser.cookie}` } })
    expect(answer.status).toBe(401)
  })
})

describe('a key signed in', () => {
  test('of an agent sees its own mailbox only, and its revocation ends the session', async () => {
    await harness.createAgent('support')
    await harness.createAgent('sales')
    const { id, key } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'support', type: 'agent', agent_handle: 'support' } })
    const browser = openBrowser(harness)
    expect((await browser.signInByKey(key)).session).toMatchObject({ role: 'agent', agent: { handle: 'support' }, member: null })
    const token = await browser.token()
    expect((await harness.expectApi(200, 'GET', '/mailboxes', { key: token })).data).toMatchObject([{ agent_handle: 'support' }])
    expect((await harness.api('GET', '/mailboxes/sales/messages', { key: token })).status).toBe(403)
    expect((await harness.api('GET', '/keys', { key: token })).status).toBe(403)
    const { sessions } = await browser.expect(200, 'GET', 'sessions')
    expect(sessions).toMatchObject([{ current: true, key: { id, name: 'support' }, member: null }])
    const owner = await ownerBrowser()
    const { session } = await owner.expect(200, 'GET', 'state')
    expect((await browser.ask('DELETE', `sessions/${session.id}`)).status).toBe(404)
    await harness.expectApi(200, 'DELETE', `/keys/${id}`)
    expect(await me(token)).toBe(401)
    expect((await browser.expect(200, 'GET', 'state')).signed_in).toBe(false)
  })

  test('of an organization acts as an owner, and a wrong key is refused and recorded', async () => {
    const browser = openBrowser(harness)
    expect((await browser.signInByKey(harness.organizationKey)).session).toMatchObject({ role: 'owner', agent: null, member: null })
    expect((await harness.api('GET', '/keys', { key: await browser.token() })).status).toBe(200)
    const answer = await openBrowser(harness).ask('POST', 'sign-in/key', { body: { api_key: 'svc_live_wrong' } })
    expect(codeOf(answer)).toEqual([401, 'unauthorized'])
    expect(await lastAudit('session.failed')).toMatchObject({ details: { method: 'key', ip: '127.0.0.1' } })
  })
})

test('over https the cookie is Secure and bound to the host, and the page of the public URL alone may sign in', async () => {
  const secure = await startHarness({ CALLSIGN_PUBLIC_URL: 'https://callsign.example' })
  try {
    const answer = await openBrowser(secure).ask('POST', 'sign-in/link', { body: { token: tokenOf(secure.consoleUrl) } })
    expect(answer.headers['set-cookie']).toMatch(/^__Host-callsign_session=[^;]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=/)
    const origin = { origin: secure.baseUrl }
    expect(
      (await openBrowser(secure).ask('POST', 'sign-in/key', { headers: origin, body: { api_key: secure.organizationKey } })).status,
    ).toBe(403)
  } finally {
    await secure.stop()
  }
})

test('one address has 50 failed attempts in 15 minutes, sessions that stand go on, and the limit is recorded once', async () => {
  const strict = await startHarness({ CALLSIGN_TRUSTED_PROXIES: '127.0.0.1/32' })
  try {
    const owner = openBrowser(strict, '192.0.2.1')
    await owner.signInByLink(strict.consoleUrl)
    const stranger = openBrowser(strict, '198.51.100.7')
    const attempt = (browser = stranger) => browser.ask('POST', 'sign-in/key', { body: { api_key: 'svc_live_wrong' } })
    const answers = await Promise.all(Array.from({ length: 55 }, () => attempt()))
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(50)
    const throttled = answers.filter((answer) => answer.status === 429)
    expect(throttled).toHaveLength(5)
    expect(Number(throttled[0]?.headers['retry-after'])).toBeGreaterThan(850)
    // Right ones wait too, so that the limit cannot be used to tell them apart.
    expect((await stranger.ask('POST', 'sign-in/key', { body: { api_key: strict.organizationKey } })).status).toBe(429)
    await owner.expect(200, 'POST', 'token')
    await openBrowser(strict, '203.0.113.9').signInByKey(strict.organizationKey)
    const { data } = await strict.expectApi(200, 'GET', '/audit?limit=100')
    const actions = data.map((entry: Json) => entry.action)
    expect(actions.filter((action: string) => action === 'session.failed')).toHaveLength(50)
    expect(actions.filter((action: string) => action === 'session.throttled')).toHaveLength(1)
    await strict.db.query({ text: "UPDATE console_attempts SET started_at = started_at - interval '15 minutes'" })
    expect((await attempt()).status).toBe(401)
  } finally {
    await strict.stop()
  }
})
