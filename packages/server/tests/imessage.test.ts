// The iMessage operations on the simulator. Covers the router, sending, history, conversations, and commands texted to the line.

import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

type ReadQr = (pixels: Uint8ClampedArray, width: number, height: number) => { data: string } | null
// A CommonJS module whose types say that it is none.
const readQr = ((jsqr as unknown as { default?: ReadQr }).default ?? jsqr) as unknown as ReadQr

let harness: Harness
let salesKey: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales', { display_name: 'Sales Agent' })
  await harness.createAgent('support')
  salesKey = await harness.agentKey('sales')
})
afterAll(() => harness.stop())

let phones = 0
const newPhone = () => `+1415555${String(1000 + phones++)}`
const write = (from: string, text: string, more: object = {}): Promise<Json> =>
  harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from, text, ...more } })
const send = (body: object, key = harness.organizationKey): Promise<Json> =>
  harness.expectApi(200, 'POST', '/imessage/messages', { key, body })
const history = (id: string, query = ''): Promise<Json> => harness.expectApi(200, 'GET', `/imessage/messages?conversation_id=${id}${query}`)

/** Messages that a simulated phone received, oldest first. */
const got = async (phone: string): Promise<string[]> => {
  const { data } = await harness.expectApi(200, 'GET', `/simulator/outbox?limit=100&to=${encodeURIComponent(phone)}`)
  return data.map((item: Json) => item.text).reverse()
}
const waitForTexts = (phone: string, count: number) =>
  waitFor(`${count} texts on ${phone}`, async () => {
    const texts = await got(phone)
    return texts.length >= count && texts
  })
const waitForStatus = (conversation: string, id: string, status: string): Promise<Json> =>
  waitFor(`${id} to be ${status}`, async () =>
    (await history(conversation, '&limit=100')).messages.find((one: Json) => one.id === id && one.status === status),
  )

/** A phone that is connected to an agent. */
async function pair(handle = 'sales'): Promise<{ phone: string; conversation: string }> {
  const phone = newPhone()
  const { conversation_id, effect } = await write(phone, `connect @${handle}`)
  expect(effect).toBe('connected')
  return { phone, conversation: conversation_id }
}

describe('GET /imessage/router', () => {
  test('has the fields of the contract', async () => {
    const router = await harness.expectApi(200, 'GET', '/imessage/router?agent=sales')
    expect(router).toEqual({
      phone_number: '+18005550199',
      display_name: 'Callsign',
      connect_prompt: 'connect @sales',
      url: 'imessage://+18005550199?body=connect%20%40sales',
      sms_url: 'sms:+18005550199?body=connect%20%40sales',
      qr_code: expect.stringMatching(/^data:image\/png;base64,[A-Za-z0-9+/]+=*$/),
      provider: 'simulator',
    })
  })

  test('an independent decoder reads its QR code as its url', async () => {
    for (const agent of ['sales', '@support']) {
      const router = await harness.expectApi(200, 'GET', `/imessage/router?agent=${encodeURIComponent(agent)}`)
      const { data, width, height } = PNG.sync.read(Buffer.from(router.qr_code.split(',')[1], 'base64'))
      expect(readQr(new Uint8ClampedArray(data), width, height)?.data).toBe(router.url)
    }
  })

  test('takes the handle with or without @, and the recipient as phone or user_phone', async () => {
    const { phone } = await pair()
    for (const query of [
      'agent=@sales',
      `agent=sales&phone=${encodeURIComponent(phone)}`,
      `agent=sales&user_phone=${encodeURIComponent(phone)}`,
    ])
      expect((await harness.expectApi(200, 'GET', `/imessage/router?${query}`)).connect_prompt).toBe('connect @sales')
    expect((await harness.expectApi(200, 'GET', '/imessage/router', { key: salesKey })).connect_prompt).toBe('connect @sales')
  })

  test.each([
    ['', 400, 'agent'],
    ['agent=nobody', 404, 'identity'],
    ['agent=sales&phone=12', 400, 'E.164'],
    ['agent=sales&fax=1', 400, 'fax'],
  ])('%s is %i', async (query, status, word) => {
    const { error } = await harness.expectApi(status, 'GET', `/imessage/router?${query}`)
    expect(error.message).toContain(word)
  })
})

