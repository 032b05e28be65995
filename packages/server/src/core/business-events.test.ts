// Each business event logs its facts and increments its own counter, whose labels are facts with few values.
import { expect, test } from 'vitest'
import { type BusinessEvents, createBusinessEvents } from './business-events.ts'
import type { Log } from './log.ts'

type Name = Exclude<keyof BusinessEvents, 'registry'>

/** The counter of each event with its labels, which dashboards and alerts read. */
const expected: Record<Name, [line: string, counter: string, labels: string[]]> = {
  keyRefused: ['key refused', 'callsign_keys_refused_total', ['reason']],
  signInTried: ['sign-in tried', 'callsign_sign_ins_tried_total', ['method', 'outcome']],
  requestThrottled: ['request throttled', 'callsign_requests_throttled_total', ['by']],
  answerReplayed: ['answer replayed', 'callsign_answers_replayed_total', []],
  messageAccepted: ['message accepted', 'callsign_messages_accepted_total', ['status']],
  mailRefused: ['mail refused', 'callsign_mail_refused_total', ['listener', 'reply_code']],
  submissionSignInTried: ['submission sign-in tried', 'callsign_submission_sign_ins_tried_total', ['outcome']],
  mailSubmitted: ['mail submitted', 'callsign_mail_submitted_total', []],
  messageQueued: ['message queued', 'callsign_messages_queued_total', []],
  deliveryTried: ['delivery tried', 'callsign_deliveries_tried_total', ['outcome']],
  returnTaken: ['return taken', 'callsign_returns_taken_total', ['kind']],
  vaultKeyTried: ['vault key tried', 'callsign_vault_keys_tried_total', ['outcome']],
  webhookTried: ['webhook tried', 'callsign_webhooks_tried_total', ['outcome']],
  phoneTried: ['phone tried', 'callsign_phone_calls_total', ['op', 'outcome', 'provider']],
  textTaken: ['text taken', 'callsign_texts_taken_total', ['outcome', 'provider']],
  callbackRefused: ['callback refused', 'callsign_callbacks_refused_total', ['provider', 'reason']],
  imessageTried: ['imessage tried', 'callsign_imessages_tried_total', ['outcome']],
  imessageReceived: ['imessage received', 'callsign_imessages_received_total', []],
  imessageCallbackRefused: ['imessage callback refused', 'callsign_imessage_callbacks_refused_total', ['provider']],
  tunnelOpened: ['tunnel opened', 'callsign_tunnels_opened_total', []],
  tunnelClosed: ['tunnel closed', 'callsign_tunnels_closed_total', []],
  certificateOrdered: ['certificate ordered', 'callsign_certificate_orders_total', ['outcome']],
  jobFailed: ['job failed', 'callsign_jobs_failed_total', ['kind', 'reason']],
}

const labels = ['by', 'kind', 'listener', 'method', 'op', 'outcome', 'provider', 'reason', 'reply_code', 'status']
const facts = { ...Object.fromEntries(labels.map((label) => [label, `a ${label}`])), message_id: 'msg_1', attempt: 2 }

test.each(Object.entries(expected))('%s', async (name, [line, counter, own]) => {
  const lines: unknown[][] = []
  const events = createBusinessEvents({ info: (...args: unknown[]) => lines.push(args) } as unknown as Log)
  events[name as Name](facts as never)
  expect(lines).toEqual([[facts, line]])
  expect(await events.registry.getSingleMetric(counter)?.get()).toMatchObject({
    help: expect.stringMatching(/^[A-Z].{8,}\.$/i),
    values: [{ labels: Object.fromEntries(own.map((label) => [label, `a ${label}`])), value: 1 }],
  })
})

test('every event is listed', () => {
  const { registry, ...events } = createBusinessEvents({} as Log)
  expect(Object.keys(events).toSorted()).toEqual(Object.keys(expected).toSorted())
  expect(registry.getMetricsAsArray()).toHaveLength(Object.keys(expected).length)
})
