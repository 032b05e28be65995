// Inboxes, threads, emails of threads, labels and drafts through the SDK of Resend, with their effects in our own API.
import type { Resend } from 'resend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createResend, dataOf } from './harness/resend-sdk.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let resend: Resend
let inboxId: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales', { display_name: 'Sales' })
  resend = createResend(harness)
})
afterAll(() => harness?.stop())

const emailAddress = 'help.desk@agents.localhost'
const to = [emailAddress]

test('an inbox is created, listed, changed and found by its id and address', async () => {
  inboxId = (await dataOf(resend.inboxes.create({ emailAddress, name: 'Help', fromName: 'Help desk' }))).id
  const identity = await harness.expectApi(200, 'GET', '/identities/help_desk')
  expect(identity).toMatchObject({
    mailbox_address: emailAddress,
    display_name: 'Help desk',
    description: 'Help',
    mailbox: { id: inboxId },
  })
  const { data, has_more } = await dataOf(resend.inboxes.list({ limit: 1 }))
  expect([data.map(({ id, email_address }) => [id, email_address]), has_more]).toEqual([[[inboxId, emailAddress]], true])
  expect((await dataOf(resend.inboxes.list({ after: inboxId }))).data).toMatchObject([{ email_address: 'sales@agents.localhost' }])
  for (const name of [inboxId, emailAddress])
    expect(await dataOf(resend.inboxes.get(name))).toMatchObject({
      object: 'inbox',
      id: inboxId,
      name: 'Help',
      from_name: 'Help desk',
      unread: 0,
      drafts: 0,
    })
  await dataOf(resend.inboxes.update(emailAddress, { name: 'Support', fromName: 'Support desk' }))
  expect(await harness.expectApi(200, 'GET', '/identities/help_desk')).toMatchObject({
    display_name: 'Support desk',
    description: 'Support',
  })
  expect((await resend.inboxes.create({ emailAddress })).error).toMatchObject({ statusCode: 422, name: 'validation_error' })
  expect((await resend.inboxes.create({ emailAddress: 'nowhere' })).error).toMatchObject({ statusCode: 422 })
  expect((await resend.inboxes.create({ emailAddress: 'x@agents.localhost', forwarding: true })).error).toMatchObject({ statusCode: 501 })
  expect((await resend.inboxes.get('other@agents.localhost')).error).toMatchObject({ statusCode: 404, name: 'not_found' })
})

/** A message to the inbox, as our own API shows it. */
async function receive(subject: string, more: Json = {}): Promise<Json> {
  await harness.send('sales', to, { subject, ...more })
  return harness.waitForMail('help_desk', subject)
}

