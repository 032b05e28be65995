// Links to pages with a shared message: their end, their list and their audit entries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from './harness/console-browser.ts'
import { signInMembers } from './harness/members.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let members: Map<string, string>
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['sales', 'support']) await harness.createAgent(handle)
  members = await signInMembers(harness)
})
afterAll(() => harness?.stop())

let messages = 0
/** A new message of an agent. */
async function makeMessage(agent = 'sales', key = harness.organizationKey): Promise<string> {
  const subject = `Message ${++messages}`
  return (await harness.expectApi(201, 'POST', '/mail/send', { key, body: { agent, to: ['ada@park.example'], subject, text: subject } })).id
}

const pathOf = (id: string, agent = 'sales') => `/mailboxes/${agent}/messages/${id}`
const share = (id: string, key = harness.organizationKey, agent = 'sales'): Promise<Json> =>
  harness.expectApi(200, 'POST', `${pathOf(id, agent)}/share`, { key })
const list = (id: string, key = harness.organizationKey): Promise<Json> => harness.expectApi(200, 'GET', `${pathOf(id)}/shares`, { key })
const unshare = (id: string, linkId: string, key = harness.organizationKey) =>
  harness.api('DELETE', `${pathOf(id)}/shares/${linkId}`, { key })
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status
const createKey = (body: Json): Promise<Json> => harness.expectApi(201, 'POST', '/keys', { body: { name: 'Sharing', ...body } })
const lastAudit = async (): Promise<Json> => (await harness.expectApi(200, 'GET', '/audit?limit=1')).data[0]
const endedLater = async (url: string, end: () => Promise<unknown>): Promise<number[]> => {
  const before = await statusOf(url)
  await end()
  return [before, await statusOf(url)]
}

describe('a link ends', () => {
  test('with its revocation, while other links to the message stay', async () => {
    const id = await makeMessage()
    const [revoked, other] = [await share(id), await share(id)]
    expect(await endedLater(revoked.url, () => unshare(id, revoked.link_id))).toEqual([200, 404])
    expect(await statusOf(other.url)).toBe(200)
    expect(await (await fetch(other.url)).text()).toContain(`Message ${messages}`)
    expect(await unshare(id, revoked.link_id)).toMatchObject({ status: 200, body: { id: revoked.link_id, deleted: true } })
  })

  test.each(['organization', 'agent'])('with the revocation of the %s key that made it', async (type) => {
    const id = await makeMessage()
    const key = await createKey(type === 'agent' ? { type, agent_handle: 'sales' } : { type })
    const [{ url }, other] = [await share(id, key.key), await share(id)]
    expect(await endedLater(url, () => harness.expectApi(200, 'DELETE', `/keys/${key.id}`))).toEqual([200, 404])
    expect(await statusOf(other.url)).toBe(200)
    expect((await list(id)).data.map((link: Json) => [link.created_by === key.id, link.is_active])).toEqual([
      [false, true],
      [true, false],
    ])
  })

  test('with a key that signed in to the console to make it', async () => {
    const id = await makeMessage()
    const key = await createKey({ type: 'organization' })
    const browser = openBrowser(harness)
    await browser.signInByKey(key.key)
    const { url } = await share(id, await browser.token())
    expect((await list(id)).data[0].created_by).toBe(key.id)
    expect(await endedLater(url, () => harness.expectApi(200, 'DELETE', `/keys/${key.id}`))).toEqual([200, 404])
  })

  test('with the expiry of the key that made it', async () => {
    const id = await makeMessage()
    const key = await createKey({ type: 'organization', expires_at: new Date(Date.now() + 3_600_000).toISOString() })
    const { url } = await share(id, key.key)
    const expire = () => harness.db.query({ text: `UPDATE api_keys SET expires_at = now() WHERE id = $1`, values: [key.id] })
    expect(await endedLater(url, expire)).toEqual([200, 404])
  })

  test('with the member that made it, and not with the session of the member', async () => {
    const id = await makeMessage()
    const { url } = await share(id, members.get('reviewer'))
    expect((await list(id)).data[0].created_by).toBe('user_reviewer')
    const sql = `DELETE FROM console_sessions WHERE user_id = 'user_reviewer'`
    expect(await endedLater(url, () => harness.db.query({ text: sql }))).toEqual([200, 200])
    const remove = () => openOwner().then((owner) => owner.expect(204, 'DELETE', 'members/user_reviewer'))
    expect(await endedLater(url, remove)).toEqual([200, 404])
    expect((await list(id)).data).toEqual([])
  })

  test('with its agent, also if an agent key made it', async () => {
    await harness.createAgent('leaving')
    const id = await makeMessage('leaving')
    const links = [await share(id, await harness.agentKey('leaving'), 'leaving'), await share(id, undefined, 'leaving')]
    expect(await statusOf(links[0].url)).toBe(200)
    await harness.api('DELETE', '/identities/leaving')
    for (const { url } of links) expect(await statusOf(url)).toBe(404)
  })

  test('with the message, and opens nothing while the message is in the trash', async () => {
    const id = await makeMessage()
    const { url } = await share(id)
    expect(await endedLater(url, () => harness.expectApi(200, 'POST', `${pathOf(id)}/trash`))).toEqual([200, 404])
    expect((await list(id)).data[0].is_active).toBe(false)
    expect((await harness.api('POST', `${pathOf(id)}/share`)).status).toBe(409)
    expect(await endedLater(url, () => harness.expectApi(200, 'POST', `${pathOf(id)}/restore`))).toEqual([404, 200])
    expect(await endedLater(url, () => harness.expectApi(200, 'DELETE', pathOf(id)))).toEqual([200, 404])
    expect((await harness.db.query({ text: 'SELECT 1 FROM message_shares WHERE message_id = $1', values: [id] })).rowCount).toBe(0)
  })

  test('at its time, and leaves the list', async () => {
    const id = await makeMessage()
    const { url, link_id } = await share(id)
    const expire = () => harness.db.query({ text: 'UPDATE message_shares SET expires_at = now() WHERE id = $1', values: [link_id] })
    expect(await endedLater(url, expire)).toEqual([200, 404])
    expect((await list(id)).data).toEqual([])
  })
})

