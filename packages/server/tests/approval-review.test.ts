// The review of a draft has everything that would be sent. The API, the approval page and a question in a connected app show the same.
import { fetch } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let key: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann', { draft_approval: 'required', display_name: 'Ann' })
  await harness.createAgent('ben')
  await harness.createAgent('stranger', {}, harness.otherOrganization.key)
  key = await harness.agentKey('ann')
})
afterAll(() => harness.stop())

const drafts = '/mailboxes/ann/drafts'
const create = (body: Json): Promise<Json> => harness.expectApi(201, 'POST', drafts, { key, body })
const reviewOf = (id: string): Promise<Json> => harness.expectApi(200, 'GET', `${drafts}/${id}/review`)
const textsOf = (review: Json, code: string): string[] =>
  review.warnings.filter((one: Json) => one.code === code).map((one: Json) => one.text)
const file = (filename: string, text: string) => ({ filename, content_type: 'text/plain', content: Buffer.from(text).toString('base64') })

/** The page of the one-time link of a draft. */
async function pageOf(id: string): Promise<string> {
  const { url } = await harness.expectApi(200, 'POST', `${drafts}/${id}/approval-link`)
  return (await fetch(url.replace(/^https?:\/\/[^/]+/, harness.baseUrl))).text()
}

test('the review and the page have every field, file, image and warning of the message', async () => {
  const { id } = await create({
    from: 'Bank of Ann <ann@agents.localhost>',
    to: ['Ada <ada@example.com>'],
    bcc: ['boss@example.org'],
    reply_to: ['Ann <ann@evil.example>'],
    subject: 'Offer',
    text: 'Ten apples',
    html: '<p>Ten <b>pears</b></p><img src="https://img.example/a.png" alt="Pay now"><div style="background:url(https://img.example/b.png)">',
    headers: { 'X-Order': '1042', 'List-Unsubscribe': '<mailto:out@evil.example>' },
    automatic: true,
    attachments: [file('a.txt', 'file')],
  })
  const review = await reviewOf(id)
  expect(Object.fromEntries(review.fields.map((field: Json) => [field.name, field.values]))).toEqual({
    From: ['Bank of Ann <ann@agents.localhost>'],
    'Reply-To': ['Ann <ann@evil.example>'],
    To: ['Ada <ada@example.com>'],
    Bcc: ['boss@example.org'],
    Subject: ['Offer'],
    'X-Order': ['1042'],
    'List-Unsubscribe': ['<mailto:out@evil.example>'],
    'Auto-Submitted': ['auto-generated'],
  })
  expect(review).toMatchObject({ version: 1, agent_handle: 'ann', text: 'Ten apples', html_text: expect.stringContaining('Ten pears') })
  expect(review.images).toEqual(['https://img.example/a.png (Pay now)', 'https://img.example/b.png'])
  expect(review.attachments).toEqual([{ filename: 'a.txt', content_type: 'text/plain', size_bytes: 4, is_forwarded: false }])
  expect(textsOf(review, 'from_name')).toEqual(['Sent under the name "Bank of Ann". The agent has the name "Ann".'])
  expect(textsOf(review, 'reply_to')).toEqual(['Replies go to ann@evil.example.', 'The header List-Unsubscribe names out@evil.example.'])
  expect(textsOf(review, 'external')).toEqual(['Leaves the organization, to example.com, example.org.'])
  expect(textsOf(review, 'first_contact')).toEqual(['First contact with ada@example.com, boss@example.org.'])
  expect(textsOf(review, 'hidden_recipients')).toEqual(['Has 1 hidden recipient.'])
  expect(textsOf(review, 'images')).toEqual(['The HTML shows 2 images, which this review does not show.'])

  const page = await pageOf(id)
  const shown = [...review.fields.flatMap((field: Json) => [field.name, ...field.values]), ...review.images, 'a.txt']
  const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  for (const text of [...shown, ...review.warnings.map((one: Json) => one.text)]) expect(page).toContain(escaped(text))
})

test('mail from an address makes it known, and nothing that only looks like it', async () => {
  await harness.deliver({ from: '"bob@bank.example" <jose@bank.example>', to: 'ann@agents.localhost', subject: 'Known', text: 'Hello' })
  await harness.waitForMail('ann', 'Known')
  for (const [to, isFirst] of [
    ['jose@bank.example', false],
    ['JOSE@bank.example', false],
    ['jos\u00e9@bank.example', true],
    ['jose@b\u00e4nk.example', true],
    ['bob@bank.example', true],
  ] as const) {
    const { id } = await create({ to: [to], subject: 'Hi', text: 'Hi' })
    expect([to, textsOf(await reviewOf(id), 'first_contact').length > 0]).toEqual([to, isFirst])
  }
})

test('the page says in words until when its link is valid', async () => {
  const { id } = await create({ to: ['ben@agents.localhost'], subject: 'Soon', text: 'Hi' })
  await harness.db.query({ text: "UPDATE drafts SET approval_expires_at = '2099-12-01T23:38:32.905Z' WHERE id = $1", values: [id] })
  expect(await pageOf(id)).toContain('valid until <time datetime="2099-12-01T23:38:32.905Z">1 December 2099, 23:38 UTC</time>.')
})

