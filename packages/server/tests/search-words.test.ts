// Search in languages without spaces, with accents, and for addresses and numbers, through the API.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMailCase } from './harness/mail-cases.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('agent')
})
afterAll(() => harness.stop())

async function deliver(subject: string, text: string): Promise<string> {
  await harness.deliver({ from: 'Zoë <zoe.b@mail.customer.example>', to: 'agent@agents.localhost', subject, text })
  return (await harness.waitForMail('agent', subject)).id
}
const find = async (q: string): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/agent/search?q=${encodeURIComponent(q)}`)).data
const idsOf = async (q: string): Promise<string[]> => (await find(q)).map(({ id }) => id)

test('words of Chinese and Japanese are found, and other orders of their letters are not', async () => {
  const raw = readMailCase('text-without-spaces.eml')
  await harness.deliver({ raw, envelope: { from: 'sender@customer.example', to: 'agent@agents.localhost' } })
  const { id } = await harness.waitForMail('agent', '关于三月份的报价单')
  for (const q of ['报价', '报价单', '上海', '库存', '東京', '"上海仓库"', '京', '报价 東京'])
    expect([q, await idsOf(q)]).toEqual([q, [id]])
  for (const q of ['价报', '单报价', '存库', '京東', '海上']) expect([q, await idsOf(q)]).toEqual([q, []])
  expect((await find('报价单'))[0]?.highlights).toEqual({ subject: '关于三月份的<mark>报价单</mark>', text: null })
  expect((await find('上海'))[0]?.highlights.text).toBe('请确认<mark>上海</mark>仓库的库存。東京に行きます。')
})

test('words of Korean and Thai are found within longer words', async () => {
  const id = await deliver('배송', '서울에서 보낸 물건이 도착했습니다. ขอบคุณสำหรับใบเสนอราคา')
  for (const q of ['서울', '도착', '물건', 'ราคา', 'ใบเสนอราคา']) expect([q, await idsOf(q)]).toEqual([q, [id]])
  for (const q of ['울서', 'คารา']) expect([q, await idsOf(q)]).toEqual([q, []])
})

test('case and accents do not count, and words in Latin letters stay whole', async () => {
  const id = await deliver('Grüße', 'Die Größe der Straße in ÎLE-DE-FRANCE, Ελλάδα und Ёлка')
  for (const q of ['grusse', 'GRÖSSE', 'strasse', 'île', 'ile-de-france', 'ελλαδα', 'елка']) expect([q, await idsOf(q)]).toEqual([q, [id]])
  for (const q of ['gru', 'stras', 'rosse', 'franc']) expect([q, await idsOf(q)]).toEqual([q, []])
})

test('addresses, hosts, numbers of orders and their parts are found', async () => {
  const id = await deliver(
    'Order AB-1042/7',
    'See https://shop.example.org/orders?id=9917 or write to pat.smith+help@shop.example.org by 2026-11-22.',
  )
  const wanted = [
    'AB-1042',
    'ab-1042/7',
    '1042',
    'shop.example.org',
    'example.org',
    '9917',
    '2026-11-22',
    'pat.smith+help@shop.example.org',
    'smith',
  ]
  for (const q of [...wanted, '"order ab"', 'order -invoice']) expect([q, await idsOf(q)]).toEqual([q, [id]])
  for (const q of ['smith@shop.example.org', '"1042 ab"', '104', 'order -shop'])
    expect([q, (await idsOf(q)).includes(id)]).toEqual([q, false])
  expect(await idsOf('zoe.b@mail.customer.example')).toContain(id)
})
