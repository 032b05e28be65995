// The wait of one tenant while another asks for much work: what runs on the thread that all share is bounded.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowedMs } from '../../mail/tests/harness/processor.ts'
import { type Attack, longestWait, type Waited } from './harness/longest-wait.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let otherKey: string
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'bob']) await harness.createAgent(handle)
  otherKey = (await harness.createOrganization('other')).key
})
afterAll(() => harness?.stop())

const post = (path: string, body: unknown, times = 1): Attack => ({ method: 'POST', path, body: JSON.stringify(body), times })
const get = (path: string, times = 1): Attack => ({ method: 'GET', path, times })

/** Runs the attack. Fails when a turn of the event loop takes longer than 250 ms on a machine of the usual speed. */
async function expectShortTurns(attacks: Attack[], statuses: number[]): Promise<Waited> {
  const waited = await longestWait(harness, otherKey, attacks)
  expect([...new Set(waited.answers.map(({ status }) => status))]).toEqual(statuses)
  expect(waited.turnMs).toBeLessThan(await allowedMs(250))
  return waited
}

const sent = (more: Record<string, unknown>): Promise<Json> => harness.send('ann', 'bob@agents.localhost', more)
const html = (characters: number): string => '<p>a <b>b</b> &amp; c</p>\n'.repeat(Math.ceil(characters / 25))
const messages = (characters: number) =>
  Array.from({ length: 100 }, () => ({ agent: 'ann', to: ['bob@agents.localhost'], subject: 'x', html: html(characters) }))

test('emails with one large template are refused before most of them are rendered', async () => {
  const { id } = await harness.expectApi(201, 'POST', '/templates', {
    body: {
      name: 'large',
      from: 'ann@agents.localhost',
      subject: 'x',
      html: '{{{A}}} '.repeat(55_000),
      variables: [{ key: 'A', type: 'string', fallback_value: '<b>b</b> &amp; c and some more' }],
    },
  })
  await harness.expectApi(200, 'POST', `/templates/${id}/publish`)
  const email = { from: 'ann@agents.localhost', to: 'bob@agents.localhost', subject: 'x', template: { id } }
  await expectShortTurns(
    [
      post(
        '/compat/resend/emails/batch',
        Array.from({ length: 100 }, () => email),
      ),
    ],
    [422],
  )
})

test('a batch of 7 MB of HTML is sent in pieces of work', async () => {
  await expectShortTurns([post('/api/v1/mail/batch', { messages: messages(70_000) })], [201])
})

test('a batch of more than 8 MB of HTML is refused', async () => {
  const answer = await harness.api('POST', '/mail/batch', { body: { messages: messages(99_000) } })
  expect([answer.status, answer.body.error.code, answer.body.error.message]).toEqual([
    413,
    'payload_too_large',
    'The text and HTML of a batch have at most 8 MB. Send the messages in several batches.',
  ])
})

test('a shared page of a large message is made on a thread', async () => {
  const { id } = await sent({ text: '&\n'.repeat(750_000) })
  const { url } = await harness.expectApi(200, 'POST', `/mailboxes/ann/messages/${id}/share`, { body: {} })
  const { answers } = await expectShortTurns([{ ...get(url, 2), key: null }], [200])
  // "&amp;" and "<br>" in place of each sign and each line end.
  expect(answers[0]?.bytes).toBeGreaterThan(750_000 * 10)
})

test('the raw bytes of a large sent message are composed on a thread', async () => {
  const { id } = await sent({ text: 'é\n'.repeat(1_000_000) })
  const { raw_url } = await harness.getMessage('ann', id)
  const { answers } = await expectShortTurns([{ ...get(raw_url, 2), key: null }], [200])
  expect(answers[0]?.bytes).toBeGreaterThan(2_000_000)
})

test('reviews of a draft with large HTML are made on a thread', async () => {
  const body = { to: ['bob@agents.localhost'], subject: 'x', html: html(3_000_000) }
  const { id } = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body })
  await expectShortTurns([get(`/api/v1/mailboxes/ann/drafts/${id}/review`, 10)], [200])
  const { html_text } = await harness.expectApi(200, 'GET', `/mailboxes/ann/drafts/${id}/review`)
  expect(html_text.slice(0, 7)).toBe('a b & c')
})

test('drafts with large HTML are sent with a text that is made on a thread', async () => {
  const body = { to: ['bob@agents.localhost'], subject: 'x', html: html(3_000_000) }
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body })).id)
  await expectShortTurns(
    ids.map((id) => post(`/api/v1/mailboxes/ann/drafts/${id}/send`, {})),
    [201],
  )
  const { message_id } = await harness.expectApi(200, 'GET', `/mailboxes/ann/drafts/${ids[0]}/message`)
  expect((await harness.getMessage('ann', message_id)).text.slice(0, 7)).toBe('a b & c')
})

test('the quotation of a large text is made on a thread', async () => {
  const { id } = await sent({ text: '<\n'.repeat(1_000_000) })
  const path = `/api/v1/mailboxes/ann/messages/${id}/forward`
  await expectShortTurns([post(path, { to: ['bob@agents.localhost'], html: '<p>See below</p>' }, 3)], [201])
  const draft = { to: ['bob@agents.localhost'], forward_of: id, html: '<p>See below</p>' }
  await expectShortTurns([post('/api/v1/mailboxes/ann/drafts', draft, 3)], [201])
})

test('messages with a large text are written one after another', async () => {
  const { id } = await sent({ text: 'é\n'.repeat(2_000_000) })
  await expectShortTurns([get(`/api/v1/mailboxes/ann/messages/${id}`, 10)], [200])
})
