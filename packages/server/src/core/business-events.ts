// The closed list of business events: one function each, which writes a line for operators and counts it for the metrics.
import { Counter, Registry } from 'prom-client'
import type { Log } from './log.ts'

type Fact = string | number | boolean | null

/**
 * The businessEvents and the registry that its counters live in. Facts are ids, counts and words from closed lists; keys, addresses, subjects and
 * bodies are none.
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
    /** A request came with no key, with something that is no key, or with one that does not hold. */
    keyRefused: event<{ request_id: string; reason: 'missing' | 'malformed' | 'unknown' }>(
      'key refused',
      'callsign_keys_refused_total',
      'Requests refused for want of a valid key.',
      ['reason'],
    ),
    /** A request was turned away because its key, or its address by failed attempts, asks too often. */
    requestThrottled: event<{ request_id: string; by: 'key' | 'address'; key_id: string | null }>(
      'request throttled',
      'callsign_requests_throttled_total',
      'Requests answered 429.',
      ['by'],
    ),
    /** A request that had been answered before got the same answer again. */
    answerReplayed: event<{ request_id: string; organization_id: string }>(
      'answer replayed',
      'callsign_answers_replayed_total',
      'Requests answered from the first answer to their Idempotency-Key.',
    ),
    /** Inbound mail is durably filed: listed, or kept in quarantine. */
    messageAccepted: event<{
      organization_id: string
      mailbox_id: string
      message_id: string
      size_bytes: number
      status: 'received' | 'quarantined'
    }>('message accepted', 'callsign_messages_accepted_total', 'Inbound messages filed.', ['status']),
    /** Inbound mail, or one recipient of it, was refused over SMTP with this reply code. */
    mailRefused: event<{ session_id: string; reply_code: number }>(
      'mail refused',
      'callsign_mail_refused_total',
      'Inbound mail commands refused.',
      ['reply_code'],
    ),
    /** A message waits for delivery. */
    messageQueued: event<{ organization_id: string; message_id: string; recipients: number }>(
      'message queued',
      'callsign_messages_queued_total',
      'Outbound messages queued.',
    ),
    /** One attempt to hand a message to the next hop ended so, for this many recipients. */
    deliveryTried: event<{
      organization_id: string
      message_id: string
      outcome: 'delivered' | 'retry' | 'refused'
      recipients: number
      attempt: number
    }>('delivery tried', 'callsign_deliveries_tried_total', 'Attempts to deliver outbound mail.', ['outcome']),
    /** Mail came back to a return path of ours. */
    returnTaken: event<{
      organization_id: string
      message_id: string
      kind: 'failed' | 'delayed' | 'delivered' | 'passed-on' | 'complaint' | 'feedback' | 'automatic'
    }>('return taken', 'callsign_returns_taken_total', 'Bounces, complaints and answers that came back to return paths.', ['kind']),
    /** Somebody tried a hash on a vault: right, wrong, or refused unseen after too many wrong ones. */
    vaultKeyTried: event<{ organization_id: string; key_id: string; outcome: 'ok' | 'wrong' | 'throttled' }>(
      'vault key tried',
      'callsign_vault_keys_tried_total',
      'Attempts to prove a vault key.',
      ['outcome'],
    ),
    /** One attempt to deliver an event to a webhook ended so. `lease_lost`: another process had taken the delivery over by then. */
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
    /** One call to a phone provider ended so. */
    phoneTried: event<{
      organization_id: string
      phone_number_id: string
      provider: string
      op: 'search' | 'order' | 'find' | 'advance' | 'release'
      outcome: string
    }>('phone tried', 'callsign_phone_calls_total', 'Calls to phone providers.', ['provider', 'op', 'outcome']),
    /** A provider brought a text. */
    textTaken: event<{
      organization_id: string | null
      phone_number_id: string | null
      provider: string
      outcome: 'filed' | 'pending' | 'duplicate' | 'ignored'
    }>('text taken', 'callsign_texts_taken_total', 'Texts that phone providers brought.', ['provider', 'outcome']),
    /** A callback's signature did not hold. */
    callbackRefused: event<{ provider: string; reason: 'bad_signature' | 'too_old' }>(
      'callback refused',
      'callsign_callbacks_refused_total',
      'Callbacks of providers refused by their signature.',
      ['provider', 'reason'],
    ),
    /** One attempt to hand a message to the iMessage provider ended so. */
    imessageTried: event<{
      organization_id: string
      chat_id: string
      outcome: 'accepted' | 'refused' | 'retry' | 'unknown'
      attempt: number
    }>('imessage tried', 'callsign_imessages_tried_total', 'Attempts to hand messages to the iMessage provider.', ['outcome']),
    /** A message of somebody who is connected to an agent is filed. */
    imessageReceived: event<{ organization_id: string; conversation_id: string; message_id: string }>(
      'imessage received',
      'callsign_imessages_received_total',
      'iMessages filed.',
    ),
    /** A callback came to the right address with a wrong signature. */
    imessageCallbackRefused: event<{ provider: string }>(
      'imessage callback refused',
      'callsign_imessage_callbacks_refused_total',
      'iMessage callbacks refused by their signature.',
      ['provider'],
    ),
    /** A client of a tunnel is connected to this node. */
    tunnelOpened: event<{ organization_id: string; tunnel_id: string; session_id: string }>(
      'tunnel opened',
      'callsign_tunnels_opened_total',
      'Connections of tunnel clients.',
    ),
    /** It no longer is. */
    tunnelClosed: event<{ organization_id: string; tunnel_id: string; session_id: string; reason: string }>(
      'tunnel closed',
      'callsign_tunnels_closed_total',
      'Ends of connections of tunnel clients.',
    ),
    /** A job's run ended with an error, or its lease had passed to another worker. */
    jobFailed: event<{ job_id: string; kind: string; reason: 'error' | 'lease_lost' }>(
      'job failed',
      'callsign_jobs_failed_total',
      'Runs of jobs that did not end well.',
      ['kind', 'reason'],
    ),
  }
}

export type BusinessEvents = ReturnType<typeof createBusinessEvents>
