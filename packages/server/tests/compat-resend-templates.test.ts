// Templates through the SDK of Resend: content, publication, copies, and emails that use one.
import type { Resend } from 'resend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createResend, dataOf } from './harness/resend-sdk.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let resend: Resend
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales', { display_name: 'Sales' })
  await harness.createAgent('support')
  resend = createResend(harness)
})
afterAll(() => harness?.stop())

const to = 'support@agents.localhost'

test('a template is created, published, changed, copied and removed', async () => {
  const { id } = await dataOf(
    resend.templates.create({
      name: 'Order shipped',
      alias: 'shipped',
      from: 'Sales <sales@agents.localhost>',
      replyTo: 'help@example.com',
      subject: 'Order {{{ORDER}}}',
      html: '<p>{{{NAME}}}: <b>{{{ORDER}}}</b></p>',
      variables: [
        { key: 'NAME', type: 'string', fallbackValue: 'customer' },
        { key: 'ORDER', type: 'number' },
      ],
    }),
  )
  expect(await harness.expectApi(200, 'GET', '/templates/shipped')).toMatchObject({ id, status: 'draft', reply_to: ['help@example.com'] })
  expect((await resend.emails.send({ to, template: { id } } as never)).error).toMatchObject({ statusCode: 422, name: 'validation_error' })
  expect(await dataOf(resend.templates.publish('shipped'))).toEqual({ object: 'template', id })
  expect(await dataOf(resend.templates.get('shipped'))).toMatchObject({
    object: 'template',
    id,
    alias: 'shipped',
    status: 'published',
    has_unpublished_versions: false,
    variables: [
      { key: 'NAME', type: 'string', fallback_value: 'customer' },
      { key: 'ORDER', fallback_value: null },
    ],
  })
  await dataOf(resend.templates.update(id, { subject: 'Your order {{{ORDER}}}' }))
  expect(await harness.expectApi(200, 'GET', `/templates/${id}`)).toMatchObject({
    subject: 'Your order {{{ORDER}}}',
    has_unpublished_changes: true,
  })
  const copy = await dataOf(resend.templates.duplicate(id).publish())
  expect(await harness.expectApi(200, 'GET', `/templates/${copy.id}`)).toMatchObject({
    name: 'Order shipped (copy)',
    alias: null,
    status: 'published',
    subject: 'Your order {{{ORDER}}}',
  })
  expect((await dataOf(resend.templates.list({ limit: 1 }))).data.map((one) => one.id)).toEqual([copy.id])
  expect((await dataOf(resend.templates.list({ after: copy.id }))).data).toMatchObject([{ id, name: 'Order shipped', status: 'published' }])
  expect(await dataOf(resend.templates.remove(copy.id))).toEqual({ object: 'template', id: copy.id, deleted: true })
  expect((await harness.api('GET', `/templates/${copy.id}`)).status).toBe(404)
})

test('an email with a template, and its own fields before those of the template', async () => {
  await dataOf(resend.emails.send({ to, template: { id: 'shipped', variables: { ORDER: 1042 } } } as never))
  const plain = await harness.waitForMail('support', 'Order 1042')
  expect(plain).toMatchObject({ html: '<p>customer: <b>1042</b></p>', reply_to: ['help@example.com'] })
  expect(plain.headers.from).toBe('Sales <sales@agents.localhost>')

  const template = { id: 'shipped', variables: { ORDER: 7, NAME: 'Ada' } }
  await dataOf(resend.emails.send({ to, from: 'support@agents.localhost', subject: 'Mine', replyTo: 'me@example.com', template }))
  const own = await harness.waitForMail('support', 'Mine')
  expect(own).toMatchObject({ from: 'support@agents.localhost', html: '<p>Ada: <b>7</b></p>', reply_to: ['me@example.com'] })

  await dataOf(resend.batch.send([{ to, subject: 'In a batch', template }] as never))
  expect((await harness.waitForMail('support', 'In a batch')).html).toBe('<p>Ada: <b>7</b></p>')
})

test.each([
  [{ template: { id: 'unknown' } }, 404, 'not_found'],
  [{ template: { id: 'shipped', variables: { ORDER: 'x' } } }, 422, 'validation_error'],
  [{ template: { id: 'shipped', variables: {} } }, 422, 'validation_error'],
  [{ template: { id: 'shipped', variables: { ORDER: 1 } }, html: '<p>x</p>' }, 422, 'validation_error'],
  [{ template: {} }, 422, 'validation_error'],
])('refuses %o', async (email, statusCode, name) => {
  expect((await resend.emails.send({ to, ...email } as never)).error).toMatchObject({
    statusCode,
    name,
    message: expect.stringMatching(/\w/),
  })
})

test('the server checks the fields of a template', async () => {
  expect((await resend.templates.create({ name: 'x', html: ' ' })).error).toMatchObject({ statusCode: 422, name: 'validation_error' })
  expect((await resend.templates.create({ html: 'x' } as never)).error).toMatchObject({ statusCode: 422, name: 'missing_required_field' })
})
