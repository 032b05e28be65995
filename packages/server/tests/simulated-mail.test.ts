// Mail from the simulator. It is filed, checked and judged as mail over SMTP.
import { simulatedMailSamples } from '@callsign/contract/simulator-choices'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('billing', { inbound_mode: 'allowlist' })
})
afterAll(() => harness.stop())

const simulate = (body: Record<string, unknown>): Promise<Json> => harness.expectApi(201, 'POST', '/simulator/mail', { body })

test('a message is stored with its files, verdicts, trace and event', async () => {
  const content = Buffer.from('one,two\n').toString('base64')
  const sent = await simulate({
    to: 'sales',
    from: 'Jo Pike <jo@keller.example>',
    subject: 'Two units',
    text: 'Your code is 492816',
    html: '<p>Your code is <b>492816</b></p>',
    attachments: [{ filename: 'units.csv', content }],
  })
  expect(sent).toMatchObject({ agent_handle: 'sales', status: 'received' })
  const message = await harness.getMessage('sales', sent.message_id)
  expect(message).toMatchObject({
    from: 'jo@keller.example',
    to: ['sales@agents.localhost'],
    subject: 'Two units',
    codes: [{ kind: 'one_time_code', value: '492816' }],
    attachments: [{ filename: 'units.csv', content_type: 'text/csv', size_bytes: 8 }],
    authentication: { source: 'smtp', dmarc: { result: 'none', domain: 'keller.example' } },
  })
  expect(message.headers.received).toContain('from simulator.localhost ([127.0.0.1])')
  expect((await harness.eventsOf(sent.message_id)).map(({ type }) => type)).toEqual(['email.received'])
})

test('a message to an address with a tag keeps the tag', async () => {
  const { message_id } = await simulate({ to: 'sales+plover@agents.localhost', subject: 'Tagged', text: 'Hello' })
  expect(await harness.getMessage('sales', message_id)).toMatchObject({ to: ['sales+plover@agents.localhost'] })
  for (const to of ['none+plover@agents.localhost', 'sales+a\r\nBcc: x@agents.localhost'])
    expect((await harness.api('POST', '/simulator/mail', { body: { to, text: 'Hello' } })).status).toBeGreaterThanOrEqual(400)
})

test('the same message over SMTP has the same verdicts', async () => {
  const mail = { from: 'same@people.example', subject: 'The same', text: 'The same' }
  const { message_id: id } = await simulate({ to: 'sales@agents.localhost', ...mail, subject: 'Simulated' })
  await harness.deliver({ to: 'sales@agents.localhost', ...mail })
  const delivered = await harness.waitForMail('sales', 'The same')
  expect((await harness.getMessage('sales', id)).authentication).toEqual(delivered.authentication)
})

test('the mail rules decide', async () => {
  expect(await simulate({ to: 'billing', text: 'Not allowed' })).toMatchObject({ agent_handle: 'billing', status: 'quarantined' })
})

/** Flags that each sample causes. The others test limits and the display. */
const flags: Record<string, string[]> = {
  hidden_text: ['hidden_text'],
  model_instructions: ['model_instructions'],
  spoofed_name: ['display_name_spoofing'],
  lookalike_domain: ['lookalike_domain'],
  reply_to_mismatch: ['reply_to_mismatch'],
  link_mismatch: ['link_mismatch'],
}

describe('the sample', () => {
  test.each(Object.keys(simulatedMailSamples))('%s arrives whole and has its flags', async (sample) => {
    const { message_id: id } = await simulate({ to: 'sales', sample })
    const message = await harness.getMessage('sales', id)
    expect(message.flags.map((flag: Json) => flag.type)).toEqual(expect.arrayContaining(flags[sample] ?? []))
    expect(message.subject).not.toBe('')
    if (sample === 'huge') expect(message.size_bytes).toBeGreaterThan(5 * 1024 * 1024)
  })
})

test('a forged report marks no message as bounced', async () => {
  const sent = await harness.send('sales', 'board@example.com', { subject: 'Contract' })
  await simulate({ to: 'sales', sample: 'forged_bounce' })
  expect((await harness.getMessage('sales', sent.id)).status).not.toBe('bounced')
})

describe('a request is refused', () => {
  const refusal = async (body: Record<string, unknown>, ask = {}) => {
    const answer = await harness.api('POST', '/simulator/mail', { body, ...ask })
    return [answer.status, answer.body.error.details?.[0]?.path ?? answer.body.error.code]
  }
  test('with a sample and other fields', async () => {
    expect(await refusal({ to: 'sales', sample: 'huge', subject: 'Mine' })).toEqual([400, '/subject'])
  })
  test('with a sender that is not an address, or with a second header in it', async () => {
    expect(await refusal({ to: 'sales', from: 'Ada' })).toEqual([400, '/from'])
    expect(await refusal({ to: 'sales', from: 'ada@people.example\r\nBcc: x@y.example' })).toEqual([400, '/from'])
  })
  test('with a file that is not base64', async () => {
    expect(await refusal({ to: 'sales', attachments: [{ filename: 'a', content: '%' }] })).toEqual([400, '/attachments/0/content'])
  })
  test("for another organization's agent, and with an agent key", async () => {
    expect(await refusal({ to: 'sales' }, { key: harness.otherOrganization.key })).toEqual([404, 'not_found'])
    expect(await refusal({ to: 'sales' }, { key: await harness.agentKey('sales') })).toEqual([403, 'forbidden'])
  })
})

test('a server with a real transport does not have the operation', async () => {
  const real = await startHarness({ CALLSIGN_MAIL_TRANSPORT: 'relay', CALLSIGN_SMTP_RELAY_URL: 'smtp://127.0.0.1:1' })
  try {
    await real.createAgent('sales')
    expect((await real.api('POST', '/simulator/mail', { body: { to: 'sales' } })).status).toBe(404)
  } finally {
    await real.stop()
  }
})
