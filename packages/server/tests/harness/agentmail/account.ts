// Checks of domains, API keys, the organization and the pod.
import { expect } from 'vitest'
import { type Check, type Context, clientOf } from './context.ts'
import { inAccountAndPod, type Scoped, within } from './scopes.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK types each scope on its own
type Api = any

let names = 0
const newName = (): string => `mail${++names}.example.com`

async function withDomain({ harness }: Context) {
  const name = newName()
  const { data } = await harness.expectApi(201, 'POST', '/domains', { body: { domain: name } })
  return { name, id: data.id as string, path: `/domains/${data.id}` }
}

const domainChecks: Scoped = {
  async create({ harness }, { domains }) {
    const name = newName()
    const made = await domains.create({ domain: name, feedbackEnabled: true })
    expect(made).toMatchObject({ domainId: name, status: 'PENDING', trackingEnabled: false, podId: 'default' })
    expect(made.records.find(({ type }: { type: string }) => type === 'MX')).toMatchObject({ status: 'MISSING', priority: 10 })
    const { data } = await harness.expectApi(200, 'GET', '/domains')
    expect(data.map(({ domain }: { domain: string }) => domain)).toContain(name)
    await expect(domains.create({ domain: newName(), trackingEnabled: true })).rejects.toMatchObject({ statusCode: 501 })
    await expect(domains.create({ domain: 'not a domain' })).rejects.toMatchObject({ statusCode: 400, body: { name: 'ValidationError' } })
  },

  async get(context, { domains }) {
    const { name, id } = await withDomain(context)
    expect(await domains.get(name)).toMatchObject({ domainId: name, status: 'PENDING' })
    expect(await domains.get(id)).toMatchObject({ domainId: name })
    await expect(domains.get('none.example.com')).rejects.toMatchObject({ statusCode: 404 })
  },

  async list(context, { domains }) {
    const [second, first] = [await withDomain(context), await withDomain(context)]
    const page = await domains.list({ limit: 1 })
    const next = await domains.list({ limit: 1, pageToken: page.nextPageToken })
    expect([page.domains[0].domainId, next.domains[0].domainId]).toEqual([first.name, second.name])
  },

  async update(context, { domains }) {
    const { name } = await withDomain(context)
    expect(await domains.update(name, { trackingEnabled: false })).toMatchObject({ domainId: name, trackingEnabled: false })
    await expect(domains.update(name, { subdomainsEnabled: true })).rejects.toMatchObject({ statusCode: 501 })
  },

  async verify(context, { domains }) {
    const { name, path } = await withDomain(context)
    const before = await context.harness.expectApi(200, 'GET', path)
    await domains.verify(name)
    const after = await context.harness.expectApi(200, 'GET', path)
    expect(after.data.updated_at >= before.data.updated_at).toBe(true)
    expect(after.data.dns_records.map(({ status }: { status: string }) => status)).not.toContain('valid')
    await expect(domains.verify('none.example.com')).rejects.toMatchObject({ statusCode: 404 })
  },

  async getZoneFile(context, { domains }) {
    const { name } = await withDomain(context)
    const zone = Buffer.from(await (await domains.getZoneFile(name)).arrayBuffer()).toString()
    expect(zone).toContain(`${name}.\t3600\tIN\tMX\t10 agents.localhost.`)
  },

  async delete(context, { domains }) {
    const { name, path } = await withDomain(context)
    await domains.delete(name)
    expect((await context.harness.api('GET', path)).status).toBe(404)
  },
}

