// Quarantine: held messages are hidden and reported as email.quarantined. Permitted keys release or delete them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.dns.set('outside.test', { TXT: ['v=spf1 ip4:127.0.0.0/8 ip6:::1 -all'] })
})
afterAll(() => harness.stop())

const get = (path: string): Promise<Json> => harness.expectApi(200, 'GET', path)
const addRule = (handle: string, rule: Record<string, unknown>) =>
  harness.expectApi(201, 'POST', `/identities/${handle}/mail-rules`, { body: { direction: 'inbound', action: 'block', ...rule } })
const quarantined = async (handle: string): Promise<Json[]> => (await get(`/mailboxes/${handle}/messages?status=quarantined`)).data
const held = (handle: string, subject: string): Promise<Json> => harness.waitForMail(handle, subject, 'quarantined')
/** A message without its link, which is signed again each second. */
const lasting = ({ raw_url: _link, ...rest }: Json): Json => rest
const release = (handle: string, id: string) => harness.expectApi(200, 'POST', `/mailboxes/${handle}/messages/${id}/release`)
const subjects = (list: Json[]): string[] => list.map((one) => one.subject)

let count = 0
/** Delivers a message from an outside sender. */
async function deliver(handle: string, from: string, subject: string, more: Record<string, unknown> = {}): Promise<string> {
  const messageId = `<${++count}.${Date.now()}@outside.test>`
  await harness.deliver({ from, to: `${handle}@agents.localhost`, subject, text: `Body of ${subject}`, messageId, ...more })
  return messageId
}

/** Everything that shows mail of a mailbox, as subjects. */
async function shown(handle: string, word: string) {
  const [list, unread, search, mail, threads] = await Promise.all([
    get(`/mailboxes/${handle}/messages`),
    get(`/mailboxes/${handle}/messages?is_read=false`),
    get(`/mailboxes/${handle}/search?q=${word}`),
    get(`/mail/messages?agent=${handle}`),
    get(`/mailboxes/${handle}/threads`),
  ])
  return {
    list: subjects(list.data),
    unread: subjects(unread.data),
    search: subjects(search.data),
    mail: subjects(mail.messages),
    total: mail.total,
    threads: subjects(threads.data),
  }
}
const nothing = { list: [], unread: [], search: [], mail: [], total: 0, threads: [] }

