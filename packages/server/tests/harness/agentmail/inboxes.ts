// Checks of inboxes, of the account and of a pod.
import { expect } from 'vitest'
import { clientOf } from './context.ts'
import type { Scoped } from './scopes.ts'

export const inboxChecks: Scoped = {
  async create({ harness }, api) {
    const { inboxes } = api
    const name = `made.${crypto.randomUUID().slice(0, 8)}`
    const made = await inboxes.create({ username: name, displayName: 'Made Here', clientId: `id-${name}`, metadata: { team: 'a' } })
    expect(made).toMatchObject({ podId: 'default', inboxId: `${name}@agents.localhost`, displayName: 'Made Here', metadata: { team: 'a' } })
    expect(made.createdAt).toBeInstanceOf(Date)
    expect(await harness.expectApi(200, 'GET', `/mailboxes/${made.inboxId}`)).toMatchObject({ display_name: 'Made Here' })
    // The same client id finds the inbox, and the address stays taken.
    expect((await inboxes.create({ username: name, clientId: `id-${name}` })).inboxId).toBe(made.inboxId)
    await expect(inboxes.create({ username: name })).rejects.toMatchObject({ statusCode: 403, body: { name: 'IsTakenError' } })
    await expect(inboxes.create({ username: 'a b' })).rejects.toMatchObject({ statusCode: 400 })
    // A generated name, once per idempotency key.
    const repeat = () => inboxes.create({}, { headers: { 'idempotency-key': `key-${name}` } })
    expect((await repeat()).inboxId).toBe((await repeat()).inboxId)
    expect((await inboxes.create({})).inboxId).not.toBe((await inboxes.create({})).inboxId)
  },

  async get({ createInbox }, api) {
    const { address } = await createInbox()
    expect(await api.inboxes.get(address)).toMatchObject({ inboxId: address, email: address })
    await expect(api.inboxes.get('nobody@agents.localhost')).rejects.toMatchObject({ statusCode: 404, body: { code: 'not_found' } })
  },

  async list({ createInbox, harness }, api) {
    const addresses = [(await createInbox()).address, (await createInbox()).address]
    const first = await api.inboxes.list({ limit: 1 })
    const second = await api.inboxes.list({ limit: 1, pageToken: first.nextPageToken })
    expect([...first.inboxes, ...second.inboxes].map(({ inboxId }: { inboxId: string }) => inboxId)).toEqual(addresses.toReversed())
    expect(first).toMatchObject({ count: 1, limit: 1 })
    const all = async (query: object): Promise<string[]> =>
      (await api.inboxes.list({ limit: 100, ...query })).inboxes.map(({ inboxId }: { inboxId: string }) => inboxId)
    expect(await all({ ascending: true })).toEqual((await all({})).toReversed())
    expect((await harness.expectApi(200, 'GET', '/identities?limit=1')).data[0].mailbox_address).toBe(addresses[1])
  },

  async search({ createInbox }, api) {
    const { address } = await createInbox()
    const found = async (q: string): Promise<string[]> =>
      (await api.inboxes.search({ q, limit: 100 })).inboxes.map(({ inboxId }: { inboxId: string }) => inboxId)
    expect((await found(address))[0]).toBe(address)
    expect(await found('bo')).toContain(address)
    expect(await found('ox')).not.toContain(address)
    await expect(api.inboxes.search({ q: 'x' })).rejects.toMatchObject({ statusCode: 400 })
    const page = await api.inboxes.search({ q: 'box', limit: 1 })
    const next = await api.inboxes.search({ q: 'box', limit: 1, pageToken: page.nextPageToken })
    expect(next.inboxes[0].inboxId).not.toBe(page.inboxes[0].inboxId)
  },

  async update({ createInbox, harness }, api) {
    const { address, handle } = await createInbox()
    expect(await api.inboxes.update(address, { displayName: 'Renamed' })).toMatchObject({ displayName: 'Renamed' })
    const metadata = async () => (await harness.expectApi(200, 'GET', `/identities/${handle}`)).metadata
    await api.inboxes.update(address, { metadata: { team: 'a', size: 3 } })
    expect((await api.inboxes.update(address, { metadata: { team: null, isNew: true } })).metadata).toEqual({ size: 3, isNew: true })
    expect(await harness.expectApi(200, 'GET', `/identities/${handle}`)).toMatchObject({ display_name: 'Renamed' })
    expect(await metadata()).toEqual({ size: 3, isNew: true })
    await api.inboxes.update(address, { metadata: null })
    expect(await metadata()).toEqual({})
  },

  async delete({ createInbox, harness }, api) {
    const { address, handle } = await createInbox()
    await expect(clientOf(harness, await harness.agentKey(handle)).inboxes.delete(address)).rejects.toMatchObject({ statusCode: 403 })
    await api.inboxes.delete(address)
    expect((await harness.api('GET', `/identities/${handle}`)).status).toBe(404)
  },
}
