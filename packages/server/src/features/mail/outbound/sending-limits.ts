// Limits for sending: the subjects that a message counts for, and the error above a limit.
import type { SendingLimitName } from '@callsign/contract/sending-limits'
import { addressKey } from '@callsign/mail/mail-address'
import { ApiError } from '../../../core/errors.ts'
import type { MailboxOwner } from '../../account/identities/model.ts'
import { type LimitDefaults, limitInForce } from '../../account/organizations/model.ts'

export type LimitScope = 'identity' | 'key' | 'organization'

/** The length of the sliding window of each limit. */
export const windowSeconds = {
  messages_per_minute: 60,
  messages_per_hour: 3600,
  messages_per_day: 86_400,
  new_recipients_per_day: 86_400,
} as const
export type CountedLimit = keyof typeof windowSeconds

/** A message counts for its window and the rest of the slice that it was sent in. */
export const slicesPerWindow = 60

/** A message as the limits see it. `keyId` is null when no API key sends it. */
export type CountedMessage = { owner: MailboxOwner; keyId: string | null; addresses: string[] }

/** The messages of one subject, and its limits. */
export type Charge = {
  organizationId: string
  scope: LimitScope
  subject: string
  limits: [CountedLimit, number][]
  messages: number
  /** Distinct addresses, in the form for comparison. */
  addresses: Set<string>
}

/** An addition to one counter, with the length of its window. */
export type Addition = { organizationId: string; subject: string; name: string; seconds: number; amount: number }

type Reached = { name: SendingLimitName; scope: LimitScope; max: number; left: number; resetsAt: Date | null }

const scopes = ['identity', 'key', 'organization'] as const

const countedLimits = Object.keys(windowSeconds) as CountedLimit[]

/** The key, identity or organization that a message counts for, or null. */
const subjectOf = (scope: LimitScope, { owner, keyId }: CountedMessage): string | null =>
  scope === 'identity' ? owner.identityId : scope === 'key' ? keyId : owner.organizationId

/** The limits that are set of those that count messages. Every send passes here, and most have none. */
function limitsOf(scope: LimitScope, { owner }: CountedMessage, defaults: LimitDefaults): [CountedLimit, number][] {
  const limits: [CountedLimit, number][] = []
  for (const name of countedLimits) {
    const max = limitInForce(owner.limits[scope], defaults[scope], name)
    if (max !== null) limits.push([name, max])
  }
  return limits
}

/** The error for a message with more recipients than one message may have, or null. */
export function recipientsRefusal(message: CountedMessage, defaults: LimitDefaults): ApiError | null {
  for (const scope of scopes) {
    if (subjectOf(scope, message) === null) continue
    const max = limitInForce(message.owner.limits[scope], defaults[scope], 'recipients_per_message')
    if (max !== null && message.addresses.length > max)
      return limitReached({ name: 'recipients_per_message', scope, max, left: max, resetsAt: null }, 0)
  }
  return null
}

/** Charges of the messages of one transaction, one per subject. Subjects without a counted limit are left out. */
export function chargesOf(messages: CountedMessage[], defaults: LimitDefaults): Charge[] {
  const charges = new Map<string, Charge>()
  for (const message of messages) {
    for (const scope of scopes) {
      const subject = subjectOf(scope, message)
      const limits = subject === null ? [] : limitsOf(scope, message, defaults)
      if (subject === null || limits.length === 0) continue
      const organizationId = message.owner.organizationId
      const charge = charges.get(subject) ?? { organizationId, scope, subject, limits, messages: 0, addresses: new Set<string>() }
      charge.messages++
      for (const address of message.addresses) charge.addresses.add(addressKey(address))
      charges.set(subject, charge)
    }
  }
  return [...charges.values()]
}

/** A counter after the transaction's own messages were added. */
export type Counted = { charge: Charge; name: CountedLimit; max: number; amount: number; count: number }

/** The error for a counter above its limit. `freeAt` is the time at which the messages fit. Thrown, it rolls back the transaction. */
export function countReached({ charge, name, max, amount, count }: Counted, freeAt: Date, nowMs: number): ApiError {
  const left = Math.max(0, max - (count - amount))
  const retrySeconds = Math.max(1, Math.ceil((freeAt.getTime() - nowMs) / 1000))
  return limitReached({ name, scope: charge.scope, max, left, resetsAt: freeAt }, retrySeconds)
}

function limitReached({ name, scope, max, left, resetsAt }: Reached, retrySeconds: number): ApiError {
  const field = scope === 'identity' ? 'sending_limits of the identity' : scope === 'key' ? 'key_sending_limits' : 'sending_limits'
  const message = `${field} allow ${max} for ${name}, and ${left} are left`
  const advice = resetsAt === null ? 'Send to fewer recipients.' : 'Wait for the seconds in Retry-After, or raise the limit.'
  return new ApiError('sending_limit_reached', `A limit for sending is reached: ${message}. ${advice}`, {
    details: [{ path: '/to', message, limit: { name, scope, max, left, resets_at: resetsAt?.toISOString() ?? null } }],
    headers: retrySeconds > 0 ? { 'Retry-After': String(retrySeconds) } : {},
  })
}
