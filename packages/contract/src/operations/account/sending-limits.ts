// Limits for sending mail, which exist for an identity, a key and an organization.
import Type, { type Static } from 'typebox'
import { strict } from '../../schema.ts'

/** The names of the limits, in the order in which they are checked. */
export const sendingLimitNames = [
  'recipients_per_message',
  'messages_per_minute',
  'messages_per_hour',
  'messages_per_day',
  'new_recipients_per_day',
] as const
export type SendingLimitName = (typeof sendingLimitNames)[number]

const limit = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 1_000_000_000, description })

const limits = {
  recipients_per_message: limit('To, Cc and Bcc together.'),
  messages_per_minute: limit('In any 60 seconds.'),
  messages_per_hour: limit('In any 60 minutes.'),
  messages_per_day: limit('In any 24 hours.'),
  new_recipients_per_day: limit('Addresses in any 24 hours that got no message since this limit was first set.'),
} satisfies Record<SendingLimitName, unknown>

/** null means no limit. */
export const SendingLimits = Type.Object(limits, { $id: 'SendingLimits' })
export type SendingLimits = Static<typeof SendingLimits>

/** Omitted limits stay. null returns to the default of the server. */
export const SendingLimitsChange = strict(
  {
    recipients_per_message: Type.Optional(limits.recipients_per_message),
    messages_per_minute: Type.Optional(limits.messages_per_minute),
    messages_per_hour: Type.Optional(limits.messages_per_hour),
    messages_per_day: Type.Optional(limits.messages_per_day),
    new_recipients_per_day: Type.Optional(limits.new_recipients_per_day),
  },
  {
    $id: 'SendingLimitsChange',
    minProperties: 1,
    description: 'Limits for sending. Omitted ones stay, and null returns to the default of the server.',
  },
)
