// Every method of AgentMail's SDK against this server. Each is mapped, with its effect checked through our own API, or answers 501.
import { readFile } from 'node:fs/promises'
import { AgentMailClient } from 'agentmail'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountChecks } from './harness/agentmail/account.ts'
import { type AgentMail, type Check, type Context, createContext, methodsOf } from './harness/agentmail/context.ts'
import { draftChecks } from './harness/agentmail/drafts.ts'
import { inboxChecks } from './harness/agentmail/inboxes.ts'
import { labelEventChecks } from './harness/agentmail/label-events.ts'
import { accountListChecks, listChecks } from './harness/agentmail/lists.ts'
import { messageChecks } from './harness/agentmail/messages.ts'
import { metricChecks } from './harness/agentmail/metrics.ts'
import { inAccountAndPod } from './harness/agentmail/scopes.ts'
import { socketChecks } from './harness/agentmail/sockets.ts'
import { threadChecks } from './harness/agentmail/threads.ts'
import { checkFilteredWebhook, webhookChecks } from './harness/agentmail/webhooks.ts'
import { type Harness, type Json, startHarness } from './harness/start.ts'

const guide = new URL('../../../docs/migrating.md', import.meta.url)

let harness: Harness
let context: Context
beforeAll(async () => {
  harness = await startHarness({ CALLSIGN_OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', CALLSIGN_WEBHOOK_RETRY_SECONDS: '60' })
  context = createContext(harness)
})
afterAll(() => harness?.stop())

/** The methods that this server answers, each with the check of its effect. */
const mapped: Record<string, Check> = {
  ...inAccountAndPod('inboxes', inboxChecks),
  ...messageChecks,
  ...threadChecks,
  ...draftChecks,
  ...listChecks,
  ...inAccountAndPod('lists', accountListChecks),
  ...webhookChecks,
  ...socketChecks,
  ...labelEventChecks,
  ...metricChecks,
  ...accountChecks,
}

type Call = (client: AgentMail) => Promise<unknown>

/** The methods that are not offered, each with a valid request. */
const notOffered: Record<string, Call> = {
  'accounts.list': ({ accounts }) => accounts.list(),
  'accounts.get': ({ accounts }) => accounts.get('x'),
  'agent.signUp': ({ agent }) => agent.signUp({ humanEmail: 'ada@example.com', username: 'x' }),
  'agent.verify': ({ agent }) => agent.verify({ otpCode: '123456' }),
  'domains.getSetupLink': ({ domains }) => domains.getSetupLink('x.example'),
  'inboxes.authorize': ({ inboxes }) => inboxes.authorize('x', { authToken: 'x' }),
  'pods.create': ({ pods }) => pods.create({}),
  'pods.delete': ({ pods }) => pods.delete('default'),
  'providers.connect': ({ providers }) => providers.connect('x', {}),
  'providers.get': ({ providers }) => providers.get('x'),
  'providers.list': ({ providers }) => providers.list(),
  'providers.listAccounts': ({ providers }) => providers.listAccounts('x'),
  'providers.search': ({ providers }) => providers.search({ q: 'x' }),
}

describe('a mapped method has its effect', () => {
  test.each(Object.entries(mapped))('%s', (_, check) => check(context))
})

describe('a method that is not offered answers 501 with a sentence', () => {
  test.each(Object.entries(notOffered))('%s', async (_, call) => {
    const message = expect.stringMatching(/^[A-Z`].* (is|are) not offered by Callsign\.$/)
    await expect(call(context.client)).rejects.toMatchObject({ statusCode: 501, body: { code: 'not_offered', message } })
  })
})

test('every method of the SDK is in one of the two tables, and the guide has their numbers', async () => {
  const methods = methodsOf(context.client).map(([name]) => name)
  const [answered, refused] = [Object.keys(mapped), Object.keys(notOffered)]
  const page = await readFile(guide, 'utf8')
  expect(page).toContain(`| \`agentmail\` 0.5 | ${answered.length} | ${refused.length} | ${methods.length} |`)
  expect([...answered, ...refused].toSorted()).toEqual(methods.toSorted())
})

test('a webhook for some inboxes receives their events only, each in the shape of the SDK', () => checkFilteredWebhook(context))

test('the program in docs/migrating.md runs as printed', async () => {
  const page = await readFile(guide, 'utf8')
  const [, program = ''] = /## From AgentMail[\s\S]*?```ts\n([\s\S]*?)```/.exec(page) ?? []
  const body = program
    .replace(/^import .*$/m, '')
    .replace('https://callsign.example', harness.baseUrl)
    .replace('svc_live_…', harness.organizationKey)
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => (sdk: unknown) => Promise<Json>
  const { inboxId, messages } = await new AsyncFunction('AgentMailClient', `${body}\nreturn { inboxId, messages }`)(AgentMailClient)
  expect(await harness.expectApi(200, 'GET', `/mailboxes/${inboxId}/messages`)).toMatchObject({
    data: [{ id: messages[0].messageId, subject: 'Hello' }],
  })
})