describe('a message that a rule blocks', () => {
  let message: Json
  let rule: Json
  beforeAll(async () => {
    await harness.createAgent('ann')
    rule = await addRule('ann', { entry: 'bad.test', reason: 'Sells watches' })
    await deliver('ann', 'Eve <eve@bad.test>', 'Watches')
    message = await held('ann', 'Watches')
  })

  test('is in no list, no thread, no search and no count, but in quarantine, with the reason', async () => {
    expect(await shown('ann', 'watches')).toEqual(nothing)
    expect((await get('/mail/messages')).messages.map((one: Json) => one.id)).not.toContain(message.id)
    expect((await harness.api('GET', `/mailboxes/ann/threads/${message.thread_id}`)).status).toBe(404)
    expect((await get(`/mail/messages?thread_id=${message.thread_id}`)).total).toBe(0)
    expect(message).toMatchObject({
      status: 'quarantined',
      text: 'Body of Watches',
      released_at: null,
      trashed_at: null,
      guardrail: {
        decision: 'quarantined',
        rule_id: rule.id,
        basis: 'domain_rule',
        reason: 'A rule blocks mail from bad.test (Sells watches).',
      },
    })
    expect((await quarantined('ann'))[0].guardrail).toEqual(message.guardrail)
  })

  test('is reported as email.quarantined, not as email.received', async () => {
    expect((await harness.eventsOf(message.id)).map((one) => one.type)).toEqual(['email.quarantined'])
    const { data } = await get('/events?types=email.quarantined')
    expect(data.at(-1)).toMatchObject({
      type: 'email.quarantined',
      data: { id: message.id, status: 'quarantined', guardrail: message.guardrail, agent_handle: 'ann', text: 'Body of Watches' },
    })
  })

  test('an agent key without the scope quarantine:read gets its content nowhere', async () => {
    const key = await harness.agentKey('ann')
    const path = `/mailboxes/ann/messages/${message.id}`
    const requests: [method: string, path: string, body?: unknown][] = [
      ['GET', path],
      ['GET', `${path}/raw`],
      ['GET', '/mailboxes/ann/messages?status=quarantined'],
      ['GET', '/events?types=email.received,email.quarantined'],
      ['GET', '/events/stream?types=email.quarantined'],
      ['POST', `${path}/reply`, { text: 't' }],
      ['POST', `${path}/forward`, { to: 'x@example.com' }],
      ['POST', '/mailboxes/ann/drafts', { forward_of: message.id, to: 'x@example.com' }],
    ]
    for (const [method, path, body] of requests) {
      const answer = await harness.api(method, path, { key, body })
      expect([answer.status, answer.body.error?.message], `${method} ${path}`).toEqual([
        403,
        'This key does not have the scope quarantine:read. Use a key with this scope.',
      ])
    }
    const scoped = await harness.agentKey('ann', { scopes: ['quarantine:read'] })
    expect(lasting(await harness.expectApi(200, 'GET', path, { key: scoped }))).toEqual(lasting(message))
    expect((await harness.api('GET', `${path}/raw`, { key: scoped })).status).toBe(200)
    const { data } = await harness.expectApi(200, 'GET', '/mailboxes/ann/messages?status=quarantined', { key: scoped })
    expect(data.map((one: Json) => one.id)).toEqual([message.id])
  })

  test('is reported to the agent only if it requests such events', async () => {
    const key = await harness.agentKey('ann', { scopes: ['quarantine:read'] })
    const idsOf = async (query: string): Promise<string[]> =>
      (await harness.expectApi(200, 'GET', `/events${query}`, { key })).data.map((event: Json) => event.data.id)
    expect(await idsOf('')).not.toContain(message.id)
    expect(await idsOf('?types=email.quarantined')).toContain(message.id)
    const all = await get('/events')
    expect(all.data.map((event: Json) => event.data.id)).toContain(message.id)
  })

  test('is neither answered nor forwarded, and its thread is not written in', async () => {
    const path = `/mailboxes/ann/messages/${message.id}`
    const answers = [
      await harness.api('POST', `${path}/reply`, { body: { text: 't' } }),
      await harness.api('POST', `${path}/forward`, { body: { to: 'x@example.com' } }),
      await harness.api('POST', '/mailboxes/ann/drafts', { body: { in_reply_to: message.id, text: 't' } }),
      await harness.api('POST', '/mailboxes/ann/drafts', { body: { forward_of: message.id, to: 'x@example.com' } }),
    ]
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(Array(4).fill([409, 'conflict']))
    const body = { agent: 'ann', to: ['x@example.com'], subject: 's', text: 't', thread_id: message.thread_id }
    expect((await harness.api('POST', '/mail/send', { body })).status).toBe(404)
  })

  test('is let out by an organization key only, once, with email.received', async () => {
    const path = `/mailboxes/ann/messages/${message.id}/release`
    const key = await harness.agentKey('ann')
    expect((await harness.api('POST', path, { key })).body.error).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('quarantine:release'),
    })
    expect((await harness.api('POST', path, { key: harness.otherOrganization.key })).status).toBe(404)
    expect((await harness.api('POST', '/mailboxes/ann/messages/msg_01h455vb4pex5vsknk084sn02q/release')).status).toBe(404)
    const answers = await Promise.all(Array.from({ length: 8 }, () => release('ann', message.id)))
    const [first] = answers
    expect(first).toEqual({ id: message.id, thread_id: message.thread_id, status: 'received', released_at: expect.any(String) })
    expect(answers).toEqual(Array(8).fill(first))
    expect((await harness.eventsOf(message.id)).map((one) => one.type)).toEqual(['email.quarantined', 'email.received'])
    const one = ['Watches']
    expect(await shown('ann', 'watches')).toEqual({ list: one, unread: one, search: one, mail: one, total: 1, threads: one })
    const thread = await get(`/mailboxes/ann/threads/${message.thread_id}`)
    expect([thread.message_count, subjects(thread.messages)]).toEqual([1, one])
    expect(await quarantined('ann')).toEqual([])
    // The decision stays recorded, with the release beside it.
    expect(lasting(await harness.getMessage('ann', message.id))).toEqual({
      ...lasting(message),
      status: 'received',
      released_at: first.released_at,
    })
    const { data } = await get('/events?types=email.quarantined,email.received')
    expect(data.slice(-2).map((event: Json) => [event.data.status, event.data.guardrail.decision])).toEqual([
      ['quarantined', 'quarantined'],
      ['received', 'quarantined'],
    ])
    expect((await get('/audit')).data[0]).toMatchObject({ action: 'message.released', target_id: message.id })
    await harness.expectApi(201, 'POST', `/mailboxes/ann/messages/${message.id}/reply`, { body: { text: 't' } })
  })

  test('releasing a message that is not in quarantine changes nothing', async () => {
    const sent = await harness.send('ann', 'x@example.com')
    const before = await harness.waitForStatus('ann', sent.id, 'sent')
    expect(await release('ann', sent.id)).toEqual({ id: sent.id, thread_id: sent.thread_id, status: 'sent', released_at: null })
    expect(lasting(await harness.getMessage('ann', sent.id))).toEqual(lasting(before))
  })

  test('can be deleted, by the agent too, and no count is off', async () => {
    await deliver('ann', 'eve@bad.test', 'Doomed')
    const { id, thread_id } = await held('ann', 'Doomed')
    const before = await shown('ann', 'doomed')
    const key = await harness.agentKey('ann')
    expect(await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`, { key })).toEqual({ id, deleted: true })
    expect(await harness.expectApi(200, 'DELETE', `/mailboxes/ann/messages/${id}`)).toEqual({ id, deleted: true })
    expect(await shown('ann', 'doomed')).toEqual(before)
    expect(await quarantined('ann')).toEqual([])
    expect((await harness.db.query({ text: 'SELECT 1 FROM threads WHERE id = $1', values: [thread_id] })).rows).toEqual([])
    expect((await harness.api('POST', `/mailboxes/ann/messages/${id}/release`)).status).toBe(404)
  })
})

describe('threads', () => {
  test('a held message changes nothing of the thread that it belongs to, until it is let out', async () => {
    await harness.createAgent('tess')
    await addRule('tess', { entry: 'loud@outside.test' })
    const root = await deliver('tess', 'ann@outside.test', 'Plans')
    const first = await harness.waitForMail('tess', 'Plans')
    await deliver('tess', 'loud@outside.test', 'Re: Plans (loud)', { inReplyTo: root, references: [root] })
    const loud = await held('tess', 'Re: Plans (loud)')
    expect(loud.thread_id).not.toBe(first.thread_id)
    const path = `/mailboxes/tess/threads/${first.thread_id}`
    expect(await get(path)).toMatchObject({ message_count: 1, snippet: 'Body of Plans', messages: [{ id: first.id }] })
    await deliver('tess', 'ann@outside.test', 'Re: Plans', { inReplyTo: root, references: [root] })
    const last = await harness.waitForMail('tess', 'Re: Plans')
    expect((await release('tess', loud.id)).thread_id).toBe(first.thread_id)
    expect(await get(path)).toMatchObject({
      message_count: 3,
      subject: 'Plans',
      snippet: 'Body of Re: Plans',
      messages: [{ id: first.id }, { id: loud.id }, { id: last.id }],
    })
    // Without the others the thread has the remaining messages, and not the quarantined one.
    await deliver('tess', 'loud@outside.test', 'Again', { inReplyTo: root, references: [root] })
    const again = await held('tess', 'Again')
    for (const { id } of [first, last]) await harness.expectApi(200, 'DELETE', `/mailboxes/tess/messages/${id}`)
    expect(await get(path)).toMatchObject({ message_count: 1, snippet: 'Body of Re: Plans (loud)' })
    await harness.expectApi(200, 'DELETE', `/mailboxes/tess/messages/${loud.id}`)
    expect((await harness.api('GET', path)).status).toBe(404)
    expect((await get('/mailboxes/tess/threads')).data).toEqual([])
    await release('tess', again.id)
    expect(await get(`/mailboxes/tess/threads/${again.thread_id}`)).toMatchObject({
      message_count: 1,
      subject: 'Again',
      snippet: 'Body of Again',
      messages: [{ id: again.id }],
    })
  })

  test('a reply to a quarantined message does not disclose its subject', async () => {
    await harness.createAgent('uma')
    await addRule('uma', { entry: 'loud@outside.test' })
    const root = await deliver('uma', 'loud@outside.test', 'Hidden subject')
    const hidden = await held('uma', 'Hidden subject')
    await deliver('uma', 'ann@outside.test', 'My view', { inReplyTo: root, references: [root] })
    const view = await harness.waitForMail('uma', 'My view')
    expect(view.thread_id).not.toBe(hidden.thread_id)
    expect((await get('/mailboxes/uma/threads')).data).toMatchObject([{ subject: 'My view', message_count: 1 }])
    expect((await release('uma', hidden.id)).thread_id).toBe(view.thread_id)
    expect((await get('/mailboxes/uma/threads')).data).toMatchObject([{ message_count: 2 }])
  })

  test('the references of a quarantined message are not trusted', async () => {
    await harness.createAgent('vic')
    await addRule('vic', { entry: 'loud@outside.test' })
    const claimed = '<claimed@outside.test>'
    await deliver('vic', 'loud@outside.test', 'Claim', { references: [claimed], inReplyTo: claimed })
    const claim = await held('vic', 'Claim')
    await deliver('vic', 'ann@outside.test', 'The claimed one', { messageId: claimed })
    const real = await harness.waitForMail('vic', 'The claimed one')
    expect(real.thread_id).not.toBe(claim.thread_id)
  })
})

describe('allowlist mode', () => {
  test('accepts allowed senders and replies to the agent, and quarantines everything else', async () => {
    await harness.createAgent('walt', { inbound_mode: 'allowlist' })
    const rule = await addRule('walt', { action: 'allow', entry: 'friend@outside.test' })
    await deliver('walt', 'friend@outside.test', 'From a friend')
    expect((await harness.waitForMail('walt', 'From a friend')).guardrail).toMatchObject({ rule_id: rule.id, basis: 'address_rule' })
    await deliver('walt', 'ann@outside.test', 'Unasked')
    expect((await held('walt', 'Unasked')).guardrail).toMatchObject({ rule_id: null, basis: 'mode' })
    // Two authors, one of them allowed.
    await deliver('walt', 'friend@outside.test, ann@outside.test', 'Two authors')
    expect((await held('walt', 'Two authors')).guardrail).toMatchObject({ basis: 'author' })

    const sent = await harness.send('walt', 'ann@outside.test', { subject: 'Asked' })
    const { message_id } = await harness.waitForStatus('walt', sent.id, 'sent')
    const answer = await deliver('walt', 'ann@outside.test', 'Re: Asked', { inReplyTo: message_id })
    const reply = await harness.waitForMail('walt', 'Re: Asked')
    expect([reply.thread_id, reply.guardrail.basis]).toEqual([sent.thread_id, 'reply'])
    // Also later messages of the same thread, and after our own message is deleted.
    await harness.expectApi(200, 'DELETE', `/mailboxes/walt/messages/${sent.id}`)
    await deliver('walt', 'ann@outside.test', 'Re: Re: Asked', { references: [answer], cc: 'colleague@outside.test' })
    expect((await harness.waitForMail('walt', 'Re: Re: Asked')).guardrail.basis).toBe('reply')
    await deliver('walt', 'colleague@outside.test', 'From a colleague', { references: [answer] })
    expect((await harness.waitForMail('walt', 'From a colleague')).guardrail.basis).toBe('reply')
    // Knowing a Message-ID of the thread does not make a sender a participant.
    await deliver('walt', 'stranger@outside.test', 'From a stranger', { references: [answer] })
    expect((await held('walt', 'From a stranger')).guardrail.basis).toBe('mode')
    // Neither a matching subject nor unknown references make a message a reply.
    await deliver('walt', 'ann@outside.test', 'Re: Asked', { inReplyTo: '<unknown@agents.localhost>' })
    expect((await held('walt', 'Re: Asked')).guardrail.basis).toBe('mode')
    // An answer to a held message is none to the agent.
    await deliver('walt', 'ann@outside.test', 'Unasked again', { inReplyTo: (await held('walt', 'Unasked')).message_id })
    expect((await held('walt', 'Unasked again')).guardrail.basis).toBe('mode')
    await harness.expectApi(200, 'PATCH', '/identities/walt', { body: { inbound_mode: 'open' } })
    await deliver('walt', 'ann@outside.test', 'Unasked, and open')
    await harness.waitForMail('walt', 'Unasked, and open')
  })

  test('applies to mail between agents on this server, and the sender sees it as delivered', async () => {
    await harness.createAgent('xena', { inbound_mode: 'allowlist' })
    await harness.createAgent('yuri')
    const sent = await harness.send('yuri', 'xena@agents.localhost', { subject: 'Hello neighbour' })
    await harness.waitForStatus('yuri', sent.id, 'delivered')
    const { id, guardrail } = await held('xena', 'Hello neighbour')
    expect(guardrail.basis).toBe('mode')
    expect((await harness.eventsOf(id)).map((one) => one.type)).toEqual(['email.quarantined'])
    const { id: first } = await harness.send('xena', 'yuri@agents.localhost', { subject: 'To you' })
    await harness.waitForStatus('xena', first, 'delivered')
    const received = await harness.waitForMail('yuri', 'To you')
    await harness.expectApi(201, 'POST', `/mailboxes/yuri/messages/${received.id}/reply`, { body: { text: 'Back' } })
    expect((await harness.waitForMail('xena', 'Re: To you')).guardrail.basis).toBe('reply')
  })
})

test('one message to two mailboxes is judged for each by its own rules', async () => {
  await harness.createAgent('one')
  await harness.createAgent('two')
  await addRule('two', { entry: 'ann@outside.test' })
  await deliver('one', 'ann@outside.test', 'To both', { to: 'one@agents.localhost, two@agents.localhost' })
  await harness.waitForMail('one', 'To both')
  await held('two', 'To both')
  expect((await get('/mailboxes/two/messages')).data).toEqual([])
})

test('a sender that lost our 250 and comes again is recognised in quarantine too', async () => {
  await harness.createAgent('zoe')
  await addRule('zoe', { entry: 'bad.test' })
  const raw = 'From: eve@bad.test\r\nTo: zoe@agents.localhost\r\nSubject: Twice\r\nMessage-ID: <twice@bad.test>\r\n\r\nHi\r\n'
  for (let i = 0; i < 3; i++) await harness.deliver({ envelope: { from: 'eve@bad.test', to: 'zoe@agents.localhost' }, raw })
  expect(subjects(await quarantined('zoe'))).toEqual(['Twice'])
})

test('concurrent changes keep every count equal to the number of listed messages', async () => {
  await harness.createAgent('busy')
  await addRule('busy', { entry: 'bad.test' })
  const root = await deliver('busy', 'ann@outside.test', 'Root')
  await harness.waitForMail('busy', 'Root')
  const one = async (i: number) => {
    const from = i % 2 ? 'eve@bad.test' : 'ann@outside.test'
    await deliver('busy', from, `Number ${i}`, i % 3 ? { references: [root] } : {})
    if (i % 2 === 0) return
    const { id } = await held('busy', `Number ${i}`)
    if (i % 4 === 1) await Promise.all([release('busy', id), release('busy', id)])
    if (i % 5 === 0) await harness.expectApi(200, 'DELETE', `/mailboxes/busy/messages/${id}`)
  }
  await Promise.all(Array.from({ length: 40 }, (_, i) => one(i)))
  const { rows } = await harness.db.query<Json>({
    text: `SELECT (SELECT count(*)::int FROM messages m WHERE m.mailbox_id = b.id AND m.status <> 'quarantined') AS shown,
        (SELECT sum(count)::int FROM message_counts c WHERE c.mailbox_id = b.id) AS counted,
        (SELECT count(*)::int FROM threads t WHERE t.mailbox_id = b.id
          AND t.message_count <> (SELECT count(*) FROM messages m WHERE m.thread_id = t.id AND m.status <> 'quarantined')) AS wrong_counts,
        (SELECT count(*)::int FROM threads t WHERE t.mailbox_id = b.id AND t.message_count > 0
          AND t.last_message_id <> (SELECT max(m.id) FROM messages m WHERE m.thread_id = t.id AND m.status <> 'quarantined')) AS wrong_lasts
      FROM mailboxes b WHERE b.address = 'busy@agents.localhost'`,
  })
  expect(rows).toEqual([{ shown: 31 - 2, counted: 31 - 2, wrong_counts: 0, wrong_lasts: 0 }])
})
