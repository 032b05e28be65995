// Every route of the OpenAPI document, called without permission. The answer is 401, 403 or 404, and never contains data of others.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { exampleRequest, type Known } from './harness/example-request.ts'
import { type Answer, type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

type Step = { name: string; method: string; template: string; operation: Json; isOpen: boolean }

const secretWord = 'xylophone-secret'

let harness: Harness
let steps: Step[]
let agentKey: string
let phone: { number: string; id: string; messageId: string }
let revokedKey: string
/** Values of the first organization, by the name that they have in a path, a query or a body. */
let values: Record<string, unknown>
/** Words that only the first organization, and only the agent `victim` in it, may see. */
let foreign: string[]

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('victim')
  await harness.createAgent('intruder')
  for (const local_part of ['victim.a', 'victim.b'])
    await harness.expectApi(201, 'POST', '/identities/victim/addresses', { body: { local_part } })
  agentKey = await harness.agentKey('intruder', { preset: 'agent', scopes: ['quarantine:release', 'drafts:approve'] })
  await harness.createAgent('stranger', {}, harness.otherOrganization.key)
  const revoked = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Revoked', type: 'organization' } })
  await harness.expectApi(200, 'DELETE', `/keys/${revoked.id}`)
  revokedKey = revoked.key
  const victimKey = await harness.expectApi(201, 'POST', '/keys', {
    body: { name: 'Of the victim', type: 'agent', agent_handle: 'victim' },
  })
  const attachments = [{ filename: `${secretWord}.txt`, content: 'VGV4dA==' }]
  const sent = await harness.send('victim', 'x@example.com', { subject: secretWord, text: secretWord, attachments })
  const message = await harness.waitForStatus('victim', sent.id, 'sent')
  const link = await harness.expectApi(200, 'POST', `/mailboxes/victim/messages/${sent.id}/share`)
  const identity = await harness.expectApi(200, 'GET', '/identities/victim')
  const label = await harness.expectApi(201, 'POST', '/mailboxes/victim/labels', { body: { name: secretWord } })
  const draft = await harness.expectApi(201, 'POST', '/mailboxes/victim/drafts', {
    body: { subject: secretWord, text: secretWord, attachments },
  })
  await harness.expectApi(201, 'POST', '/suppressions', { body: { email_address: 'gone@example.com' } })
  const { data: domain } = await harness.expectApi(201, 'POST', '/domains', { body: { domain: 'victim.example' } })
  const rule = await harness.expectApi(201, 'POST', '/identities/victim/mail-rules', {
    body: { direction: 'both', action: 'allow', entry: 'x@example.com', reason: secretWord },
  })
  const number = await harness.expectApi(201, 'POST', '/phone/numbers', { body: { agent_handle: 'victim' } })
  const text = await harness.expectApi(201, 'POST', '/simulator/sms', { body: { to: number.phone_number, text: secretWord } })
  phone = { number: number.phone_number, id: number.id, messageId: text.message_id }
  const paired = await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from: '+14155550123', text: 'connect @victim' } })
  const texted = await harness.expectApi(201, 'POST', '/simulator/imessage', { body: { from: '+14155550123', text: secretWord } })
  values = {
    rule_id: rule.id,
    domain_id: domain.id,
    email_address: 'victim@agents.localhost',
    message_id: sent.id,
    link_id: link.link_id,
    ids: [sent.id],
    thread_id: sent.thread_id,
    handle: 'victim',
    label_id: label.id,
    draft_id: draft.id,
    conversation_id: paired.conversation_id,
    identity_id: identity.id,
    attachment_id: message.attachments[0].id,
    expires: '9999999999',
    signature: 'forged',
    q: secretWord,
    timeout: 0,
    agent: 'victim',
    agent_handle: 'victim',
    to: ['x@example.com'],
    text: 'text',
    is_read: true,
    display_name: 'Renamed',
    description: 'Described',
    subject: 'subject',
  }
  foreign = [
    secretWord,
    'victim',
    sent.id,
    sent.thread_id,
    link.link_id,
    identity.id,
    identity.mailbox.id,
    identity.tunnel.id,
    message.attachments[0].id,
    draft.id,
    draft.attachments[0].id,
    domain.id,
    rule.id,
    paired.conversation_id,
    texted.message_id,
    victimKey.id,
    phone.id,
    phone.number,
    phone.messageId,
  ]
  const keyId = victimKey.id
  steps = Object.entries(harness.document.paths as Json).flatMap(([template, methods]) =>
    Object.entries(methods as Json).map(([method, operation]: [string, Json]) => ({
      name: `${method.toUpperCase()} ${template}`,
      method: method.toUpperCase(),
      template,
      operation,
      isOpen: operation.security?.length === 0,
    })),
  )
  knownTo = (more) => (name, template) => {
    // The primary address cannot be deleted.
    if (name === 'email_address' && template.includes('/addresses/'))
      return template.endsWith('/set-primary') ? 'victim.a@agents.localhost' : 'victim.b@agents.localhost'
    if (name === 'local_part') return undefined
    if (name === 'attachment_id' && template.includes('{draft_id}')) return draft.attachments[0].id
    if (name === 'name' && template.endsWith('/labels/{label_id}')) return 'renamed'
    // An address in the path that does not belong to a mailbox.
    if (name === 'email_address' && template.includes('/suppressions')) return 'gone@example.com'
    if (name === 'entry') return template.endsWith('/mail-rules') ? 'walk.example' : undefined
    if (/\/(phone|simulator)\//.test(template)) {
      if (name === 'id') return phone.id
      if (name === 'message_id') return phone.messageId
      if (name === 'to' && template.endsWith('/simulator/mail')) return 'victim'
      if (name === 'to') return template.endsWith('/advance') ? 'ready' : phone.number
      if (name === 'from') return undefined
    }
    if (name === 'id') return template.startsWith('/api/v1/keys/') ? keyId : undefined
    if (name === 'type' && template === '/api/v1/keys') return 'agent'
    // Elsewhere it is a filter, or the second of two ways to name an agent.
    if (name === 'agent_handle' && !/\/(keys|identities)$/.test(template)) return undefined
    // A number there, and conversation_id already covers it.
    if (name === 'to' && template.includes('/imessage/')) return undefined
    return more[name] ?? values[name]
  }
})
afterAll(() => harness.stop())
afterEach(() => void vi.useRealTimers())

