// webhooks list|create|show|update|delete|rotate-secret|test.
import type { Webhook } from '@callsign/sdk'
import { type Command, clientIdOption, type Option, oneOf, readClientId, several, text, type Values } from '../../command.ts'
import { listCommand } from '../../list-command.ts'
import type { Output } from '../../terminal/output.ts'
import { UsageError } from '../../usage-error.ts'
import { lineOf } from './webhook-deliveries.ts'

const statuses = ['active', 'paused'] as const
const webhookFormats = ['callsign', 'resend', 'agentmail'] as const

const fieldOptions: Record<string, Option> = {
  event: { type: 'string', multiple: true, value: 'TYPE', about: "An event type such as email.received, or '*' for all. Repeatable." },
  agent: {
    type: 'string',
    multiple: true,
    value: 'HANDLE',
    about: 'Only events of this agent. Repeatable. An empty text removes the filter.',
  },
  header: {
    type: 'string',
    multiple: true,
    value: 'NAME:VALUE',
    about: 'A header to send with every delivery. Repeatable. Replaces the earlier ones, and an empty text removes them.',
  },
  description: { type: 'string', value: 'TEXT', about: 'A note about the endpoint.' },
  status: { type: 'string', value: 'STATUS', choices: statuses, about: 'active, or paused to keep events undelivered.' },
}

const formatOption: Record<string, Option> = {
  format: { type: 'string', value: 'FORMAT', choices: webhookFormats, about: 'The shape of the bodies: callsign, resend or agentmail.' },
}

function readFields(values: Values) {
  const events = several(values, 'event')
  const [agents, headers] = [several(values, 'agent'), several(values, 'header')]
  const [description, status] = [text(values, 'description'), oneOf(values, 'status', statuses)]
  return {
    ...(events.length > 0 && { events }),
    ...(agents.length > 0 && { agent_handles: agents.includes('') ? null : agents }),
    ...(headers.length > 0 && { headers: readHeaders(headers) }),
    ...(description !== undefined && { description }),
    ...(status && { status }),
  }
}

/** Headers of `NAME:VALUE` texts. Null for one empty text, which removes them. */
function readHeaders(given: string[]): Record<string, string> | null {
  if (given.length === 1 && given[0] === '') return null
  return Object.fromEntries(
    given.map((one) => {
      const colon = one.indexOf(':')
      if (colon < 1) throw new UsageError(`--header ${one} must be NAME:VALUE.`)
      return [one.slice(0, colon).trim(), one.slice(colon + 1).trim()]
    }),
  )
}

/** The agents of a webhook, or all. */
const agentsOf = (one: Webhook): string => (one.agent_handles.length > 0 ? one.agent_handles.join(', ') : 'all')

function statusOf({ status, disabled_reason: reason, failing_since: failingSince }: Webhook): string {
  if (reason) return `${status}: ${reason}`
  return failingSince ? `${status}, failing since ${failingSince}` : status
}

const shown = (one: Webhook): string =>
  [
    `id           ${one.id}`,
    `url          ${one.url}`,
    `events       ${one.events.join(', ')}`,
    `agents       ${agentsOf(one)}`,
    `headers      ${one.header_names.join(', ')}`,
    `format       ${one.format}`,
    `description  ${one.description ?? ''}`,
    `status       ${statusOf(one)}`,
    `created      ${one.created_at}`,
  ].join('\n')

function showSecret(output: Output, webhook: Webhook & { secret: string | null }): void {
  output.result(webhook, () => webhook.secret ?? webhook.id)
  if (!output.isJson && webhook.secret !== null) output.note(`Store the signing secret of ${webhook.id} now. It is not shown again.`)
}

export const webhookCommands: Command[] = [
  listCommand({
    words: 'webhooks list',
    about: 'Lists webhooks, newest first.',
    example: 'callsign webhooks list',
    operations: ['listWebhooks'],
    call: (client, query) => client.webhooks.list(query),
    columns: {
      ID: (one) => one.id,
      STATUS: (one) => one.status,
      EVENTS: (one) => one.events.join(' '),
      AGENT: agentsOf,
      URL: (one) => one.url,
    },
  }),
  {
    words: 'webhooks create',
    takes: 'URL',
    about: 'Creates a webhook and prints its signing secret once. Defaults to all events.',
    example: 'callsign webhooks create https://example.com/hook --event email.received --agent sales',
    operations: ['createWebhook'],
    options: { ...fieldOptions, ...formatOption, ...clientIdOption },
    async run({ client, output }, values, [url = '']) {
      const format = oneOf(values, 'format', webhookFormats)
      const body = { url, events: ['*'], ...readFields(values), ...(format && { format }), ...readClientId(values) }
      showSecret(output, await (await client()).webhooks.create(body))
      return 0
    },
  },
  {
    words: 'webhooks show',
    takes: 'ID',
    about: 'Shows one webhook with its latest delivery.',
    example: 'callsign webhooks show whk_01jq8',
    operations: ['getWebhook', 'listDeliveries'],
    async run({ client, output }, _values, [id = '']) {
      const { webhooks } = await client()
      const webhook = await webhooks.get(id)
      const [latest] = output.isJson ? [] : (await webhooks.deliveries(id, { limit: 1 })).data
      output.result(webhook, () => `${shown(webhook)}${latest ? `\ndelivery     ${lineOf(latest)}` : ''}`)
      return 0
    },
  },
  {
    words: 'webhooks update',
    takes: 'ID',
    about: 'Changes the given fields. --status active enables a disabled webhook, which then gets its undelivered events.',
    example: 'callsign webhooks update whk_01jq8 --status paused',
    operations: ['updateWebhook'],
    options: { ...fieldOptions, to: { type: 'string', value: 'URL', about: 'The new address.' } },
    async run({ client, output }, values, [id = '']) {
      const url = text(values, 'to')
      const change = { ...readFields(values), ...(url !== undefined && { url }) }
      if (Object.keys(change).length === 0)
        throw new UsageError('Nothing to change. Give --to, --event, --agent, --description or --status.')
      const webhook = await (await client()).webhooks.update(id, change)
      output.result(webhook, () => shown(webhook))
      return 0
    },
  },
  {
    words: 'webhooks delete',
    takes: 'ID',
    about: 'Deletes a webhook. Nothing more is delivered to it.',
    example: 'callsign webhooks delete whk_01jq8',
    operations: ['deleteWebhook'],
    async run({ client, output }, _values, [id = '']) {
      const deleted = await (await client()).webhooks.delete(id)
      output.result(deleted, () => `${id} is deleted.`)
      return 0
    },
  },
  {
    words: 'webhooks rotate-secret',
    takes: 'ID',
    about: 'Creates a new signing secret and prints it once. For 24 hours, deliveries are signed with the old one too.',
    example: 'callsign webhooks rotate-secret whk_01jq8',
    operations: ['rotateWebhookSecret'],
    async run({ client, output }, _values, [id = '']) {
      showSecret(output, await (await client()).webhooks.rotateSecret(id))
      return 0
    },
  },
  {
    words: 'webhooks test',
    takes: 'ID',
    about: 'Sends a test.ping at once and prints the result. The exit code is 1 if it failed.',
    example: 'callsign webhooks test whk_01jq8',
    operations: ['testWebhook'],
    async run({ client, output }, _values, [id = '']) {
      const one = await (await client()).webhooks.test(id)
      output.result(one, () => `${one.url} ${one.error ?? `answered ${one.status_code}`} after ${one.latency_ms} ms.`)
      return one.success ? 0 : 1
    },
  },
]
