// Signing in through a real OpenID Connect provider, and everything that has to be refused.
import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config/settings.ts'
import { openBrowser } from './harness/console-browser.ts'
import { startOidcServer } from './harness/oidc-server.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let oidc: Awaited<ReturnType<typeof startOidcServer>>
let owner: ReturnType<typeof openBrowser>
const clientId = 'callsign'
const clientSecret = 'a secret of the client'

beforeAll(async () => {
  oidc = await startOidcServer(clientId, clientSecret, () => [`${harness.publicUrl}/console/api/sign-in/oidc/callback`])
  harness = await startHarness({
    CALLSIGN_OIDC_ISSUER: oidc.issuer,
    CALLSIGN_OIDC_CLIENT_ID: clientId,
    CALLSIGN_OIDC_CLIENT_SECRET: clientSecret,
    CALLSIGN_OIDC_NAME: 'Example ID',
  })
  owner = openBrowser(harness)
  await owner.signInByLink(harness.consoleUrl)
})
afterAll(async () => {
  await harness.stop()
  await oidc.stop()
})

const setCookies = (headers: Record<string, string | string[] | undefined>) => [headers['set-cookie'] ?? []].flat()
const pairOf = (line = ''): string => line.split(';')[0] as string

/** Starts at this server. Returns the provider's address and the browser's cookie. */
async function begin(session: string | null = null) {
  const headers = session === null ? {} : { cookie: `callsign_session=${session}` }
  const answer = await request(`${harness.baseUrl}/console/api/sign-in/oidc`, { headers })
  await answer.body.dump()
  expect(answer.statusCode).toBe(302)
  const [line = ''] = setCookies(answer.headers)
  return { url: answer.headers.location as string, line, cookie: pairOf(line) }
}

/** Comes back from the provider to this server. */
async function comeBack(url: string, cookie: string) {
  const { pathname, search } = new URL(url)
  const answer = await request(`${harness.baseUrl}${pathname}${search}`, { headers: cookie === '' ? {} : { cookie } })
  await answer.body.dump()
  return { status: answer.statusCode, location: answer.headers.location, cookies: setCookies(answer.headers) }
}

/** A whole sign-in. */
async function signIn(session: string | null = null) {
  const { url, cookie } = await begin(session)
  return comeBack(await oidc.authorize(url), cookie)
}

async function invite(email: string): Promise<Json> {
  return owner.expect(201, 'POST', 'members', { body: { email, role: 'operator' } })
}

const failed = (error: string) => ({ status: 302, location: `/console/?sign_in_error=${error}` })
const hasSession = ({ cookies }: { cookies: string[] }) =>
  cookies.some((line) => line.startsWith('callsign_session=') && !line.startsWith('callsign_session=;'))

test('a member signs in with a verified address, in any case, and the session is theirs', async () => {
  expect((await owner.expect(200, 'GET', 'state')).sign_in.oidc).toEqual({ name: 'Example ID' })
  const member = await invite('member@example.com')
  oidc.setAccount({ sub: 'subject-1', email: 'Member@Example.com', email_verified: true })
  const { url, line } = await begin()
  expect(url).toContain('code_challenge_method=S256')
  expect(line).toMatch(/^callsign_oidc=[^;]+; Path=\/console\/api\/sign-in\/oidc\/callback; HttpOnly; SameSite=Lax; Max-Age=600$/)
  const back = await signIn()
  expect(back).toMatchObject({ status: 302, location: '/console/' })
  const cookie = back.cookies.find((one) => one.startsWith('callsign_session=')) as string
  expect(cookie).toContain('HttpOnly; SameSite=Strict')
  expect(back.cookies.some((one) => one.startsWith('callsign_oidc=; '))).toBe(true)
  const browser = openBrowser(harness)
  browser.setCookie(pairOf(cookie).split('=')[1] as string)
  expect((await browser.expect(200, 'GET', 'state')).session).toMatchObject({ role: 'operator', member: { id: member.id } })
  expect((await owner.expect(200, 'GET', 'members')).members.find((one: Json) => one.id === member.id).has_oidc).toBe(true)
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100')
  expect(data.find((one: Json) => one.action === 'session.started').details).toMatchObject({ method: 'oidc' })
})