let knownTo: (more: Record<string, unknown>) => Known

/** Calls one operation with a key. `more` replaces values of the first organization. */
async function call(step: Step, key: string | null, more: Record<string, unknown> = {}): Promise<Answer> {
  const { path, body } = exampleRequest(harness.document, step.template, step.operation, knownTo(more))
  return harness.api(step.method, path, { key, body })
}

/** DELETE comes last, so that the requested objects still exist. */
const inOrder = () => steps.toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))
const guarded = () => inOrder().filter((step) => !step.isOpen)
const shown = ({ body }: Answer): string => (Buffer.isBuffer(body) ? body.toString('latin1') : JSON.stringify(body))

async function statuses(list: Step[], key: string | null, more: Record<string, unknown> = {}): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const step of list) {
    const answer = await call(step, key, more)
    found[step.name] = answer.status
    // An error contains foreign values only if the caller has sent them.
    const words = answer.status < 300 ? foreign : foreign.filter((word) => !['victim', secretWord].includes(word))
    // The log of requests shows the ids in the paths of the caller's own requests.
    if (step.operation.operationId === 'listRequests') continue
    for (const word of words) expect(shown(answer), `${step.name} shows ${word}`).not.toContain(word)
  }
  return found
}
const all = (list: Step[], status: number) => Object.fromEntries(list.map((step) => [step.name, status]))

test('the document has routes enough to walk', () => {
  expect(guarded().length).toBeGreaterThan(20)
})

describe('without a valid key every route is 401', () => {
  test.each([
    ['no key', () => null],
    ['a malformed key', () => 'svc_live_malformed'],
    ['a revoked key', () => revokedKey],
  ])('%s', async (_name, key) => {
    // There are more routes than the limit of failed keys per address, so an address has to wait ten seconds before the other routes answer.
    for (const step of guarded()) {
      const answer = await waitFor(`${step.name} not to be throttled`, async () => {
        const one = await call(step, key())
        if (one.status !== 429) return one
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
        return null
      })
      expect([answer.status, answer.body.error.code], step.name).toEqual([401, 'unauthorized'])
      for (const word of foreign.filter((one) => !['victim', secretWord].includes(one))) expect(shown(answer)).not.toContain(word)
    }
  })

  test('routes without a key requirement do not reveal more with one', async () => {
    for (const step of steps.filter((one) => one.isOpen && one.template.includes('{'))) {
      for (const key of [null, harness.organizationKey, harness.otherOrganization.key])
        expect([403, 404]).toContain((await call(step, key)).status)
    }
  })
})

