// Phone numbers on the simulator. Covers each operation, check and error, and texts, media, release and events.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSimulatorState } from '../src/features/simulator/operations.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({
    CALLSIGN_SIM_SMS_READY_MS: '60000',
    CALLSIGN_PHONE_POLL_SECONDS: '0.02',
    CALLSIGN_PHONE_CATCH_UP_SECONDS: '0.1',
    CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  })
})
afterAll(() => harness.stop())

let made = 0
/** Creates an agent with a number. `more` selects the number. */
async function provision(more: Record<string, unknown> = {}, handle = `phone${++made}`): Promise<Json> {
  await harness.createAgent(handle)
  return harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: handle, ...more } })
}
const get = (id: string): Promise<Json> => harness.expectApi(200, 'GET', `/phone/numbers/${encodeURIComponent(id)}`)
const text = (number: Json, more: Record<string, unknown> = { text: 'Hello' }): Promise<Json> =>
  harness.expectApi(201, 'POST', '/simulator/sms', { body: { to: number.phone_number, ...more } })
const messages = async (number: Json, query = ''): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages${query}`)).data
const fault = (op: string, fail: string, times = 1) =>
  harness.expectApi(200, 'POST', '/simulator/faults', { body: { provider: 'phone', op, fail, times } })
const refusal = async (body: Record<string, unknown>) => {
  const answer = await harness.api('POST', '/phone/numbers', { body })
  return [answer.status, answer.body.error.code, answer.body.error.details?.[0]?.path, answer.body.error.message]
}
const owned = async (): Promise<number> =>
  (await harness.db.query<{ count: number }>({ text: 'SELECT count(*)::int AS count FROM simulated_numbers WHERE released_at IS NULL' }))
    .rows[0]?.count ?? 0

describe('POST /phone/numbers', () => {
  test('answers 201 with every field of the contract, for an active US local number whose texts are pending', async () => {
    const number = await provision({}, 'first')
    const identity = await harness.expectApi(200, 'GET', '/identities/first')
    expect(number).toEqual({
      id: expect.stringMatching(/^pn_[0-7][0-9a-z]{25}$/),
      phone_number: expect.stringMatching(/^\+1[2-9]\d{2}55501\d{2}$/),
      country_code: 'US',
      type: 'local',
      region: expect.stringMatching(/^[A-Z]{2}$/),
      agent_handle: 'first',
      agent_identity_id: identity.id,
      status: 'active',
      sms_status: 'pending',
      sms_error: null,
      capabilities: { sms: true, mms: true, voice: false },
      provider: 'simulator',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await get(number.id)).toEqual(number)
    expect(await get(number.phone_number)).toEqual(number)
  })

  test('the @ of agent_handle is optional', async () => {
    await harness.createAgent('withat')
    expect(await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: '@withat' } })).toMatchObject({
      agent_handle: 'withat',
    })
  })

  test.each<[Record<string, unknown>, RegExp, Record<string, unknown>]>([
    [{ country_code: 'CA' }, /^\+1\d{3}55501\d\d$/, { country_code: 'CA', type: 'local' }],
    [{ region: 'NY' }, /^\+1(212|315|329|332|347|363|516|518|585|607|624|631|646|680|716|718|838|845|914|917|929|934)/, { region: 'NY' }],
    [{ country_code: 'CA', region: 'PE' }, /^\+1(782|902)/, { region: 'PE', country_code: 'CA' }],
    [{ area_code: '415' }, /^\+141555501\d\d$/, { region: 'CA' }],
    [{ country_code: 'CA', area_code: '867' }, /^\+1867/, { region: expect.stringMatching(/^(NT|NU|YT)$/) }],
    [{ type: 'toll_free' }, /^\+1(800|833|844|855|866|877|888)55501\d\d$/, { type: 'toll_free', region: '' }],
    [{ type: 'toll_free', area_code: '877' }, /^\+1877/, { type: 'toll_free' }],
  ])('%o is applied', async (wanted, pattern, fields) => {
    const number = await provision(wanted)
    expect(number.phone_number).toMatch(pattern)
    expect(number).toMatchObject(fields)
  })

  test.each<[string, Record<string, unknown>, string, RegExp]>([
    ['area_code with region', { area_code: '212', region: 'NY' }, '/area_code', /cannot be combined/],
    ['a region of the other country', { region: 'ON' }, '/region', /ON is not a state or province of the United States/],
    ['a region that is none', { country_code: 'CA', region: 'ZZ' }, '/region', /of Canada/],
    ['an area code of the other country', { area_code: '416' }, '/area_code', /416 is not an area code of the United States/],
    ['an area code that is none', { area_code: '533' }, '/area_code', /not an area code/],
    ['local with a toll-free code', { area_code: '800' }, '/area_code', /toll-free code/],
    ['toll_free with a geographic code', { type: 'toll_free', area_code: '212' }, '/area_code', /not a toll-free code/],
    ['toll_free with a region', { type: 'toll_free', region: 'NY' }, '/region', /no region/],
    ['another country', { country_code: 'DE' }, '/country_code', /US/],
    ['another type', { type: 'mobile' }, '/type', /local/],
    ['an area code of two digits', { area_code: '41' }, '/area_code', /Three digits/],
    ['a region in small letters', { region: 'ny' }, '/region', /two-letter/i],
    ['a field that is none', { carrier: 'x' }, '/carrier', /carrier/],
  ])('%s is 400 with its own sentence', async (_name, wanted, path, sentence) => {
    const [status, code, where, message] = await refusal({ agent_handle: 'first', ...wanted })
    expect([status, code, where]).toEqual([400, 'validation_error', path])
    const details = (await harness.api('POST', '/phone/numbers', { body: { agent_handle: 'first', ...wanted } })).body.error.details
    expect(`${message} ${details.map((one: Json) => one.message).join(' ')}`).toMatch(sentence)
  })

  test('400 without agent_handle, and 404 for an unknown or foreign agent', async () => {
    expect((await refusal({})).slice(0, 3)).toEqual([400, 'validation_error', '/agent_handle'])
    await harness.createAgent('theirs', {}, harness.otherOrganization.key)
    expect((await refusal({ agent_handle: 'nobody' })).slice(0, 2)).toEqual([404, 'not_found'])
    expect((await refusal({ agent_handle: 'theirs' })).slice(0, 2)).toEqual([404, 'not_found'])
  })

  test('409 number_already_assigned for an agent that has one', async () => {
    expect((await refusal({ agent_handle: 'first' })).slice(0, 2)).toEqual([409, 'number_already_assigned'])
    expect((await refusal({ agent_handle: 'first', area_code: '212' })).slice(0, 2)).toEqual([409, 'number_already_assigned'])
  })

  test('409 no_numbers_available without stock, and the agent may ask again', async () => {
    await harness.createAgent('unlucky')
    await fault('search', 'empty')
    expect((await refusal({ agent_handle: 'unlucky' })).slice(0, 2)).toEqual([409, 'no_numbers_available'])
    expect(await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'unlucky' } })).toMatchObject({
      status: 'active',
    })
  })

  test('answers 502 when the provider fails or refuses, buys nothing, and allows a retry', async () => {
    await harness.createAgent('offline')
    const before = await owned()
    for (const op of ['search', 'order']) {
      await fault(op, 'error')
      expect((await refusal({ agent_handle: 'offline' })).slice(0, 2)).toEqual([502, 'upstream_provider_error'])
    }
    expect(await owned()).toBe(before)
    expect(await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'offline' } })).toMatchObject({
      status: 'active',
    })
  })

  test('a number that another customer takes first is skipped, and a lost answer does not buy twice', async () => {
    const before = await owned()
    await fault('order', 'taken', 2)
    expect((await provision({ area_code: '907' })).phone_number).toBe('+19075550102')
    await fault('order', 'lost_answer')
    expect((await provision({ area_code: '907' })).phone_number).toBe('+19075550100')
    await fault('order', 'timeout', 2)
    expect((await provision({ area_code: '907' })).phone_number).toBe('+19075550101')
    expect(await owned()).toBe(before + 3)
  })

  test('of concurrent requests for one agent one gets the number, and different agents get different numbers', async () => {
    await harness.createAgent('crowd')
    const before = await owned()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => harness.api('POST', '/phone/numbers', { body: { agent_handle: 'crowd' } })),
    )
    expect(answers.map((one) => one.status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    expect(await owned()).toBe(before + 1)
    const numbers = await Promise.all(Array.from({ length: 6 }, () => provision({ area_code: '808' })))
    expect(new Set(numbers.map((one) => one.phone_number)).size).toBe(6)
  })

  test('a request repeated with its Idempotency-Key gets the same answer', async () => {
    await harness.createAgent('again')
    const ask = { body: { agent_handle: 'again' }, headers: { 'idempotency-key': 'number-1' } }
    const first = await harness.api('POST', '/phone/numbers', ask)
    const second = await harness.api('POST', '/phone/numbers', ask)
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true'])
    expect(second.body).toEqual(first.body)
  })

  test('a purchase whose request died goes to the next equal request only', async () => {
    const number = await provision({ area_code: '302' }, 'orphan')
    await harness.db.query({ text: 'UPDATE phone_numbers SET delivered_at = NULL WHERE id = $1', values: [number.id] })
    expect((await refusal({ agent_handle: 'orphan' })).slice(0, 2)).toEqual([409, 'number_already_assigned'])
    const told = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'orphan', area_code: '302' } })
    expect(told.id).toBe(number.id)
    expect((await refusal({ agent_handle: 'orphan', area_code: '302' })).slice(0, 2)).toEqual([409, 'number_already_assigned'])
  })
})

describe('sms_status', () => {
  test('becomes ready with number.sms_ready once, for any number of polls', async () => {
    const number = await provision()
    const advance = () => harness.api('POST', `/simulator/numbers/${number.id}/advance`)
    const answers = await Promise.all([advance(), advance(), advance()])
    expect(answers.map((one) => [one.status, one.body.sms_status])).toEqual(Array(3).fill([200, 'ready']))
    expect((await get(number.id)).sms_status).toBe('ready')
    expect(await harness.eventsOf(number.id)).toEqual([{ type: 'number.sms_ready', data: { sms_status: 'ready' } }])
    const event = (await harness.expectApi(200, 'GET', `/events?agent=${number.agent_handle}`)).data[0]
    expect(event).toMatchObject({
      type: 'number.sms_ready',
      data: { id: number.id, phone_number: number.phone_number, sms_status: 'ready', agent_handle: number.agent_handle },
    })
  })

  test('becomes assignment_failed with the reason and number.sms_failed, and stays so', async () => {
    const number = await provision()
    const failed = await harness.expectApi(200, 'POST', `/simulator/numbers/${encodeURIComponent(number.phone_number)}/advance`, {
      body: { to: 'assignment_failed' },
    })
    expect(failed).toMatchObject({ sms_status: 'assignment_failed', sms_error: { code: 'campaign_rejected', detail: expect.any(String) } })
    expect((await harness.eventsOf(number.id)).map((one) => one.type)).toEqual(['number.sms_failed'])
    expect((await harness.api('POST', `/simulator/numbers/${number.id}/advance`)).status).toBe(409)
  })

  test('a failing provider is polled again', async () => {
    const number = await provision()
    await fault('advance', 'error', 1)
    await harness.api('POST', `/simulator/numbers/${number.id}/advance`)
    await waitFor('the number to be ready', async () => (await get(number.id)).sms_status === 'ready')
  })
})

describe('reading numbers', () => {
  test('the list is newest first, by cursor, without those of others', async () => {
    const { key } = await harness.createOrganization('Numbers')
    const made: Json[] = []
    for (const handle of ['la', 'lb', 'lc']) {
      await harness.createAgent(handle, {}, key)
      made.push(await harness.expectApi(201, 'POST', '/phone/numbers', { key, body: { agent_handle: handle } }))
    }
    const first = await harness.expectApi(200, 'GET', '/phone/numbers?limit=2', { key })
    expect([first.object, first.has_more, first.data]).toEqual(['list', true, [made[2], made[1]]])
    const second = await harness.expectApi(200, 'GET', `/phone/numbers?limit=2&cursor=${first.next_cursor}`, { key })
    expect([second.has_more, second.next_cursor, second.data]).toEqual([false, null, [made[0]]])
    const agentKey = await harness.agentKey('lb', {}, key)
    expect((await harness.expectApi(200, 'GET', '/phone/numbers', { key: agentKey })).data).toEqual([made[1]])
    await harness.expectApi(200, 'GET', `/phone/numbers/${made[1].id}`, { key: agentKey })
    for (const path of [`/phone/numbers/${made[0].id}`, `/phone/numbers/${made[0].id}/messages`, `/phone/numbers/${made[0].phone_number}`])
      await harness.expectApi(404, 'GET', path, { key: agentKey })
    await harness.expectApi(403, 'POST', '/phone/numbers', { key: agentKey, body: { agent_handle: 'lb' } })
    await harness.expectApi(403, 'DELETE', `/phone/numbers/${made[1].id}`, { key: agentKey })
    await harness.expectApi(404, 'GET', `/phone/numbers/${made[0].id}`)
    await harness.expectApi(404, 'GET', '/phone/numbers/12125550100')
  })
})

describe('texts', () => {
  test('arrive with every field and with sms.received', async () => {
    const number = await provision()
    const sent = await text(number, { from: '+16502530000', text: 'Your code is 123456' })
    expect(sent).toEqual({ provider_message_id: expect.any(String), message_id: expect.stringMatching(/^sms_/), status: 'received' })
    const [message] = await messages(number)
    expect(message).toMatchObject({
      id: sent.message_id,
      phone_number_id: number.id,
      phone_number: number.phone_number,
      agent_handle: number.agent_handle,
      direction: 'inbound',
      type: 'sms',
      from_number: '+16502530000',
      to_numbers: [number.phone_number],
      text: 'Your code is 123456',
      media: [],
      codes: [{ kind: 'one_time_code', value: '123456', purpose: null, near: expect.stringContaining('code'), domain: null }],
      is_read: false,
      created_at: expect.any(String),
    })
    expect(await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages/${message.id}`)).toEqual(message)
    const events = (await harness.expectApi(200, 'GET', `/events?agent=${number.agent_handle}&types=sms.received`)).data
    expect(events).toHaveLength(1)
    const { is_read, ...facts } = message
    expect(events[0].data).toMatchObject({ ...facts, agent_identity_id: number.agent_identity_id })
  })

  test('media by content and by URL has a signed link to its bytes', async () => {
    const number = await provision()
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40_000, 7)])
    const sent = await text(number, {
      text: 'Look',
      media: [{ content_type: 'image/png', content: png.toString('base64') }, { content: 'aGk=' }],
    })
    expect(sent.status).toBe('received')
    const [message] = await messages(number)
    expect(message).toMatchObject({ type: 'mms', media: [{ content_type: 'image/png', size_bytes: png.length }, { size_bytes: 2 }] })
    const link = new URL(message.media[0].url)
    const file = await harness.api('GET', link.pathname + link.search, { key: null })
    expect(Buffer.compare(file.body, png)).toBe(0)
    expect(file.headers.get('content-disposition')).toContain('media-1.png')
    expect((await harness.api('GET', `${link.pathname}?expires=9999999999&signature=x`, { key: null })).status).toBe(403)
    const event = (await harness.expectApi(200, 'GET', `/events?agent=${number.agent_handle}&types=sms.received`)).data[0]
    expect(event.data.media[0]).toEqual({ content_type: 'image/png', size_bytes: png.length, url: null })
    await harness.expectApi(400, 'POST', '/simulator/sms', { body: { to: number.phone_number, media: [{ content: 'no base64!' }] } })
    await harness.expectApi(400, 'POST', '/simulator/sms', { body: { to: number.phone_number, media: [{}] } })
    await harness.expectApi(400, 'POST', '/simulator/sms', { body: { to: number.phone_number } })
  })

  test('media that cannot be fetched does not lose the text', async () => {
    const number = await provision()
    const sent = await text(number, { text: 'Words', media: [{ content_type: 'image/jpeg', url: 'http://10.0.0.1/a.jpg' }] })
    expect(sent).toMatchObject({ status: 'pending', message_id: null })
    const [message] = await waitFor('the text', async () => (await messages(number)).length > 0 && messages(number))
    expect(message).toMatchObject({ text: 'Words', type: 'mms', media: [{ content_type: 'image/jpeg', size_bytes: 0, url: null }] })
  })

  test('are listed newest first with filters, and marked as read and unread', async () => {
    const number = await provision()
    for (const from of ['+16502530001', '+16502530002', '+16502530001']) await text(number, { from, text: `from ${from}` })
    const all = await messages(number)
    expect(all.map((one) => one.from_number)).toEqual(['+16502530001', '+16502530002', '+16502530001'])
    const path = `/phone/numbers/${number.id}/messages/${all[0]?.id}`
    expect(await harness.expectApi(200, 'PATCH', path, { body: { is_read: true } })).toEqual({ ...all[0], is_read: true })
    expect((await messages(number, '?is_read=false')).map((one) => one.id)).toEqual(all.slice(1).map((one) => one.id))
    expect((await messages(number, '?is_read=true')).map((one) => one.id)).toEqual([all[0]?.id])
    expect(await messages(number, `?from=${encodeURIComponent('+16502530002')}`)).toHaveLength(1)
    const page = await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages?limit=2`)
    expect([page.has_more, page.data.length, page.next_cursor]).toEqual([true, 2, all[1]?.id])
    expect((await messages(number, `?limit=2&cursor=${page.next_cursor}`)).map((one) => one.id)).toEqual([all[2]?.id])
    await harness.expectApi(200, 'PATCH', path, { body: { is_read: false } })
    expect(await messages(number, '?is_read=true')).toEqual([])
    await harness.expectApi(400, 'PATCH', path, { body: {} })
    await harness.expectApi(404, 'PATCH', `/phone/numbers/${number.id}/messages/sms_01h455vb4pex5vsknk084sn02q`, {
      body: { is_read: true },
    })
    const other = await provision()
    await harness.expectApi(404, 'GET', `/phone/numbers/${other.id}/messages/${all[0]?.id}`)
  })

  test('sending is 405 sms_outbound_unavailable', async () => {
    const number = await provision()
    const answer = await harness.api('POST', `/phone/numbers/${number.id}/messages`, { body: { to: '+16502530000', text: 'Hi' } })
    expect([answer.status, answer.body.error.code, answer.headers.get('allow')]).toEqual([405, 'sms_outbound_unavailable', 'GET, HEAD'])
  })

  test('a text with two callbacks is filed once, and one out of order or without callback arrives once', async () => {
    const number = await provision()
    await fault('webhook', 'duplicate')
    await text(number, { text: 'one' })
    await fault('webhook', 'reorder')
    expect((await text(number, { text: 'two' })).status).toBe('dropped')
    await text(number, { text: 'three' })
    await fault('webhook', 'drop')
    await text(number, { text: 'four' })
    const all = await waitFor('four texts', async () => {
      const found = await messages(number)
      return found.length >= 4 && found
    })
    const [first, ...others] = all.map((one) => one.text).toReversed()
    expect(first).toBe('one')
    // A late text is filed after the next one, unless the poll for missing texts, ten per second here, finds it before.
    expect(others.toSorted()).toEqual(['four', 'three', 'two'])
    expect((await harness.expectApi(200, 'GET', `/events?agent=${number.agent_handle}&types=sms.received`)).data).toHaveLength(4)
  })

  test.each(['reorder', 'drop'])('a text that was kept back (%s) does not follow its number to another organization', async (how) => {
    const number = await provision()
    await fault('webhook', how)
    const body = { to: number.phone_number, text: 'kept back' }
    await harness.db.transact(async (tx) => {
      const { rows } = await tx.query<{ organization_id: string }>({
        text: `UPDATE simulated_numbers SET organization_id = $2 WHERE phone_number = $1 RETURNING organization_id`,
        values: [number.phone_number, harness.otherOrganization.id],
      })
      expect(rows).toHaveLength(1)
    })
    expect((await text(number, { text: 'kept back' })).status).toBe('dropped')
    const other = await provision()
    await text(other, { text: 'in time' })
    await waitFor('the other text', async () => (await messages(other)).length > 0)
    const state = createSimulatorState(harness.db)
    expect(await state.phoneCarrier.listUndelivered(new Date(0))).not.toContainEqual(expect.objectContaining(body))
    expect(await messages(number)).toEqual([])
  })

  test('text that PostgreSQL cannot store is replaced, not refused', async () => {
    const number = await provision()
    await harness.expectApi(400, 'POST', '/simulator/sms', { body: `{"to":"${number.phone_number}","text":"a\\u0000b"}` })
    await text(number, { text: '👋🏽 ünïcode', from: 'ACME' })
    expect((await messages(number))[0]).toMatchObject({ text: '👋🏽 ünïcode', from_number: 'ACME' })
  })
})

describe('GET /phone/numbers/{id}/wait', () => {
  const wait = (number: Json, query: string, ask = {}) => harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/wait?${query}`, ask)

  test('answers with the next text that passes every filter, both new and past', async () => {
    const number = await provision()
    const { cursor } = await wait(number, 'timeout=0')
    const waiting = wait(number, `timeout=20&code_kind=one_time_code&from=%2B1650&cursor=${cursor}`)
    await text(number, { from: '+16502530001', text: 'No code here' })
    await text(number, { from: '+14155550000', text: 'Your code is 111222' })
    await text(number, { from: '+16502530001', text: 'Your code is 333444' })
    const { message, cursor: next } = await waiting
    expect(message).toMatchObject({ text: 'Your code is 333444', codes: [{ value: '333444' }], is_read: false })
    expect(await wait(number, `timeout=0&cursor=${next}`)).toMatchObject({ message: null })
    expect((await wait(number, `timeout=0&after=2020-01-01T00:00:00Z&text=NO%20CODE`)).message).toMatchObject({ text: 'No code here' })
    expect((await wait(number, `timeout=0&after=2020-01-01T00:00:00Z&has_code=true`)).message).toMatchObject({
      text: 'Your code is 111222',
    })
    const elsewhere = await provision()
    expect((await wait(elsewhere, `timeout=0&after=2020-01-01T00:00:00Z`)).message).toBeNull()
  })

  test('an agent waits at its own number only, and an unknown number is 404', async () => {
    const [mine, other] = [await provision(), await provision()]
    const key = await harness.agentKey(mine.agent_handle)
    await text(mine)
    expect((await wait(mine, 'timeout=0&after=2020-01-01T00:00:00Z', { key })).message).toMatchObject({ text: 'Hello' })
    await harness.expectApi(404, 'GET', `/phone/numbers/${other.id}/wait?timeout=0`, { key })
    await harness.expectApi(400, 'GET', `/phone/numbers/${mine.id}/wait?timeout=61`)
  })

  test("texts to the agent's previous number are not listed at its new one", async () => {
    const number = await provision()
    await text(number, { text: 'old' })
    await harness.expectApi(200, 'DELETE', `/phone/numbers/${number.id}`)
    const next = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: number.agent_handle } })
    expect((await wait(next, 'timeout=0&after=2020-01-01T00:00:00Z')).message).toBeNull()
  })
})