test('threads are listed, searched, moved, labelled and removed', async () => {
  const message = await receive('Printer on fire', { attachments: [{ filename: 'photo.txt', content: 'TGluZQ==' }] })
  const other = await receive('Invoice')
  const { thread_id: threadId } = message
  const shown = {
    id: threadId,
    subject: 'Printer on fire',
    from: expect.stringContaining('sales@agents.localhost'),
    to,
    labels: [],
    email_count: 1,
    has_attachment: true,
    has_draft: false,
    read: false,
    folder: 'inbox',
  }
  const { data } = await dataOf(resend.inboxes.threads.list({ emailAddress }))
  expect(data).toMatchObject([{ id: other.thread_id, has_attachment: false }, shown])
  expect((await dataOf(resend.inboxes.threads.list({ inboxId, limit: 1, after: other.thread_id }))).data).toMatchObject([shown])
  expect(await dataOf(resend.inboxes.get(inboxId))).toMatchObject({ unread: 2, last_received: other.created_at })
  const found = await dataOf(resend.inboxes.threads.search({ inboxId, query: 'printer', from: ['sales@agents.localhost'], read: false }))
  expect(found.data).toMatchObject([{ ...shown, matched_email_id: null }])
  expect((await dataOf(resend.inboxes.threads.search({ inboxId, query: 'absent' }))).data).toEqual([])
  for (const filter of [{ folders: ['inbox', 'spam'] }, { hasAttachment: true }, { from: ['a@example.com'], to: ['b@example.com'] }])
    expect((await resend.inboxes.threads.search({ inboxId, ...filter } as never)).error).toMatchObject({ statusCode: 501 })

  const selected = { inboxId, threadId }
  const labels = (...names: string[]) => names.map((name) => ({ id: name, name, color: '#808080' }))
  expect((await dataOf(resend.inboxes.threads.labels.add({ ...selected, labels: ['urgent', 'hardware'] }))).data).toEqual(
    labels('hardware', 'urgent'),
  )
  expect((await dataOf(resend.inboxes.threads.labels.set({ ...selected, labels: ['urgent', 'new'] }))).data).toEqual(
    labels('new', 'urgent'),
  )
  expect((await dataOf(resend.inboxes.threads.labels.remove({ ...selected, labelId: 'new' }))).data).toEqual(labels('urgent'))
  expect((await harness.expectApi(200, 'GET', `/threads/${threadId}`)).labels).toEqual(['urgent'])
  expect((await dataOf(resend.inboxes.threads.list({ inboxId, labels: ['urgent'] }))).data.map(({ id }) => id)).toEqual([threadId])

  expect(await dataOf(resend.inboxes.threads.update({ ...selected, read: true, folder: 'archive' }))).toMatchObject({
    object: 'inbox_thread',
    id: threadId,
    folder: 'archive',
    read: true,
  })
  expect(await harness.expectApi(200, 'GET', `/threads/${threadId}`)).toMatchObject({ folder: 'archive', unread_count: 0 })
  expect((await dataOf(resend.inboxes.threads.list({ inboxId, folders: ['archive'], read: true }))).data.map(({ id }) => id)).toEqual([
    threadId,
  ])
  expect(await dataOf(resend.inboxes.threads.get(selected))).toMatchObject({ object: 'inbox_thread', subject: 'Printer on fire' })
  expect(await dataOf(resend.inboxes.threads.remove({ inboxId, threadId: other.thread_id }))).toMatchObject({ deleted: true })
  expect((await harness.expectApi(200, 'GET', `/threads/${other.thread_id}`)).folder).toBe('trash')
  expect((await dataOf(resend.inboxes.threads.list({ inboxId, folders: ['trash'] }))).data).toMatchObject([{ id: other.thread_id, to }])

  const foreign = { emailAddress: 'sales@agents.localhost', threadId }
  for (const answer of [
    await resend.inboxes.threads.get(foreign),
    await resend.inboxes.threads.update({ ...foreign, folder: 'trash' }),
    await resend.inboxes.threads.remove(foreign),
    await resend.inboxes.threads.labels.add({ ...foreign, labels: ['x'] }),
  ])
    expect(answer.error).toMatchObject({ statusCode: 404, name: 'not_found' })
})

test('emails of a thread are listed, read, answered and forwarded', async () => {
  const message = await receive('A question', { cc: ['ada@example.com'] })
  const selected = { inboxId, threadId: message.thread_id, emailId: message.id }
  const shown = { id: message.id, direction: 'inbound', subject: 'A question', to, cc: ['ada@example.com'], read: false }
  expect((await dataOf(resend.inboxes.threads.emails.list(selected))).data).toMatchObject([shown])
  expect(await dataOf(resend.inboxes.threads.emails.get(selected))).toMatchObject(shown)
  const attachments = [{ filename: 'answer.txt', content: Buffer.from('Line one') }]
  const reply = await dataOf(
    resend.inboxes.threads.emails.reply({ ...selected, text: 'An answer', attachments, headers: { 'X-Case': '7' } }),
  )
  const answered = await harness.waitForMail('sales', 'Re: A question')
  expect(answered).toMatchObject({ from: emailAddress, cc: [], attachments: [{ filename: 'answer.txt' }] })
  expect(answered.headers['x-case']).toBe('7')
  expect(await harness.getMessage('help_desk', reply.id)).toMatchObject({
    thread_id: message.thread_id,
    in_reply_to_message_id: message.id,
  })
  const toAll = await dataOf(resend.inboxes.threads.emails.reply({ ...selected, html: '<p>To all</p>', replyAll: true }))
  expect((await harness.getMessage('help_desk', toAll.id)).cc).toEqual(['ada@example.com'])
  const forwarded = await dataOf(
    resend.inboxes.threads.emails.forward({ ...selected, to: 'bob@example.com', text: 'See below', subject: 'Look' }),
  )
  expect(await harness.getMessage('help_desk', forwarded.id)).toMatchObject({ to: ['bob@example.com'], subject: 'Look' })
  expect((await harness.getMessage('help_desk', forwarded.id)).text).toContain('See below')

  expect((await resend.inboxes.threads.emails.reply({ ...selected, text: 'x', subject: 'Other' })).error).toMatchObject({ statusCode: 501 })
  const elsewhere = await receive('Elsewhere')
  const wrong = { ...selected, emailId: elsewhere.id }
  expect((await resend.inboxes.threads.emails.get(wrong)).error).toMatchObject({ statusCode: 404 })
  expect((await resend.inboxes.threads.emails.reply({ ...wrong, text: 'x' })).error).toMatchObject({ statusCode: 404 })
})