describe('pairing', () => {
  test('connect @handle makes a conversation, notifies the agent, and is confirmed once', async () => {
    const { phone, conversation } = await pair()
    expect(await harness.expectApi(200, 'GET', `/imessage/conversations/${conversation}`)).toMatchObject({
      id: conversation,
      agent_handle: 'sales',
      phone_number: '+18005550199',
      recipient: phone,
      provider: 'simulator',
      status: 'active',
      archived_at: null,
      archived_reason: null,
    })
    expect(await harness.eventsOf(conversation)).toMatchObject([{ type: 'imessage.connected' }])
    expect(await waitForTexts(phone, 1)).toEqual(['You are connected to Sales Agent (@sales). Text disconnect to end it.'])
  })

  test.each(['Connect @Sales', ' connect  sales. ', 'CONNECT @sales\n'])('%j is accepted', async (text) => {
    expect(await write(newPhone(), text)).toMatchObject({ effect: 'connected' })
  })

  test('another agent replaces the first, whose conversation is archived, and later messages go to the other', async () => {
    const { phone, conversation } = await pair('sales')
    const second = await write(phone, 'connect @support')
    expect(second).toMatchObject({ effect: 'connected', message_id: null })
    expect(second.conversation_id).not.toBe(conversation)
    expect(await harness.expectApi(200, 'GET', `/imessage/conversations/${conversation}`)).toMatchObject({
      status: 'archived',
      archived_reason: 'replaced',
    })
    expect((await harness.eventsOf(conversation)).map((event) => event.type)).toEqual(['imessage.connected', 'imessage.disconnected'])
    expect(await write(phone, 'Hello')).toMatchObject({ effect: 'filed', conversation_id: second.conversation_id })
    expect((await history(conversation)).messages).toEqual([])
  })

  test('the same agent again keeps the conversation', async () => {
    const { phone, conversation } = await pair()
    expect(await write(phone, 'connect @sales')).toMatchObject({ effect: 'connected', conversation_id: conversation })
    expect(await harness.eventsOf(conversation)).toHaveLength(1)
    expect((await waitForTexts(phone, 2))[1]).toContain('already')
  })

  test.each(['disconnect', 'Stop', 'STOP.'])('%s ends it, without an answer', async (word) => {
    const { phone, conversation } = await pair()
    expect(await write(phone, word)).toMatchObject({ effect: 'disconnected', conversation_id: conversation })
    expect(await harness.expectApi(200, 'GET', `/imessage/conversations/${conversation}`)).toMatchObject({
      status: 'archived',
      archived_reason: 'disconnected_by_user',
    })
    expect(await harness.eventsOf(conversation)).toMatchObject([
      { type: 'imessage.connected' },
      { type: 'imessage.disconnected', data: { archived_reason: 'disconnected_by_user' } },
    ])
    // A repeated stop gets no answer.
    expect(await write(phone, word)).toMatchObject({ effect: 'ignored' })
    await waitForTexts(phone, 1)
    expect(await got(phone)).toHaveLength(1)
  })

  test.each([
    ['stop', 'disconnected_by_user'],
    ['connect @support', 'replaced'],
    [null, 'disconnected_by_agent'],
  ])('messages that wait when the conversation ends (%s) fail once, and are never sent', async (word, reason) => {
    const { phone, conversation } = await pair()
    await waitForTexts(phone, 1)
    // A chat whose job is marked as in flight but does not run, so new messages wait.
    await waitFor('the chat to have nothing to send', async () => {
      const text = 'UPDATE imessage_chats SET is_sending = true WHERE participant = $1 AND NOT is_sending RETURNING id'
      return (await harness.db.query({ text, values: [phone] })).rows.length === 1
    })
    const waiting = [
      await send({ conversation_id: conversation, text: 'Too late' }),
      await send({ conversation_id: conversation, text: 'Later' }),
    ]
    if (word === null) await harness.expectApi(200, 'POST', `/imessage/conversations/${conversation}/disconnect`)
    else await write(phone, word)
    expect(await harness.expectApi(200, 'GET', `/imessage/conversations/${conversation}`)).toMatchObject({ archived_reason: reason })
    const error = { code: 'conversation_archived', message: expect.stringContaining('ended before') }
    const { messages } = await history(conversation)
    expect(messages).toMatchObject(waiting.map(({ id }) => ({ id, status: 'failed', error })))
    for (const { id } of waiting)
      expect(await harness.eventsOf(id)).toMatchObject([{ type: 'imessage.failed', data: { status: 'failed', error } }])
    // The chat continues in order, and contains neither of the two.
    await harness.db.query({ text: 'UPDATE imessage_chats SET is_sending = false WHERE participant = $1', values: [phone] })
    await write(phone, 'connect @sales')
    const last = await waitFor('the last words', async () => {
      const texts = await got(phone)
      return texts.at(-1)?.includes('connected to Sales Agent') && texts.length > 1 && texts
    })
    expect(last.join()).not.toMatch(/Too late|Later/)
  })

  test('a sender without a connection gets help once an hour', async () => {
    const phone = newPhone()
    expect(await write(phone, 'Hello?')).toMatchObject({ effect: 'helped', conversation_id: null, message_id: null })
    expect(await write(phone, 'Hello??')).toMatchObject({ effect: 'ignored' })
    expect(await write(phone, 'connect @nobody_here')).toMatchObject({ effect: 'ignored' })
    expect(await waitForTexts(phone, 1)).toEqual([expect.stringContaining('connect @')])
    await harness.db.query({
      text: `UPDATE imessage_chats SET helped_at = helped_at - interval '61 minutes' WHERE participant = $1`,
      values: [phone],
    })
    expect(await write(phone, 'connect @nobody_here')).toMatchObject({ effect: 'helped' })
    expect((await waitForTexts(phone, 2))[1]).toContain('@nobody_here is not an agent here')
  })
})

