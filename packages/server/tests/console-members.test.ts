// Members of an organization: passwords, invites, roles, and the limits on guessing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLinks } from '../src/features/account/links/operations.ts'
import { createCredentials } from '../src/wiring/parts.ts'
import { openBrowser, tokenOf } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let owner: ReturnType<typeof openBrowser>
const password = 'a long enough password'

beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_TRUSTED_PROXIES: '127.0.0.1/32' })
  owner = openBrowser(harness, '192.0.2.1')
  await owner.signInByLink(harness.consoleUrl)
})
afterAll(() => harness.stop())

const codeOf = (answer: { status: number; body: Json }) => [answer.status, answer.body?.error?.code]
const actions = async (): Promise<string[]> =>
  (await harness.expectApi(200, 'GET', '/audit?limit=100')).data.map((entry: Json) => entry.action)

let address = 10
/** A browser at an address of its own, so that tests do not share a limit. */
const elsewhere = () => openBrowser(harness, `198.51.100.${address++}`)

const signIn = (email: string, secret: string, browser = elsewhere()) =>
  browser.ask('POST', 'sign-in/password', { body: { email, password: secret } })

/** A member with a password, and the browser that set it. */
async function newMember(email: string, role: string) {
  const member = await owner.expect(201, 'POST', 'members', { body: { email, role, name: email } })
  const browser = elsewhere()
  await browser.signInByLink(member.invite_link)
  await browser.expect(204, 'PUT', 'me/password', { body: { password } })
  return { member, browser }
}

