// Batches: many messages sent in one transaction, strictly or permissively, and many read and changed at once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { recordTransactions } from './harness/statements.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  for (const handle of ['ann', 'bob']) await harness.createAgent(handle)
  await harness.expectApi(201, 'POST', '/identities/bob/mail-rules', {
    body: { direction: 'outbound', action: 'block', entry: 'blocked.example' },
  })
})
afterAll(() => harness?.stop())

const message = (agent: string, to: string, subject: string, more: object = {}) => ({ agent, to: [to], subject, text: subject, ...more })
const sent = async (agent: string, subject: string): Promise<Json[]> =>
  (await harness.expectApi(200, 'GET', `/mailboxes/${agent}/messages?direction=outbound&subject=${encodeURIComponent(subject)}`)).data

describe('POST /mail/batch', () => {
  test('sends messages of several agents, in order, and delivers them', async () => {
    const messages = [
      message('ann', 'bob@agents.localhost', 'batch one'),
      message('bob', 'ann@agents.localhost', 'batch two', { html: '<p>Two</p>', cc: ['carol@example.org'] }),
      message('ann', 'dora@example.org', 'batch three', { attachments: [{ filename: 'a.txt', content: 'YQ==' }] }),
    ]
    const answer = await harness.expectApi(201, 'POST', '/mail/batch', { body: { messages } })
    expect(answer).toEqual({
      queued: 3,
      refused: 0,
      data: messages.map((_, index) => ({
        index,
        status: 'queued',
        id: expect.stringMatching(/^msg_/),
        thread_id: expect.stringMatching(/^thrd_/),
        created_at: expect.any(String),
        error: null,
      })),
    })
    expect(await harness.getMessage('bob', answer.data[1].id)).toMatchObject({ subject: 'batch two', cc: ['carol@example.org'] })
    expect((await harness.getMessage('ann', answer.data[2].id)).attachments).toHaveLength(1)
    await harness.waitForMail('bob', 'batch one')
    await harness.waitForMail('ann', 'batch two')
  })

  test('strict refuses all for one message, and names it', async () => {
    const good = message('ann', 'bob@agents.localhost', 'strict refused')
    const cases: [Json, number, string, string][] = [
      [message('ann', 'not an address', 'x'), 400, 'validation_error', '/messages/1/to'],
      [message('nobody', 'bob@agents.localhost', 'x'), 404, 'not_found', '/messages/1'],
      [message('bob', 'eve@blocked.example', 'x'), 403, 'recipient_not_allowed', '/messages/1'],
      [{ ...message('ann', 'bob@agents.localhost', 'x'), text: undefined }, 400, 'validation_error', '/messages/1/text'],
    ]
    for (const [bad, status, code, path] of cases) {
      const answer = await harness.api('POST', '/mail/batch', { body: { messages: [good, bad] } })
      expect([answer.status, answer.body.error.code]).toEqual([status, code])
      expect(answer.body.error.details.map((one: Json) => one.path)).toEqual([expect.stringContaining(path)])
    }
    expect(await sent('ann', 'strict refused')).toEqual([])
  })

  test('permissive sends what can be sent and reports the rest', async () => {
    const body = {
      mode: 'permissive',
      messages: [
        message('ann', 'bad', 'permissive'),
        message('ann', 'bob@agents.localhost', 'permissive'),
        message('bob', 'eve@blocked.example', 'permissive'),
        message('bob', 'ann@agents.localhost', 'permissive'),
      ],
    }
    const answer = await harness.expectApi(201, 'POST', '/mail/batch', { body })
    expect(answer).toMatchObject({ queued: 2, refused: 2 })
    expect(answer.data.map((one: Json) => [one.index, one.status, one.error?.code ?? null, one.id !== null])).toEqual([
      [0, 'refused', 'validation_error', false],
      [1, 'queued', null, true],
      [2, 'refused', 'recipient_not_allowed', false],
      [3, 'queued', null, true],
    ])
    expect(await sent('ann', 'permissive')).toHaveLength(1)
    expect(await sent('bob', 'permissive')).toHaveLength(1)
  })

  test('a repeated key sends nothing twice, and an agent key sends for its own agent only', async () => {
    const key = await harness.agentKey('ann')
    const ask = {
      key,
      headers: { 'idempotency-key': 'batch-1' },
      body: { messages: [message('ann', 'bob@agents.localhost', 'once'), message('ann', 'x@example.org', 'once')] },
    }
    const answers = await Promise.all([1, 2, 3].map(() => harness.api('POST', '/mail/batch', ask)))
    const first = answers.find((one) => one.status === 201)
    expect(first).toBeDefined()
    for (const one of answers) if (one.status === 201) expect(one.body).toEqual(first?.body)
    expect(await sent('ann', 'once')).toHaveLength(2)
    const foreign = { messages: [message('ann', 'x@example.org', 'foreign'), message('bob', 'x@example.org', 'foreign')] }
    expect((await harness.api('POST', '/mail/batch', { key, body: foreign })).status).toBe(403)
    expect(await sent('ann', 'foreign')).toEqual([])
  })

  test('an agent whose mail needs approval sends no batch', async () => {
    await harness.createAgent('careful', { draft_approval: 'required' })
    const key = await harness.agentKey('careful')
    const body = { mode: 'permissive', messages: [message('careful', 'x@example.org', 'unapproved')] }
    expect((await harness.expectApi(201, 'POST', '/mail/batch', { key, body })).data[0].error.code).toBe('approval_required')
    expect(await sent('careful', 'unapproved')).toEqual([])
  })

  test('a batch over a sending limit is refused whole in both modes, and too many recipients refuse one message', async () => {
    const sending_limits = { messages_per_day: 2, recipients_per_message: 2 }
    await harness.createAgent('limited')
    await harness.expectApi(200, 'PATCH', '/identities/limited', { body: { sending_limits } })
    const messages = [1, 2, 3].map((n) => message('limited', `r${n}@example.org`, 'limited'))
    for (const mode of ['strict', 'permissive']) {
      const answer = await harness.api('POST', '/mail/batch', { body: { mode, messages } })
      expect([answer.status, answer.body.error.code]).toEqual([429, 'sending_limit_reached'])
    }
    expect(await sent('limited', 'limited')).toEqual([])
    const wide = message('limited', 'a@example.org', 'limited', { cc: ['b@example.org', 'c@example.org'] })
    const body = { mode: 'permissive', messages: [messages[0], wide, messages[1]] }
    expect(await harness.expectApi(201, 'POST', '/mail/batch', { body })).toMatchObject({ queued: 2, refused: 1 })
    expect(await sent('limited', 'limited')).toHaveLength(2)
  })

  describe('answers to one correspondent elsewhere', () => {
    /** A thread that the correspondent has started with a new agent. */
    const threadWith = async (handle: string): Promise<string> => {
      await harness.createAgent(handle)
      await harness.deliver({ from: 'bot@example.net', to: `${handle}@agents.localhost`, subject: 'Ping', text: 'Ping' })
      return (await harness.waitForMail(handle, 'Ping')).thread_id
    }
    const answersOf = (handle: string, thread_id: string, count: number) =>
      Array.from({ length: count }, (_, n) => message(handle, `bot+${n}@example.net`, 'pong', { thread_id }))
    const statusesOf = (answer: Json): string[] => answer.data.map((one: Json) => one.error?.code ?? one.status)

    test('above 20 are refused one by one, without other messages', async () => {
      const answers = answersOf('answerer', await threadWith('answerer'), 23)
      const others = [message('answerer', 'new@example.net', 'no answer'), { ...answers[0], to: ['ada@example.net'] }]
      const strict = await harness.api('POST', '/mail/batch', { body: { messages: [...others, ...answers] } })
      expect([strict.status, strict.body.error.code]).toEqual([403, 'approval_required'])
      expect(strict.body.error.details).toEqual([{ path: '/messages/22', message: expect.stringContaining('bot@example.net') }])
      expect(await sent('answerer', 'pong')).toEqual([])
      const both = { ...answers[22], cc: ['carol@example.net'] }
      const messages = [...answers, ...others, both]
      const answer = await harness.expectApi(201, 'POST', '/mail/batch', { body: { mode: 'permissive', messages } })
      expect(statusesOf(answer)).toEqual([
        ...Array(20).fill('queued'),
        ...Array(3).fill('approval_required'),
        'queued',
        'queued',
        'approval_required',
      ])
      expect(answer.data[20].error.message).toContain('More than 20 answers to bot@example.net in 600 seconds.')
      expect(answer).toMatchObject({ queued: 22, refused: 4 })
      const counts = {
        text: "SELECT name, sum(count)::int AS count FROM send_counts WHERE name LIKE '%@example.net' GROUP BY name ORDER BY name",
      }
      expect((await harness.db.query(counts)).rows).toEqual([
        { name: 'ada@example.net', count: 1 },
        { name: 'bot@example.net', count: 20 },
      ])
    })

    test('do not include those to a hosted agent', async () => {
      await harness.createAgent('guest')
      await harness.send('bob', 'guest@agents.localhost', { subject: 'Hosted ping' })
      const { thread_id } = await harness.waitForMail('guest', 'Hosted ping')
      const messages = Array.from({ length: 22 }, () => message('guest', 'bob@agents.localhost', 'hosted pong', { thread_id }))
      expect(await harness.expectApi(201, 'POST', '/mail/batch', { body: { messages } })).toMatchObject({ queued: 22 })
    })

    test('of concurrent batches sum up to 20', async () => {
      const thread = await threadWith('hurried')
      const body = { mode: 'permissive', messages: answersOf('hurried', thread, 8) }
      const batches = await Promise.all([1, 2, 3, 4].map(() => harness.expectApi(201, 'POST', '/mail/batch', { body })))
      const statuses = batches.flatMap(statusesOf)
      expect(statuses.toSorted()).toEqual([...Array(12).fill('approval_required'), ...Array(20).fill('queued')])
    })
  })

  test('rules and suppressions are asked once for a whole batch', async () => {
    const statementsFor = async (count: number, mode: string): Promise<number[]> => {
      const messages = Array.from({ length: count }, (_, n) => message('ann', `once${n}@example.org`, 'judged once'))
      const { transactions, stop } = recordTransactions()
      try {
        expect((await harness.expectApi(201, 'POST', '/mail/batch', { body: { mode, messages } })).queued).toBe(count)
      } finally {
        stop()
      }
      const own = transactions.find((statements) => statements.some(({ text }) => text.includes('INSERT INTO messages'))) ?? []
      return ['FROM mail_rules', 'FROM suppressions'].map((part) => own.filter(({ text }) => text.includes(part)).length)
    }
    for (const mode of ['strict', 'permissive']) expect(await statementsFor(40, mode)).toEqual([1, 1])
  })

  test('takes 1 to 100 messages', async () => {
    const many = Array.from({ length: 100 }, (_, n) => message('ann', `r${n}@example.org`, 'a hundred'))
    expect((await harness.expectApi(201, 'POST', '/mail/batch', { body: { messages: many } })).queued).toBe(100)
    for (const messages of [[], [...many, many[0]]])
      expect((await harness.api('POST', '/mail/batch', { body: { messages } })).status).toBe(400)
  })
})