describe('a link does not open', () => {
  test('with the signature of another link, or an id that was not shared', async () => {
    const id = await makeMessage()
    const [one, other] = [await share(id), await share(await makeMessage())]
    for (const linkId of [other.link_id, id, id.replace('msg_', 'page_'), one.link_id.replace(/.$/, 'z')])
      expect(await statusOf(one.url.replace(one.link_id, linkId))).toBe(403)
    expect(await statusOf(one.url)).toBe(200)
  })
})

describe('the list of links', () => {
  test('has no URLs, newest first, page by page', async () => {
    const id = await makeMessage()
    const links = [await share(id), await share(id)]
    const first = await harness.expectApi(200, 'GET', `${pathOf(id)}/shares?limit=1`)
    const next = await harness.expectApi(200, 'GET', `${pathOf(id)}/shares?limit=1&cursor=${first.next_cursor}`)
    expect([...first.data, ...next.data].map((link: Json) => link.id)).toEqual(links.map((link) => link.link_id).reverse())
    expect([first.has_more, next.has_more]).toEqual([true, false])
    expect(first.data[0]).toMatchObject({ message_id: id, is_active: true, revoked_at: null, expires_at: links[1].expires_at })
    for (const { url } of links)
      for (const secret of [url, new URL(url).searchParams.get('signature') as string])
        expect(JSON.stringify(await list(id))).not.toContain(secret)
  })

  test('is for callers that may read the message', async () => {
    const id = await makeMessage()
    const { url, link_id } = await share(id)
    const others = [
      { key: await harness.agentKey('support'), status: 403 },
      { key: harness.otherOrganization.key, status: 404 },
      { key: (await createKey({ type: 'organization', scopes: ['mail:write'] })).key, status: 403 },
    ]
    for (const { key, status } of others) {
      expect((await harness.api('GET', `${pathOf(id)}/shares`, { key })).status).toBe(status)
      expect((await unshare(id, link_id, key)).status).toBe(status)
    }
    expect((await harness.api('GET', `${pathOf(id, 'support')}/shares`)).status).toBe(404)
    expect((await harness.api('DELETE', `${pathOf(id, 'support')}/shares/${link_id}`)).status).toBe(404)
    expect((await unshare(await makeMessage(), link_id)).status).toBe(404)
    expect(await statusOf(url)).toBe(200)
    const reader = (await createKey({ type: 'organization', scopes: ['mail:read'] })).key
    expect((await list(id, reader)).data).toHaveLength(1)
    expect((await unshare(id, link_id, reader)).status).toBe(200)
    expect(await statusOf(url)).toBe(404)
  })
})

test('the audit log has each link and its revocation once', async () => {
  const id = await makeMessage()
  const { link_id, expires_at } = await share(id)
  expect(await lastAudit()).toMatchObject({ action: 'message.shared', target_id: id, actor_type: 'key', details: { link_id, expires_at } })
  await unshare(id, link_id, members.get('operator'))
  const revoked = { action: 'message.share_revoked', target_id: id, actor_type: 'member', actor_id: 'user_operator', details: { link_id } }
  const entry = await lastAudit()
  expect(entry).toMatchObject(revoked)
  await unshare(id, link_id)
  expect((await lastAudit()).id).toBe(entry.id)
})

/** The console of the owner. */
async function openOwner() {
  const browser = openBrowser(harness)
  await browser.signInByLink(harness.consoleUrl)
  return browser
}
