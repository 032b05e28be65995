// Mail rules and modes. Covers the API, its permissions, and the limits on an agent's sending.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { now } from '../src/core/clock.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'
import { waitFor } from './harness/wait.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.stop())

const rulesOf = (handle: string) => `/identities/${handle}/mail-rules`
const addRule = (handle: string, rule: Record<string, unknown>, status = 201): Promise<Json> =>
  harness.expectApi(status, 'POST', rulesOf(handle), { body: { direction: 'both', action: 'allow', entry: 'example.com', ...rule } })
const list = (handle: string, query = '') => harness.expectApi(200, 'GET', `${rulesOf(handle)}${query}`)
const entries = (page: Json): string[] => page.data.map((one: Json) => one.entry)

describe('rules', () => {
  beforeAll(() => harness.createAgent('ruled'))

  test('are created, read, changed, paused and deleted', async () => {
    const rule = await addRule('ruled', { direction: 'inbound', action: 'block', entry: 'Bad.TEST', reason: 'Sells watches' })
    expect(rule).toEqual({
      id: expect.stringMatching(/^mrl_/),
      agent_handle: 'ruled',
      direction: 'inbound',
      action: 'block',
      entry: 'bad.test',
      entry_type: 'domain',
      reason: 'Sells watches',
      status: 'active',
      client_id: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const path = `${rulesOf('ruled')}/${rule.id}`
    expect(await harness.expectApi(200, 'GET', path)).toEqual(rule)
    const changed = await harness.expectApi(200, 'PATCH', path, { body: { status: 'paused', entry: 'Ann@bad.test', reason: null } })
    expect(changed).toMatchObject({
      id: rule.id,
      status: 'paused',
      entry: 'ann@bad.test',
      entry_type: 'address',
      reason: null,
      action: 'block',
    })
    expect(await harness.expectApi(200, 'DELETE', path)).toEqual({ id: rule.id, deleted: true })
    expect(await harness.expectApi(200, 'DELETE', path)).toEqual({ id: rule.id, deleted: true })
    for (const method of ['GET', 'PATCH']) {
      const body = method === 'PATCH' ? { status: 'active' } : undefined
      expect((await harness.api(method, path, { body })).status).toBe(404)
    }
    expect((await harness.api('DELETE', `${rulesOf('ruled')}/mrl_01h455vb4pex5vsknk084sn02q`)).status).toBe(404)
    const { data } = await harness.expectApi(200, 'GET', '/audit')
    expect(data.filter((one: Json) => one.target_id === rule.id).map((one: Json) => one.action)).toEqual([
      'mail_rule.deleted',
      'mail_rule.updated',
      'mail_rule.created',
    ])
  })

  test('are listed newest first, by cursor and by filter, and belong to one agent', async () => {
    await harness.createAgent('lister')
    await harness.createAgent('neighbour')
    for (let i = 0; i < 7; i++)
      await addRule('lister', { entry: `${i}.test`, action: i % 2 ? 'block' : 'allow', direction: i % 3 ? 'both' : 'inbound' })
    const first = await list('lister', '?limit=4')
    const second = await list('lister', `?limit=4&cursor=${first.next_cursor}`)
    expect([...entries(first), ...entries(second)]).toEqual(['6', '5', '4', '3', '2', '1', '0'].map((i) => `${i}.test`))
    expect([first.has_more, second.has_more]).toEqual([true, false])
    expect(entries(await list('lister', '?action=block'))).toEqual(['5.test', '3.test', '1.test'])
    expect(entries(await list('lister', '?direction=inbound&action=allow'))).toEqual(['6.test', '0.test'])
    expect(entries(await list('lister', '?entry=3.TEST'))).toEqual(['3.test'])
    expect(entries(await list('lister', '?status=paused'))).toEqual([])
    expect(entries(await list('neighbour'))).toEqual([])
    const [{ id }] = first.data
    expect((await harness.api('GET', `${rulesOf('neighbour')}/${id}`)).status).toBe(404)
    expect((await harness.api('DELETE', `${rulesOf('neighbour')}/${id}`)).status).toBe(404)
  })

  test.each([
    [{ direction: 'inbound' }, { direction: 'inbound' }, 409],
    [{ direction: 'both' }, { direction: 'inbound' }, 409],
    [{ direction: 'outbound' }, { direction: 'both' }, 409],
    [{ direction: 'inbound' }, { direction: 'outbound' }, 201],
    // A rule that contradicts another is a duplicate as well, paused or not.
    [{ action: 'allow' }, { action: 'block' }, 409],
    [{ status: 'paused' }, {}, 409],
    [{ entry: 'x@dup.test' }, { entry: '"X"@DUP.test' }, 409],
    [{ entry: 'dup.test' }, { entry: '@dup.test' }, 409],
    [{ entry: 'dup.test' }, { entry: 'sub.dup.test' }, 201],
  ])('beside the rule %j, %j is %i', async (first, second, status) => {
    const handle = `dup_${Math.random().toString(36).slice(2, 12)}`
    await harness.createAgent(handle)
    const { id } = await addRule(handle, { entry: 'dup.test', ...first })
    const answer = await harness.api('POST', rulesOf(handle), {
      body: { direction: 'both', action: 'allow', entry: 'dup.test', ...second },
    })
    expect(answer.status).toBe(status)
    if (status !== 409) return
    expect(answer.body.error.code).toBe('conflict')
    expect(answer.body.error.message).toContain(id)
    // By way of a change it is the same, and once the first is deleted the second may be.
    const other = await addRule(handle, { entry: 'other.test' })
    const change = await harness.api('PATCH', `${rulesOf(handle)}/${other.id}`, {
      body: { entry: 'dup.test', direction: 'both', ...second },
    })
    expect([change.status, change.body.error?.code]).toEqual([409, 'conflict'])
    await harness.expectApi(200, 'DELETE', `${rulesOf(handle)}/${id}`)
    await addRule(handle, { entry: 'dup.test', ...second })
  })

  test('of many concurrent additions of one rule exactly one succeeds', async () => {
    await harness.createAgent('race')
    const statuses = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        harness.api('POST', rulesOf('race'), {
          body: { direction: i % 2 ? 'both' : 'inbound', action: i % 3 ? 'allow' : 'block', entry: 'race.test' },
        }),
      ),
    )
    expect(statuses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
  })

  test('an invalid rule is 400', async () => {
    const good = { direction: 'both', action: 'allow', entry: 'example.com' }
    for (const bad of [
      { ...good, entry: 'com' },
      { ...good, entry: '*.example.com' },
      { ...good, entry: 'not an address' },
      { ...good, entry: 'a\u0000b.test' },
      { ...good, direction: 'sideways' },
      { ...good, action: 'maybe' },
      { ...good, status: 'gone' },
      { ...good, reason: 'x'.repeat(501) },
      { ...good, more: 1 },
      { direction: 'both', action: 'allow' },
    ])
      expect((await harness.api('POST', rulesOf('ruled'), { body: bad })).status, JSON.stringify(bad)).toBe(400)
    expect((await harness.api('POST', rulesOf('nobody'), { body: good })).status).toBe(404)
  })

  test('an Idempotency-Key makes one rule', async () => {
    const ask = { body: { direction: 'both', action: 'allow', entry: 'keyed.test' }, headers: { 'idempotency-key': 'rule-1' } }
    const answers = [await harness.api('POST', rulesOf('ruled'), ask), await harness.api('POST', rulesOf('ruled'), ask)]
    expect(answers.map(({ status, body }) => [status, body.id])).toEqual(Array(2).fill([201, answers[0]?.body.id]))
  })

  test('are deleted with their agent', async () => {
    await harness.createAgent('leaver')
    const { id } = await addRule('leaver', {})
    await harness.expectApi(204, 'DELETE', '/identities/leaver')
    const { rows } = await harness.db.query({ text: 'SELECT 1 FROM mail_rules WHERE id = $1', values: [id] })
    expect(rows).toEqual([])
  })
})

test('an agent reads its own rules and modes, and cannot change them', async () => {
  await harness.createAgent('held', { inbound_mode: 'allowlist', outbound_mode: 'allowlist' })
  await harness.createAgent('beside')
  const rule = await addRule('held', { direction: 'outbound', action: 'block' })
  const key = await harness.agentKey('held')
  const ask = async (method: string, path: string, body?: unknown) => (await harness.api(method, path, { key, body })).status
  expect(await ask('GET', rulesOf('held'))).toBe(200)
  expect(await ask('GET', `${rulesOf('held')}/${rule.id}`)).toBe(200)
  expect(await harness.expectApi(200, 'GET', '/identities/held', { key })).toMatchObject({
    inbound_mode: 'allowlist',
    outbound_mode: 'allowlist',
  })
  expect(await ask('GET', rulesOf('beside'))).toBe(403)
  expect(await ask('POST', rulesOf('held'), { direction: 'outbound', action: 'allow', entry: 'x.test' })).toBe(403)
  expect(await ask('PATCH', `${rulesOf('held')}/${rule.id}`, { status: 'paused' })).toBe(403)
  expect(await ask('DELETE', `${rulesOf('held')}/${rule.id}`)).toBe(403)
  expect(await ask('PATCH', '/identities/held', { outbound_mode: 'open' })).toBe(403)
  expect((await list('held')).data).toEqual([rule])
})

describe('outbound', () => {
  const send = (handle: string, to: string[], more: Record<string, unknown> = {}) =>
    harness.api('POST', '/mail/send', { body: { agent: handle, to, subject: 's', text: 't', ...more } })
  const setMode = (handle: string, outbound_mode: string) =>
    harness.expectApi(200, 'PATCH', `/identities/${handle}`, { body: { outbound_mode } })
  const total = async (handle: string): Promise<number> => (await harness.expectApi(200, 'GET', `/mail/messages?agent=${handle}`)).total

  test('modes are open by default, and PATCH changes them with an entry in the audit log', async () => {
    expect(await harness.createAgent('modes')).toMatchObject({ inbound_mode: 'open', outbound_mode: 'open' })
    expect(await setMode('modes', 'allowlist')).toMatchObject({ inbound_mode: 'open', outbound_mode: 'allowlist' })
    expect((await harness.api('PATCH', '/identities/modes', { body: { inbound_mode: 'closed' } })).status).toBe(400)
    const { data } = await harness.expectApi(200, 'GET', '/audit?limit=5')
    expect(data.find((one: Json) => one.action === 'identity.modes_changed').details).toEqual({ outbound_mode: 'allowlist' })
    await harness.expectApi(200, 'PATCH', '/identities/modes', { body: { draft_approval: 'required', description: 'Clerk' } })
    const [latest] = (await harness.expectApi(200, 'GET', '/audit?limit=1')).data
    expect(latest).toMatchObject({
      action: 'identity.updated',
      details: { fields: ['description', 'draft_approval'], draft_approval: 'required', previous_draft_approval: 'none' },
    })
  })

  test('an allowed message has its reason, and a blocked one is 403 with recipient and rule and is not stored', async () => {
    await harness.createAgent('writer')
    const free = await send('writer', ['x@example.com'])
    expect((await harness.getMessage('writer', free.body.id)).guardrail).toMatchObject({
      decision: 'allowed',
      rule_id: null,
      basis: 'mode',
    })
    const block = await addRule('writer', { direction: 'outbound', action: 'block', entry: 'rival.test', reason: 'Under contract' })
    const before = await total('writer')
    for (const written of ['boss@rival.test', 'Boss <boss@RIVAL.test>', 'boss@eu.rival.test', '"boss"@rival.test'])
      for (const field of ['to', 'cc', 'bcc']) {
        const answer = await send('writer', ['fine@example.com'], { [field]: [written] })
        expect([answer.status, answer.body.error?.code]).toEqual([403, 'recipient_not_allowed'])
        expect(answer.body.error.message).toContain(block.id)
        expect(answer.body.error.message.toLowerCase()).toMatch(/boss"?@(eu\.)?rival\.test may not/)
        expect(answer.body.error.message).toContain('Under contract')
        expect(answer.body.error.details).toMatchObject([{ path: `/${field}` }])
      }
    expect(await total('writer')).toBe(before)
    await harness.expectApi(200, 'PATCH', `${rulesOf('writer')}/${block.id}`, { body: { status: 'paused' } })
    expect((await send('writer', ['boss@rival.test'])).status).toBe(201)
    await harness.expectApi(200, 'PATCH', `${rulesOf('writer')}/${block.id}`, { body: { status: 'active', direction: 'inbound' } })
    expect((await send('writer', ['boss@rival.test'])).status).toBe(201)
  })

  test('allowlist mode allows only messages whose recipients a rule allows', async () => {
    await harness.createAgent('listed', { outbound_mode: 'allowlist' })
    const rule = await addRule('listed', { direction: 'outbound', entry: 'example.com' })
    await addRule('listed', { direction: 'inbound', entry: 'inbound.test' })
    const { body } = await send('listed', ['x@example.com'])
    expect((await harness.getMessage('listed', body.id)).guardrail).toEqual({
      decision: 'allowed',
      rule_id: rule.id,
      basis: 'domain_rule',
      reason: 'A rule allows mail to example.com.',
    })
    const refused = await send('listed', ['x@example.com', 'y@other.test'], { bcc: ['z@inbound.test'] })
    expect(refused.body.error).toMatchObject({
      code: 'recipient_not_allowed',
      message: expect.stringMatching(/^y@other\.test .*allowlist.* 1 more/),
      details: [{ path: '/to' }, { path: '/bcc' }],
    })
    await setMode('listed', 'open')
    expect((await send('listed', ['y@other.test'])).status).toBe(201)
  })

  test('a rule holds for the addresses that answers, receipts and list commands go to', async () => {
    await harness.createAgent('asks')
    await addRule('asks', { direction: 'outbound', action: 'block', entry: 'rival.test' })
    const asking: [more: Record<string, unknown>, path: string][] = [
      [{ reply_to: 'boss@rival.test' }, '/reply_to'],
      [{ reply_to: ['fine@example.com', 'Boss <boss@eu.rival.test>'] }, '/reply_to'],
      ...[
        ['Disposition-Notification-To', 'boss@rival.test'],
        ['disposition-notification-to', 'Fine <x@example.com>, "The boss" <boss@rival.test>'],
        ['Return-Receipt-To', '<boss@rival.test>'],
        ['Return-Receipt-Requested', 'boss@rival.test'],
        ['X-Confirm-Reading-To', 'boss@rival.test'],
        ['Read-Receipt-To', 'boss@rival.test'],
        ['Errors-To', 'boss@rival.test'],
        ['Mail-Followup-To', 'boss@rival.test'],
        ['List-Unsubscribe', '<https://example.com/u>, <mailto:boss%40rival.test?subject=x>'],
        ['List-Post', '<mailto:x@example.com?cc=boss@rival.test>'],
      ].map(([name, value]): [Record<string, unknown>, string] => [{ headers: { [name as string]: value } }, `/headers/${name}`]),
    ]
    for (const [more, path] of asking) {
      const { status, body } = await send('asks', ['x@example.com'], more)
      expect([status, body.error?.code, body.error?.details], path).toEqual([
        403,
        'recipient_not_allowed',
        [{ path, message: expect.stringContaining('rival.test') }],
      ])
    }
    const draft = await harness.expectApi(201, 'POST', '/mailboxes/asks/drafts', {
      body: { to: 'x@example.com', subject: 's', text: 't', headers: { 'Return-Receipt-To': 'boss@rival.test' } },
    })
    expect((await harness.api('POST', `/mailboxes/asks/drafts/${draft.id}/send`)).status).toBe(403)
    for (const more of [
      { headers: { 'X-Note': 'about boss@rival.test' } },
      { headers: { 'X-Relates-To': 'ticket 5' } },
      { reply_to: 'y@example.com' },
    ])
      expect((await send('asks', ['x@example.com'], more)).status).toBe(201)
    const unclear = await send('asks', ['x@example.com'], { headers: { 'Return-Receipt-To': '=?utf-8?q?boss=40rival.test?=' } })
    expect([unclear.status, unclear.body.error.details[0].path]).toEqual([400, '/headers/Return-Receipt-To'])
  })

  test('an allowlist holds for them too, except for the own address', async () => {
    await harness.createAgent('quiet', { outbound_mode: 'allowlist' })
    await addRule('quiet', { direction: 'outbound', entry: 'example.com' })
    const own = 'quiet+sales@agents.localhost'
    for (const more of [{ reply_to: own }, { reply_to: 'y@example.com' }, { headers: { 'Return-Receipt-To': own } }])
      expect((await send('quiet', ['x@example.com'], more)).status).toBe(201)
    for (const more of [{ reply_to: 'y@other.test' }, { headers: { 'Return-Receipt-To': 'y@other.test' } }])
      expect((await send('quiet', ['x@example.com'], more)).body.error.code).toBe('recipient_not_allowed')
  })

  test('replies, forwards and drafts obey the rules, and a blocked scheduled draft stays with its reason', async () => {
    await harness.createAgent('answers')
    await harness.deliver({ from: 'eve@evil.test', to: 'answers@agents.localhost', cc: 'cc@evil.test', subject: 'Question', text: 'Hi' })
    const { id } = await harness.waitForMail('answers', 'Question')
    await addRule('answers', { direction: 'outbound', action: 'block', entry: 'evil.test' })
    const path = `/mailboxes/answers/messages/${id}`
    const drafts = '/mailboxes/answers/drafts'
    const draft = await harness.expectApi(201, 'POST', drafts, { body: { in_reply_to: id, text: 't' } })
    const clean = await harness.expectApi(201, 'POST', drafts, { body: { to: 'x@example.com', subject: 's', text: 't' } })
    const answers = [
      await harness.api('POST', `${path}/reply`, { body: { text: 't' } }),
      await harness.api('POST', `${path}/reply`, { body: { text: 't', reply_all: true, to: 'x@example.com' } }),
      await harness.api('POST', `${path}/forward`, { body: { to: 'x@evil.test' } }),
      await harness.api('POST', '/mailboxes/answers/messages', { body: { to: ['x@evil.test'], subject: 's', text: 't' } }),
      await harness.api('POST', `${drafts}/${draft.id}/send`),
      await harness.api('POST', `${drafts}/${clean.id}/send`, { body: { bcc: 'x@evil.test' } }),
    ]
    expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual(Array(6).fill([403, 'recipient_not_allowed']))
    expect(await harness.expectApi(200, 'GET', `${drafts}/${draft.id}`)).toEqual(draft)
    const send_at = new Date(now().getTime() + 3_600_000).toISOString()
    const scheduled = await harness.expectApi(201, 'POST', drafts, { body: { to: 'x@evil.test', subject: 's', text: 't', send_at } })
    await harness.makeDraftsDue(scheduled.id)
    const kept = await waitFor('the draft to say why', async () => {
      const found = await harness.expectApi(200, 'GET', `${drafts}/${scheduled.id}`)
      return found.send_error && found
    })
    expect(kept).toMatchObject({ status: 'draft', send_at: null, send_error: expect.stringContaining('x@evil.test may not be written to') })
  })
})
