// Libraries that send over Resend: the renderer of React Email through the SDK, and the provider of Auth.js, which names its host itself.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createResend, dataOf } from './harness/resend-sdk.ts'
import { type Harness, startHarness } from './harness/start.ts'

// Without their types, which declare the globals of browsers.
const require = createRequire(import.meta.url)
const { createElement } = require('react')
const { default: ResendProvider } = require('@auth/core/providers/resend')

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  await harness.createAgent('support')
})
afterAll(() => harness?.stop())

const from = 'sales@agents.localhost'
const to = 'support@agents.localhost'

test('React Email renders the body of an email', async () => {
  const react = createElement('p', null, 'Order ', createElement('b', null, '1042'), ' ships <today>')
  await dataOf(createResend(harness).emails.send({ from, to, subject: 'Rendered', react }))
  const message = await harness.waitForMail('support', 'Rendered')
  expect(message.html).toContain('<b>1042</b>')
  expect(message.text).toContain('Order 1042 ships <today>')
})

/** The code of the guide, without its imports and with the address of this server. */
async function printedMapping(): Promise<string> {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/migrating.md'), 'utf8')
  const [, code = ''] = /```js\n(import \{[^}]*\} from 'undici'[\s\S]*?)```/.exec(guide) ?? []
  return code.replace(/^import .*$/m, '').replace('https://callsign.example', harness.baseUrl)
}

test('Auth.js sends its link through the mapping that the guide prints', async () => {
  const before = getGlobalDispatcher()
  new Function('Agent', 'setGlobalDispatcher', await printedMapping())(Agent, setGlobalDispatcher)
  try {
    const provider = ResendProvider({ apiKey: harness.organizationKey, from })
    // The provider of an application has its options on it.
    const url = 'https://app.example.com/api/auth/callback/resend?token=abc123'
    const request = { identifier: to, url, theme: {}, provider: { ...provider, ...provider.options }, expires: new Date(), token: 'abc123' }
    await provider.sendVerificationRequest({ ...request, request: new Request(url) })
  } finally {
    setGlobalDispatcher(before)
  }
  const message = await harness.waitForMail('support', 'Sign in to app.example.com')
  expect(message).toMatchObject({ from, to: [to] })
  expect(message.text).toContain('token=abc123')
})
