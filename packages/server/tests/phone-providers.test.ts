// Tests that every phone provider must pass. They run on the simulator, and on Telnyx and Twilio against stand-ins that the vendors' SDKs drive.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Carrier, carriers } from './harness/phone-carriers.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

describe.each(Object.keys(carriers))('%s', (name) => {
  let harness: Harness
  let carrier: Carrier
  beforeAll(async () => {
    carrier = await (carriers[name] as (typeof carriers)[string])(() => harness)
    harness = await startHarness({ CALLSIGN_PHONE_POLL_SECONDS: '0.02', CALLSIGN_PHONE_CATCH_UP_SECONDS: '0.1', ...carrier.settings })
  })
  afterAll(async () => {
    await harness.stop()
    await carrier.stop()
  })

  let made = 0
  const ask = async (wanted: Record<string, string> = {}) => {
    const agent_handle = `agent${++made}`
    await harness.createAgent(agent_handle)
    return harness.api('POST', '/phone/numbers', { body: { agent_handle, ...wanted } })
  }
  /** Buys a number for a new agent. Exactly one more number is paid for than before. */
  async function buy(wanted: Record<string, string> = {}): Promise<Json> {
    const [before, purchases] = [await carrier.owned(), await carrier.purchases()]
    const { status, body } = await ask(wanted)
    expect([status, body.error]).toEqual([201, undefined])
    expect(body).toMatchObject({ provider: name, status: 'active' })
    expect((await carrier.owned()).filter((one) => !before.includes(one))).toEqual([body.phone_number])
    expect(await carrier.purchases()).toBe(purchases + 1)
    return body
  }
  const get = (number: Json): Promise<Json> => harness.expectApi(200, 'GET', `/phone/numbers/${number.id}`)
  const ready = (number: Json) => waitFor('the number to be ready', async () => (await get(number)).sms_status === 'ready')
  async function buyReady(wanted: Record<string, string> = {}): Promise<Json> {
    const number = await buy(wanted)
    await ready(number)
    return number
  }
  const texts = async (number: Json): Promise<Json[]> =>
    (await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages`)).data.toReversed()
  const textsOf = (number: Json, count: number) =>
    waitFor(`${count} texts`, async () => {
      const found = await texts(number)
      return found.length >= count && found
    })
  const from = '+16502530000'
  const given = (number: Json) =>
    waitFor('the provider to have it back', async () => !(await carrier.owned()).includes(number.phone_number))

  test.each<[Record<string, string>, RegExp, Record<string, string>]>([
    [{}, /^\+1\d{10}$/, { country_code: 'US', type: 'local' }],
    [{ area_code: '415' }, /^\+1415/, { region: 'CA' }],
    [{ region: 'NY' }, /^\+1\d{10}$/, { region: 'NY' }],
    [{ country_code: 'CA', area_code: '416' }, /^\+1416/, { country_code: 'CA', region: 'ON' }],
    [{ type: 'toll_free' }, /^\+18(00|33|44|55|66|77|88)/, { type: 'toll_free', region: '' }],
  ])('sells a number for %o, which becomes ready once', async (wanted, pattern, fields) => {
    const number = await buyReady(wanted)
    expect(number.phone_number).toMatch(pattern)
    expect(number).toMatchObject(fields)
    expect((await harness.eventsOf(number.id)).map((one) => one.type)).toEqual(['number.sms_ready'])
  })

  test('has nothing left, which is 409, and nothing is bought', async () => {
    const before = await carrier.owned()
    const { status, body } = await ask(await carrier.none())
    expect([status, body.error.code]).toEqual([409, 'no_numbers_available'])
    expect(await carrier.owned()).toEqual(before)
  })

  test('sells the first offers to another customer, and the next one is bought', async () => {
    await carrier.sellFirst(2)
    await buy({ region: 'NY' })
  })

  test.each(['lose', 'cut', 'late'] as const)('fails an order with %s, and one number is bought', async (kind) => {
    await carrier.spoil('order', kind)
    await buyReady()
  })

  test('loses several answers in a row, and one number is bought', async () => {
    await carrier.spoil('order', 'cut')
    await carrier.spoil('order', 'lose')
    await buy()
  })

  test.each(['search', 'order'] as const)('refuses the %s with 502, buys nothing, and the next request succeeds', async (step) => {
    const before = await carrier.owned()
    await carrier.spoil(step, 'refuse')
    const { status, body } = await ask()
    expect([status, body.error.code]).toEqual([502, 'upstream_provider_error'])
    expect(await carrier.owned()).toEqual(before)
    await buy()
  })

  test("fails while a number's state is read, and the number becomes ready later, once", async () => {
    await carrier.spoil('advance', 'fail')
    const number = await buyReady()
    expect((await harness.eventsOf(number.id)).map((one) => one.type)).toEqual(['number.sms_ready'])
  })

  test('sells numbers to many concurrent agents, one each', async () => {
    const [before, purchases] = [await carrier.owned(), await carrier.purchases()]
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask()))
    const numbers = answers.map((one) => one.body.phone_number)
    expect(new Set(numbers).size).toBe(5)
    expect((await carrier.owned()).filter((one) => !before.includes(one)).sort()).toEqual(numbers.toSorted())
    expect(await carrier.purchases()).toBe(purchases + 5)
  })

  test('sends callbacks once, twice, out of order or not at all, and each text is filed once', async () => {
    const number = await buyReady({ area_code: '415' })
    await carrier.text(number, { from, text: 'one, ünïcode 👋 & = +' }, 'once')
    await carrier.text(number, { from, text: 'two' }, 'twice')
    await carrier.reversed(number, { from, text: 'three' }, { from, text: 'four' })
    await textsOf(number, 4)
    await carrier.text(number, { from, text: 'five' }, 'never')
    await carrier.text(number, { from, text: 'six' }, 'never')
    await carrier.text(number, { from, text: 'seven' }, 'never')
    const all = await textsOf(number, 7)
    expect(all.map((one) => one.text).sort()).toEqual(['five', 'four', 'one, ünïcode 👋 & = +', 'seven', 'six', 'three', 'two'])
    expect(all[0]).toMatchObject({
      type: 'sms',
      from_number: from,
      to_numbers: [number.phone_number],
      text: 'one, ünïcode 👋 & = +',
      media: [],
    })
    const events = (await harness.expectApi(200, 'GET', `/events?agent=${number.agent_handle}&types=sms.received`)).data
    expect(events.map((one: Json) => one.data.id).sort()).toEqual(all.map((one) => one.id).sort())
  })

  test.each(['once', 'never'] as const)('media of a text whose callback comes %s is fetched and served byte for byte', async (callback) => {
    const number = await buyReady({ country_code: 'CA' })
    const bytes = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(60_000, 5)])
    const media = [
      { path: `/media/${number.id}/1`, contentType: 'image/jpeg', bytes, isLocked: true },
      { path: `/media/${number.id}/2`, contentType: 'text/vcard', bytes: Buffer.from('BEGIN:VCARD') },
    ]
    await carrier.text(number, { from, text: 'Look', media }, callback)
    const [message] = await textsOf(number, 1)
    expect(message).toMatchObject({
      type: 'mms',
      text: 'Look',
      media: [
        { content_type: 'image/jpeg', size_bytes: bytes.length },
        { content_type: 'text/vcard', size_bytes: 11 },
      ],
    })
    const link = new URL(message?.media[0].url)
    expect(Buffer.compare((await harness.api('GET', link.pathname + link.search, { key: null })).body, bytes)).toBe(0)
  })

  test('a callback with one byte changed is refused and files nothing', async () => {
    if (carrier.forge === null) return
    const number = await buyReady({ type: 'toll_free' })
    // The provider's list has the text itself, so polling files it. The answer to the callback shows the refusal.
    expect(await carrier.forge(number, { from, text: 'pay this invoice' })).toBe(403)
    const [message] = await textsOf(number, 1)
    expect(message?.text).toBe('pay this invoice')
  })

  test('releases a number after a failure, and later texts for it are filed for no agent', async () => {
    const number = await buyReady()
    await carrier.text(number, { from, text: 'before' }, 'once')
    await carrier.spoil('release', 'fail')
    await harness.expectApi(200, 'DELETE', `/phone/numbers/${number.id}`)
    await given(number)
    await waitFor('the row to say so', async () => {
      const { rows } = await harness.db.query<{ state: string }>({
        text: 'SELECT state FROM phone_numbers WHERE id = $1',
        values: [number.id],
      })
      return rows[0]?.state === 'released'
    })
    await harness.expectApi(404, 'GET', `/phone/numbers/${number.id}/messages`)
  })

  test('leaves no number for an agent that is deleted during its order', async () => {
    const before = await carrier.owned()
    await harness.createAgent('brief')
    for (let i = 0; i < 3; i++) await carrier.spoil('order', 'lose')
    const asked = harness.api('POST', '/phone/numbers', { body: { agent_handle: 'brief' } })
    await waitFor(
      'the order',
      async () => (await harness.db.query({ text: `SELECT 1 FROM phone_numbers WHERE agent_handle = 'brief'` })).rowCount > 0,
    )
    await harness.expectApi(204, 'DELETE', '/identities/brief')
    expect([201, 404, 409]).toContain((await asked).status)
    await waitFor('nothing to be left', async () => {
      const { rows } = await harness.db.query<{ state: string }>({ text: `SELECT state FROM phone_numbers WHERE agent_handle = 'brief'` })
      return rows[0]?.state === 'released' && (await carrier.owned()).length === before.length
    })
  })
})
