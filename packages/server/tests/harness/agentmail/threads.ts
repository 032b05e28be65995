// Checks of threads, of an inbox and of the account.
import { expect } from 'vitest'
import type { Check, Context } from './context.ts'
import { inAccountAndPod, type Scoped, within } from './scopes.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK types each scope on its own
type Api = any

/** Two messages of one thread, one in each direction, with an attachment in the first. */
async function conversation(context: Context, subject: string) {
  const { handle, address } = await context.createInbox()
  const message = await context.receive(handle, subject, { attachments: [{ filename: 'a.txt', content: 'File text' }] })
  const path = `/mailboxes/${handle}/messages/${message.id}/reply`
  const answer = await context.harness.expectApi(201, 'POST', path, { body: { text: 'An answer' } })
  return { handle, address, message, answer, threadId: message.thread_id as string }
}

/** The checks of one scope. `threadsOf` has the methods, with the parameters that they have in the account. */
const checksOf = (threadsOf: (api: Api, address: string) => Api): Scoped => ({
  async list(context, api) {
    const { handle, address, message, answer, threadId } = await conversation(context, 'A thread')
    const threads = threadsOf(api, address)
    const other = await context.receive(handle, 'Another thread')
    await context.harness.expectApi(200, 'PATCH', `/threads/${threadId}`, { body: { labels: ['shared', 'mine'] } })
    const list = async (query: object): Promise<string[]> =>
      (await threads.list(query)).threads
        .filter(({ inboxId }: { inboxId: string }) => inboxId === address)
        .map((thread: { threadId: string }) => thread.threadId)
    expect(await list({})).toEqual([other.thread_id, threadId])
    const mine = (await threads.list({ limit: 2 })).threads[1]
    expect(mine).toMatchObject({
      inboxId: address,
      labels: ['received', 'sent', 'unread', 'mine', 'shared'],
      senders: expect.arrayContaining(['eve@example.org', address]),
      recipients: expect.arrayContaining(['eve@example.org', address]),
      subject: 'A thread',
      lastMessageId: answer.id,
      messageCount: 2,
    })
    expect(mine.receivedTimestamp).toEqual(new Date(message.created_at))
    expect(mine.size).toBeGreaterThan(message.size_bytes)
    expect(await list({ labels: ['mine', 'shared'] })).toEqual([threadId])
    expect(await list({ labels: ['mine', 'other'] })).toEqual([])
    expect(await list({ labels: ['mine'], ascending: true })).toEqual([threadId])
    expect(await list({ labels: ['sent'] })).toEqual([threadId])
    expect(await list({ subject: ['another'] })).toEqual([other.thread_id])
    expect(await list({ senders: ['EVE@'], recipients: ['eve'] })).toEqual([threadId])
    const first = await threads.list({ limit: 1 })
    expect((await threads.list({ limit: 1, pageToken: first.nextPageToken })).threads[0].threadId).toBe(threadId)
    await context.harness.expectApi(200, 'PATCH', `/threads/${threadId}`, { body: { folder: 'spam' } })
    await context.harness.expectApi(200, 'PATCH', `/threads/${other.thread_id}`, { body: { folder: 'trash' } })
    expect(await list({})).toEqual([])
    expect(await list({ includeSpam: true })).toEqual([threadId])
    expect(await list({ includeSpam: true, includeTrash: true })).toEqual([other.thread_id, threadId])
    expect(await list({ labels: ['trash'] })).toEqual([other.thread_id])
  },

  async search(context, api) {
    const { address, threadId, message } = await conversation(context, 'Giraffe')
    const search = async (query: object): Promise<string[]> =>
      (await threadsOf(api, address).search({ q: 'giraffe', ...query })).threads
        .filter(({ inboxId }: { inboxId: string }) => inboxId === address)
        .map((thread: { threadId: string }) => thread.threadId)
    expect(await search({})).toEqual([threadId])
    expect(await search({ before: new Date(message.created_at) })).toEqual([])
  },

  async get(context, api) {
    const { address, threadId, message, answer } = await conversation(context, 'Whole thread')
    const threads = threadsOf(api, address)
    const thread = await threads.get(threadId)
    expect(thread).toMatchObject({ inboxId: address, threadId, count: 2, attachments: [{ filename: 'a.txt' }] })
    expect(thread.messages.map(({ messageId }: { messageId: string }) => messageId)).toEqual([message.id, answer.id])
    expect(thread.messages[0].text).toContain('About Whole thread')
    const newest = await threads.get(threadId, { limit: 1 })
    expect(newest.messages[0].messageId).toBe(answer.id)
    const older = await threads.get(threadId, { limit: 1, pageToken: newest.nextPageToken })
    expect([older.messages[0].messageId, older.nextPageToken]).toEqual([message.id, undefined])
    await expect(threads.get('thrd_unknown')).rejects.toMatchObject({ statusCode: 404 })
  },

  async getAttachment(context, api) {
    const { address, threadId, message } = await conversation(context, 'Thread file')
    const file = await threadsOf(api, address).getAttachment(threadId, message.attachments[0].id)
    expect(await (await fetch(file.downloadUrl)).text()).toBe('File text')
  },

  async update(context, api) {
    const { address, threadId } = await conversation(context, 'Thread labels')
    const threads = threadsOf(api, address)
    expect((await threads.update(threadId, { addLabels: ['Later'], removeLabels: ['unread'] })).labels).toEqual([
      'received',
      'sent',
      'later',
    ])
    expect(await context.harness.expectApi(200, 'GET', `/threads/${threadId}`)).toMatchObject({ labels: ['later'], unread_count: 0 })
    await threads.update(threadId, { addLabels: ['spam'] })
    expect((await context.harness.expectApi(200, 'GET', `/threads/${threadId}`)).folder).toBe('spam')
    await expect(threads.update(threadId, { addLabels: ['sent'] })).rejects.toMatchObject({ statusCode: 400 })
  },

  async delete(context, api) {
    const { address, threadId } = await conversation(context, 'Thread to delete')
    await threadsOf(api, address).delete(threadId)
    expect((await context.harness.api('GET', `/threads/${threadId}`)).status).toBe(404)
  },
})

export const threadChecks: Record<string, Check> = {
  ...inAccountAndPod(
    'threads',
    checksOf((api) => api.threads),
  ),
  ...within('inboxes.threads.', checksOf, (api) => api.inboxes.threads),
}
