// webhooks deliveries|delivery|replay.
import type { Delivery, DeliveryDetail } from '@callsign/sdk'
import { type Command, oneOf, text } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'

const statuses = ['pending', 'delivered', 'failed'] as const
const replayed = ['failed', 'delivered', 'missed'] as const

/** The next attempt of a delivery that has not succeeded. */
const nextOf = ({ id, status, next_attempt_at: next }: Delivery): string => {
  if (next !== null) return `, next attempt ${ago(next)} (${next})`
  return status === 'failed' ? `, without further attempts. callsign webhooks replay ${id} repeats it.` : ''
}

/** The answer of the endpoint to the last attempt, as `503 http_5xx`. */
const answerOf = ({ last_status_code: status, last_error_code: error }: Delivery): string =>
  [status, error].filter((part) => part !== null && part !== 0).join(' ') || '-'

/** One line about a delivery, for the webhook that it belongs to. */
export const lineOf = (one: Delivery): string =>
  `${ago(one.created_at)}, ${one.event_type}, answer ${answerOf(one)}, ${one.status}${nextOf(one)}`

const shown = (one: DeliveryDetail, width: number | undefined): string =>
  [
    `event     ${one.event_type} ${one.event_id}`,
    `status    ${one.status}${nextOf(one)}`,
    '',
    table(
      ['ATTEMPT', 'STARTED', 'STATUS', 'MS', 'ERROR'],
      one.attempts.map((attempt) => [
        String(attempt.attempt),
        attempt.started_at,
        String(attempt.status_code ?? '-'),
        String(attempt.duration_ms),
        attempt.error ?? '',
      ]),
      width,
    ),
    ...one.attempts.flatMap(({ attempt, response_snippet: body }) => (body ? ['', `answer to attempt ${attempt}`, body] : [])),
  ].join('\n')

export const webhookDeliveryCommands: Command[] = [
  listCommand({
    words: 'webhooks deliveries',
    takes: 'ID',
    about: 'Lists the deliveries of a webhook, newest first, with the last answer and the next attempt. They are kept for 30 days.',
    example: 'callsign webhooks deliveries whk_01jq8 --status failed',
    operations: ['listDeliveries'],
    options: {
      status: { type: 'string', value: 'STATUS', field: 'status', choices: statuses, about: 'pending, delivered or failed.' },
      event: { type: 'string', value: 'TYPE', field: 'event_type', about: 'Only this event type.' },
      ...listOptions,
    },
    call: (client, query, [id = '']) => client.webhooks.deliveries(id, query),
    columns: {
      ID: (one) => one.id,
      WHEN: (one) => ago(one.created_at),
      EVENT: (one) => one.event_type,
      STATUS: (one) => one.status,
      ATTEMPTS: (one) => String(one.attempt_count),
      ANSWER: answerOf,
      NEXT: (one) => (one.next_attempt_at ? ago(one.next_attempt_at) : one.status === 'failed' ? 'none' : ''),
    },
  }),
  {
    words: 'webhooks delivery',
    takes: 'DELIVERY',
    about: 'Shows one delivery with its attempts, the answers of the endpoint, and the next attempt.',
    example: 'callsign webhooks delivery dlv_01jq8',
    operations: ['getDelivery'],
    async run({ client, output }, _values, [id = '']) {
      const delivery = await (await client()).webhooks.delivery(id)
      output.result(delivery, (width) => shown(delivery, width))
      return 0
    },
  },
  {
    words: 'webhooks replay',
    takes: 'ID',
    about: 'Repeats a delivery, or with --since the events of a time range of a webhook.',
    example: 'callsign webhooks replay whk_01jq8 --since 2026-03-14T09:30:00Z --status failed',
    operations: ['replayDelivery', 'replayDeliveries'],
    options: {
      since: { type: 'string', value: 'TIME', about: 'The start of the range. ID is then the webhook.' },
      until: { type: 'string', value: 'TIME', about: 'The end of the range. Defaults to now.' },
      status: { type: 'string', value: 'STATUS', choices: replayed, about: 'Only failed, delivered or missed events of the range.' },
    },
    async run({ client, output }, values, [id = '']) {
      const [since, until, status] = [text(values, 'since'), text(values, 'until'), oneOf(values, 'status', replayed)]
      if (since === undefined && (until !== undefined || status !== undefined)) throw new UsageError('--until and --status need --since.')
      const { webhooks } = await client()
      if (since === undefined) {
        const delivery = await webhooks.replay(id)
        output.result(delivery, () => `${id} is ${delivery.status}.`)
        return 0
      }
      const result = await webhooks.replayRange(id, { since, ...(until !== undefined && { until }), ...(status && { status }) })
      output.result(result, () => `${result.replayed} events are delivered again.`)
      if (result.has_more && !output.isJson) output.note(`More: --since ${result.next_since}`)
      return 0
    },
  },
]
