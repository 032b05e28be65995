// Templates through the API: content, variables, publication, rendering and limits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, type Json, startHarness } from './harness/start.ts'

let harness: Harness
let agentKey: string
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  agentKey = await harness.agentKey('sales')
})
afterAll(() => harness?.stop())

const create = (more: Json = {}): Promise<Json> =>
  harness.expectApi(201, 'POST', '/templates', { body: { name: 'Order', text: 'Order {{{ID}}}', ...more } })
const render = (template: string, variables: Json, key = harness.organizationKey) =>
  harness.api('POST', `/templates/${template}/render`, { key, body: { variables } })
const publish = (template: string): Promise<Json> => harness.expectApi(200, 'POST', `/templates/${template}/publish`)
const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body.error?.code]

test('content is changed and published in two steps', async () => {
  const content = {
    from: 'Sales <sales@agents.localhost>',
    reply_to: ['sales@agents.localhost'],
    subject: 'Order {{{ID}}}',
    text: null,
    html: '<p>{{{ID}}}</p>',
    variables: [{ key: 'ID', type: 'number', fallback_value: 7 }],
  }
  const template = await create({ ...content, alias: 'order' })
  expect(template).toEqual({
    id: expect.stringMatching(/^tpl_/),
    name: 'Order',
    alias: 'order',
    status: 'draft',
    has_unpublished_changes: true,
    published_at: null,
    client_id: null,
    created_at: expect.any(String),
    updated_at: template.created_at,
    ...content,
  })
  expect(codeOf(await render('order', {}))).toEqual([409, 'conflict'])
  expect(await publish('order')).toMatchObject({ status: 'published', has_unpublished_changes: false, published_at: expect.any(String) })
  const { variables: _, ...fields } = content
  expect((await render('order', { ID: 1042, OTHER: 'ignored' })).body).toEqual({ ...fields, subject: 'Order 1042', html: '<p>1042</p>' })
  expect((await render(template.id, {})).body.subject).toBe('Order 7')

  const changed = await harness.expectApi(200, 'PATCH', '/templates/order', { body: { subject: 'Changed', from: null, name: 'New name' } })
  expect(changed).toMatchObject({ name: 'New name', subject: 'Changed', from: null, html: content.html, has_unpublished_changes: true })
  expect((await render('order', {})).body).toMatchObject({ subject: 'Order 7', from: content.from })
  await publish(template.id)
  expect((await render('order', {})).body).toMatchObject({ subject: 'Changed', from: null })
  expect(await harness.expectApi(200, 'GET', '/templates/order')).toMatchObject({ status: 'published', has_unpublished_changes: false })

  const { data } = await harness.expectApi(200, 'GET', '/templates')
  expect(data).toMatchObject([{ id: template.id, alias: 'order', name: 'New name' }])
  expect(data[0]).not.toHaveProperty('html')
  expect(await harness.expectApi(200, 'DELETE', '/templates/order')).toEqual({ id: template.id, deleted: true })
  expect((await harness.api('GET', `/templates/${template.id}`)).status).toBe(404)
  const { data: entries } = await harness.expectApi(200, 'GET', '/audit')
  expect(entries.slice(0, 5).map((entry: Json) => entry.action)).toEqual([
    'template.deleted',
    'template.published',
    'template.updated',
    'template.published',
    'template.created',
  ])
})

