// Limits on media_url, and conversations begun by the agent. Covers settings and limits of iMessage that other tests leave out.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

const phone = '+14155554001'
let harness: Harness
let conversation: string
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', CALLSIGN_IMESSAGE_ALLOW_COLD: 'true' })
  await harness.createAgent('sales')
  await harness.createAgent('support')
  conversation = (await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from: phone, text: 'connect @sales' } }))
    .conversation_id
})
afterAll(() => harness.stop())

/** Sends a file with these bytes and any content type. */
async function sendFile(bytes: Buffer, type = 'text/html') {
  const receiver = await startReceiver(() => ({ status: 200, headers: { 'content-type': type }, body: bytes as never }))
  try {
    const body = { conversation_id: conversation, text: 'A file', media_url: receiver.url }
    return { ...(await harness.api('POST', '/imessage/messages', { body })), asked: receiver.received.length }
  } finally {
    await receiver.stop()
  }
}

describe('media_url', () => {
  test.each([
    ['image/png', Buffer.from('89504e470d0a1a0a0000', 'hex')],
    ['image/jpeg', Buffer.from('ffd8ffe000104a46', 'hex')],
    ['image/gif', Buffer.from('GIF89a....')],
    ['application/pdf', Buffer.from('%PDF-1.7\n')],
  ])('%s is recognized by its first bytes, fetched once, and delivered', async (type, bytes) => {
    const answer = await sendFile(bytes)
    expect([answer.status, answer.asked]).toEqual([200, 1])
    const item = await waitFor('the message to be sent', async () => {
      const { messages } = await harness.expectApi(200, 'GET', `/imessage/messages?conversation_id=${conversation}`)
      return messages.find((one: Json) => one.id === answer.body.id && one.status === 'sent')
    })
    expect(item.media).toMatchObject([{ content_type: type, size_bytes: bytes.length, status: 'stored' }])
    const link = new URL(item.media_url)
    expect((await harness.api('GET', link.pathname + link.search, { key: null })).body).toEqual(bytes)
  })

  test.each([
    ['HTML that says it is a picture', Buffer.from('<html>'), 'image/png'],
    ['a WebP', Buffer.from('RIFF....WEBP'), 'image/webp'],
    ['nothing', Buffer.alloc(0), 'image/png'],
  ])('%s is 400 unsupported_media_type', async (_what, bytes, type) => {
    const { status, body } = await sendFile(bytes, type)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'unsupported_media_type', '/media_url'])
  })

  test('more than 10 MB, an unreachable server, and a malformed URL are 400', async () => {
    const large = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(10 * 1024 * 1024)])
    expect((await sendFile(large)).body.error.code).toBe('validation_error')
    for (const media_url of ['http://127.0.0.1:9/a.png', 'file:///etc/passwd', 'not a url'])
      await harness.expectApi(400, 'POST', '/imessage/messages', { body: { conversation_id: conversation, text: 'x', media_url } })
  })
})

describe('conversations begun by the agent', () => {
  const send = (body: object) => harness.api('POST', '/imessage/messages', { body: { text: 'Hello first', ...body } })

  test('an agent begins a conversation once, and the answer to it is filed there', async () => {
    const [first, again] = [
      await send({ to: '+14155554002', identity_id: 'sales' }),
      await send({ to: '+14155554002', identity_id: 'sales' }),
    ]
    expect([first.status, again.body.conversation_id]).toEqual([200, first.body.conversation_id])
    const answer = await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from: '+14155554002', text: 'Who are you?' } })
    expect(answer).toMatchObject({ effect: 'filed', conversation_id: first.body.conversation_id })
  })

  test('a first message needs identity_id, and does not take a contact from another agent', async () => {
    expect((await send({ to: '+14155554003' })).body.error).toMatchObject({ code: 'validation_error' })
    expect((await send({ to: phone, identity_id: 'support' })).body.error).toMatchObject({ code: 'conflict' })
  })
})
