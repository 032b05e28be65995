// Checks of messages in an inbox.
import { expect } from 'vitest'
import { waitFor } from '../wait.ts'
import type { Check, Context } from './context.ts'

type Labelled = { messageId: string; labels: string[] }

const subjectsOf = (list: { messages: { subject?: string }[] }): (string | undefined)[] => list.messages.map(({ subject }) => subject)

/** An agent with a message to it. */
async function withMail(context: Context, subject: string) {
  const inbox = await context.createInbox()
  return { ...inbox, message: await context.receive(inbox.handle, subject) }
}

/** The message with this subject that an agent on this server received. */
const arrived = (context: Context, handle: string, subject: string) => context.harness.waitForMail(handle, subject)

const attachment = { filename: 'note.txt', contentType: 'text/plain', content: Buffer.from('Line one').toString('base64') }

export const messageChecks: Record<string, Check> = {
  async 'inboxes.messages.send'(context) {
    const { client, harness } = context
    const [from, to] = [await context.createInbox(), await context.createInbox()]
    const request = {
      to: [to.address],
      cc: 'ada@example.com',
      replyTo: from.address,
      subject: 'Order 1042',
      text: 'It ships today.',
      html: '<p>It ships <b>today</b>.</p>',
      headers: { 'X-Order': '1042' },
      labels: ['Orders'],
      attachments: [attachment],
    }
    const options = { headers: { 'idempotency-key': `order-${from.handle}` } }
    const { messageId, threadId } = await client.inboxes.messages.send(from.address, request, options)
    expect(await client.inboxes.messages.send(from.address, request, options)).toMatchObject({ messageId })
    const message = await arrived(context, to.handle, 'Order 1042')
    expect(message).toMatchObject({
      from: from.address,
      cc: ['ada@example.com'],
      reply_to: [from.address],
      attachments: [{ size_bytes: 8 }],
    })
    expect(message.headers['x-order']).toBe('1042')
    expect(await harness.getMessage(from.handle, messageId)).toMatchObject({ thread_id: threadId, labels: ['orders'] })
    const refused = { to: to.address, subject: 'Never', text: 'x' }
    await expect(client.inboxes.messages.send(from.address, { ...refused, trackOpens: true })).rejects.toMatchObject({ statusCode: 501 })
    await expect(client.inboxes.messages.send(from.address, { ...refused, labels: ['sent'] })).rejects.toMatchObject({ statusCode: 400 })
    await expect(client.inboxes.messages.send(from.address, { subject: 'x', text: 'x' })).rejects.toMatchObject({ statusCode: 400 })
    expect((await harness.expectApi(200, 'GET', `/mailboxes/${from.handle}/messages`)).data).toHaveLength(1)
  },

  async 'inboxes.messages.get'(context) {
    const { address, message } = await withMail(context, 'Read me')
    const got = await context.client.inboxes.messages.get(address, message.id)
    expect(got).toMatchObject({
      inboxId: address,
      messageId: message.id,
      threadId: message.thread_id,
      labels: ['received', 'unread'],
      from: 'Eve <eve@example.org>',
      to: [address],
      subject: 'Read me',
      size: message.size_bytes,
    })
    expect(got.timestamp).toEqual(new Date(message.created_at))
    expect(got.extractedText).toContain('About Read me')
    await expect(context.client.inboxes.messages.get(address, 'msg_unknown')).rejects.toMatchObject({ statusCode: 404 })
  },

  async 'inboxes.messages.list'(context) {
    const { client, harness } = context
    const { handle, address, message } = await withMail(context, 'List one')
    const second = await context.receive(handle, 'List two')
    const trashed = await context.receive(handle, 'List three')
    await harness.expectApi(200, 'PATCH', `/mailboxes/${handle}/messages/${second.id}`, { body: { is_read: true, labels: ['a', 'b'] } })
    await harness.expectApi(200, 'POST', `/mailboxes/${handle}/messages/${trashed.id}/trash`)
    const list = async (query: object) => subjectsOf(await client.inboxes.messages.list(address, query))
    expect(await list({})).toEqual(['List two', 'List one'])
    expect(await list({ includeTrash: true })).toEqual(['List three', 'List two', 'List one'])
    expect(await list({ labels: ['trash'] })).toEqual(['List three'])
    expect(await list({ labels: ['unread'] })).toEqual(['List one'])
    expect(await list({ labels: ['a', 'B'] })).toEqual(['List two'])
    expect(await list({ labels: ['a', 'c'] })).toEqual([])
    expect(await list({ labels: ['sent'] })).toEqual([])
    expect(await list({ subject: ['list', 'ONE'] })).toEqual(['List one'])
    expect(await list({ from: ['eve@'], to: [handle] })).toEqual(['List two', 'List one'])
    expect(await list({ after: new Date(message.created_at) })).toEqual(['List two'])
    const first = await client.inboxes.messages.list(address, { limit: 1, includeTrash: true })
    const next = await client.inboxes.messages.list(address, { limit: 2, includeTrash: true, pageToken: first.nextPageToken as string })
    expect([...subjectsOf(first), ...subjectsOf(next), next.nextPageToken]).toEqual(['List three', 'List two', 'List one', undefined])
    await expect(client.inboxes.messages.list(address, { labels: ['opened'] })).rejects.toMatchObject({ statusCode: 501 })
    await harness.expectApi(201, 'POST', `/identities/${handle}/mail-rules`, {
      body: { direction: 'inbound', action: 'block', entry: 'example.org' },
    })
    await harness.deliver({ from: 'eve@example.org', to: address, subject: 'Blocked', text: 'Blocked' })
    await harness.waitForMail(handle, 'Blocked', 'quarantined')
    expect(await list({ limit: 1 })).toEqual(['List two'])
    expect(await list({ includeBlocked: true, limit: 1 })).toEqual(['Blocked'])
    expect(await list({ includeUnauthenticated: true, limit: 1 })).toEqual(['List two'])
    expect(await list({ labels: ['blocked'] })).toEqual(['Blocked'])
    const oldest = await client.inboxes.messages.list(address, { limit: 2, includeTrash: true, ascending: true })
    expect(subjectsOf(oldest)).toEqual(['List one', 'List two'])
    const rest = { limit: 2, includeTrash: true, ascending: true, pageToken: oldest.nextPageToken as string }
    const last = await client.inboxes.messages.list(address, rest)
    expect([subjectsOf(last), last.nextPageToken]).toEqual([['List three'], undefined])
    await expect(client.inboxes.messages.list(address, { ascending: true, pageToken: 'x' })).rejects.toMatchObject({ statusCode: 400 })
  },

  async 'inboxes.messages.search'(context) {
    const { handle, address, message } = await withMail(context, 'Zebra crossing')
    await context.receive(handle, 'Something else')
    const search = (query: object) => context.client.inboxes.messages.search(address, { q: 'zebra', ...query })
    const [hit, ...others] = (await search({})).messages
    expect(others).toEqual([])
    expect(hit).toMatchObject({ messageId: message.id, highlights: { subject: ['**Zebra** crossing'] } })
    expect((await search({ before: new Date(message.created_at) })).messages).toEqual([])
  },

  async 'inboxes.messages.batchGet'(context) {
    const [{ address, handle, message }, other] = [await withMail(context, 'Batch one'), await withMail(context, 'Not of this inbox')]
    const second = await context.receive(handle, 'Batch two')
    const messageIds = [second.id, other.message.id, 'msg_unknown', message.id]
    const { limit, count, messages } = await context.client.inboxes.messages.batchGet(address, { messageIds })
    expect([limit, count, ...messages.map(({ messageId }) => messageId)]).toEqual([4, 2, second.id, message.id])
    expect(messages[0]?.text).toBeUndefined()
    await expect(context.client.inboxes.messages.batchGet(address, { messageIds: ['a', 'a'] })).rejects.toMatchObject({ statusCode: 400 })
    expect((await context.client.inboxes.messages.batchGet(address, { messageIds: ['a'] })).count).toBe(0)
  },

  async 'inboxes.messages.update'(context) {
    const { client, harness } = context
    const { address, handle, message } = await withMail(context, 'Labels')
    const update = (change: object): Promise<Labelled> => client.inboxes.messages.update(address, message.id, change)
    const own = () => harness.getMessage(handle, message.id)
    expect(await update({ addLabels: ['Needs-Reply', 'starred'], removeLabels: 'unread' })).toEqual({
      messageId: message.id,
      labels: ['received', 'read', 'starred', 'needs-reply'],
    })
    expect(await own()).toMatchObject({ is_read: true, is_starred: true, labels: ['needs-reply'] })
    await update({ addLabels: ['trash', 'unread'], removeLabels: ['needs-reply'] })
    expect(await own()).toMatchObject({ is_read: false, labels: [], trashed_at: expect.any(String) })
    await update({ removeLabels: ['trash'] })
    expect((await own()).trashed_at).toBeNull()
    await update({ addLabels: ['spam'] })
    expect((await harness.expectApi(200, 'GET', `/threads/${message.thread_id}`)).folder).toBe('spam')
    for (const change of [{ addLabels: ['received'] }, { removeLabels: ['sent'] }, { addLabels: ['blocked'] }, {}])
      await expect(update(change)).rejects.toMatchObject({ statusCode: 400 })
    await harness.expectApi(201, 'POST', `/identities/${handle}/mail-rules`, {
      body: { direction: 'inbound', action: 'block', entry: 'mallory.example' },
    })
    await harness.deliver({ from: 'm@mallory.example', to: address, subject: 'Held', text: 'Held' })
    const held = await harness.waitForMail(handle, 'Held', 'quarantined')
    expect((await client.inboxes.messages.get(address, held.id)).labels).toContain('blocked')
    await client.inboxes.messages.update(address, held.id, { removeLabels: ['blocked'] })
    expect((await harness.getMessage(handle, held.id)).status).toBe('received')
  },

  async 'inboxes.messages.batchUpdate'(context) {
    const { address, handle, message } = await withMail(context, 'Many one')
    const second = await context.receive(handle, 'Many two')
    const { count, updates } = await context.client.inboxes.messages.batchUpdate(address, {
      messageIds: [message.id, 'msg_unknown', second.id],
      addLabels: ['done'],
      removeLabels: ['unread'],
    })
    expect([count, updates.map(({ labels }) => labels)]).toEqual([2, Array(2).fill(['received', 'read', 'done'])])
    for (const { id } of [message, second])
      expect(await context.harness.getMessage(handle, id)).toMatchObject({ is_read: true, labels: ['done'] })
  },

  async 'inboxes.messages.delete'(context) {
    const { address, handle, message } = await withMail(context, 'Delete me')
    await context.client.inboxes.messages.delete(address, message.id)
    expect((await context.harness.api('GET', `/mailboxes/${handle}/messages/${message.id}`)).status).toBe(404)
  },

  async 'inboxes.messages.reply'(context) {
    const { client, harness } = context
    const [writer, answerer] = [await context.createInbox(), await context.createInbox()]
    await harness.send(writer.handle, answerer.address, { subject: 'A question' })
    const question = await arrived(context, answerer.handle, 'A question')
    const { messageId, threadId } = await client.inboxes.messages.reply(answerer.address, question.id, {
      text: 'An answer',
      replyTo: [answerer.address],
      labels: ['answered'],
      attachments: [attachment],
    })
    expect(threadId).toBe(question.thread_id)
    const answer = await arrived(context, writer.handle, 'Re: A question')
    expect(answer).toMatchObject({
      from: answerer.address,
      to: [writer.address],
      reply_to: [answerer.address],
      attachments: [{ filename: 'note.txt' }],
    })
    expect(await harness.getMessage(answerer.handle, messageId)).toMatchObject({
      labels: ['answered'],
      in_reply_to_message_id: question.id,
    })
  },

  async 'inboxes.messages.replyAll'(context) {
    const { client, harness } = context
    const [writer, answerer, third] = [await context.createInbox(), await context.createInbox(), await context.createInbox()]
    await harness.send(writer.handle, [answerer.address, third.address], { subject: 'To both' })
    const question = await arrived(context, answerer.handle, 'To both')
    await client.inboxes.messages.replyAll(answerer.address, question.id, { text: 'To all' })
    expect(await arrived(context, third.handle, 'Re: To both')).toMatchObject({ to: [writer.address, third.address] })
  },

  async 'inboxes.messages.forward'(context) {
    const { client } = context
    const { address, handle, message } = await withMail(context, 'Pass on')
    const to = await context.createInbox()
    await client.inboxes.messages.forward(address, message.id, { to: [to.address], text: 'See below' })
    const forwarded = await arrived(context, to.handle, 'Fwd: Pass on')
    expect(forwarded.text).toMatch(/^See below[\s\S]*About Pass on/)
    expect(forwarded.from).toBe(`${handle}@agents.localhost`)
  },

  async 'inboxes.messages.getAttachment'(context) {
    const inbox = await context.createInbox()
    const message = await context.receive(inbox.handle, 'With a file', { attachments: [{ filename: 'a.txt', content: 'File text' }] })
    const [file] = (await context.client.inboxes.messages.get(inbox.address, message.id)).attachments ?? []
    const id = file?.attachmentId as string
    expect(file).toMatchObject({ filename: 'a.txt', size: 9, contentDisposition: 'attachment' })
    const got = await context.client.inboxes.messages.getAttachment(inbox.address, message.id, id)
    expect(got.expiresAt.getTime()).toBeGreaterThan(Date.now())
    expect(await (await fetch(got.downloadUrl)).text()).toBe('File text')
    await expect(context.client.inboxes.messages.getAttachment(inbox.address, message.id, 'att_x')).rejects.toMatchObject({
      statusCode: 404,
    })
  },

  async 'inboxes.messages.getRaw'(context) {
    const { address, handle, message } = await withMail(context, 'The bytes')
    const { downloadUrl, size } = await context.client.inboxes.messages.getRaw(address, message.id)
    expect(size).toBe(message.size_bytes)
    const raw = await (await fetch(downloadUrl)).text()
    expect(raw).toContain('Subject: The bytes')
    expect(raw).toBe(String((await context.harness.expectApi(200, 'GET', `/mailboxes/${handle}/messages/${message.id}/raw`)) as Buffer))
    expect((await fetch(downloadUrl.replace(message.id, 'msg_other'))).status).toBe(403)
    // A sent message has its bytes too.
    const sent = await context.harness.send(handle, 'ada@example.com', { subject: 'Sent bytes' })
    const link = await waitFor('the link', async () => context.client.inboxes.messages.getRaw(address, sent.id))
    expect(await (await fetch(link.downloadUrl)).text()).toContain('Subject: Sent bytes')
  },
}