describe('DELETE /phone/numbers/{id}', () => {
  test('releases the number with its texts once, and the agent may get another', async () => {
    const number = await provision({ area_code: '907' })
    const sent = await text(number, { text: 'x', media: [{ content: Buffer.alloc(50_000, 1).toString('base64') }] })
    const [message] = await messages(number)
    const path = `/phone/numbers/${number.id}`
    expect(await harness.expectApi(200, 'DELETE', path)).toEqual({ id: number.id, deleted: true })
    expect(await harness.expectApi(200, 'DELETE', path)).toEqual({ id: number.id, deleted: true })
    await harness.expectApi(404, 'GET', path)
    await harness.expectApi(404, 'GET', `${path}/messages/${sent.message_id}`)
    await harness.expectApi(404, 'DELETE', `/phone/numbers/${encodeURIComponent(number.phone_number)}`)
    const link = new URL(message?.media[0].url)
    expect((await harness.api('GET', link.pathname + link.search, { key: null })).status).toBe(404)
    expect((await harness.api('POST', '/simulator/sms', { body: { to: number.phone_number, text: 'late' } })).status).toBe(404)
    await waitFor('the provider to have it back', async () => {
      const { rows } = await harness.db.query<{ state: string }>({
        text: 'SELECT state FROM phone_numbers WHERE id = $1',
        values: [number.id],
      })
      return rows[0]?.state === 'released'
    })
    const next = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: number.agent_handle, area_code: '907' } })
    expect(next.id).not.toBe(number.id)
    const deleted = (await harness.expectApi(200, 'GET', `/events?agent=${number.agent_handle}&types=sms.received`)).data[0]
    expect(deleted.data).toMatchObject({ id: sent.message_id, deleted: true })
    await harness.expectApi(404, 'DELETE', path, { key: harness.otherOrganization.key })
    await harness.expectApi(404, 'DELETE', '/phone/numbers/pn_01h455vb4pex5vsknk084sn02q')
    const actions = (await harness.expectApi(200, 'GET', '/audit')).data.map((one: Json) => [one.action, one.target_id])
    expect(actions).toEqual(
      expect.arrayContaining([
        ['phone_number.provisioned', number.id],
        ['phone_number.released', number.id],
      ]),
    )
  })

  test('a failing provider is retried until it has released the number', async () => {
    const number = await provision()
    await fault('release', 'error')
    await harness.expectApi(200, 'DELETE', `/phone/numbers/${number.id}`)
    await waitFor('the provider to have it back', async () => {
      const { rows } = await harness.db.query({
        text: 'SELECT 1 FROM simulated_numbers WHERE phone_number = $1 AND released_at IS NOT NULL',
        values: [number.phone_number],
      })
      return rows.length === 1
    })
  })

  test('deleting the identity releases the number', async () => {
    const number = await provision({}, 'leaving')
    await text(number)
    await harness.expectApi(204, 'DELETE', '/identities/leaving')
    await harness.expectApi(404, 'GET', `/phone/numbers/${number.id}`)
    await waitFor('the provider to have it back', async () => {
      const { rows } = await harness.db.query({
        text: 'SELECT 1 FROM simulated_numbers WHERE phone_number = $1 AND released_at IS NOT NULL',
        values: [number.phone_number],
      })
      return rows.length === 1
    })
  })

  test('the next holder of a number sees no earlier texts', async () => {
    const { key } = await harness.createOrganization('Second hand')
    await harness.createAgent('before', {}, key)
    const number = await harness.expectApi(201, 'POST', '/phone/numbers', { key, body: { agent_handle: 'before', area_code: '312' } })
    const faults = { key, body: { provider: 'phone', op: 'webhook', fail: 'drop' } }
    await harness.expectApi(200, 'POST', '/simulator/faults', faults)
    await harness.db.query({
      text: `UPDATE phone_numbers SET activated_at = activated_at + interval '1 hour' WHERE id = $1`,
      values: [number.id],
    })
    await harness.expectApi(201, 'POST', '/simulator/sms', { key, body: { to: number.phone_number, text: 'for the one before' } })
    const reads = async () => (await harness.db.query<{ at: Date }>({ text: 'SELECT caught_up_at AS at FROM sms_catch_ups' })).rows[0]?.at
    const since = Date.now()
    await waitFor('the list to have been read', async () => ((await reads())?.getTime() ?? 0) > since)
    expect((await harness.expectApi(200, 'GET', `/phone/numbers/${number.id}/messages`, { key })).data).toEqual([])
  })
})

