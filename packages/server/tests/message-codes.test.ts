// Codes in messages. They are found when mail is filed, and returned by get, lists, search, threads and events.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('one')
  await harness.createAgent('two')
})
afterAll(() => harness.stop())

test('a code and a link are returned by every view of the message', async () => {
  await harness.deliver({
    from: 'no-reply@plover.example',
    to: 'one@agents.localhost',
    subject: 'Sign in to Plover',
    text: 'Your sign-in code is 482 913\n\nOr click to sign in: https://plover.example/signin/verify?code=482913&t=Ab81Kq02\n\nThe link expires in 10 minutes.',
  })
  const codes = [
    { kind: 'one_time_code', value: '482913', purpose: 'sign_in', near: 'Your sign-in code is 482 913', domain: null },
    {
      kind: 'confirmation_link',
      value: 'https://plover.example/signin/verify?code=482913&t=Ab81Kq02',
      purpose: 'sign_in',
      near: 'Your sign-in code is 482 913 Or click to sign in:',
      domain: 'plover.example',
    },
  ]
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/one/messages')
  const [{ id, thread_id }] = data
  expect(data[0].codes).toEqual(codes)
  expect((await harness.expectApi(200, 'GET', `/mailboxes/one/messages/${id}`)).codes).toEqual(codes)
  expect((await harness.expectApi(200, 'GET', `/mailboxes/one/threads/${thread_id}`)).messages[0].codes).toEqual(codes)
  expect((await harness.expectApi(200, 'GET', '/mailboxes/one/search?q=plover')).data[0].codes).toEqual(codes)
  expect((await harness.expectApi(200, 'GET', '/mail/messages?agent=one')).messages[0].codes).toEqual(codes)
  expect((await harness.expectApi(200, 'GET', '/events?agent=one')).data[0].data.codes).toEqual(codes)
})

test('the HTML is read when the plain text is a stub, but not its hidden text', async () => {
  await harness.deliver({
    from: 'no-reply@plover.example',
    to: 'two@agents.localhost',
    subject: 'Verify your email',
    text: 'Your mail program cannot show this message.',
    html: `<p>Your verification code is</p><table><tr>${[...'482913'].map((digit) => `<td>${digit}</td>`).join('')}</tr></table>
      <div style="display:none">Your verification code is 999999</div>
      <a href="https://plover.example/verify?token=9f8a7c6b5d4e3f2a"><b>Verify email</b></a>`,
  })
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/two/messages')
  expect(data[0].codes.map((code: { value: string }) => code.value)).toEqual([
    '482913',
    'https://plover.example/verify?token=9f8a7c6b5d4e3f2a',
  ])
})

test("mail between agents has codes too, and an agent's sent copy has none", async () => {
  const { id } = await harness.send('one', 'two@agents.localhost', { text: 'Your login code is 771204.' })
  await harness.waitForStatus('one', id, 'delivered')
  expect((await harness.expectApi(200, 'GET', `/mailboxes/one/messages/${id}`)).codes).toEqual([])
  const { data } = await harness.expectApi(200, 'GET', '/mailboxes/two/messages?limit=1')
  expect(data[0].codes).toMatchObject([{ kind: 'one_time_code', value: '771204' }])
})