describe('POST /imessage/messages', () => {
  test('a message into a conversation is queued, sent, and in the history, with its event', async () => {
    const { phone, conversation } = await pair()
    const sent = await send({ conversation_id: conversation, text: 'We ship to Norway.' })
    expect(sent).toEqual({
      id: expect.stringMatching(/^imsg_/),
      conversation_id: conversation,
      direction: 'outbound',
      status: 'queued',
      text: 'We ship to Norway.',
      sent_at: expect.stringMatching(/^\d{4}-/),
    })
    const item = await waitForStatus(conversation, sent.id, 'sent')
    expect(item).toMatchObject({
      direction: 'outbound',
      sender: 'sales',
      text: 'We ship to Norway.',
      media_url: null,
      media: [],
      error: null,
    })
    expect((await got(phone)).at(-1)).toBe('We ship to Norway.')
    expect(await harness.eventsOf(sent.id)).toMatchObject([{ type: 'imessage.sent', data: { status: 'sent', sent_at: item.sent_at } }])
    const { data } = await harness.expectApi(200, 'GET', '/events?types=imessage.sent&limit=100')
    expect(data.find((event: Json) => event.data.id === sent.id).data).toMatchObject({
      conversation_id: conversation,
      direction: 'outbound',
      recipient: phone,
      text: 'We ship to Norway.',
      agent_handle: 'sales',
      status: 'sent',
    })
  })

  test('a connected number is reached by an organization key, with identity_id as handle or id, and by the agent itself', async () => {
    const { phone, conversation } = await pair()
    const identity = await harness.expectApi(200, 'GET', '/identities/sales')
    for (const more of [{}, { identity_id: 'sales' }, { identity_id: '@sales' }, { identity_id: identity.id }])
      expect(await send({ to: phone, text: 'Hi', ...more })).toMatchObject({ conversation_id: conversation })
    expect(await send({ to: phone, text: 'Hi' }, salesKey)).toMatchObject({ conversation_id: conversation })
    expect(await send({ conversation_id: conversation, to: phone, text: 'Hi', identity_id: 'sales' })).toMatchObject({
      conversation_id: conversation,
    })
  })

  test('messages of one chat arrive in order', async () => {
    const { phone, conversation } = await pair()
    const texts = Array.from({ length: 20 }, (_, i) => `number ${i}`)
    for (const text of texts) await send({ conversation_id: conversation, text })
    expect((await waitForTexts(phone, 21)).slice(1)).toEqual(texts)
  })

  test('Idempotency-Key gives the first answer again and one message', async () => {
    const { phone, conversation } = await pair()
    const ask = { body: { conversation_id: conversation, text: 'Once' }, headers: { 'idempotency-key': 'once-1' } }
    const [first, again] = [await harness.api('POST', '/imessage/messages', ask), await harness.api('POST', '/imessage/messages', ask)]
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true'])
    expect(again.body).toEqual(first.body)
    await waitForStatus(conversation, first.body.id, 'sent')
    expect((await got(phone)).filter((text) => text === 'Once')).toHaveLength(1)
  })

  test('invalid requests are refused with their reason', async () => {
    const { phone, conversation } = await pair()
    const stranger = newPhone()
    const refusals: [object, number, string][] = [
      [{ text: 'x' }, 400, 'validation_error'],
      [{ conversation_id: conversation }, 400, 'validation_error'],
      [{ conversation_id: conversation, text: '' }, 400, 'validation_error'],
      [{ conversation_id: conversation, text: 'x', subject: 'y' }, 400, 'validation_error'],
      [{ conversation_id: conversation, to: stranger, text: 'x' }, 400, 'validation_error'],
      [{ conversation_id: conversation, identity_id: 'support', text: 'x' }, 400, 'validation_error'],
      [{ conversation_id: 'conv_01h455vb4pex5vsknk084sn02q', text: 'x' }, 404, 'not_found'],
      [{ to: '4155550100', text: 'x' }, 400, 'validation_error'],
      [{ to: stranger, text: 'x' }, 403, 'recipient_not_connected'],
      [{ to: stranger, identity_id: 'sales', text: 'x' }, 403, 'recipient_not_connected'],
      [{ to: phone, identity_id: 'support', text: 'x' }, 403, 'recipient_not_connected'],
      [{ to: phone, identity_id: 'nobody', text: 'x' }, 404, 'not_found'],
    ]
    for (const [body, status, code] of refusals) {
      const { error } = await harness.expectApi(status, 'POST', '/imessage/messages', { body })
      expect([body, error.code]).toEqual([body, code])
    }
    await harness.expectApi(403, 'POST', '/imessage/messages', { key: salesKey, body: { to: phone, identity_id: 'support', text: 'x' } })
  })

  test('an archived conversation is 409, and the number that ended it is 403', async () => {
    const { phone, conversation } = await pair()
    await write(phone, 'stop')
    const { error } = await harness.expectApi(409, 'POST', '/imessage/messages', { body: { conversation_id: conversation, text: 'x' } })
    expect(error.code).toBe('conversation_archived')
    await harness.expectApi(403, 'POST', '/imessage/messages', { body: { to: phone, identity_id: 'sales', text: 'x' } })
  })
})