test('drafts are created, listed, changed, sent and removed', async () => {
  const first = await dataOf(resend.inboxes.drafts.create({ inboxId, subject: 'First', text: 'x' }))
  const attachments = [{ filename: 'a.txt', content: Buffer.from('A'), contentType: 'text/plain' }]
  const { id } = await dataOf(
    resend.inboxes.drafts.create({
      inboxId,
      to: 'sales@agents.localhost',
      cc: ['ada@example.com'],
      subject: 'Draft',
      html: '<p>x</p>',
      attachments,
    }),
  )
  const listed = await dataOf(resend.inboxes.drafts.list({ inboxId, limit: 1 }))
  expect([listed.data, listed.has_more]).toMatchObject([
    [{ id, type: 'standalone', to: ['sales@agents.localhost'], subject: 'Draft' }],
    true,
  ])
  expect((await dataOf(resend.inboxes.drafts.list({ inboxId, after: id }))).data.map((one) => one.id)).toEqual([first.id])
  expect((await dataOf(resend.inboxes.get(inboxId))).drafts).toBe(2)
  expect(await dataOf(resend.inboxes.drafts.get({ inboxId, draftId: id }))).toMatchObject({
    object: 'inbox_draft',
    html: '<p>x</p>',
    cc: ['ada@example.com'],
    attachments: [{ filename: 'a.txt', content_type: 'text/plain', size: 1 }],
  })
  const renewed = [{ filename: 'b.txt', content: Buffer.from('BB'), contentType: 'text/plain' }]
  await dataOf(resend.inboxes.drafts.update({ inboxId, draftId: id, cc: null, subject: 'Draft 2', attachments: renewed }))
  const draft = await harness.expectApi(200, 'GET', `/mailboxes/help_desk/drafts/${id}`)
  expect(draft).toMatchObject({ cc: [], subject: 'Draft 2', attachments: [{ filename: 'b.txt', size_bytes: 2 }] })
  const sent = await dataOf(resend.inboxes.drafts.send({ inboxId, draftId: id, headers: { 'X-Case': '8' } }))
  const message = await harness.waitForMail('sales', 'Draft 2')
  expect(message.headers['x-case']).toBe('8')
  expect((await harness.expectApi(200, 'GET', `/mailboxes/help_desk/drafts/${id}/message`)).message_id).toBe(sent.id)
  expect((await resend.inboxes.drafts.send({ inboxId, draftId: id })).error).toMatchObject({ statusCode: 422, name: 'validation_error' })

  const question = await receive('To be answered')
  const reply = { inboxId, threadId: question.thread_id, replyToEmailId: question.id, text: 'Soon' }
  const answer = await dataOf(resend.inboxes.drafts.create(reply))
  expect(await dataOf(resend.inboxes.drafts.get({ inboxId, draftId: answer.id }))).toMatchObject({
    type: 'reply',
    thread_id: question.thread_id,
    reply_to_email_id: question.id,
    to: ['Sales <sales@agents.localhost>'],
  })
  const { data } = await dataOf(resend.inboxes.threads.list({ inboxId, limit: 1 }))
  expect(data).toMatchObject([{ id: question.thread_id, has_draft: true }])
  expect(await dataOf(resend.inboxes.drafts.remove({ inboxId, draftId: answer.id }))).toEqual({
    object: 'inbox_draft',
    id: answer.id,
    deleted: true,
  })
  expect((await harness.api('GET', `/mailboxes/help_desk/drafts/${answer.id}`)).status).toBe(404)
})