/** Invites at another organization. */
async function inviteElsewhere(email: string): Promise<Json> {
  const other = openBrowser(harness)
  await other.signInByKey(harness.otherOrganization.key)
  return other.expect(201, 'POST', 'members', { body: { email, role: 'operator' } })
}

/** The member that a sign-in started a session of. */
async function memberOf({ cookies }: Awaited<ReturnType<typeof signIn>>): Promise<string> {
  const browser = openBrowser(harness)
  browser.setCookie(pairOf(cookies.find((one) => one.startsWith('callsign_session='))).split('=')[1] as string)
  return (await browser.expect(200, 'GET', 'state')).session.member.id
}

test('another organization with a member of the same address does not take over a sign-in', async () => {
  // Bound before: the other organization invites later.
  const bound = await invite('bound@example.com')
  oidc.setAccount({ sub: 'bound', email: 'bound@example.com', email_verified: true })
  expect(await memberOf(await signIn())).toBe(bound.id)
  await inviteElsewhere('bound@example.com')
  expect(await memberOf(await signIn())).toBe(bound.id)
  // The other organization's owner opens its own invitation, which says nothing about the person.
  const [member, claimed] = [await invite('both@example.com'), await inviteElsewhere('both@example.com')]
  await openBrowser(harness).signInByLink(claimed.invite_link)
  oidc.setAccount({ sub: 'both', email: 'both@example.com', email_verified: true })
  const notMember = { status: 302, location: '/console/?sign_in_error=oidc_not_a_member' }
  expect(await signIn()).toMatchObject(notMember)
  // The person's own link, and then the provider from within that session.
  const browser = openBrowser(harness)
  await browser.signInByLink(member.invite_link)
  expect(await signIn()).toMatchObject(notMember)
  expect(await memberOf(await signIn(browser.cookie))).toBe(member.id)
  expect(await memberOf(await signIn())).toBe(member.id)
  // The session of one member does not bind the subject of another address.
  const stranger = openBrowser(harness)
  await stranger.signInByLink((await invite('guest@example.com')).invite_link)
  oidc.setAccount({ sub: 'third', email: 'unlisted@example.com', email_verified: true })
  expect(await signIn(stranger.cookie)).toMatchObject(notMember)
})

test('a person that another organization added first comes to their own from a session of it', async () => {
  const claimed = await inviteElsewhere('early@example.com')
  oidc.setAccount({ sub: 'early', email: 'early@example.com', email_verified: true })
  expect(await memberOf(await signIn())).toBe(claimed.id)
  const member = await invite('early@example.com')
  expect(await memberOf(await signIn())).toBe(claimed.id)
  const browser = openBrowser(harness)
  await browser.signInByLink(member.invite_link)
  expect(await memberOf(await signIn(browser.cookie))).toBe(member.id)
  expect(await memberOf(await signIn())).toBe(member.id)
  // The link of the other organization ended with the first sign-in, so it does not make that the latest.
  await expect(openBrowser(harness).signInByLink(claimed.invite_link)).rejects.toThrow('answered 401')
  // From the session of another address, the subject decides.
  const stranger = openBrowser(harness)
  await stranger.signInByLink((await invite('visitor@example.com')).invite_link)
  expect(await memberOf(await signIn(stranger.cookie))).toBe(member.id)
  // The member of the session has this subject, so another one with the same address signs in nowhere from it.
  oidc.setAccount({ sub: 'later', email: 'early@example.com', email_verified: true })
  expect(await signIn(browser.cookie)).toMatchObject(failed('oidc_not_a_member'))
})

