// Event types, in a module without schemas for clients that list them.
import type { Scope } from '../scopes.ts'

/** Every type that a subscription may name. A part that is not built yet emits none of its types. */
export const eventTypes = [
  'email.received',
  'email.quarantined',
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.failed',
  'email.complained',
  'email.labels_changed',
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
  'domain.report_received',
  'tunnel.connected',
  'tunnel.disconnected',
  'storage.nearly_full',
  'storage.full',
  'test.ping',
] as const

export type EventType = (typeof eventTypes)[number]

type AreaOf<T> = T extends `${infer A}.${string}` ? A : never

const areaScopes: Record<AreaOf<EventType>, Scope> = {
  email: 'mail:read',
  draft: 'drafts:read',
  sms: 'phone:read',
  number: 'phone:read',
  imessage: 'imessage:read',
  domain: 'domains:read',
  tunnel: 'tunnels:read',
  storage: 'usage:read',
  test: 'events:read',
}

/** The scope that reading events of this type needs, in addition to that of the operation. */
export const eventScope = (type: EventType): Scope =>
  type === 'email.quarantined' ? 'quarantine:read' : areaScopes[type.slice(0, type.indexOf('.')) as AreaOf<EventType>]