describe("another organization's key", () => {
  test('is 404 for every object named in the path', async () => {
    const naming = guarded().filter((step) => step.template.includes('{'))
    expect(await statuses(naming, harness.otherOrganization.key)).toEqual(all(naming, 404))
  })

  test('is 404 where the query or the body does so, and sees only its own organization elsewhere', async () => {
    const found = await statuses(
      guarded().filter((step) => !step.template.includes('{')),
      harness.otherOrganization.key,
    )
    expect(found).toMatchObject({
      'GET /api/v1/me': 200,
      'POST /api/v1/mail/send': 404,
      'GET /api/v1/mail/messages': 404,
      'POST /api/v1/keys': 404,
      'POST /api/v1/simulator/mail': 404,
      // Handles are unique over all organizations. A taken handle is not a secret, because its address accepts mail.
      'POST /api/v1/identities': 409,
    })
    expect(Object.entries(found).filter(([, status]) => status >= 500)).toEqual([])
  })

  test('is 404 under its own mailbox for objects of another', async () => {
    const naming = guarded().filter((step) => /\{email_address\}.*\{/.test(step.template))
    expect(naming.length).toBeGreaterThan(5)
    expect(await statuses(naming, harness.otherOrganization.key, { email_address: 'stranger' })).toEqual(all(naming, 404))
  })
})

describe("another agent's key", () => {
  const isMine = (template: string) => /^\/api\/v1\/(mailboxes|identities)\/\{/.test(template)

  test('is 403 for another agent or mailbox in the path, whether or not it exists', async () => {
    const naming = guarded().filter((step) => isMine(step.template))
    expect(await statuses(naming, agentKey)).toEqual(all(naming, 403))
    expect(await statuses(naming, agentKey, { email_address: 'nobody@agents.localhost', handle: 'nobody' })).toEqual(all(naming, 403))
  })

  test('is 403 on organization-level operations, and lists contain its own only', async () => {
    const rest = guarded().filter((step) => !isMine(step.template))
    const found = await statuses(rest, agentKey)
    expect(found).toMatchObject({
      'GET /api/v1/me': 200,
      'POST /api/v1/identities': 403,
      'GET /api/v1/identities': 200,
      'POST /api/v1/mail/send': 403,
      'GET /api/v1/mail/messages': 403,
      'GET /api/v1/mailboxes': 200,
      'GET /api/v1/keys': 403,
      'POST /api/v1/keys': 403,
      'DELETE /api/v1/keys/{id}': 403,
      'GET /api/v1/audit': 403,
    })
    // Operations that change data are all refused.
    const changing = Object.entries(found).filter(([name, status]) => !name.startsWith('GET') && (status < 400 || status >= 500))
    // A socket token has the rights of its key.
    expect(changing).toEqual([['POST /api/v1/events/socket-token', 201]])
    expect(await statuses([step('GET /api/v1/mail/messages')], agentKey, { agent: 'intruder' })).toEqual({
      'GET /api/v1/mail/messages': 200,
    })
  })

  test('is 404 under its own mailbox for objects of another', async () => {
    // Links of approval are for organization keys alone.
    const naming = guarded().filter((one) => /\{email_address\}.*\{/.test(one.template) && !one.template.endsWith('/approval-link'))
    expect(await statuses(naming, agentKey, { email_address: 'intruder' })).toEqual(all(naming, 404))
  })
})

const step = (name: string): Step => steps.find((one) => one.name === name) as Step

test('every object is reachable with its own key, which is tried last', async () => {
  // A draft is gone once it is sent or rejected, so it could not be deleted afterwards. It has a message only then.
  const own = guarded().filter(
    (one) =>
      /^\/api\/v1\/(me|mail|mailboxes|identities|imessage|keys|audit|suppressions|phone|simulator)\b(?!.*\}\/(send|reject|message)$)/.test(
        one.template,
      ) &&
      // The agent already has a number, numbers cannot send, and a fault must belong to its step.
      !/^POST .*\/(phone\/numbers|phone\/numbers\/\{id\}\/messages|simulator\/(faults|imessage))$/.test(one.name),
  )
  // The draft and the message are deleted after their links, and the victim itself after everything in its mailbox.
  const mailbox = '/api/v1/mailboxes/{email_address}'
  const last = [`DELETE ${mailbox}/drafts/{draft_id}`, `DELETE ${mailbox}/messages/{message_id}`, 'DELETE /api/v1/identities/{handle}']
  const sorted = own.toSorted((a, b) => last.indexOf(a.name) - last.indexOf(b.name))
  for (const one of sorted) {
    const { status, body } = await call(
      one,
      harness.organizationKey,
      one.name === 'POST /api/v1/identities' ? { agent_handle: 'fresh' } : {},
    )
    expect([200, 201, 204], `${one.name} answered ${status} ${JSON.stringify(body)}`).toContain(status)
  }
})