test('labels are defined with a color, renamed on threads, and removed', async () => {
  const { id } = await dataOf(resend.inboxes.labels.create({ inboxId, name: 'bug', color: '#E93D82' }))
  const { id: thread } = (await harness.expectApi(200, 'GET', '/mailboxes/help_desk/threads?limit=1')).data[0]
  const selected = { inboxId, threadId: thread }
  const added = await dataOf(resend.inboxes.threads.labels.add({ ...selected, labels: [id, 'loose'] }))
  expect(added.data).toEqual([
    { id, name: 'bug', color: '#E93D82' },
    { id: 'loose', name: 'loose', color: '#808080' },
  ])
  expect(await dataOf(resend.inboxes.labels.update({ inboxId, labelId: id, name: 'defect', color: '#000000' }))).toMatchObject({ id })
  expect((await harness.expectApi(200, 'GET', `/threads/${thread}`)).labels).toEqual(['defect', 'loose'])
  expect((await dataOf(resend.inboxes.labels.list({ inboxId }))).data).toMatchObject([{ id, name: 'defect', color: '#000000' }])
  const found = await dataOf(resend.inboxes.threads.list({ inboxId, labels: [id] }))
  expect(found.data.map((one) => [one.id, one.labels[0]?.name])).toEqual([[thread, 'defect']])
  expect((await resend.inboxes.labels.create({ inboxId, name: 'defect' })).error).toMatchObject({ statusCode: 422 })
  expect(await dataOf(resend.inboxes.labels.remove({ inboxId, labelId: id }))).toEqual({ object: 'inbox_label', id, deleted: true })
  expect((await harness.expectApi(200, 'GET', `/threads/${thread}`)).labels).toEqual(['loose'])
  expect((await resend.inboxes.labels.remove({ inboxId, labelId: id })).error).toMatchObject({ statusCode: 404, name: 'not_found' })
})

test('the agent of an inbox has instructions, a tone and actions', async () => {
  expect(await dataOf(resend.inboxes.agent.get({ inboxId }))).toEqual({
    object: 'inbox_agent',
    instructions: null,
    tone: null,
    actions: [],
  })
  const settings = { instructions: 'Be kind.', tone: 'concise_casual' as const, actions: ['draft_reply' as const, 'archive' as const] }
  expect(await dataOf(resend.inboxes.agent.update({ inboxId, ...settings }))).toEqual({ object: 'inbox_agent', id: inboxId })
  expect(await dataOf(resend.inboxes.agent.get({ inboxId }))).toEqual({ object: 'inbox_agent', ...settings })
  expect((await harness.expectApi(200, 'GET', '/identities/help_desk')).instructions).toBe('Be kind.')
  await dataOf(resend.inboxes.agent.update({ emailAddress, tone: null, actions: [] }))
  expect(await dataOf(resend.inboxes.agent.get({ emailAddress }))).toMatchObject({ instructions: 'Be kind.', tone: null, actions: [] })
  for (const wrong of [{ tone: 'loud' }, { actions: ['explode'] }, { instructions: 7 }])
    expect((await resend.inboxes.agent.update({ inboxId, ...wrong } as never)).error).toMatchObject({ statusCode: 422 })
})

test('an inbox is removed with its agent', async () => {
  expect(await dataOf(resend.inboxes.remove(emailAddress))).toEqual({ object: 'inbox', id: inboxId, deleted: true })
  expect((await harness.api('GET', '/identities/help_desk')).status).toBe(404)
})
