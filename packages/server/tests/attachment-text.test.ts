// The text of attachments over the API, with its access, limits and errors.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compressedGigabyte, instruction, makeDocx, makePagePdf, makePdf, makeXlsx } from './harness/sample-files.ts'
import { type Answer, type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let message: Json
let agentKey: string

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('ben')
  agentKey = await harness.agentKey('ben')
  const pdf = await makePdf((page) => void page.text('Invoice 1042').fontSize(1).text(instruction))
  await harness.deliver({
    from: 'eve@example.org',
    to: 'ann@agents.localhost',
    subject: 'Files',
    text: 'a',
    attachments: [
      { filename: 'invoice.bin', content: pdf, contentType: 'application/octet-stream' },
      { filename: 'offer.docx', content: await makeDocx() },
      { filename: 'prices.xlsx', content: await makeXlsx() },
      { filename: 'table.csv', content: 'Item,Price\nPen,2\n' },
      { filename: 'secret.pdf', content: await makePdf((page) => void page.text('x'), { userPassword: 'a', pdfVersion: '1.7' }) },
      { filename: 'broken.pdf', content: '%PDF-1.7 nothing' },
      { filename: 'program.bin', content: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0]) },
      { filename: 'nested.rtf', content: `{\\rtf1 ${'{'.repeat(100_000)}` },
    ],
  })
  message = await harness.waitForMail('ann', 'Files')
})
afterAll(() => harness.stop())

const pathOf = (filename: string, query = ''): string => {
  const { id } = message.attachments.find((one: Json) => one.filename === filename)
  return `/mailboxes/ann/messages/${message.id}/attachments/${id}/text${query}`
}

test('the text is Markdown with its format, a token estimate and flags', async () => {
  const found = await harness.expectApi(200, 'GET', pathOf('invoice.bin'))
  expect(found).toEqual({
    attachment_id: message.attachments[0].id,
    filename: 'invoice.bin',
    content_type: 'application/octet-stream',
    format: 'pdf',
    text: `Invoice 1042\n${instruction}`,
    token_estimate: Math.ceil((13 + instruction.length) / 4),
    truncated: false,
    flags: [
      { type: 'hidden_text', reason: expect.stringContaining('The attachment'), evidence: instruction },
      { type: 'model_instructions', reason: expect.stringContaining('The attachment'), evidence: expect.any(String) },
    ],
  })
  expect((await harness.expectApi(200, 'GET', pathOf('offer.docx'))).text).toMatch(/^# Offer\n/)
  expect((await harness.expectApi(200, 'GET', pathOf('prices.xlsx'))).text).toContain('| Item | Price | Since |')
})

test('max_characters cuts the text', async () => {
  const cut = await harness.expectApi(200, 'GET', pathOf('table.csv', '?max_characters=8'))
  expect(cut).toMatchObject({ text: '| Item', token_estimate: 2, truncated: true })
  for (const value of ['0', '500001', 'all']) await harness.expectApi(400, 'GET', pathOf('table.csv', `?max_characters=${value}`))
})

test.each([
  ['secret.pdf', 'attachment_encrypted'],
  ['broken.pdf', 'attachment_damaged'],
  ['program.bin', 'attachment_not_supported'],
  ['nested.rtf', 'attachment_too_complex'],
])('%s is 422 %s', async (filename, code) => {
  const { status, body } = await harness.api('GET', pathOf(filename))
  expect([status, body.error.code]).toEqual([422, code])
  expect(body.error.message).toMatch(/Download/)
})

test('an attachment is found only below its own message, with a key for its mailbox', async () => {
  await harness.deliver({ from: 'eve@example.org', to: 'ann@agents.localhost', subject: 'Other', text: 'a' })
  const other = await harness.waitForMail('ann', 'Other')
  const { id } = message.attachments[0]
  await harness.expectApi(404, 'GET', `/mailboxes/ann/messages/${other.id}/attachments/${id}/text`)
  await harness.expectApi(404, 'GET', `/mailboxes/ben/messages/${message.id}/attachments/${id}/text`)
  await harness.expectApi(404, 'GET', `/mailboxes/ann/messages/${message.id}/attachments/att_01h455vb4pex5vsknk084sn02q/text`)
  await harness.expectApi(403, 'GET', pathOf('table.csv'), { key: agentKey })
})

test('an attachment of a draft is read below its own draft, with a key for its mailbox', async () => {
  const attachments = [{ filename: 'table.csv', content: Buffer.from('Item,Price\nApple,9').toString('base64') }]
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { attachments } })
  const other = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: {} })
  const [{ id }] = draft.attachments
  const textOf = (mailbox: string, draftId: string, attachment = id) =>
    `/mailboxes/${mailbox}/drafts/${draftId}/attachments/${attachment}/text`
  expect(await harness.expectApi(200, 'GET', textOf('ann', draft.id))).toMatchObject({
    format: 'csv',
    text: expect.stringContaining('Apple'),
  })
  expect(await harness.expectApi(200, 'GET', `${textOf('ann', draft.id)}?max_characters=8`)).toMatchObject({ truncated: true })
  await harness.expectApi(404, 'GET', textOf('ann', other.id))
  await harness.expectApi(404, 'GET', textOf('ben', draft.id))
  await harness.expectApi(404, 'GET', textOf('ann', draft.id, message.attachments[0].id))
  await harness.expectApi(404, 'GET', `/mailboxes/ann/messages/${message.id}/attachments/${id}/text`)
  await harness.expectApi(403, 'GET', textOf('ann', draft.id), { key: agentKey })
})