/** Checks of keys. `keysOf` has the methods with the parameters that they have in the account. */
const keyChecks = (keysOf: (api: Api, address: string) => Api): Scoped => ({
  async create(context, api) {
    const { harness, createInbox } = context
    const { address } = await createInbox()
    const keys = keysOf(api, address)
    const { apiKeyId, apiKey, createdAt } = await keys.create({ name: 'CI' })
    expect([apiKeyId, createdAt]).toEqual([expect.stringMatching(/^key_/), expect.any(Date)])
    await harness.expectApi(200, 'GET', '/me', { key: apiKey })
    const reader = await keys.create({ name: 'Reader', permissions: { inboxRead: true, messageRead: true } })
    const me = await harness.expectApi(200, 'GET', '/me', { key: reader.apiKey })
    expect(me.key.scopes.toSorted()).toEqual(['identities:read', 'mail:read'])
    await expect(
      clientOf(harness, reader.apiKey).inboxes.messages.send(address, { to: ['a@example.com'], text: 'x' }),
    ).rejects.toMatchObject({ statusCode: 403 })
    for (const permissions of [{ messageDelete: true }, { draftSend: true }, { messageRead: true, labelSpamRead: false }])
      await expect(keys.create({ permissions })).rejects.toMatchObject({ statusCode: 501 })
    await expect(keys.create({ permissions: {} })).rejects.toMatchObject({ statusCode: 400 })
  },

  async list(context, api) {
    const { address } = await context.createInbox()
    const keys = keysOf(api, address)
    const made = [await keys.create({ name: 'One' }), await keys.create({ name: 'Two', permissions: { messageRead: true } })]
    const first = await keys.list({ limit: 1 })
    const next = await keys.list({ limit: 1, pageToken: first.nextPageToken })
    const listed = [...first.apiKeys, ...next.apiKeys]
    expect(listed.map(({ apiKeyId }) => apiKeyId)).toEqual(made.map(({ apiKeyId }) => apiKeyId).toReversed())
    expect(listed[0]).toMatchObject({ type: 'bearer', name: 'Two', permissions: { messageRead: true } })
    expect(listed[1].permissions).toBeUndefined()
    await context.harness.expectApi(200, 'DELETE', `/keys/${made[1].apiKeyId}`)
    expect((await keys.list({ limit: 1 })).apiKeys[0].apiKeyId).toBe(made[0].apiKeyId)
  },

  async update(context, api) {
    const { address } = await context.createInbox()
    const keys = keysOf(api, address)
    const { apiKeyId } = await keys.create({ name: 'Old' })
    expect(await keys.update(apiKeyId, { name: 'New' })).toMatchObject({ apiKeyId, name: 'New' })
    const { data } = await context.harness.expectApi(200, 'GET', '/keys')
    expect(data.find(({ id }: { id: string }) => id === apiKeyId).name).toBe('New')
    await expect(keys.update(apiKeyId, { permissions: { messageRead: true } })).rejects.toMatchObject({ statusCode: 501 })
    await expect(keys.update('key_unknown', { name: 'New' })).rejects.toMatchObject({ statusCode: 404 })
  },

  async delete(context, api) {
    const { address } = await context.createInbox()
    const keys = keysOf(api, address)
    const { apiKeyId, apiKey } = await keys.create({ name: 'Short' })
    await keys.delete(apiKeyId)
    expect((await context.harness.api('GET', '/me', { key: apiKey })).status).toBe(401)
    await expect(keys.delete(apiKeyId)).rejects.toMatchObject({ statusCode: 404 })
  },
})

export const accountChecks: Record<string, Check> = {
  ...inAccountAndPod('domains', domainChecks),
  ...inAccountAndPod(
    'apiKeys',
    keyChecks((api) => api.apiKeys),
  ),
  ...within('inboxes.apiKeys.', keyChecks, (api) => api.inboxes.apiKeys),

  async 'apiKeys.get'({ client, harness }) {
    const { id, key } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Found', type: 'organization' } })
    await harness.expectApi(200, 'GET', '/me', { key })
    expect(await client.apiKeys.get(id)).toMatchObject({ apiKeyId: id, name: 'Found', type: 'bearer' })
    await expect(client.apiKeys.get('key_unknown')).rejects.toMatchObject({ statusCode: 404 })
  },

  async 'organizations.get'({ client, harness }) {
    const organization = await harness.expectApi(200, 'GET', '/organization')
    const { data } = await harness.expectApi(200, 'GET', '/domains')
    const before = await client.organizations.get()
    expect(before).toMatchObject({ organizationId: organization.id, domainCount: data.length })
    await harness.createAgent('counted')
    expect((await client.organizations.get()).inboxCount).toBe(before.inboxCount + 1)
  },

  async 'auth.me'({ client, harness, createInbox }) {
    const { organization_id } = await harness.expectApi(200, 'GET', '/me')
    expect(await client.auth.me()).toMatchObject({ scopeType: 'organization', scopeId: organization_id })
    const { handle, address } = await createInbox()
    const own = clientOf(harness, await harness.agentKey(handle))
    expect(await own.auth.me()).toMatchObject({ scopeType: 'inbox', scopeId: address, inboxId: address })
    await expect(clientOf(harness, 'am_wrong').auth.me()).rejects.toMatchObject({ statusCode: 401, body: { name: 'UnauthorizedError' } })
  },

  async 'pods.list'({ client, harness }) {
    const { created_at } = await harness.expectApi(200, 'GET', '/organization')
    expect(await client.pods.list()).toMatchObject({ count: 1, pods: [{ podId: 'default', createdAt: new Date(created_at) }] })
  },

  async 'pods.get'({ client }) {
    expect(await client.pods.get('default')).toMatchObject({ podId: 'default' })
    await expect(client.pods.get('other')).rejects.toMatchObject({ statusCode: 404 })
    await expect(client.pods.inboxes.list('other')).rejects.toMatchObject({ statusCode: 404 })
  },

  /** Requests by path go to the same routes. */
  async fetch({ client, harness }) {
    const { id } = await harness.expectApi(200, 'GET', '/organization')
    expect(await (await client.fetch('/v0/organizations')).json()).toMatchObject({ organization_id: id })
  },
}
