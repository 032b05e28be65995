// Approval of messages by the person at a connected app: asked in the app where it can ask, and otherwise in the console.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAppTools } from './harness/connected-app.ts'
import { openBrowser } from './harness/console-browser.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let app: ReturnType<typeof createAppTools>
let asking: string
let always: string

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('support')
  const owner = await signedIn()
  app = createAppTools(harness)
  asking = (await app.connectApp(owner, { mail_approval: 'ask' })).access
  always = (await app.connectApp(owner, { mail_approval: 'always' })).access
})
afterAll(() => harness?.stop())

async function signedIn() {
  const browser = openBrowser(harness)
  await browser.signInByKey(harness.organizationKey)
  return browser
}

type Action = 'accept' | 'decline' | 'cancel'
type Options = { revision?: 'legacy' | { pin: string }; canAsk?: boolean }

/** A client whose person answers every question with this action. */
async function connect(token: string, action: Action, { revision = { pin: '2026-07-28' }, canAsk = true }: Options = {}) {
  const questions: string[] = []
  const capabilities = canAsk ? { elicitation: { form: {} } } : {}
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: revision }, capabilities })
  if (canAsk) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message)
      return action === 'accept' ? { action, content: {} } : { action }
    })
  }
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${harness.baseUrl}/mcp?results=data`), { requestInit }))
  const call = async (name: string, args: Json): Promise<Json> => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
    const text = (content as { text: string }[])[0]?.text ?? ''
    return { isError: isError === true, summary: text, code: codeIn(text), ...(structuredContent as object) }
  }
  return { client, call, questions }
}

/** The code of an error, which is a line of its text. */
const codeIn = (text: string): string | undefined => /^code: (\w+)$/m.exec(text)?.[1]

const message = { to: ['support@agents.localhost'], subject: 'Offer', text: 'Buy now\u200b' }
const drafts = async (): Promise<Json[]> => (await harness.expectApi(200, 'GET', '/mailboxes/sales/drafts')).drafts

describe('a person at the app', () => {
  test('sees recipients, subject and text, accepts, and the message is sent once', async () => {
    const { client, call, questions } = await connect(asking, 'accept')
    const sent = await call('mail_send', message)
    expect(sent).toMatchObject({ isError: false, state: 'queued' })
    expect(questions).toEqual([
      [
        'Send this message as sales?',
        'Warning: First contact with support@agents.localhost.',
        'From: sales@agents.localhost',
        'To: support@agents.localhost',
        'Subject: Offer',
        '',
        'Buy now',
      ].join('\n'),
    ])
    await harness.waitForStatus('sales', sent.id, 'delivered')
    expect(await drafts()).toEqual([])
    await client.close()
  })

  test('declines, and the draft is rejected', async () => {
    const { client, call } = await connect(asking, 'decline')
    expect(await call('mail_send', message)).toMatchObject({ isError: true, code: 'declined' })
    expect(await drafts()).toEqual([])
    const { data } = await harness.expectApi(200, 'GET', '/events?types=draft.rejected')
    expect(data).toHaveLength(1)
    await client.close()
  })

  test('does not decide, and the draft waits in the console', async () => {
    const { client, call } = await connect(asking, 'cancel')
    const result = await call('mail_send', message)
    expect(result).toMatchObject({ isError: true, code: 'approval_required' })
    const [draft] = await drafts()
    expect(result.summary).toContain(`/console/approvals/sales/${draft.id}`)
    const accepting = await connect(asking, 'accept')
    expect(await accepting.call('draft_send', { draft_id: draft.id })).toMatchObject({ isError: false })
    expect(await drafts()).toEqual([])
    await Promise.all([client.close(), accepting.client.close()])
  })
})

test.each<[string, () => string, Options]>([
  ['a client that cannot ask', () => asking, { canAsk: false }],
  ['a client of 2025-11-25', () => asking, { revision: 'legacy' }],
  ['a grant with approval always', () => always, {}],
])('%s gets a draft with its link, and no question', async (_name, token, options) => {
  const { client, call, questions } = await connect(token(), 'accept', options)
  const result = await call('mail_send', message)
  expect(result).toMatchObject({ isError: false, state: 'waiting_for_approval' })
  expect(result.approve_at).toContain(`/console/approvals/sales/${result.id}`)
  expect(await call('draft_send', { draft_id: result.id })).toMatchObject(
    options.canAsk === undefined && !options.revision ? { isError: true, code: 'approval_required' } : { isError: true },
  )
  expect(questions).toEqual([])
  await harness.expectApi(200, 'DELETE', `/mailboxes/sales/drafts/${result.id}`)
  await client.close()
})

test('the question shows everything that is sent, and no value begins a line of its own', async () => {
  const { client, call, questions } = await connect(asking, 'cancel')
  await call('mail_send', { ...message, to: ['Boss <boss@example.com>'], subject: `Offer\u2003\u00a0${'x'.repeat(400)}` })
  const lines = (questions[0] as string).split('\n')
  expect(lines).toContain('To: boss@example.com (Boss)')
  expect(lines).toContain('Warning: Leaves the organization, to example.com.')
  expect(lines).toContain(`Subject: Offer ${'x'.repeat(400)}`)
  for (const line of ['\u2028', '\u2029', '\u0085', '\n']) {
    const forged = await call('mail_send', { ...message, subject: `Offer${line}To: boss@example.com` })
    expect(forged.isError || !questions.at(-1)?.split('\n').includes('To: boss@example.com')).toBe(true)
  }
  await client.close()
  for (const { id } of await drafts()) await harness.expectApi(200, 'DELETE', `/mailboxes/sales/drafts/${id}`)
})

test.each([
  ['text', { text: `${'Hello. '.repeat(600)}Pay now.` }],
  ['list of recipients', { bcc: Array.from({ length: 21 }, (_, index) => `${index}@example.com`) }],
  ['HTML', { html: `<style>${' '.repeat(1024 * 1024)}</style><p>Pay now</p>` }],
])('a draft whose %s is too long to show is not asked about, and waits in the console', async (_name, body) => {
  const { client, call, questions } = await connect(asking, 'cancel')
  await call('mail_send', message)
  const [{ id }] = await drafts()
  await harness.expectApi(200, 'PATCH', `/mailboxes/sales/drafts/${id}`, { body })
  const accepting = await connect(asking, 'accept')
  const result = await accepting.call('draft_send', { draft_id: id })
  expect(result).toMatchObject({ isError: true, code: 'approval_required' })
  expect(result.summary).toContain('The message is too long to approve here. Nothing is sent.')
  expect(result.summary).toContain(`/console/approvals/sales/${id}`)
  expect([questions.length, accepting.questions.length]).toEqual([1, 0])
  expect(await drafts()).toMatchObject([{ id }])
  await harness.expectApi(200, 'DELETE', `/mailboxes/sales/drafts/${id}`)
  await Promise.all([client.close(), accepting.client.close()])
})

test('drafts of a grant with approval always are in the queue, and those of another grant are not', async () => {
  for (const [token, isWaiting] of [
    [always, true],
    [(await app.connectApp(await signedIn(), { mail_approval: 'agent' })).access, false],
  ] as const) {
    const { client, call } = await connect(token, 'accept')
    const { id } = await call('draft_create', { ...message, subject: 'Queued' })
    const draft = await harness.expectApi(200, 'GET', `/mailboxes/sales/drafts/${id}`)
    expect(draft.approval?.status ?? null).toBe(isWaiting ? 'requested' : null)
    const { data } = await harness.expectApi(200, 'GET', '/approvals')
    expect(data.some((one: Json) => one.draft.id === id)).toBe(isWaiting)
    await harness.expectApi(200, 'DELETE', `/mailboxes/sales/drafts/${id}`)
    await client.close()
  }
})

test('a plain key is never asked, whatever its client can', async () => {
  await harness.createAgent('careful', { draft_approval: 'required' })
  const { client, call, questions } = await connect(await harness.agentKey('careful'), 'accept')
  expect(await call('mail_send', message)).toMatchObject({ state: 'waiting_for_approval' })
  expect(questions).toEqual([])
  await client.close()
})

describe('a client that forges an approval', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  }
  const raw = async (token: string, params: Json): Promise<Json> => {
    const response = await fetch(`${harness.baseUrl}/mcp?results=data`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': params.name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } }),
    })
    const text = await response.text()
    return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] as string))
  }
  const accepted = { approve: { action: 'accept', content: {} } }

  test('sends nothing without the state of a question, or with a changed or foreign one', async () => {
    const first = await raw(asking, { name: 'mail_send', arguments: message })
    const state = first.result.requestState as string
    expect(first.result).toMatchObject({ resultType: 'input_required' })
    const unasked = await raw(asking, { name: 'mail_send', arguments: message, inputResponses: accepted })
    expect(unasked.result.resultType).toBe('input_required')
    const forged = `${state.slice(0, 10)}${state[10] === 'A' ? 'B' : 'A'}${state.slice(11)}`
    for (const [token, requestState] of [
      [asking, forged],
      [always, state],
      [asking, 'v1.e30.AAAA'],
    ] as const) {
      const answer = await raw(token, { name: 'mail_send', arguments: message, inputResponses: accepted, requestState })
      expect(answer.result?.structuredContent?.state).not.toBe('queued')
    }
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/sales/messages?direction=outbound')
    const before = data.length
    const sent = await raw(asking, { name: 'mail_send', arguments: message, inputResponses: accepted, requestState: state })
    expect(sent.result.structuredContent.state).toBe('queued')
    const again = await raw(asking, { name: 'mail_send', arguments: message, inputResponses: accepted, requestState: state })
    expect(again.result.isError).toBe(true)
    const after = await harness.expectApi(200, 'GET', '/mailboxes/sales/messages?direction=outbound')
    expect(after.data).toHaveLength(before + 1)
  })

  test('is asked again without an answer to the question, and answers to other questions are not read', async () => {
    const first = await raw(asking, { name: 'mail_send', arguments: { ...message, subject: 'Asked twice' } })
    const { requestState } = first.result
    for (const inputResponses of [{ other: accepted.approve }, { approve: 12345 }, { approve: { roots: [] } }, {}]) {
      const { result } = await raw(asking, { name: 'mail_send', arguments: message, inputResponses, requestState })
      expect(result).toMatchObject({ resultType: 'input_required', inputRequests: first.result.inputRequests })
    }
    const extra = { ...accepted, other: { action: 'decline' } }
    const sent = await raw(asking, { name: 'mail_send', arguments: message, inputResponses: extra, requestState })
    expect(sent.result.structuredContent.state).toBe('queued')
    const gone = await raw(asking, { name: 'mail_send', arguments: message, inputResponses: {}, requestState })
    expect(gone.result.isError).toBe(true)
  })

  test('sends nothing when the draft was changed after it was shown', async () => {
    const { result } = await raw(asking, { name: 'mail_send', arguments: { ...message, subject: 'Shown' } })
    const draft = (await drafts()).find(({ subject }: Json) => subject === 'Shown')
    await harness.expectApi(200, 'PATCH', `/mailboxes/sales/drafts/${draft.id}`, { body: { text: 'Something else' } })
    const answer = await raw(asking, { name: 'mail_send', arguments: message, inputResponses: accepted, requestState: result.requestState })
    expect(answer.result.isError).toBe(true)
    expect(codeIn(answer.result.content[0].text)).toBe('draft_version_conflict')
  })
})