describe('GET /imessage/messages', () => {
  test('is chronological, both directions, in pages, of active and archived conversations', async () => {
    const { phone, conversation } = await pair()
    const written: string[] = []
    for (let i = 0; i < 3; i++) {
      written.push((await write(phone, `in ${i}`)).message_id)
      written.push((await send({ conversation_id: conversation, text: `out ${i}` })).id)
    }
    await waitForStatus(conversation, written[5] as string, 'sent')
    const whole = await history(conversation)
    expect(whole.messages.map((one: Json) => one.id)).toEqual(written)
    expect(whole.next_cursor).toBeNull()
    expect(whole.messages[0]).toMatchObject({
      conversation_id: conversation,
      direction: 'inbound',
      status: 'received',
      sender: phone,
      text: 'in 0',
      media_url: null,
    })
    expect(whole.messages[1]).toMatchObject({ direction: 'outbound', sender: 'sales', text: 'out 0' })
    await write(phone, 'stop')
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Json = await history(conversation, `&limit=4${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.messages.map((one: Json) => one.id))
      cursor = page.next_cursor
    }
    expect(pages).toEqual(written)
    expect(await harness.eventsOf(written[0] as string)).toMatchObject([{ type: 'imessage.received', data: { status: 'received' } }])
  })

  test('without a conversation it lists all that the key may see', async () => {
    const { phone } = await pair('support')
    const { message_id } = await write(phone, 'For support only')
    const idsOf = async (key: string) => {
      const ids: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Json = await harness.expectApi(200, 'GET', `/imessage/messages?limit=100${cursor && `&cursor=${cursor}`}`, { key })
        ids.push(...page.messages.map((one: Json) => one.id))
        cursor = page.next_cursor
      }
      return ids
    }
    expect(await idsOf(harness.organizationKey)).toContain(message_id)
    const sales = await idsOf(salesKey)
    expect(sales.length).toBeGreaterThan(5)
    expect(sales).not.toContain(message_id)
    expect(await idsOf(harness.otherOrganization.key)).toEqual([])
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'cursor=imsg_1', 'after=1'])('%s is 400', async (query) => {
    await harness.expectApi(400, 'GET', `/imessage/messages?${query}`)
  })
})

describe('conversations', () => {
  test('are listed newest first, by agent and status', async () => {
    const first = await pair('support')
    const second = await pair('support')
    const { data } = await harness.expectApi(200, 'GET', '/imessage/conversations?agent=support&status=active')
    expect(data.slice(0, 2).map((one: Json) => one.id)).toEqual([second.conversation, first.conversation])
    expect(new Set(data.map((one: Json) => `${one.agent_handle} ${one.status}`))).toEqual(new Set(['support active']))
    const page = await harness.expectApi(200, 'GET', '/imessage/conversations?limit=1')
    const next = await harness.expectApi(200, 'GET', `/imessage/conversations?limit=1&cursor=${page.next_cursor}`)
    expect([page.data[0].id, next.data[0].id]).toEqual([second.conversation, first.conversation])
    const own = await harness.expectApi(200, 'GET', '/imessage/conversations?limit=100', { key: salesKey })
    expect(new Set(own.data.map((one: Json) => one.agent_handle))).toEqual(new Set(['sales']))
  })

  test('an agent ends its own, also twice', async () => {
    const { phone, conversation } = await pair()
    for (let i = 0; i < 2; i++)
      expect(await harness.expectApi(200, 'POST', `/imessage/conversations/${conversation}/disconnect`, { key: salesKey })).toMatchObject({
        status: 'archived',
        archived_reason: 'disconnected_by_agent',
      })
    expect((await harness.eventsOf(conversation)).map((event) => event.type)).toEqual(['imessage.connected', 'imessage.disconnected'])
    expect(await write(phone, 'Anybody there?')).toMatchObject({ effect: 'helped' })
  })

  test('of others are 404, and an agent key cannot name another agent', async () => {
    const { conversation } = await pair('support')
    for (const key of [salesKey, harness.otherOrganization.key]) {
      await harness.expectApi(404, 'GET', `/imessage/conversations/${conversation}`, { key })
      await harness.expectApi(404, 'POST', `/imessage/conversations/${conversation}/disconnect`, { key })
      await harness.expectApi(404, 'GET', `/imessage/messages?conversation_id=${conversation}`, { key })
      await harness.expectApi(404, 'POST', '/imessage/messages', { key, body: { conversation_id: conversation, text: 'x' } })
    }
    await harness.expectApi(403, 'GET', '/imessage/conversations?agent=support', { key: salesKey })
    await harness.expectApi(403, 'GET', '/imessage/router?agent=support', { key: salesKey })
  })

  test('are deleted with their agent, including files', async () => {
    await harness.createAgent('leaving')
    const { phone, conversation } = await pair('leaving')
    await write(phone, 'Goodbye')
    await harness.expectApi(204, 'DELETE', '/identities/leaving')
    await harness.expectApi(404, 'GET', `/imessage/conversations/${conversation}`)
    expect(await write(phone, 'connect @leaving')).toMatchObject({ effect: 'helped' })
  })
})

test('a simulated phone belongs to its own organization', async () => {
  await harness.createAgent('outsider', {}, harness.otherOrganization.key)
  const { phone } = await pair()
  const ask = (body: object) => ({ key: harness.otherOrganization.key, body })
  await harness.expectApi(403, 'POST', '/simulator/imessage', ask({ from: phone, text: 'As somebody else' }))
  await harness.expectApi(403, 'POST', '/simulator/imessage', ask({ from: newPhone(), text: 'connect @sales' }))
  await harness.expectApi(403, 'POST', '/simulator/imessage', { key: salesKey, body: { from: phone, text: 'x' } })
  for (const body of [{ from: 'nobody', text: 'x' }, { from: phone }, { text: 'x' }])
    await harness.expectApi(400, 'POST', '/simulator/imessage', { body })
})

describe('callbacks', () => {
  test('to another address, or of another provider, are 404', async () => {
    for (const path of ['/hooks/imessage/simulator/guess', '/hooks/imessage/linq/guess']) {
      const response = await fetch(`${harness.baseUrl}${path}`, { method: 'POST', body: '{}' })
      expect(response.status).toBe(404)
    }
  })
})