describe('a password', () => {
  test('set by the owner after the first link signs in, in any case of the address, and ends setup', async () => {
    const refused = await owner.ask('PUT', 'me/password', { body: { password } })
    expect(codeOf(refused)).toEqual([400, 'validation_error'])
    expect(refused.body.error.details).toEqual([{ path: '/email', message: 'You sign in with an e-mail address: enter one first.' }])
    expect((await owner.expect(200, 'GET', 'state')).setup_needed).toBe(true)
    const me = await owner.expect(200, 'PATCH', 'me', { body: { email: ' Owner@Example.com ', name: 'The owner' } })
    expect(me).toMatchObject({ email: 'owner@example.com', name: 'The owner', role: 'owner', has_password: false })
    await owner.expect(204, 'PUT', 'me/password', { body: { password } })
    expect(await owner.expect(200, 'GET', 'state')).toMatchObject({ setup_needed: false, sign_in: { password: true } })
    const browser = elsewhere()
    const answer = await signIn('OWNER@example.com', password, browser)
    expect(answer.body.session).toMatchObject({ role: 'owner', member: { email: 'owner@example.com', name: 'The owner' } })
    expect((await browser.expect(200, 'GET', 'me')).last_sign_in_at).not.toBeNull()
    const { rows } = await harness.db.query<{ password_hash: string }>({
      text: 'SELECT password_hash FROM users WHERE password_hash IS NOT NULL',
    })
    expect(rows[0]?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('that is wrong and an account that does not exist get the same answer after about the same work', async () => {
    // Processor time of this process, in which the server runs, because other processes take of the time on the wall.
    const timed = async (email: string) => {
      const before = process.cpuUsage()
      const { status, body } = await signIn(email, 'not the password')
      const { user, system } = process.cpuUsage(before)
      return { ms: (user + system) / 1000, answer: [status, body.error.code, body.error.message] }
    }
    const known: Awaited<ReturnType<typeof timed>>[] = []
    const unknown: typeof known = []
    for (let i = 0; i < 8; i++) {
      known.push(await timed('owner@example.com'))
      unknown.push(await timed(`stranger${i}@example.com`))
    }
    expect(known[0]?.answer).toEqual([401, 'unauthorized', 'The e-mail address or the password is wrong.'])
    expect(unknown[0]?.answer).toEqual(known[0]?.answer)
    const median = (list: typeof known) => list.map((one) => one.ms).toSorted((a, b) => a - b)[4] as number
    // The hash dominates: without it, an unknown account would answer in a tenth of the time.
    expect(median(unknown) / median(known)).toBeGreaterThan(0.4)
  })

  test('is refused when it is short, holds the address or repeats a few characters', async () => {
    for (const bad of ['short', 'x'.repeat(40), 'my owner@example.com password'])
      expect(codeOf(await owner.ask('PUT', 'me/password', { body: { password: bad, current_password: password } }))).toEqual([
        400,
        'validation_error',
      ])
  })

  test('needs the current one, except for 15 minutes after a link, and ends the other sessions', async () => {
    const { browser } = await newMember('changes@example.com', 'reviewer')
    const other = elsewhere()
    await signIn('changes@example.com', password, other)
    const next = 'another long password'
    expect(codeOf(await other.ask('PUT', 'me/password', { body: { password: next } }))).toEqual([403, 'forbidden'])
    const wrong = await other.ask('PUT', 'me/password', { body: { password: next, current_password: 'wrong' } })
    expect(codeOf(wrong)).toEqual([403, 'forbidden'])
    expect(wrong.body.error.details).toMatchObject([{ path: '/current_password' }])
    await other.expect(204, 'PUT', 'me/password', { body: { password: next, current_password: password } })
    expect((await browser.expect(200, 'GET', 'state')).signed_in).toBe(false)
    expect((await other.expect(200, 'GET', 'state')).signed_in).toBe(true)
    expect((await signIn('changes@example.com', password)).status).toBe(401)
    expect((await signIn('changes@example.com', next)).status).toBe(200)
    const members = (await owner.expect(200, 'GET', 'members')).members
    const { id } = members.find((one: Json) => one.email === 'changes@example.com')
    const forgotten = elsewhere()
    const organizationId = (await harness.expectApi(200, 'GET', '/me')).organization_id
    const fromHost = { organizationId, userId: id, actor: { type: 'host' as const }, lifetimeMs: 60_000 }
    const links = createLinks(harness.db, createCredentials(harness.db).accounts)
    await forgotten.signInByLink(`#link=${await harness.db.transact((tx) => links.create(tx, fromHost))}`)
    await harness.db.query({
      text: "UPDATE console_sessions SET created_at = created_at - interval '16 minutes' WHERE user_id = $1",
      values: [id],
    })
    expect((await forgotten.ask('PUT', 'me/password', { body: { password } })).status).toBe(403)
  })

  test('ends the unused links of its member, and of no other', async () => {
    const invite = (email: string) => owner.expect(201, 'POST', 'members', { body: { email, role: 'reviewer' } })
    const [member, other] = [await invite('linked@example.com'), await invite('unlinked@example.com')]
    const browser = elsewhere()
    await browser.signInByLink(member.invite_link)
    const again = (await owner.expect(201, 'POST', `members/${member.id}/link`)).invite_link
    await browser.expect(204, 'PUT', 'me/password', { body: { password } })
    expect(codeOf(await elsewhere().ask('POST', 'sign-in/link', { body: { token: tokenOf(again) } }))).toEqual([401, 'unauthorized'])
    await elsewhere().signInByLink(other.invite_link)
  })

  test('may hold the same letters in another form of Unicode', async () => {
    const { browser } = await newMember('unicode@example.com', 'reviewer')
    await browser.expect(204, 'PUT', 'me/password', { body: { password: 'caf\u00e9 caf\u00e9 caf\u00e9' } })
    expect((await signIn('unicode@example.com', 'cafe\u0301 cafe\u0301 cafe\u0301')).status).toBe(200)
  })
})

describe('guessing a password', () => {
  test('is limited to 10 attempts per address and account, in parallel too, and the right one waits as well', async () => {
    await newMember('guessed@example.com', 'operator')
    const guesser = elsewhere()
    const answers = await Promise.all(Array.from({ length: 14 }, (_, i) => signIn('guessed@example.com', `wrong guess ${i}`, guesser)))
    expect(answers.map((one) => one.status).toSorted()).toEqual([...Array(10).fill(401), ...Array(4).fill(429)])
    expect((await signIn('guessed@example.com', password, guesser)).status).toBe(429)
    expect((await signIn('guessed@example.com', password)).status).toBe(200)
    expect(await actions()).toContain('session.throttled')
  })

  test('from many addresses does not end a session that stands, nor keep its address out', async () => {
    const { browser } = await newMember('besieged@example.com', 'operator')
    const home = openBrowser(harness, '203.0.113.50')
    await signIn('besieged@example.com', password, home)
    const { createHash } = await import('node:crypto')
    await harness.db.query({
      text: 'INSERT INTO console_attempts (subject, started_at, attempts) VALUES ($1, now(), 100) ON CONFLICT (subject) DO UPDATE SET attempts = 100',
      values: [createHash('sha256').update('account\nbesieged@example.com').digest()],
    })
    expect((await signIn('besieged@example.com', password)).status).toBe(429)
    await home.expect(200, 'POST', 'token')
    await browser.expect(200, 'POST', 'token')
    expect((await signIn('besieged@example.com', password, openBrowser(harness, '203.0.113.50'))).status).toBe(200)
  })

  test('starts afresh after the right one', async () => {
    await newMember('forgetful@example.com', 'operator')
    const browser = elsewhere()
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 9; i++) expect((await signIn('forgetful@example.com', 'a wrong password', browser)).status).toBe(401)
      expect((await signIn('forgetful@example.com', password, browser)).status).toBe(200)
    }
  })
})

test('no password, link, cookie or token is in the log', async () => {
  const { invite_link } = await owner.expect(201, 'POST', 'members', { body: { email: 'logged@example.com', role: 'reviewer' } })
  const browser = elsewhere()
  await browser.signInByLink(invite_link)
  await browser.expect(204, 'PUT', 'me/password', { body: { password } })
  const token = await browser.token()
  await harness.api('GET', '/me', { key: token })
  await signIn('logged@example.com', 'a wrong password')
  const log = harness.logLines().join('')
  expect(log).toContain('/console/api/sign-in/password')
  const secrets = [password, 'a wrong password', invite_link.split('=')[1], browser.cookie as string, browser.csrf, token]
  for (const secret of secrets) expect(log.includes(secret)).toBe(false)
})

describe('members', () => {
  test('have an address of their own in each organization, which others neither learn nor take', async () => {
    const otherOwner = elsewhere()
    await otherOwner.signInByKey(harness.otherOrganization.key)
    const email = 'shared@example.com'
    const { member } = await newMember(email, 'operator')
    expect(codeOf(await owner.ask('POST', 'members', { body: { email, role: 'reviewer' } }))).toEqual([409, 'conflict'])
    const taken = await otherOwner.ask('POST', 'members', { body: { email, role: 'owner' } })
    expect(taken.status).toBe(201)
    expect((await signIn(email, password)).body.session.member.id).toBe(member.id)
    const second = elsewhere()
    await second.signInByLink(taken.body.invite_link)
    await second.expect(204, 'PUT', 'me/password', { body: { password: 'the password of another tenant' } })
    expect((await signIn(email, 'the password of another tenant')).body.session.member.id).toBe(taken.body.id)
    expect((await signIn(email, password)).body.session.member.id).toBe(member.id)
    expect((await signIn(email, 'a wrong password')).status).toBe(401)
    // The organization that added the address later does not learn where the person is.
    for (const [key, ip] of [
      [harness.organizationKey, expect.stringMatching(/^198\.51\./)],
      [harness.otherOrganization.key, null],
    ] as const) {
      const { data } = await harness.expectApi(200, 'GET', '/audit?limit=20', { key })
      const failed = data.filter(({ action }: Json) => action === 'session.failed')
      expect(failed[0].details).toEqual({ method: 'password', ip })
    }
    const own = await otherOwner.expect(201, 'POST', 'members', { body: { email: 'own@example.com', role: 'reviewer' } })
    expect((await otherOwner.ask('PATCH', `members/${own.id}`, { body: { email: 'changes@example.com' } })).status).toBe(200)
    for (const { id } of [own, taken.body]) await otherOwner.expect(204, 'DELETE', `members/${id}`)
  })

  test('are not signed in as by an owner once they sign in by themselves', async () => {
    const renew = (id: string) => owner.ask('POST', `members/${id}/link`)
    const invited = await owner.expect(201, 'POST', 'members', { body: { email: 'renewed@example.com', role: 'reviewer' } })
    const renewed = await renew(invited.id)
    expect(renewed.status).toBe(201)
    await elsewhere().signInByLink(renewed.body.invite_link)
    const ways = {
      password: `UPDATE users SET password_hash = 'x' WHERE id = $1`,
      provider: `UPDATE users SET oidc_subject = 'issuer subject' WHERE id = $1`,
      passkey: `INSERT INTO console_passkeys (id, organization_id, user_id, credential_id, public_key, counter, transports, name, created_at)
        SELECT 'cpk_1', organization_id, id, 'credential', 'key', 0, '{}', 'Phone', now() FROM users WHERE id = $1`,
    }
    for (const [way, text] of Object.entries(ways)) {
      const { id } = await owner.expect(201, 'POST', 'members', { body: { email: `${way}@example.com`, role: 'reviewer' } })
      await harness.db.query({ text, values: [id] })
      expect([way, ...codeOf(await renew(id))]).toEqual([way, 409, 'conflict'])
    }
    // A link that an owner kept ends when its member signs in another way.
    const kept = await owner.expect(201, 'POST', 'members', { body: { email: 'kept@example.com', role: 'reviewer' } })
    await newMember('first@example.com', 'reviewer')
    await harness.db.query({
      text: `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email = 'first@example.com') WHERE id = $1`,
      values: [kept.id],
    })
    expect((await signIn('kept@example.com', password)).status).toBe(200)
    expect((await elsewhere().ask('POST', 'sign-in/link', { body: { token: tokenOf(kept.invite_link) } })).status).toBe(401)
  })

  test('are invited with a link that works once, listed, and recorded', async () => {
    const body = { email: 'Invited@Example.com', role: 'reviewer' }
    const member = await owner.expect(201, 'POST', 'members', { body })
    expect(member).toMatchObject({
      id: expect.stringMatching(/^user_/),
      email: 'invited@example.com',
      role: 'reviewer',
      has_password: false,
    })
    expect(member.invite_link).toContain(`${harness.publicUrl}/console/#link=`)
    expect((await elsewhere().signInByLink(member.invite_link)).session).toMatchObject({ role: 'reviewer', member: { id: member.id } })
    expect((await elsewhere().ask('POST', 'sign-in/link', { body: { token: member.invite_link.split('=')[1] } })).status).toBe(401)
    expect(codeOf(await owner.ask('POST', 'members', { body }))).toEqual([409, 'conflict'])
    expect(codeOf(await owner.ask('POST', 'members', { body: { ...body, email: 'not an address' } }))).toEqual([400, 'validation_error'])
    expect(codeOf(await owner.ask('POST', 'members', { body: { ...body, role: 'admin' } }))).toEqual([400, 'validation_error'])
    const { members } = await owner.expect(200, 'GET', 'members')
    expect(members.map((one: Json) => one.email)).toContain('invited@example.com')
    expect(await actions()).toEqual(expect.arrayContaining(['member.created', 'console_link.created', 'member.password_set']))
  })

  test('are for owners alone, and only an owner changes addresses', async () => {
    for (const role of ['operator', 'reviewer']) {
      const { member, browser } = await newMember(`${role}@example.com`, role)
      expect(codeOf(await browser.ask('GET', 'members'))).toEqual([403, 'forbidden'])
      expect(codeOf(await browser.ask('POST', 'members', { body: { email: 'x@example.com', role: 'owner' } }))).toEqual([403, 'forbidden'])
      expect(codeOf(await browser.ask('PATCH', `members/${member.id}`, { body: { role: 'owner' } }))).toEqual([403, 'forbidden'])
      expect(codeOf(await browser.ask('DELETE', `members/${member.id}`))).toEqual([403, 'forbidden'])
      expect(codeOf(await browser.ask('POST', `members/${member.id}/link`))).toEqual([403, 'forbidden'])
      expect(codeOf(await browser.ask('PATCH', 'me', { body: { email: 'boss@example.com' } }))).toEqual([403, 'forbidden'])
      expect(codeOf(await browser.ask('PATCH', 'me', { body: { role: 'owner' } }))).toEqual([400, 'validation_error'])
      expect((await browser.expect(200, 'PATCH', 'me', { body: { name: 'Renamed' } })).name).toBe('Renamed')
    }
  })

  test('of another organization are 404, and an agent key is not an owner', async () => {
    const stranger = elsewhere()
    await stranger.signInByKey(harness.otherOrganization.key)
    const { id } = await owner.expect(200, 'GET', 'me')
    for (const [method, path] of [
      ['PATCH', `members/${id}`],
      ['DELETE', `members/${id}`],
      ['POST', `members/${id}/link`],
    ] as const) {
      const body = method === 'PATCH' ? { body: { name: 'x' } } : {}
      expect([path, ...codeOf(await stranger.ask(method, path, body))]).toEqual([path, 404, 'not_found'])
    }
    expect((await stranger.expect(200, 'GET', 'members')).members).toHaveLength(1)
    await harness.createAgent('clerk')
    const agent = elsewhere()
    await agent.signInByKey(await harness.agentKey('clerk'))
    expect(codeOf(await agent.ask('GET', 'members'))).toEqual([403, 'forbidden'])
    expect(codeOf(await agent.ask('GET', 'me'))).toEqual([403, 'forbidden'])
  })

  test('change their role at once, and lose their sessions and tokens when they are removed, while their keys go on', async () => {
    const { member, browser } = await newMember('second@example.com', 'owner')
    const token = await browser.token()
    const { key } = await harness.expectApi(201, 'POST', '/keys', { key: token, body: { name: 'made by second', type: 'organization' } })
    await owner.expect(200, 'PATCH', `members/${member.id}`, { body: { role: 'reviewer' } })
    expect((await browser.expect(200, 'GET', 'state')).session.role).toBe('reviewer')
    expect((await harness.api('GET', '/keys', { key: token })).status).toBe(403)
    await owner.expect(204, 'DELETE', `members/${member.id}`)
    expect((await browser.expect(200, 'GET', 'state')).signed_in).toBe(false)
    expect((await harness.api('GET', '/me', { key: token })).status).toBe(401)
    expect((await harness.api('GET', '/me', { key })).status).toBe(200)
    expect((await signIn('second@example.com', password)).status).toBe(401)
  })

  test('always include an owner, also when two owners demote one another at once', async () => {
    const { id } = await owner.expect(200, 'GET', 'me')
    expect(codeOf(await owner.ask('PATCH', `members/${id}`, { body: { role: 'reviewer' } }))).toEqual([409, 'conflict'])
    expect(codeOf(await owner.ask('DELETE', `members/${id}`))).toEqual([409, 'conflict'])
    const { member, browser } = await newMember('rival@example.com', 'owner')
    const answers = await Promise.all([
      owner.ask('PATCH', `members/${member.id}`, { body: { role: 'operator' } }),
      browser.ask('PATCH', `members/${id}`, { body: { role: 'operator' } }),
    ])
    // The slower of the two is refused as the last owner, or as an operator by then.
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1)
    expect(answers.filter((one) => one.status === 409 || one.status === 403)).toHaveLength(1)
    const { rows } = await harness.db.query({
      text: "SELECT 1 FROM users WHERE id = ANY($1) AND role = 'owner'",
      values: [[id, member.id]],
    })
    expect(rows).toHaveLength(1)
  })
})