describe('many messages at once', () => {
  const arrive = async (handle: string, subject: string): Promise<Json> => {
    await harness.deliver({ from: 'eve@example.org', to: `${handle}@agents.localhost`, subject, text: subject })
    return harness.waitForMail(handle, subject)
  }

  test('reads messages of every mailbox of the key in the order of the ids', async () => {
    const [first, second] = [await arrive('ann', 'read 1'), await arrive('bob', 'read 2')]
    const answer = await harness.expectApi(200, 'POST', '/mail/messages/get', { body: { ids: [second.id, 'msg_unknown', first.id] } })
    const unsigned = ({ attachments: _, raw_url: _raw, ...rest }: Json) => rest
    expect(answer.data.map(unsigned)).toEqual([second, first].map(unsigned))
    expect([answer.missing, answer.left]).toEqual([['msg_unknown'], []])
    const key = await harness.agentKey('ann')
    const own = await harness.expectApi(200, 'POST', '/mail/messages/get', { key, body: { ids: [second.id, first.id] } })
    expect([own.data.map((one: Json) => one.id), own.missing]).toEqual([[first.id], [second.id]])
    const other = { key: harness.otherOrganization.key, body: { ids: [first.id] } }
    expect((await harness.api('POST', '/mail/messages/get', other)).status).toBe(404)
  })

  test('quarantined messages are missing for an agent key without the scope', async () => {
    await harness.expectApi(201, 'POST', '/identities/ann/mail-rules', {
      body: { direction: 'inbound', action: 'block', entry: 'mallory@example.org' },
    })
    await harness.deliver({ from: 'mallory@example.org', to: 'ann@agents.localhost', subject: 'held', text: 'x' })
    const held = await harness.waitForMail('ann', 'held', 'quarantined')
    const ask = (key: string) => harness.api('POST', '/mail/messages/get', { key, body: { ids: [held.id] } })
    expect((await ask(await harness.agentKey('ann'))).status).toBe(404)
    expect((await ask(await harness.agentKey('ann', { scopes: ['quarantine:read'] }))).body.data).toHaveLength(1)
    const trashed = await harness.expectApi(200, 'PATCH', '/mail/messages', { body: { ids: [held.id], is_trashed: true } })
    expect(trashed.data).toHaveLength(1)
    expect((await harness.getMessage('ann', held.id)).trashed_at).toBeNull()
  })

  test('a response holds 32 MB of text, and the other ids are left', async () => {
    const body = { messages: Array.from({ length: 3 }, (_, n) => message('ann', 'x@example.org', `long ${n}`)) }
    const ids = (await harness.expectApi(201, 'POST', '/mail/batch', { body })).data.map((one: Json) => one.id)
    await harness.db.query({ text: `UPDATE messages SET text = repeat('x', 12000000) WHERE id = ANY($1)`, values: [ids] })
    const answer = await harness.expectApi(200, 'POST', '/mail/messages/get', { body: { ids } })
    expect([answer.data.map((one: Json) => one.id), answer.left]).toEqual([ids.slice(0, 2), ids.slice(2)])
  })

  test('changes flags, labels and trash in one transaction', async () => {
    const [first, second] = [await arrive('ann', 'change 1'), await arrive('bob', 'change 2')]
    const ids = [first.id, 'msg_unknown', second.id]
    const change = (body: object, key?: string) =>
      harness.expectApi(200, 'PATCH', '/mail/messages', { body: { ids, ...body }, ...(key !== undefined && { key }) })
    expect(await change({ is_read: true, is_starred: true, add_labels: ['b', 'a'] })).toEqual({
      data: [first, second].map(({ id }) => ({ id, is_read: true, is_starred: true, labels: ['a', 'b'], tags: [], metadata: {} })),
      missing: ['msg_unknown'],
    })
    const key = await harness.agentKey('ann')
    expect((await change({ labels: ['own'] }, key)).missing).toEqual(['msg_unknown', second.id])
    expect((await harness.getMessage('bob', second.id)).labels).toEqual(['a', 'b'])
    await change({ is_trashed: true })
    expect((await harness.expectApi(200, 'GET', `/threads/${first.thread_id}`)).folder).toBe('trash')
    await change({ is_trashed: false, is_read: false })
    expect(await harness.expectApi(200, 'GET', `/threads/${second.thread_id}`)).toMatchObject({ folder: 'inbox', unread_count: 1 })
    const tooMany = { ids, add_labels: Array.from({ length: 49 }, (_, n) => `l${n}`) }
    expect((await harness.api('PATCH', '/mail/messages', { body: tooMany })).status).toBe(400)
    expect((await harness.getMessage('ann', first.id)).labels).toEqual(['own'])
    expect((await harness.api('PATCH', '/mail/messages', { body: { ids } })).status).toBe(400)
  })

  test('500 messages are changed and read by one request, and 501 by none', async () => {
    const { id } = await harness.send('ann', 'ada@example.com')
    const unknown = Array.from({ length: 500 }, (_, index) => `msg_${String(index).padStart(26, '0')}`)
    const ask = (method: string, path: string, ids: string[]) =>
      harness.api(method, path, { body: { ids, ...(method === 'PATCH' ? { is_read: true } : {}) } })
    for (const [method, path] of [
      ['PATCH', '/mail/messages'],
      ['POST', '/mail/messages/get'],
    ] as const) {
      const most = await ask(method, path, [id, ...unknown.slice(1)])
      expect([most.status, most.body.missing?.length]).toEqual([200, 499])
      const refused = await ask(method, path, [id, ...unknown])
      expect([refused.status, refused.body.error.details[0].path]).toEqual([400, '/ids'])
    }
  })
})
