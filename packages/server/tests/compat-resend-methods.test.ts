// Every method of Resend's SDK. Each is mapped, with its effect checked in the other files beside this one, or answers 501.
import { readFile } from 'node:fs/promises'
import type { Resend } from 'resend'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createResend } from './harness/resend-sdk.ts'
import { type Harness, startHarness } from './harness/start.ts'

let harness: Harness
let resend: Resend
beforeAll(async () => {
  harness = await startHarness()
  resend = createResend(harness)
})
afterAll(() => harness?.stop())

/** The resources that Callsign does not offer. `audiences` is another name of segments, and `events` start automations. */
const notOffered = ['audiences', 'automations', 'broadcasts', 'contactProperties', 'contacts', 'events', 'segments', 'topics']

/** The other methods, which this server answers. */
const mapped = [
  'apiKeys.create',
  'apiKeys.list',
  'apiKeys.remove',
  'apiKeys.update',
  'batch.create',
  'batch.send',
  'domains.claims.create',
  'domains.claims.get',
  'domains.claims.verify',
  'domains.create',
  'domains.get',
  'domains.list',
  'domains.remove',
  'domains.update',
  'domains.verify',
  'emails.attachments.get',
  'emails.attachments.list',
  'emails.cancel',
  'emails.create',
  'emails.get',
  'emails.list',
  'emails.metrics',
  'emails.receiving.attachments.get',
  'emails.receiving.attachments.list',
  'emails.receiving.forward',
  'emails.receiving.get',
  'emails.receiving.list',
  'emails.send',
  'emails.share',
  'emails.update',
  'inboxes.agent.get',
  'inboxes.agent.update',
  'inboxes.create',
  'inboxes.drafts.create',
  'inboxes.drafts.get',
  'inboxes.drafts.list',
  'inboxes.drafts.remove',
  'inboxes.drafts.send',
  'inboxes.drafts.update',
  'inboxes.get',
  'inboxes.labels.create',
  'inboxes.labels.list',
  'inboxes.labels.remove',
  'inboxes.labels.update',
  'inboxes.list',
  'inboxes.remove',
  'inboxes.threads.emails.forward',
  'inboxes.threads.emails.get',
  'inboxes.threads.emails.list',
  'inboxes.threads.emails.reply',
  'inboxes.threads.get',
  'inboxes.threads.labels.add',
  'inboxes.threads.labels.remove',
  'inboxes.threads.labels.set',
  'inboxes.threads.list',
  'inboxes.threads.remove',
  'inboxes.threads.search',
  'inboxes.threads.update',
  'inboxes.update',
  'logs.get',
  'logs.list',
  'oauthGrants.list',
  'oauthGrants.revoke',
  'suppressions.add',
  'suppressions.batch.add',
  'suppressions.batch.remove',
  'suppressions.get',
  'suppressions.list',
  'suppressions.remove',
  'templates.create',
  'templates.duplicate',
  'templates.get',
  'templates.list',
  'templates.publish',
  'templates.remove',
  'templates.update',
  'usage.get',
  'webhooks.create',
  'webhooks.events.attempts.list',
  'webhooks.events.get',
  'webhooks.events.list',
  'webhooks.events.replay',
  'webhooks.get',
  'webhooks.list',
  'webhooks.remove',
  'webhooks.rotateSigningSecret',
  'webhooks.update',
  'webhooks.verify',
]

type Method = (...values: unknown[]) => Promise<{ error: { statusCode: number | null; message: string } | null }>

/** Every method of the SDK by its name, such as `emails.receiving.get`. */
function methodsOf(resource: object, prefix = ''): [string, Method][] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((name) => name !== 'constructor')
  const methods = own.flatMap((name): [string, Method][] => {
    const method = (resource as Record<string, unknown>)[name]
    return typeof method === 'function' && prefix !== '' ? [[prefix + name, method.bind(resource) as Method]] : []
  })
  const parts = Object.entries(resource).filter(([name, value]) => name !== 'resend' && typeof value === 'object' && value !== null)
  return [...methods, ...parts.flatMap(([name, part]) => (part instanceof Headers ? [] : methodsOf(part as object, `${prefix}${name}.`)))]
}

const anything = {
  ...{
    id: 'x',
    email: 'x@example.com',
    emailId: 'x',
    inboxId: 'x',
    threadId: 'x',
    draftId: 'x',
    labelId: 'x',
    contactId: 'x',
    segmentId: 'x',
  },
  ...{ webhookId: 'x', eventId: 'x', automationId: 'x', runId: 'x', topicId: 'x', name: 'x', key: 'x', type: 'string', fallbackValue: 'x' },
  ...{
    steps: [],
    connections: [],
    topics: [],
    labels: ['x'],
    html: 'x',
    from: 'x@example.com',
    subject: 'x',
    to: 'x@example.com',
    csv: 'x',
  },
}

/** The first error that the server answered. Methods differ in their parameters, and the SDK checks some of them itself. */
async function errorOf(method: Method): Promise<{ statusCode: number | null; message: string } | null> {
  for (const first of [anything, 'x', {}, []]) {
    // A wrong kind of argument throws.
    const { error } = await Promise.try(method, first, anything).catch(() => ({ error: null }))
    if (error && error.statusCode !== null) return error
  }
  return null
}

const isPrivate = /\.(forwardPassthrough|forwardWrapped|downloadRaw|appendField|buildCreateFormData|buildColumnMap|performCreate)$/

test('every method is mapped, or belongs to a resource that is not offered and answers 501 with a sentence', async () => {
  const methods = methodsOf(resend).filter(([name]) => !isPrivate.test(name))
  const isOther = (name: string): boolean => notOffered.some((one) => `${name}.`.startsWith(`${one}.`))
  expect(
    methods
      .map(([name]) => name)
      .filter((name) => !isOther(name))
      .toSorted(),
  ).toEqual(mapped)
  const others = methods.filter(([name]) => isOther(name))
  const page = await readFile(new URL('../../../docs/migrating.md', import.meta.url), 'utf8')
  expect(page).toContain(`| \`resend\` 6.38 | ${mapped.length} | ${others.length} | ${methods.length} |`)
  const wrong: string[] = []
  for (const [name, method] of others) {
    const error = await errorOf(method)
    if (error?.statusCode !== 501 || !error.message.endsWith('is not offered by Callsign.')) wrong.push(`${name}: ${JSON.stringify(error)}`)
  }
  expect(wrong).toEqual([])
})
