// Creation with a `client_id`. A repeat returns the same object, also under concurrent requests, and a deleted object frees its id.
import { operations } from '@callsign/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('ann')
  await harness.createAgent('ben')
})
afterAll(() => harness.stop())

type Kind = {
  path: string
  body: (number: number) => Json
  /** The object in a reply. */
  shown?: (reply: Json) => Json
  remove: (made: Json) => string
}

const kinds: [string, Kind][] = [
  ['an identity', { path: '/identities', body: (n) => ({ agent_handle: `made_${n}` }), remove: (one) => `/identities/${one.id}` }],
  [
    'an address',
    {
      path: '/identities/ann/addresses',
      body: (n) => ({ local_part: `made.${n}` }),
      remove: (one) => `/identities/ann/addresses/${one.email_address}`,
    },
  ],
  [
    'a draft',
    { path: '/mailboxes/ann/drafts', body: (n) => ({ subject: `Draft ${n}` }), remove: (one) => `/mailboxes/ann/drafts/${one.id}` },
  ],
  [
    'a mail rule',
    {
      path: '/identities/ann/mail-rules',
      body: (n) => ({ direction: 'both', action: 'allow', entry: `made${n}.example` }),
      remove: (one) => `/identities/ann/mail-rules/${one.id}`,
    },
  ],
  [
    'a domain',
    {
      path: '/domains',
      body: (n) => ({ domain: `made${n}.example` }),
      shown: (reply) => reply.data,
      remove: (one) => `/domains/${one.id}`,
    },
  ],
  ['a template', { path: '/templates', body: (n) => ({ name: `Template ${n}`, text: 'Hello' }), remove: (one) => `/templates/${one.id}` }],
  ['a label', { path: '/mailboxes/ann/labels', body: (n) => ({ name: `label ${n}` }), remove: (one) => `/mailboxes/ann/labels/${one.id}` }],
  [
    'a webhook',
    {
      path: '/webhooks',
      body: (n) => ({ url: `https://hooks.example/${n}`, events: ['*'] }),
      // Only the first reply has the secret.
      shown: ({ secret: _secret, ...one }) => one,
      remove: (one) => `/webhooks/${one.id}`,
    },
  ],
]

describe.each(kinds)('%s', (_name, { path, body, shown = (reply) => reply, remove }) => {
  const create = async (number: number, client_id: string, key = harness.organizationKey) =>
    shown(await harness.expectApi(201, 'POST', path, { key, body: { ...body(number), client_id } }))

  test('a repeat returns the same object unchanged, also with another body', async () => {
    const first = await create(1, 'one')
    expect(first.client_id).toBe('one')
    expect(await create(1, 'one')).toEqual(first)
    expect(await create(2, 'one')).toEqual(first)
    expect((await create(3, 'two')).id).not.toBe(first.id)
  })

  test('of concurrent requests one creates it, and all return it', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => create(4, 'raced')))
    expect(new Set(made.map((one) => one.id)).size).toBe(1)
  })

  test('a repeat with an Idempotency-Key stores the same answer', async () => {
    const request = { body: { ...body(1), client_id: 'one' }, headers: { 'idempotency-key': `again ${path}` } }
    const [first, second] = [await harness.api('POST', path, request), await harness.api('POST', path, request)]
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
  })

  test('a deleted object frees its client_id', async () => {
    const first = await create(1, 'one')
    const { status } = await harness.api('DELETE', remove(first))
    expect([200, 204]).toContain(status)
    expect((await create(5, 'one')).id).not.toBe(first.id)
  })

  test('without one, client_id is null, and a malformed one is 400', async () => {
    expect(shown(await harness.expectApi(201, 'POST', path, { body: body(6) })).client_id).toBeNull()
    for (const client_id of ['', 'x'.repeat(256), 'a b', 'ä', 7, null])
      expect((await harness.api('POST', path, { body: { ...body(7), client_id } })).body.error.details[0].path).toBe('/client_id')
  })
})

/** Creations without a client_id, with what makes a repeat return the same object or do nothing twice. */
const repeatable: Record<string, string> = {
  createKey: 'a repeat could not return the plaintext again',
  createSuppression: 'unique by address',
  createSocketToken: 'a token of 60 seconds, which is not stored',
  createVaultSecret: 'the client makes the id',
  initializeVault: 'one per organization',
  grantVaultAccess: 'unique by secret and identity',
  provisionPhoneNumber: 'one per agent, and an Idempotency-Key',
  sendMail: 'an Idempotency-Key',
  sendMessage: 'an Idempotency-Key',
  sendBatch: 'an Idempotency-Key',
  sendDraft: 'a draft is sent once',
  replyToMessage: 'an Idempotency-Key',
  forwardMessage: 'an Idempotency-Key',
  replayTunnelRequest: 'each replay is a request of its own',
  simulateMail: 'plays a person elsewhere',
  simulateSms: 'plays a person elsewhere',
  simulateImessage: 'plays a person elsewhere',
}

test('every creation takes a client_id, or another rule covers its repeat', () => {
  const creations = operations.filter(({ method, status }) => method === 'POST' && status === 201)
  const takes = ({ body }: (typeof operations)[number]) => Object.hasOwn((body as Json | undefined)?.properties ?? {}, 'client_id')
  expect(
    creations
      .filter((one) => !takes(one))
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(Object.keys(repeatable).toSorted())
  expect(creations.filter(takes)).toHaveLength(kinds.length)
})

test('client ids of two organizations do not meet', async () => {
  const key = harness.otherOrganization.key
  const [own, foreign] = [
    await harness.expectApi(201, 'POST', '/identities', { body: { agent_handle: 'own_side', client_id: 'shared' } }),
    await harness.expectApi(201, 'POST', '/identities', { key, body: { agent_handle: 'other_side', client_id: 'shared' } }),
  ]
  expect([own.agent_handle, foreign.agent_handle]).toEqual(['own_side', 'other_side'])
})

test('the client_id of an object of another agent is 409 and shows nothing of it', async () => {
  await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body: { subject: 'Of Ann', client_id: 'of-ann' } })
  const key = await harness.agentKey('ben')
  const { status, body } = await harness.api('POST', '/mailboxes/ben/drafts', { key, body: { subject: 'Of Ben', client_id: 'of-ann' } })
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(JSON.stringify(body)).not.toContain('Of Ann')
})

test('a draft that was sent is not created again', async () => {
  const body = { to: ['x@example.com'], subject: 'Once', text: 'Once', client_id: 'sent-once' }
  const { id } = await harness.expectApi(201, 'POST', '/mailboxes/ann/drafts', { body })
  await harness.expectApi(201, 'POST', `/mailboxes/ann/drafts/${id}/send`)
  const again = await harness.api('POST', '/mailboxes/ann/drafts', { body })
  expect([again.status, again.body.error.code]).toEqual([409, 'draft_not_editable'])
})
