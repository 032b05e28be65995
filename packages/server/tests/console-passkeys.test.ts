// Passkeys with an authenticator in software: adding, signing in, and everything that has to be refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser, tokenOf } from './harness/console-browser.ts'
import { createAuthenticator } from './harness/software-authenticator.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let owner: ReturnType<typeof openBrowser>
let authenticator: ReturnType<typeof createAuthenticator>

beforeAll(async () => {
  harness = await startHarness()
  owner = openBrowser(harness)
  await owner.signInByLink(harness.consoleUrl)
  authenticator = createAuthenticator(harness.publicUrl)
})
afterAll(() => harness.stop())

const codeOf = (answer: { status: number; body: Json }) => [answer.status, answer.body?.error?.code]
const options = (browser = openBrowser(harness)) => browser.expect(200, 'POST', 'sign-in/passkey/options')
const signIn = (credential: object, browser = openBrowser(harness)) => browser.ask('POST', 'sign-in/passkey', { body: credential })
const add = (credential: object, name = 'Laptop') => owner.ask('POST', 'me/passkeys', { body: { name, credential } })

test('a passkey is added, listed and recorded, and ends setup', async () => {
  expect(await owner.expect(200, 'GET', 'state')).toMatchObject({ setup_needed: true, sign_in: { passkey: false } })
  const asked = await owner.expect(200, 'POST', 'me/passkeys/options')
  expect(asked).toMatchObject({
    rp: { id: 'localhost', name: 'Callsign' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  expect(Buffer.from(asked.challenge, 'base64url')).toHaveLength(32)
  const answer = await add(authenticator.create(asked))
  expect([answer.status, answer.body]).toMatchObject([201, { id: expect.stringMatching(/^pkey_/), name: 'Laptop', last_used_at: null }])
  expect((await owner.expect(200, 'GET', 'me/passkeys')).passkeys).toEqual([answer.body])
  expect((await owner.expect(200, 'GET', 'me')).passkeys).toBe(1)
  expect(await owner.expect(200, 'GET', 'state')).toMatchObject({ setup_needed: false, sign_in: { passkey: true } })
  expect((await owner.expect(200, 'POST', 'me/passkeys/options')).excludeCredentials).toHaveLength(1)
})

test('it signs in, once per challenge', async () => {
  const credential = authenticator.get(await options())
  const browser = openBrowser(harness)
  const answer = await signIn(credential, browser)
  expect(answer.body.session).toMatchObject({ role: 'owner' })
  expect((await browser.expect(200, 'GET', 'sessions')).sessions[0]).toMatchObject({ method: 'passkey', current: true })
  expect(codeOf(await signIn(credential))).toEqual([401, 'unauthorized'])
  expect((await owner.expect(200, 'GET', 'me/passkeys')).passkeys[0].last_used_at).not.toBeNull()
})

describe('a sign-in is refused', () => {
  test.each([
    ['with the origin of another page', { origin: 'https://evil.example' }],
    ['for another site', { rpId: 'evil.example' }],
    ['without verification of the person', { verified: false }],
    ['with a counter that does not grow', { counter: 1 }],
    ['with a challenge of its own', { challenge: 'A'.repeat(43) }],
  ])('%s', async (_name, change) => {
    expect(codeOf(await signIn(authenticator.get(await options(), change)))).toEqual([401, 'unauthorized'])
  })

  test('with the signature of another key, for an unknown passkey, and malformed', async () => {
    const asked = await options()
    const own = authenticator.get(asked)
    const other = createAuthenticator(harness.publicUrl).get(asked)
    expect(codeOf(await signIn(other))).toEqual([401, 'unauthorized'])
    expect(codeOf(await signIn({ ...own, response: other.response }))).toEqual([401, 'unauthorized'])
    expect(codeOf(await signIn({ ...own, response: {} }))).toEqual([401, 'unauthorized'])
    expect(codeOf(await signIn({ id: 1, response: {} }))).toEqual([400, 'validation_error'])
  })

  test('with an expired challenge, and with the one for adding a passkey', async () => {
    const late = authenticator.get(await options())
    await harness.db.query({ text: "UPDATE console_challenges SET expires_at = now() - interval '1 second'" })
    expect(codeOf(await signIn(late))).toEqual([401, 'unauthorized'])
    const adding = await owner.expect(200, 'POST', 'me/passkeys/options')
    expect(codeOf(await signIn(authenticator.get({ ...adding, rpId: 'localhost' })))).toEqual([401, 'unauthorized'])
  })

  test('of one response sent twice at once: one of them', async () => {
    const credential = authenticator.get(await options())
    const answers = await Promise.all([signIn(credential), signIn(credential)])
    expect(answers.map((one) => one.status).toSorted()).toEqual([200, 401])
  })
})

test('adding is refused for a known passkey, another origin, and the challenge of another member', async () => {
  const again = authenticator.create(await owner.expect(200, 'POST', 'me/passkeys/options'))
  expect(codeOf(await add(again))).toEqual([409, 'conflict'])
  const fresh = createAuthenticator(harness.publicUrl)
  const foreign = fresh.create(await owner.expect(200, 'POST', 'me/passkeys/options'), { origin: 'https://evil.example' })
  expect(codeOf(await add(foreign))).toEqual([400, 'validation_error'])
  const invited = await owner.expect(201, 'POST', 'members', { body: { email: 'second@example.com', role: 'reviewer' } })
  const second = openBrowser(harness)
  await second.signInByLink(invited.invite_link)
  const theirs = fresh.create(await second.expect(200, 'POST', 'me/passkeys/options'))
  expect(codeOf(await add(theirs))).toEqual([400, 'validation_error'])
  const [{ id }] = (await owner.expect(200, 'GET', 'me/passkeys')).passkeys
  expect(codeOf(await second.ask('DELETE', `me/passkeys/${id}`))).toEqual([404, 'not_found'])
})

test('adding one ends the unused links of its member, and a refused one does not', async () => {
  const invited = await owner.expect(201, 'POST', 'members', { body: { email: 'third@example.com', role: 'reviewer' } })
  const third = openBrowser(harness)
  await third.signInByLink(invited.invite_link)
  const newLink = async (): Promise<string> => (await owner.expect(201, 'POST', `members/${invited.id}/link`)).invite_link
  const fresh = createAuthenticator(harness.publicUrl)
  const addOne = async (change = {}) => {
    const credential = fresh.create(await third.expect(200, 'POST', 'me/passkeys/options'), change)
    return (await third.ask('POST', 'me/passkeys', { body: { name: 'Phone', credential } })).status
  }
  const first = await newLink()
  expect(await addOne({ origin: 'https://evil.example' })).toBe(400)
  await openBrowser(harness).signInByLink(first)
  const second = await newLink()
  expect(await addOne()).toBe(201)
  const used = await openBrowser(harness).ask('POST', 'sign-in/link', { body: { token: tokenOf(second) } })
  expect(codeOf(used)).toEqual([401, 'unauthorized'])
})

test('a removed passkey does not sign in', async () => {
  const [{ id }] = (await owner.expect(200, 'GET', 'me/passkeys')).passkeys
  await owner.expect(204, 'DELETE', `me/passkeys/${id}`)
  expect(codeOf(await signIn(authenticator.get(await options())))).toEqual([401, 'unauthorized'])
  const { data } = await harness.expectApi(200, 'GET', '/audit?limit=100')
  expect(data.map((entry: Json) => entry.action)).toEqual(expect.arrayContaining(['passkey.added', 'passkey.deleted', 'session.failed']))
})
