// Checks of drafts, of an inbox and of the account.
import { expect } from 'vitest'
import type { Check, Context } from './context.ts'
import { inAccountAndPod, type Scoped, within } from './scopes.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK types each scope on its own
type Api = any

const attachment = { filename: 'a.txt', content: Buffer.from('File text').toString('base64') }

/** A draft with an attachment in a new inbox. */
async function withDraft(context: Context, more: Record<string, unknown> = {}) {
  const { handle, address } = await context.createInbox()
  const body = { to: ['ada@example.com'], subject: 'A draft', text: 'Draft text', attachments: [attachment], ...more }
  const draft = await context.harness.expectApi(201, 'POST', `/mailboxes/${handle}/drafts`, { body })
  return { handle, address, draft }
}

const readingChecks = (draftsOf: (api: Api, address: string) => Api): Scoped => ({
  async list(context, api) {
    const { address, handle, draft } = await withDraft(context)
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const body = { to: ['ada@example.com'], text: 'Later', send_at: sendAt }
    const scheduled = await context.harness.expectApi(201, 'POST', `/mailboxes/${handle}/drafts`, { body })
    const list = async (query: object): Promise<string[]> =>
      (await draftsOf(api, address).list(query)).drafts
        .filter(({ inboxId }: { inboxId: string }) => inboxId === address)
        .map(({ draftId }: { draftId: string }) => draftId)
    expect(await list({})).toEqual([scheduled.id, draft.id])
    expect(await list({ labels: ['scheduled'] })).toEqual([scheduled.id])
    expect(await list({ limit: 100, ascending: true })).toEqual([draft.id, scheduled.id])
    expect(await list({ after: new Date(scheduled.created_at) })).toEqual([])
    const first = await draftsOf(api, address).list({ limit: 1 })
    expect(first).toMatchObject({ count: 1, drafts: [{ draftId: scheduled.id, sendStatus: 'scheduled', sendAt: new Date(sendAt) }] })
    expect((await draftsOf(api, address).list({ limit: 1, pageToken: first.nextPageToken })).drafts[0].draftId).toBe(draft.id)
  },

  async get(context, api) {
    const { address, draft } = await withDraft(context, { reply_to: ['desk@agents.localhost'], client_id: crypto.randomUUID() })
    expect(await draftsOf(api, address).get(draft.id)).toMatchObject({
      inboxId: address,
      draftId: draft.id,
      clientId: draft.client_id,
      labels: ['draft'],
      to: ['ada@example.com'],
      replyTo: ['desk@agents.localhost'],
      subject: 'A draft',
      preview: 'Draft text',
      text: 'Draft text',
      createdAt: new Date(draft.created_at),
    })
    await expect(draftsOf(api, address).get('drf_unknown')).rejects.toMatchObject({ statusCode: 404 })
  },

  async getAttachment(context, api) {
    const { address, draft } = await withDraft(context)
    const file = await draftsOf(api, address).getAttachment(draft.id, draft.attachments[0].id)
    expect(await (await fetch(file.downloadUrl)).text()).toBe('File text')
  },
})

const changingChecks: Record<string, Check> = {
  async 'inboxes.drafts.create'(context) {
    const { client, harness } = context
    const { handle, address } = await context.createInbox()
    const clientId = crypto.randomUUID()
    const request = {
      to: ['ada@example.com'],
      cc: ['b@example.com'],
      replyTo: [address],
      subject: 'New',
      text: 'New',
      attachments: [attachment],
    }
    const draft = await client.inboxes.drafts.create(address, { ...request, clientId })
    expect((await client.inboxes.drafts.create(address, { clientId })).draftId).toBe(draft.draftId)
    expect(await harness.expectApi(200, 'GET', `/mailboxes/${handle}/drafts/${draft.draftId}`)).toMatchObject({
      to: ['ada@example.com'],
      cc: ['b@example.com'],
      reply_to: [address],
      attachments: [{ filename: 'a.txt', size_bytes: 9 }],
    })
    const question = await context.receive(handle, 'Draft an answer')
    const answer = await client.inboxes.drafts.create(address, { inReplyTo: question.id, text: 'Yes' })
    expect(answer).toMatchObject({ to: ['Eve <eve@example.org>'], subject: 'Re: Draft an answer', inReplyTo: question.id })
    const labelled = await client.inboxes.drafts.create(address, { labels: ['Offers', 'x'] })
    expect(labelled.labels).toEqual(['draft', 'offers', 'x'])
    expect((await harness.expectApi(200, 'GET', `/mailboxes/${handle}/drafts/${labelled.draftId}`)).labels).toEqual(['offers', 'x'])
    await expect(client.inboxes.drafts.create(address, { labels: ['unread'] })).rejects.toMatchObject({ statusCode: 400 })
  },

  async 'inboxes.drafts.update'(context) {
    const { address, handle, draft } = await withDraft(context)
    const sendAt = new Date(Date.now() + 3_600_000)
    const own = () => context.harness.expectApi(200, 'GET', `/mailboxes/${handle}/drafts/${draft.id}`)
    await context.client.inboxes.drafts.update(address, draft.id, {
      subject: 'Changed',
      replyTo: [address],
      addAttachments: [{ filename: 'b.txt', content: attachment.content }],
      removeAttachments: [draft.attachments[0].id],
      sendAt,
    })
    expect(await own()).toMatchObject({
      subject: 'Changed',
      reply_to: [address],
      send_at: sendAt.toISOString(),
      attachments: [{ filename: 'b.txt' }],
    })
    await context.client.inboxes.drafts.update(address, draft.id, { sendAt: null, text: null, to: [] })
    expect(await own()).toMatchObject({ subject: 'Changed', send_at: null, text: null, to: [] })
    await context.client.inboxes.drafts.update(address, draft.id, { addLabels: ['b', 'a'] })
    await context.client.inboxes.drafts.update(address, draft.id, { addLabels: ['c', 'a'], removeLabels: ['b', 'c'] })
    expect((await own()).labels).toEqual(['a'])
  },

  async 'inboxes.drafts.delete'(context) {
    const { address, handle, draft } = await withDraft(context)
    await context.client.inboxes.drafts.delete(address, draft.id)
    expect((await context.harness.api('GET', `/mailboxes/${handle}/drafts/${draft.id}`)).status).toBe(404)
  },

  async 'inboxes.drafts.send'(context) {
    const to = await context.createInbox()
    const { address, handle, draft } = await withDraft(context, { to: [to.address], subject: 'From a draft', reply_to: [to.address] })
    const { messageId } = await context.client.inboxes.drafts.send(address, draft.id, { addLabels: ['from-draft'] })
    expect(await context.harness.waitForMail(to.handle, 'From a draft')).toMatchObject({
      reply_to: [to.address],
      attachments: [{ filename: 'a.txt' }],
    })
    expect((await context.harness.getMessage(handle, messageId)).labels).toEqual(['from-draft'])
    await expect(context.client.inboxes.drafts.send(address, draft.id, {})).rejects.toMatchObject({ statusCode: 409 })
  },
}

export const draftChecks: Record<string, Check> = {
  ...inAccountAndPod(
    'drafts',
    readingChecks((api) => api.drafts),
  ),
  ...within('inboxes.drafts.', readingChecks, (api) => api.inboxes.drafts),
  ...changingChecks,
}
