// Checks of the allow and block lists of an inbox.
import { expect } from 'vitest'
import type { Check, Context } from './context.ts'
import type { Scoped } from './scopes.ts'

const modesOf = async ({ harness }: Context, handle: string): Promise<[string, string]> => {
  const { inbound_mode, outbound_mode } = await harness.expectApi(200, 'GET', `/identities/${handle}`)
  return [inbound_mode, outbound_mode]
}

const rulesOf = async ({ harness }: Context, handle: string): Promise<{ id: string; entry: string }[]> =>
  (await harness.expectApi(200, 'GET', `/identities/${handle}/mail-rules`)).data

export const listChecks: Record<string, Check> = {
  async 'inboxes.lists.create'(context) {
    const { client, harness } = context
    const { handle, address } = await context.createInbox()
    const made = await client.inboxes.lists.create(address, 'receive', 'block', { entry: 'Spam.example', reason: 'spam' })
    expect(made).toMatchObject({
      entry: 'spam.example',
      entryType: 'domain',
      listType: 'block',
      direction: 'receive',
      inboxId: address,
      readOnly: false,
    })
    expect(await rulesOf(context, handle)).toMatchObject([{ direction: 'inbound', action: 'block', entry: 'spam.example', reason: 'spam' }])
    expect(await modesOf(context, handle)).toEqual(['open', 'open'])
    await client.inboxes.lists.create(address, 'send', 'allow', { entry: 'ada@example.com' })
    // A repeated request changes nothing.
    await client.inboxes.lists.create(address, 'send', 'allow', { entry: 'ada@example.com' })
    expect(await modesOf(context, handle)).toEqual(['open', 'allowlist'])
    await harness.send(handle, 'ada@example.com')
    await expect(client.inboxes.messages.send(address, { to: ['other@example.com'], subject: 'x', text: 'x' })).rejects.toMatchObject({
      statusCode: 403,
      body: { name: 'MessageRejectedError' },
    })
    await expect(client.inboxes.lists.create(address, 'send', 'block', { entry: 'ada@example.com' })).rejects.toMatchObject({
      statusCode: 409,
    })
    await expect(client.inboxes.lists.create(address, 'send', 'block', { entry: 'not an entry' })).rejects.toMatchObject({
      statusCode: 400,
    })
    await expect(client.inboxes.lists.create(address, 'reply', 'block', { entry: 'x.example' })).rejects.toMatchObject({ statusCode: 501 })
  },

  async 'inboxes.lists.list'(context) {
    const { handle, address } = await context.createInbox()
    const rule = (body: object) => context.harness.expectApi(201, 'POST', `/identities/${handle}/mail-rules`, { body })
    await rule({ direction: 'inbound', action: 'block', entry: 'a.example' })
    await rule({ direction: 'both', action: 'block', entry: 'b.example' })
    await rule({ direction: 'outbound', action: 'block', entry: 'c.example' })
    await rule({ direction: 'inbound', action: 'block', entry: 'd.example', status: 'paused' })
    const first = await context.client.inboxes.lists.list(address, 'receive', 'block', { limit: 1 })
    expect(first.entries).toMatchObject([{ entry: 'b.example', readOnly: true }])
    const next = await context.client.inboxes.lists.list(address, 'receive', 'block', {
      limit: 1,
      pageToken: first.nextPageToken as string,
    })
    expect([next.entries.map(({ entry }) => entry), next.nextPageToken]).toEqual([['a.example'], undefined])
    expect((await context.client.inboxes.lists.list(address, 'receive', 'allow')).entries).toEqual([])
    expect((await context.client.inboxes.lists.list(address, 'reply', 'allow')).entries).toEqual([])
  },

  async 'inboxes.lists.get'(context) {
    const { handle, address } = await context.createInbox()
    const body = { direction: 'outbound', action: 'block', entry: 'ada@example.com' }
    await context.harness.expectApi(201, 'POST', `/identities/${handle}/mail-rules`, { body })
    expect(await context.client.inboxes.lists.get(address, 'send', 'block', 'Ada@example.com')).toMatchObject({ entryType: 'email' })
    for (const direction of ['receive', 'reply'] as const)
      await expect(context.client.inboxes.lists.get(address, direction, 'block', 'ada@example.com')).rejects.toMatchObject({
        statusCode: 404,
      })
  },

  async 'inboxes.lists.delete'(context) {
    const { lists } = context.client.inboxes
    const { handle, address } = await context.createInbox()
    for (const entry of ['a.example', 'b.example']) await lists.create(address, 'receive', 'allow', { entry })
    await lists.delete(address, 'receive', 'allow', 'a.example')
    expect([(await rulesOf(context, handle)).map(({ entry }) => entry), await modesOf(context, handle)]).toEqual([
      ['b.example'],
      ['allowlist', 'open'],
    ])
    await lists.delete(address, 'receive', 'allow', 'b.example')
    expect([await rulesOf(context, handle), await modesOf(context, handle)]).toEqual([[], ['open', 'open']])
    await context.harness.expectApi(201, 'POST', `/identities/${handle}/mail-rules`, {
      body: { direction: 'both', action: 'block', entry: 'c.example' },
    })
    await expect(lists.delete(address, 'send', 'block', 'c.example')).rejects.toMatchObject({ statusCode: 403 })
  },
}