describe('is refused', () => {
  test('for an address that is not verified, unknown or absent, and no member is made', async () => {
    await invite('unverified@example.com')
    const before = (await owner.expect(200, 'GET', 'members')).members.length
    for (const account of [
      { sub: 'u1', email: 'unverified@example.com', email_verified: false },
      { sub: 'u2', email: 'unverified@example.com' },
      { sub: 'u3', email: 'stranger@example.com', email_verified: true },
      { sub: 'u4' },
    ]) {
      oidc.setAccount(account)
      const back = await signIn()
      expect([account.sub, back]).toMatchObject([account.sub, failed('oidc_not_a_member')])
      expect(hasSession(back)).toBe(false)
    }
    expect((await owner.expect(200, 'GET', 'members')).members).toHaveLength(before)
  })

  test('for another subject with the address of a member, until an owner changes the address', async () => {
    await invite('first@example.com')
    oidc.setAccount({ sub: 'first', email: 'first@example.com', email_verified: true })
    expect(await signIn()).toMatchObject({ location: '/console/' })
    oidc.setAccount({ sub: 'second', email: 'first@example.com', email_verified: true })
    expect(await signIn()).toMatchObject(failed('oidc_not_a_member'))
  })

  test('in another browser, with another state, an altered code, and twice', async () => {
    await invite('careful@example.com')
    oidc.setAccount({ sub: 'careful', email: 'careful@example.com', email_verified: true })
    const { url, cookie } = await begin()
    const back = await oidc.authorize(url)
    expect(await comeBack(back, '')).toMatchObject(failed('oidc_failed'))
    expect(await comeBack(back, (await begin()).cookie)).toMatchObject(failed('oidc_failed'))
    expect(await comeBack(back, 'callsign_oidc=forged')).toMatchObject(failed('oidc_failed'))
    expect(await comeBack(back.replace(/code=[^&]+/, 'code=altered'), cookie)).toMatchObject(failed('oidc_failed'))
    expect(await comeBack(back, cookie)).toMatchObject({ location: '/console/' })
    expect(await comeBack(back, cookie)).toMatchObject(failed('oidc_failed'))
  })

  test('with an ID token that the provider did not sign', async () => {
    await invite('signed@example.com')
    oidc.setAccount({ sub: 'signed', email: 'signed@example.com', email_verified: true })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const forgeries: Record<string, (idToken: string) => Promise<string> | string> = {
      'another key': (idToken) =>
        new SignJWT(decodeJwt(idToken)).setProtectedHeader({ ...decodeProtectedHeader(idToken), alg: 'RS256' }).sign(privateKey),
      'no algorithm': (idToken) => new UnsecuredJWT(decodeJwt(idToken)).encode(),
      'an altered signature': (idToken) => idToken.slice(0, -4) + (idToken.endsWith('AAAA') ? 'BBBB' : 'AAAA'),
      'altered claims': (idToken) => {
        const [head, , signature] = idToken.split('.')
        return [head, Buffer.from(JSON.stringify({ ...decodeJwt(idToken), sub: 'other' })).toString('base64url'), signature].join('.')
      },
    }
    for (const [name, forge] of Object.entries(forgeries)) {
      oidc.forgeIdTokens(forge)
      expect([name, await signIn()]).toMatchObject([name, failed('oidc_failed')])
    }
    oidc.forgeIdTokens((idToken) => idToken)
    expect(await signIn()).toMatchObject({ location: '/console/' })
    oidc.forgeIdTokens(null)
  })

  test('when the person says no at the provider', async () => {
    const { url, cookie } = await begin()
    const callback = new URL(new URL(url).searchParams.get('redirect_uri') as string)
    callback.searchParams.set('error', 'access_denied')
    callback.searchParams.set('state', new URL(url).searchParams.get('state') as string)
    expect(await comeBack(callback.href, cookie)).toMatchObject(failed('oidc_failed'))
  })
})

test('the settings go together, and plain http is for this machine alone', () => {
  expect(() => readConfig({ CALLSIGN_OIDC_ISSUER: 'https://id.example' })).toThrow('go together')
  expect(() => readConfig({ CALLSIGN_OIDC_ISSUER: 'http://id.example', CALLSIGN_OIDC_CLIENT_ID: 'a' })).toThrow('must be an https:// URL')
  expect(readConfig({ CALLSIGN_OIDC_ISSUER: 'https://id.example', CALLSIGN_OIDC_CLIENT_ID: 'a' }).oidcClientSecret).toBeNull()
})

test('without an issuer the routes are not there', async () => {
  const plain = await startHarness()
  try {
    const answer = await openBrowser(plain).ask('GET', 'sign-in/oidc')
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
    expect((await openBrowser(plain).expect(200, 'GET', 'state')).sign_in.oidc).toBeNull()
  } finally {
    await plain.stop()
  }
})