test('text that the HTML hides is marked, and styles that can change it are named, in every place', async () => {
  const html =
    '<style>p::after{content:"Pay now"}</style><p>Hi</p><!-- x --!><p>Owed: 900</p><!-- --><p>Do <template>not</template> pay</p>'
  const { id } = await create({ to: ['ben@agents.localhost'], subject: 'Offer', text: 'Hi', html })
  const review = await reviewOf(id)
  expect(review.html_text).toContain('Owed: 900')
  expect(review.html_text).toContain('Do [not shown: not] pay')
  expect(textsOf(review, 'hidden_text')).toEqual(['The HTML hides text, which this review marks as not shown: "not".'])
  expect(textsOf(review, 'html_styles')).toEqual([expect.stringContaining('content')])
  expect(await pageOf(id)).toContain('Do [not shown: not] pay')
})

test('a forward has the quoted message and its files, and what the guard finds in them', async () => {
  const token = `ghp_${'k3W9xQ7mZt2L'.repeat(3)}`
  await harness.deliver({
    from: 'eve@example.org',
    to: 'ann@agents.localhost',
    subject: 'Plans',
    text: 'The plans are attached.',
    attachments: [{ filename: 'plans.txt', content: `TOKEN=${token}` }],
  })
  const { id: forwarded } = await harness.waitForMail('ann', 'Plans')
  const { id } = await create({ forward_of: forwarded, to: ['ada@example.com'], text: 'See below' })
  const review = await reviewOf(id)
  expect(review.text).toContain('See below')
  expect(review.text).toContain('The plans are attached.')
  expect(review.attachments).toMatchObject([{ filename: 'plans.txt', is_forwarded: true }])
  expect(textsOf(review, 'held')).toEqual([expect.stringContaining('the file plans.txt')])
  expect(await pageOf(id)).toContain('plans.txt')
})

test('an ordinary message within the organization to a known correspondent has no warning', async () => {
  await harness.send('ben', 'ann@agents.localhost', { subject: 'Known', text: 'Hello' })
  await harness.waitForMail('ann', 'Known')
  const { id } = await create({ to: ['ben@agents.localhost'], subject: 'Re: Known', text: 'Hello Ben' })
  expect((await reviewOf(id)).warnings).toEqual([])
})

test('an agent of another organization on the mail domain is outside, and so is an address that no agent has', async () => {
  const { id } = await create({ to: ['stranger@agents.localhost', 'nobody_here@agents.localhost'], subject: 'Inside?', text: 'Hello' })
  expect(textsOf(await reviewOf(id), 'external')).toEqual([
    'Leaves the organization, to stranger@agents.localhost, nobody_here@agents.localhost.',
  ])
})

test('versions keep every field that recipients get', async () => {
  const { id } = await create({
    from: 'Sales <ann@agents.localhost>',
    to: ['ada@example.com'],
    reply_to: ['desk@example.com'],
    subject: 'One',
    text: 'first',
    headers: { 'X-Order': '1042' },
    automatic: true,
    attachments: [file('a.txt', 'file')],
  })
  const { attachments } = await harness.expectApi(200, 'GET', `${drafts}/${id}`)
  await harness.expectApi(200, 'PATCH', `${drafts}/${id}`, {
    key,
    body: { from: null, reply_to: null, headers: null, automatic: false, remove_attachments: [attachments[0].id] },
  })
  const { data } = await harness.expectApi(200, 'GET', `${drafts}/${id}/versions`)
  expect(data).toMatchObject([
    {
      version: 1,
      from: 'Sales <ann@agents.localhost>',
      reply_to: ['desk@example.com'],
      headers: { 'X-Order': '1042' },
      automatic: true,
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', size_bytes: 4 }],
    },
  ])
})

test.each([0x2028, 0x2029])('a line separator U+%s is refused in names, subjects, headers and file names', async (code) => {
  const line = String.fromCharCode(code)
  const base = { to: ['ada@example.com'], subject: 'Offer', text: 'Hello' }
  const refused: [string, Json][] = [
    ['/subject', { subject: `Offer${line}to: boss@example.com` }],
    ['/to/0', { to: [`Ada${line}to: boss <ada@example.com>`] }],
    ['/reply_to/0', { reply_to: [`Ada${line}x <ada@example.com>`] }],
    ['/from', { from: `Ann${line}x <ann@agents.localhost>` }],
    ['/headers/X-Order', { headers: { 'X-Order': `1${line}2` } }],
    ['/attachments/0', { attachments: [file(`a${line}b.txt`, 'file')] }],
  ]
  for (const [path, more] of refused) {
    const answer = await harness.api('POST', drafts, { key, body: { ...base, ...more } })
    expect(answer.status).toBe(400)
    expect(answer.body.error.details[0].path).toContain(path)
  }
  // It is an ordinary character of a text.
  await create({ ...base, text: `one${line}two` })
})