let domains = 0
const newDomain = (): string => `listed${++domains}.example`

const everyRule = async ({ harness }: Context, entry: string): Promise<{ action: string; direction: string }[]> =>
  (await harness.expectApi(200, 'GET', `/identities/*/mail-rules?entry=${entry}`)).data

/** Lists of the account, which hold for every inbox. */
export const accountListChecks: Scoped = {
  async create(context, { lists }) {
    const [entry, { address }] = [newDomain(), await context.createInbox()]
    const made = await lists.create('send', 'block', { entry })
    expect(made).toMatchObject({ entry, listType: 'block', direction: 'send', readOnly: false })
    expect(made.inboxId).toBeUndefined()
    expect(await everyRule(context, entry)).toMatchObject([{ action: 'block', direction: 'outbound', agent_handle: null }])
    await expect(context.client.inboxes.messages.send(address, { to: [`ada@${entry}`], subject: 'x', text: 'x' })).rejects.toMatchObject({
      statusCode: 403,
      body: { name: 'MessageRejectedError' },
    })
    await expect(lists.create('reply', 'block', { entry })).rejects.toMatchObject({ statusCode: 501 })
  },

  async list(_, { lists }) {
    const entries = [newDomain(), newDomain()]
    for (const entry of entries) await lists.create('receive', 'block', { entry })
    const first = await lists.list('receive', 'block', { limit: 1 })
    const next = await lists.list('receive', 'block', { limit: 1, pageToken: first.nextPageToken })
    expect([...first.entries, ...next.entries].map(({ entry }) => entry)).toEqual(entries.toReversed())
  },

  async get(_, { lists }) {
    const entry = newDomain()
    await lists.create('receive', 'block', { entry, reason: 'spam' })
    expect(await lists.get('receive', 'block', entry)).toMatchObject({ entry, reason: 'spam', entryType: 'domain' })
    await expect(lists.get('send', 'block', entry)).rejects.toMatchObject({ statusCode: 404 })
  },

  // The mode of the organization holds for every inbox, so this leaves it as it was.
  async delete(context, { lists }) {
    const [entry, { harness }] = [newDomain(), context]
    const modes = async () => {
      const { inbound_mode, outbound_mode } = await harness.expectApi(200, 'GET', '/organization')
      return [inbound_mode, outbound_mode]
    }
    await lists.create('receive', 'allow', { entry })
    expect(await modes()).toEqual(['allowlist', 'open'])
    await lists.delete('receive', 'allow', entry)
    expect([await everyRule(context, entry), await modes()]).toEqual([[], ['open', 'open']])
  },
}
