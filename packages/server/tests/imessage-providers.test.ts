// The contract of iMessage providers, run against each. Messages are not filed or sent twice, and none is lost, in any failure.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { png, type World } from './harness/imessage-world.ts'
import { blueBubblesWorld, linqWorld, simulatorWorld } from './harness/imessage-worlds.ts'
import { type Receiver, startReceiver } from './harness/receiver.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

describe.each([
  ['simulator', simulatorWorld],
  ['bluebubbles', blueBubblesWorld],
  ['linq', linqWorld],
])('%s', (name, createWorld) => {
  let world: World
  let harness: Harness
  let media: Receiver
  beforeAll(async () => {
    world = await createWorld()
    harness = await startHarness(world.settings)
    await world.attach(harness)
    await harness.createAgent('sales')
    media = await startReceiver()
  })
  afterAll(async () => {
    await harness.stop()
    await Promise.all([world.stop(), media.stop()])
  })

  let phones = 0
  const newPhone = () => `+1415555${String(2000 + phones++)}`
  const history = async (id: string): Promise<Json[]> =>
    (await harness.expectApi(200, 'GET', `/imessage/messages?limit=100&conversation_id=${id}`)).messages
  const send = (conversation: string, text: string, more: object = {}): Promise<Json> =>
    harness.expectApi(200, 'POST', '/imessage/messages', { body: { conversation_id: conversation, text, ...more } })
  const waitForStatus = (conversation: string, id: string, status: string): Promise<Json> =>
    waitFor(`${id} to be ${status}`, async () => (await history(conversation)).find((one) => one.id === id && one.status === status))
  const waitForText = (conversation: string, text: string): Promise<Json> =>
    waitFor(`"${text}" in the history`, async () => (await history(conversation)).find((one) => one.text === text))

  /** A phone that is connected, with the confirmation on it. */
  async function pair(): Promise<{ phone: string; conversation: string }> {
    const phone = newPhone()
    await world.write(phone, 'connect @sales')
    const conversation = await waitFor('the conversation', async () => {
      const { data } = await harness.expectApi(200, 'GET', '/imessage/conversations?limit=100&status=active')
      return data.find((one: Json) => one.recipient === phone)
    })
    await waitFor('the confirmation', async () => (await world.arrived(phone)).length === 1)
    expect(conversation.provider).toBe(name)
    return { phone, conversation: conversation.id }
  }
  const texts = async (phone: string) => (await world.arrived(phone)).map((one) => one.text).slice(1)

  test('a message goes each way unchanged', async () => {
    const { phone, conversation } = await pair()
    const text = 'Größe 42 “yes” — 🎉\nsecond line'
    await world.write(phone, text)
    expect(await waitForText(conversation, text)).toMatchObject({ direction: 'inbound', sender: phone, status: 'received' })
    const sent = await send(conversation, text)
    await waitForStatus(conversation, sent.id, 'sent')
    expect(await texts(phone)).toEqual([text])
    expect((await harness.eventsOf(sent.id)).map((event) => event.type)).toEqual(['imessage.sent'])
  })

  test('a repeated callback files once', async () => {
    const { phone, conversation } = await pair()
    await world.write(phone, 'Only once', { callback: 'twice' })
    await world.write(phone, 'And another')
    await waitForText(conversation, 'And another')
    expect((await history(conversation)).map((one) => one.text)).toEqual(['Only once', 'And another'])
  })

  test('a file goes out unchanged, once', async () => {
    const { phone, conversation } = await pair()
    const receiver = await startReceiver(() => ({ status: 200, headers: { 'content-type': 'image/png' }, body: png as never }))
    const sent = await send(conversation, 'With a picture', { media_url: receiver.url })
    const item = await waitForStatus(conversation, sent.id, 'sent')
    await receiver.stop()
    expect(receiver.received).toHaveLength(1)
    const arrived = (await world.arrived(phone)).slice(1)
    expect(arrived.map((one) => one.text).join('')).toBe('With a picture')
    expect(arrived.flatMap((one) => one.files)).toEqual([{ contentType: 'image/png', bytes: png.length }])
    const link = new URL(item.media_url)
    expect((await harness.api('GET', link.pathname + link.search, { key: null })).body).toEqual(png)
  })

  test('a file comes in with its message at once, and the event when the file is there', async () => {
    const { phone, conversation } = await pair()
    await world.write(phone, 'Look at this', { file: png })
    const { id } = await waitForText(conversation, 'Look at this')
    const item = await waitFor('the file', async () => (await history(conversation)).find((one) => one.id === id && one.media_url !== null))
    expect(item.media).toMatchObject([{ content_type: 'image/png', size_bytes: png.length, status: 'stored' }])
    const link = new URL(item.media_url)
    expect((await harness.api('GET', link.pathname + link.search, { key: null })).body).toEqual(png)
    expect((await harness.eventsOf(id)).map((event) => event.type)).toEqual(['imessage.received'])
  })

  test('a message whose answer is lost was sent, and is not sent again', async () => {
    const { phone, conversation } = await pair()
    await world.befall('lost_answer')
    const sent = await send(conversation, 'Taken, undelivered')
    await waitForStatus(conversation, sent.id, 'sent')
    expect(await texts(phone)).toEqual(['Taken, undelivered'])
  })

  test('a message whose request is lost was not sent, and is sent once that is known', async () => {
    const { phone, conversation } = await pair()
    await world.befall('lost_request')
    const sent = await send(conversation, 'Not taken')
    await waitForStatus(conversation, sent.id, 'sent')
    expect(await texts(phone)).toEqual(['Not taken'])
  })

  test('with lost answers all messages arrive once and in order, also equal ones', async () => {
    const { phone, conversation } = await pair()
    await world.befall('lost_answer', 'lost_request', 'lost_answer')
    const wanted = ['same', 'same', 'other', 'same', 'last']
    const ids = []
    for (const text of wanted) ids.push((await send(conversation, text)).id)
    for (const id of ids) await waitForStatus(conversation, id, 'sent')
    expect(await texts(phone)).toEqual(wanted)
  })

  test('a temporary refusal is retried, and a permanent one fails the message while the next one goes', async () => {
    const { phone, conversation } = await pair()
    if (world.faults.has('error')) {
      await world.befall('error')
      const sent = await send(conversation, 'Later')
      await waitForStatus(conversation, sent.id, 'sent')
      expect(await texts(phone)).toEqual(['Later'])
    }
    if (world.faults.has('refused')) {
      const before = await texts(phone)
      await world.befall('refused')
      const refused = await send(conversation, 'Never')
      expect((await waitForStatus(conversation, refused.id, 'failed')).error).toMatchObject({
        code: expect.any(String),
        message: expect.any(String),
      })
      expect(await harness.eventsOf(refused.id)).toMatchObject([{ type: 'imessage.failed', data: { status: 'failed' } }])
      const next = await send(conversation, 'Next')
      await waitForStatus(conversation, next.id, 'sent')
      expect(await texts(phone)).toEqual([...before, 'Next'])
    }
    expect(world.faults.has('error') || world.faults.has('refused')).toBe(true)
  })

  test('a failure after sending is reported', async () => {
    if (!world.failLater) return expect(name).toBe('simulator')
    const { conversation } = await pair()
    const sent = await send(conversation, `Fails later on ${name}`)
    await waitForStatus(conversation, sent.id, 'sent')
    await world.failLater(`Fails later on ${name}`)
    await waitForStatus(conversation, sent.id, 'failed')
    expect((await harness.eventsOf(sent.id)).map((event) => event.type)).toEqual(['imessage.sent', 'imessage.failed'])
  })

  test('polling finds messages without a callback, and the history is in the order of writing', async () => {
    if (!world.canBeAsked) return expect(name).toBe('simulator')
    const { phone, conversation } = await pair()
    // The conversation has to be older than the late message.
    await harness.db.query({ text: `UPDATE imessage_conversations SET created_at = created_at - interval '1 hour'` })
    await world.write(phone, 'first, undelivered', { callback: 'never', agoMs: 3000 })
    await world.write(phone, 'second, told', { agoMs: 1000 })
    await waitForText(conversation, 'first, undelivered')
    await waitForText(conversation, 'second, told')
    expect((await history(conversation)).map((one) => one.text)).toEqual(['first, undelivered', 'second, told'])
  })
})