describe('rendering', () => {
  test('three braces insert a value as it is, and two escape it in HTML only', async () => {
    const all = '{{{A}}} {{A}} {{ A }} { {A} } {{{{A}}}} {{a b}} {{{A}} {{}}'
    const { id } = await create({ subject: all, text: all, html: all, alias: 'braces' })
    await publish(id)
    const value = '<b title="x">&\'$&</b>'
    const escaped = '&lt;b title=&quot;x&quot;&gt;&amp;&#39;$&amp;&lt;/b&gt;'
    const filled = (two: string) => `${value} ${two} ${two} { {A} } {${value}} {{a b}} {${two} {{}}`
    expect((await render('braces', { A: value })).body).toMatchObject({
      subject: filled(value),
      text: filled(value),
      html: filled(escaped),
    })
  })

  test('a value is inserted once, and never as a variable', async () => {
    const { id } = await create({ text: '{{{A}}} {{{B}}}', html: null })
    await publish(id)
    expect((await render(id, { A: '{{{B}}}', B: '{{{A}}}' })).body.text).toBe('{{{B}}} {{{A}}}')
  })

  test('names every value that is missing or has another type', async () => {
    const { id } = await create({ text: '{{{A}}} {{{B}}} {{{C}}}', variables: [{ key: 'B', type: 'number' }] })
    await publish(id)
    const { status, body } = await render(id, { B: 'two' })
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(body.error.details).toEqual([
      { path: '/variables/B', message: 'must be a number' },
      { path: '/variables/A', message: 'is required: A has no fallback_value' },
      { path: '/variables/C', message: 'is required: C has no fallback_value' },
    ])
  })

  test('a name such as constructor is a variable like any other', async () => {
    const { id } = await create({ text: '{{{constructor}}} {{{toString}}}' })
    await publish(id)
    expect((await render(id, {})).body.error.details).toHaveLength(2)
    expect((await render(id, { constructor: 'a', toString: 'b' })).body.text).toBe('a b')
  })

  test('the size of the result is limited', async () => {
    const { id } = await create({ text: '{{{A}}}'.repeat(70_000) })
    await publish(id)
    expect(codeOf(await render(id, { A: 'x'.repeat(2000) }))).toEqual([400, 'validation_error'])
    expect((await render(id, { A: 'x' })).status).toBe(200)
  })
})

test.each([
  [{ text: null }, /html or text is required/],
  [{ text: ' ' }, /html or text is required/],
  [{ variables: [1, 2].map(() => ({ key: 'A', type: 'string' })) }, /A twice/],
  [{ variables: [{ key: 'A', type: 'number', fallback_value: 'x' }] }, /fallback_value of A must be a number/],
  [{ text: Array.from({ length: 51 }, (_, index) => `{{{V${index}}}}`).join('') }, /at most 50 variables/],
  [{ alias: 'tpl_mine' }, /alias/],
  [{ alias: 'two words' }, /alias/],
])('refuses %o', async (body, message) => {
  const answer = await harness.api('POST', '/templates', { body: { name: 'Wrong', text: 'x', ...body } })
  expect(codeOf(answer)).toEqual([400, 'validation_error'])
  expect(JSON.stringify(answer.body.error)).toMatch(message)
})

test('an alias is taken once per organization', async () => {
  const { id } = await create({ alias: 'taken' })
  expect(codeOf(await harness.api('POST', '/templates', { body: { name: 'x', text: 'x', alias: 'taken' } }))).toEqual([409, 'conflict'])
  const other = await create()
  expect(codeOf(await harness.api('PATCH', `/templates/${other.id}`, { body: { alias: 'taken' } }))).toEqual([409, 'conflict'])
  await harness.expectApi(201, 'POST', '/templates', { key: harness.otherOrganization.key, body: { name: 'x', text: 'x', alias: 'taken' } })
  await harness.expectApi(200, 'PATCH', `/templates/${id}`, { body: { alias: null } })
  await harness.expectApi(200, 'PATCH', `/templates/${other.id}`, { body: { alias: 'taken' } })
})

test('an agent key uses templates, and only organization keys change them', async () => {
  const { id } = await create({ alias: 'for-agents' })
  await publish(id)
  expect((await render('for-agents', { ID: '1' }, agentKey)).body.text).toBe('Order 1')
  expect((await harness.api('GET', '/templates', { key: agentKey })).status).toBe(200)
  for (const [method, path, body] of [
    ['POST', '/templates', { name: 'x', text: 'x' }],
    ['PATCH', `/templates/${id}`, { text: 'x' }],
    ['POST', `/templates/${id}/publish`, undefined],
    ['DELETE', `/templates/${id}`, undefined],
  ] as const)
    expect((await harness.api(method, path, { key: agentKey, body })).status).toBe(403)
  for (const name of [id, 'for-agents'])
    expect((await harness.api('GET', `/templates/${name}`, { key: harness.otherOrganization.key })).status).toBe(404)
})

test('lists have pages, newest first', async () => {
  const made: string[] = []
  for (const name of ['first', 'second', 'third']) made.unshift((await create({ name })).id)
  const first = await harness.expectApi(200, 'GET', '/templates?limit=2')
  expect([first.data.map((one: Json) => one.id), first.has_more]).toEqual([made.slice(0, 2), true])
  const second = await harness.expectApi(200, 'GET', `/templates?limit=1&cursor=${first.next_cursor}`)
  expect(second.data[0].id).toBe(made[2])
})