describe('callbacks', () => {
  test('at a wrong address are 404, with a wrong signature 403, and nothing is filed', async () => {
    const number = await provision()
    const body = JSON.stringify({ id: 'x', from: '+1', to: number.phone_number, text: 'forged' })
    const post = (path: string, headers = {}) => harness.api('POST', path, { key: null, body, headers })
    expect((await post('/hooks/phone/simulator/wrong')).status).toBe(404)
    expect((await post('/hooks/phone/telnyx/wrong')).status).toBe(404)
    expect((await post('/hooks/phone/nobody/wrong')).status).toBe(404)
    expect((await post('/hooks/phone/constructor/wrong')).status).toBe(404)
    expect(await messages(number)).toEqual([])
  })
})

describe('the simulator', () => {
  test('rejects invalid faults, clears them, and keeps them per organization', async () => {
    const set = (body: Record<string, unknown>) => harness.api('POST', '/simulator/faults', { body })
    expect((await set({ provider: 'phone', op: 'send', fail: 'error' })).status).toBe(400)
    expect((await set({ provider: 'phone', op: 'search', fail: 'drop' })).status).toBe(400)
    expect((await fault('search', 'error', 3)).faults).toContainEqual({ provider: 'phone', op: 'search', fail: 'error', times: 3 })
    const { key } = await harness.createOrganization('Unharmed')
    await harness.createAgent('unharmed', {}, key)
    await harness.expectApi(201, 'POST', '/phone/numbers', { key, body: { agent_handle: 'unharmed' } })
    expect((await fault('search', 'error', 0)).faults).toEqual([])
  })

  test('has an outbox, which stays empty because nothing is sent to phones', async () => {
    expect(await harness.expectApi(200, 'GET', '/simulator/outbox')).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    })
  })

  test('is 404 for numbers of others', async () => {
    const number = await provision()
    const { key } = harness.otherOrganization
    await harness.expectApi(404, 'POST', '/simulator/sms', { key, body: { to: number.phone_number, text: 'x' } })
    await harness.expectApi(404, 'POST', `/simulator/numbers/${number.id}/advance`, { key })
  })
})
