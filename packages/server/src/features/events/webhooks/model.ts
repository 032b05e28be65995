// The webhook and its deliveries: rows, states, the schedule, and the views that the API gives of them.
import type { WebhookFormat } from '@callsign/contract/webhook-inputs'
import type { Delivery, DeliveryAttempt, DeliveryStatus, Webhook } from '@callsign/contract/webhooks'
import type { Static } from 'typebox'
import type { PostResult } from '../../../core/web.ts'
import type { Payload } from '../log/model.ts'

export type WebhookRow = {
  id: string
  organization_id: string
  url: string
  event_types: string[]
  /** Empty for a webhook of the whole organization. */
  agent_handles: string[]
  header_names: string[]
  /** True if the URL was set with the scope `drafts:approve`. */
  is_url_of_approver: boolean
  format: WebhookFormat
  description: string | null
  status: 'active' | 'paused' | 'disabled'
  disabled_reason: string | null
  failing_since: Date | null
  old_secret_expires_at: Date | null
  client_id: string | null
  created_at: Date
  updated_at: Date
}

/** The state of a webhook that has not sent anything. */
export const untried = { disabled_reason: null, failing_since: null, old_secret_expires_at: null }

/** Writes the body of an event, by the format of the webhook. */
export type BodyFormats = Record<WebhookFormat, (payload: Payload, organizationId: string) => unknown>

/** An agent whose events a webhook receives. */
export type WebhookAgent = { handle: string; identityId: string }

export type Attempt = Static<typeof DeliveryAttempt>

export type DeliveryRow = {
  id: string
  webhook_id: string
  event_id: string
  event_type: string
  status: DeliveryStatus
  due_at: Date | null
  attempt_count: number
  last_status_code: number | null
  last_error_code: string | null
  delivered_at: Date | null
  created_at: Date
}

/** Time limit of one attempt, from the DNS lookup to the response status. */
export const attemptTimeoutMs = 15_000
export const pingTimeoutMs = 10_000
export const snippetBytesMax = 1024
/** Attempts kept per delivery. */
export const attemptsKept = 50
/** Time for which a retired secret still signs. */
export const secretOverlapMs = 24 * 3_600_000
/** A webhook is disabled after failing for this long. */
export const failingMsMax = 5 * 24 * 3_600_000
/** Limit of Retry-After. */
const retryAfterMsMax = 24 * 3_600_000
/** Retention of events and their deliveries. */
export const retentionMs = 30 * 24 * 3_600_000

/** SQL for a delivery's id. It has 65 bits of the event's id, so that it sorts by time, and 52 bits of a hash over webhook and event. */
export const deliveryIdOf = (webhookId: string, eventId: string): string =>
  `'dlv_' || substr(${eventId}, 5, 13) || substr(encode(sha256(convert_to(${webhookId} || ${eventId}, 'UTF8')), 'hex'), 1, 13)`

/** The part of a webhook that decides which events it receives. */
export type Subscription = Pick<WebhookRow, 'event_types' | 'format'> & { identity_ids: string[] }

/** True if the webhook receives the event now, by the condition of `isWanted`. Its test pings are always its own. */
export function wants({ event_types, identity_ids, format }: Subscription, event: { type: string; identity_id: string | null }): boolean {
  if (event.type === 'test.ping') return true
  const isOfType =
    event_types.includes(event.type) || (event_types.includes('*') && (format === 'callsign' || event.type !== 'email.labels_changed'))
  return isOfType && (identity_ids.length === 0 || (event.identity_id !== null && identity_ids.includes(event.identity_id)))
}

/**
 * True if the webhook gets links that approve drafts: its URL was set with the scope `drafts:approve`, and it is not one of agents, which must
 * not approve their own drafts.
 */
export const getsApprovalLinks = (webhook: { is_url_of_approver: boolean; identity_ids: string[] }): boolean =>
  webhook.is_url_of_approver && webhook.identity_ids.length === 0

/** SQL condition: the webhook has subscribed to the event. In the formats of other services, `*` leaves out changes of labels, which they do not have. */
export const isWanted = (webhook: string, event: string): string =>
  `(${webhook}.event_types @> ARRAY[${event}.type]
      OR (${webhook}.event_types @> ARRAY['*'] AND (${webhook}.format = 'callsign' OR ${event}.type <> 'email.labels_changed')))
    AND (cardinality(${webhook}.identity_ids) = 0 OR ${webhook}.identity_ids @> ARRAY[${event}.identity_id])`

/** The part of a URL that the audit log keeps. The path often holds a token. */
export const originOf = (url: string): string => new URL(url).origin

/** `*` includes every other type. */
export const eventTypesOf = (names: string[]): string[] => (names.includes('*') ? ['*'] : names)

/** True if events of these types have links that approve drafts. The schema asks the same. */
export const hasApprovalLinks = (types: string[]): boolean => types.includes('*') || types.includes('draft.approval_requested')

/** The result of one POST. Only a 2xx status is a success. */
export type Verdict = {
  isSuccess: boolean
  statusCode: number | null
  errorCode: string | null
  error: string | null
  snippet: string | null
  /** Retry-After of the endpoint, or null. */
  retryAfterMs: number | null
  /** HTTP status 410: the endpoint is gone permanently. */
  isGone: boolean
}

export function judge(result: PostResult, nowMs: number): Verdict {
  if (result.kind === 'failed') {
    return {
      isSuccess: false,
      statusCode: null,
      errorCode: result.failure,
      error: result.message,
      snippet: null,
      retryAfterMs: null,
      isGone: false,
    }
  }
  const { status, snippet } = result
  const isSuccess = status >= 200 && status < 300
  return {
    isSuccess,
    statusCode: status,
    errorCode: isSuccess ? null : `http_${Math.floor(status / 100)}xx`,
    error: isSuccess
      ? null
      : status >= 300 && status < 400
        ? `The endpoint answered with HTTP status ${status}. Redirects are not followed: set url to the final address.`
        : `The endpoint answered with HTTP status ${status}.`,
    snippet,
    retryAfterMs: isSuccess ? null : readRetryAfter(result.retryAfter, nowMs),
    isGone: status === 410,
  }
}

/** Milliseconds of a Retry-After header in seconds or as a date (RFC 9110 §10.2.3), at most `retryAfterMsMax`. Null for a missing or invalid one. */
export function readRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /^[A-Z][a-z]{2},? /.test(text) ? Date.parse(text) - nowMs : Number.NaN
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), retryAfterMsMax)
}

export function toWebhook(row: WebhookRow): Static<typeof Webhook> {
  return {
    id: row.id,
    url: row.url,
    events: row.event_types,
    agent_handle: row.agent_handles.length === 1 ? (row.agent_handles[0] as string) : null,
    agent_handles: row.agent_handles,
    header_names: row.header_names,
    format: row.format,
    description: row.description,
    status: row.status,
    disabled_reason: row.disabled_reason,
    failing_since: row.failing_since?.toISOString() ?? null,
    old_secret_expires_at: row.old_secret_expires_at?.toISOString() ?? null,
    client_id: row.client_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

export function toDelivery(row: DeliveryRow): Static<typeof Delivery> {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event_type: row.event_type,
    status: row.status,
    attempt_count: row.attempt_count,
    last_status_code: row.last_status_code,
    last_error_code: row.last_error_code,
    next_attempt_at: row.due_at?.toISOString() ?? null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }
}
