// callsign mail wait prints the code alone, the message, or an error if none arrives.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../server/tests/harness/start.ts'
import { createCommandLine } from './command-line.ts'

let harness: Harness
const line = createCommandLine()
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('one')
})
afterAll(async () => {
  await harness.stop()
  line.remove()
})

const run = (args: string[]) =>
  line.run(args, { environment: { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey } })
const link = 'https://plover.example/verify?token=9f8a7c6b5d4e3f2a'
const since = ['--after', '2020-01-01T00:00:00Z', '--timeout', '20']

test('--code prints the code, --link the link, and without either the message is printed', async () => {
  await harness.deliver({ from: 'a@plover.example', to: 'one@agents.localhost', subject: 'Welcome', text: 'Hello \u001b[31mthere' })
  await harness.deliver({
    from: 'a@plover.example',
    to: 'one@agents.localhost',
    subject: 'Code',
    text: `Your code is 482 913\n\nVerify your email: ${link}`,
  })
  expect(await run(['mail', 'wait', 'one', '--code', ...since])).toMatchObject({ code: 0, out: '482913\n', error: '' })
  expect(await run(['mail', 'wait', 'one', '--link', '--from', 'plover', ...since])).toMatchObject({ code: 0, out: `${link}\n` })
  const shown = await run(['mail', 'wait', 'one', '--subject', 'code', ...since])
  expect(shown.out).toMatch(/^msg_\w+ from a@plover\.example: Code\none time code: 482913\nconfirmation link: https/)
  const asJson = await run(['mail', 'wait', 'one@agents.localhost', '--code', '--json', ...since])
  expect(JSON.parse(asJson.out)).toMatchObject({ subject: 'Code', codes: [{ value: '482913' }, { value: link }] })
})

test('a timeout names a message that arrived and did not match', async () => {
  await harness.deliver({ from: 'a@plover.example', to: 'one@agents.localhost', subject: 'Other', text: 'No digits' })
  const other = await harness.waitForMail('one', 'Other')
  const ran = await run([
    'mail',
    'wait',
    'one',
    '--subject',
    'nothing like it',
    '--after',
    other.created_at.replace(/\.\d+Z$/, 'Z'),
    '--timeout',
    '0',
  ])
  expect(ran).toMatchObject({
    code: 1,
    error: expect.stringMatching(/or check --subject\. msg_\w+ from a@plover\.example arrived, but does not match\.\n$/),
  })
})

test('a timeout is exit code 1, and errors are reported', async () => {
  expect(await run(['mail', 'wait', 'one', '--timeout', '0', '--after', 'now', '--code'])).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringMatching(/^callsign: No message arrived within 0 s\..*--timeout.*--after.*--code\.\n$/),
  })
  expect((await run(['mail', 'wait', 'one', '--code', '--link'])).code).toBe(2)
  expect((await run(['mail', 'wait', 'one', '--after', 'yesterday'])).code).toBe(2)
  expect((await run(['mail', 'wait', 'nobody'])).code).toBe(4)
  expect(await run(['mail', 'wait', '--after', 'now', '--timeout', '0'])).toMatchObject({ code: 1 })
})
