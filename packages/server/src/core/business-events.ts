// The business events. Each has one function, which logs a line for operators and increments a metric.
import { Counter, Registry } from 'prom-client'
import type { Log } from './log.ts'

type Fact = string | number | boolean | null

/**
 * The business events and the registry of their counters. Facts are ids, counts and words from closed lists. Keys, addresses, subjects and
 * bodies must not appear.
 */
export function createBusinessEvents(log: Log) {
  const registry = new Registry()

  /** An event whose counter is split by the named facts, each of which must take few values. */
  const event = <F extends Record<string, Fact>>(name: string, counterName: string, help: string, labels: (keyof F & string)[] = []) => {
    const counter = new Counter<string>({ name: counterName, help, labelNames: labels, registers: [registry] })
    return (facts: F): void => {
      const values: Record<string, string | number> = {}
      for (const label of labels) values[label] = String(facts[label])
      counter.inc(values)
      log.info(facts as object, name)
    }
  }

  return {
    registry,
    /** A request had no key, a malformed key or one that is not valid. */
    keyRefused: event<{ request_id: string; reason: 'missing' | 'malformed' | 'unknown' }>(
      'key refused',
      'callsign_keys_refused_total',
      'Requests refused without a valid key.',
      ['reason'],
    ),
    /** An attempt to sign in to the console. `throttled` means that it was refused unchecked. */
    signInTried: event<{ method: string; outcome: 'ok' | 'wrong' | 'throttled' }>(
      'sign-in tried',
      'callsign_sign_ins_tried_total',
      'Attempts to sign in to the console.',
      ['method', 'outcome'],
    ),
    /** A request exceeded the rate limit of its key, or its address the limit of failed attempts. */
    requestThrottled: event<{ request_id: string; by: 'key' | 'address'; key_id: string | null }>(
      'request throttled',
      'callsign_requests_throttled_total',
      'Requests answered 429.',
      ['by'],
    ),
    /** A repeated request got its stored answer again. */
    answerReplayed: event<{ request_id: string; organization_id: string }>(
      'answer replayed',
      'callsign_answers_replayed_total',
      'Requests answered with the stored answer of their Idempotency-Key.',
    ),
    /** Inbound mail was durably filed, either listed or in quarantine. */
    messageAccepted: event<{
      organization_id: string
      mailbox_id: string
      message_id: string
      size_bytes: number
      status: 'received' | 'quarantined'
    }>('message accepted', 'callsign_messages_accepted_total', 'Inbound messages filed.', ['status']),
    /** A connection, command or message of SMTP was refused with this reply code. */
    mailRefused: event<{ listener: 'smtp' | 'submission'; session_id: string | null; reply_code: number }>(
      'mail refused',
      'callsign_mail_refused_total',
      'Commands, messages and connections refused over SMTP.',
      ['listener', 'reply_code'],
    ),
    /** A mail program signed in to submission. `throttled` means that its address had too many wrong credentials. */
    submissionSignInTried: event<{ outcome: 'ok' | 'wrong' | 'throttled' }>(
      'submission sign-in tried',
      'callsign_submission_sign_ins_tried_total',
      'Attempts to sign in to submission.',
      ['outcome'],
    ),
    /** A mail program submitted a message, which was sent or waits for approval. */
    mailSubmitted: event<{ message_id: string }>(
      'mail submitted',
      'callsign_mail_submitted_total',
      'Messages accepted from mail programs.',
    ),
    /** A message waits for delivery. */
    messageQueued: event<{ organization_id: string; message_id: string; recipients: number }>(
      'message queued',
      'callsign_messages_queued_total',
      'Outbound messages queued.',
    ),
    /** Result of one attempt to hand a message to the next hop, for this many recipients. */
    deliveryTried: event<{
      organization_id: string
      message_id: string
      outcome: 'delivered' | 'retry' | 'refused'
      recipients: number
      attempt: number
    }>('delivery tried', 'callsign_deliveries_tried_total', 'Attempts to deliver outbound mail.', ['outcome']),
    /** Mail arrived at a return path. */
    returnTaken: event<{
      organization_id: string
      message_id: string
      kind: 'failed' | 'delayed' | 'delivered' | 'passed-on' | 'complaint' | 'feedback' | 'automatic'
    }>('return taken', 'callsign_returns_taken_total', 'Bounces, complaints and answers that came back to return paths.', ['kind']),
    /** A vault key hash was checked. `throttled` means that it was refused unchecked after too many wrong ones. */
    vaultKeyTried: event<{ organization_id: string; key_id: string; outcome: 'ok' | 'wrong' | 'throttled' }>(
      'vault key tried',
      'callsign_vault_keys_tried_total',
      'Attempts to prove a vault key.',
      ['outcome'],
    ),
    /**
     * Result of one attempt to deliver an event to a webhook. `lease_lost` means that another process had claimed the delivery meanwhile.
     */
    webhookTried: event<{
      organization_id: string
      webhook_id: string
      delivery_id: string
      outcome: 'delivered' | 'retry' | 'failed' | 'lease_lost'
      status_code: number | null
      error_code: string | null
      duration_ms: number
      attempt: number
    }>('webhook tried', 'callsign_webhooks_tried_total', 'Attempts to deliver events to webhooks.', ['outcome']),
    /** Result of one call to a phone provider. */
    phoneTried: event<{
      organization_id: string
      phone_number_id: string
      provider: string
      op: 'search' | 'order' | 'find' | 'advance' | 'release'
      outcome: string
    }>('phone tried', 'callsign_phone_calls_total', 'Calls to phone providers.', ['provider', 'op', 'outcome']),
    /** A provider delivered a text message. */
    textTaken: event<{
      organization_id: string | null
      phone_number_id: string | null
      provider: string
      outcome: 'filed' | 'pending' | 'duplicate' | 'ignored'
    }>('text taken', 'callsign_texts_taken_total', 'Text messages delivered by phone providers.', ['provider', 'outcome']),
    /** The signature of a callback was not valid. */
    callbackRefused: event<{ provider: string; reason: 'bad_signature' | 'too_old' }>(
      'callback refused',
      'callsign_callbacks_refused_total',
      'Provider callbacks refused because of their signature.',
      ['provider', 'reason'],
    ),
    /** Result of one attempt to hand a message to the iMessage provider. */
    imessageTried: event<{
      organization_id: string
      chat_id: string
      outcome: 'accepted' | 'refused' | 'retry' | 'unknown'
      attempt: number
    }>('imessage tried', 'callsign_imessages_tried_total', 'Attempts to hand messages to the iMessage provider.', ['outcome']),
    /** A message from a person connected to an agent was filed. */
    imessageReceived: event<{ organization_id: string; conversation_id: string; message_id: string }>(
      'imessage received',
      'callsign_imessages_received_total',
      'iMessages filed.',
    ),
    /** A callback reached the right address with a wrong signature. */
    imessageCallbackRefused: event<{ provider: string }>(
      'imessage callback refused',
      'callsign_imessage_callbacks_refused_total',
      'iMessage callbacks refused because of their signature.',
      ['provider'],
    ),
    /** A tunnel client connected to this node. */
    tunnelOpened: event<{ organization_id: string; tunnel_id: string; session_id: string }>(
      'tunnel opened',
      'callsign_tunnels_opened_total',
      'Connections of tunnel clients.',
    ),
    /** A tunnel client disconnected. */
    tunnelClosed: event<{ organization_id: string; tunnel_id: string; session_id: string; reason: string }>(
      'tunnel closed',
      'callsign_tunnels_closed_total',
      'Ends of connections of tunnel clients.',
    ),
    /** The result of one order of a certificate. */
    certificateOrdered: event<{ name: string; outcome: 'issued' | 'failed' }>(
      'certificate ordered',
      'callsign_certificate_orders_total',
      'Orders of certificates over ACME.',
      ['outcome'],
    ),
    /** A job's run ended with an error, or another worker had claimed the job. */
    jobFailed: event<{ job_id: string; kind: string; reason: 'error' | 'lease_lost' }>(
      'job failed',
      'callsign_jobs_failed_total',
      'Job runs that failed or lost their lease.',
      ['kind', 'reason'],
    ),
  }
}

export type BusinessEvents = ReturnType<typeof createBusinessEvents>
