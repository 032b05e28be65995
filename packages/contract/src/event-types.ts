// Event types, in a module without schemas for clients that list them.

/** Every type that a subscription may name. A part that is not built yet emits none of its types. */
export const eventTypes = [
  'email.received',
  'email.quarantined',
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.failed',
  'email.complained',
  'draft.approval_requested',
  'draft.approved',
  'draft.rejected',
  'draft.expired',
  'sms.received',
  'number.sms_ready',
  'number.sms_failed',
  'imessage.connected',
  'imessage.disconnected',
  'imessage.received',
  'imessage.sent',
  'imessage.failed',
  'domain.verified',
  'domain.failed',
  'tunnel.connected',
  'tunnel.disconnected',
  'test.ping',
] as const

export type EventType = (typeof eventTypes)[number]