test('an attachment of a quarantined message needs the scope quarantine:read', async () => {
  harness.dns.set('outside.test', { TXT: ['v=spf1 ip4:127.0.0.0/8 ip6:::1 -all'] })
  await harness.expectApi(201, 'POST', '/identities/ben/mail-rules', {
    body: { direction: 'inbound', action: 'block', entry: 'outside.test' },
  })
  const attachments = [{ filename: 'held.txt', content: 'Held text' }]
  await harness.deliver({ from: 'eve@outside.test', to: 'ben@agents.localhost', subject: 'Held', text: 'a', attachments })
  const held = await harness.waitForMail('ben', 'Held', 'quarantined')
  const path = `/mailboxes/ben/messages/${held.id}/attachments/${held.attachments[0].id}/text`
  await harness.expectApi(403, 'GET', path, { key: agentKey })
  const scoped = await harness.agentKey('ben', { scopes: ['quarantine:read'] })
  expect((await harness.expectApi(200, 'GET', path, { key: scoped })).text).toBe('Held text')
})

test('other requests are answered while bombs are read, and a full queue is 429', async () => {
  const bomb = makePagePdf('/Filter /FlateDecode', compressedGigabyte(' '))
  const attachments = [{ filename: 'bomb.pdf', content: bomb }]
  await harness.deliver({ from: 'eve@example.org', to: 'ben@agents.localhost', subject: 'Bomb', text: 'a', attachments })
  const { id, attachments: stored } = await harness.waitForMail('ben', 'Bomb')
  const path = `/mailboxes/ben/messages/${id}/attachments/${stored[0].id}/text`
  let isDone = false
  const bombs = Array.from({ length: 3 }, () => harness.api('GET', path))
  // They are looked up and being read when the others arrive.
  for (let i = 0; i < 10; i++) await harness.expectApi(200, 'GET', '/me')
  // An organization has at most ten files that are read or wait.
  const tables: Promise<Answer>[] = []
  let refused = 0
  while (refused < 2) {
    const table = harness.api('GET', pathOf('table.csv'))
    tables.push(table)
    void table.then(({ status }) => (refused += Number(status === 429)))
    await harness.expectApi(200, 'GET', '/me')
  }
  const ended = Promise.all([...bombs, ...tables]).finally(() => {
    isDone = true
  })
  let answered = 0
  while (!isDone) {
    await harness.expectApi(200, 'GET', '/me')
    answered++
  }
  expect(answered).toBeGreaterThan(20)
  const codes = (await ended).map(({ status, body }) => (status === 200 ? body.format : body.error.code))
  expect(codes.slice(0, 3)).toEqual(['attachment_too_complex', 'attachment_too_complex', 'attachment_too_complex'])
  expect(new Set(codes.slice(3))).toEqual(new Set(['csv', 'rate_limited']))
  const { headers } = (await ended).find(({ status }) => status === 429) ?? {}
  expect(headers?.get('retry-after')).toBe('5')
})
