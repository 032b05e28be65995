// The status of a message, and the delivery to each of its recipients.
import Type from 'typebox'
import { nullableString, nullableTimestamp, Timestamp } from '../../schema.ts'

const statuses = ['received', 'quarantined', 'queued', 'sent', 'delivered', 'bounced', 'failed'] as const
export type MessageStatus = (typeof statuses)[number]
export const MessageStatus = Type.Unsafe<MessageStatus>({ type: 'string', enum: [...statuses] })

const attemptResults = ['taken', 'deferred', 'refused', 'held', 'report'] as const
export type AttemptResult = (typeof attemptResults)[number]

/** One entry in the delivery log of a recipient. */
export const DeliveryAttempt = Type.Object({
  at: Timestamp,
  result: Type.Unsafe<AttemptResult>({
    type: 'string',
    enum: [...attemptResults],
    description: 'held means not tried yet, with the reason in answer. report is the content of a later bounce, delay or complaint.',
  }),
  host: nullableString({ description: 'The server that was contacted, or that a report names. null if none was reached.' }),
  tls: nullableString({ description: 'Protocol and cipher of the connection. null for clear text.' }),
  answer: Type.String({ description: 'The SMTP answer, or the error.' }),
  enhanced_status: nullableString({ description: 'Enhanced status code, RFC 3463.' }),
})

export const RecipientDelivery = Type.Object({
  address: Type.String(),
  status: MessageStatus,
  attempts: Type.Integer(),
  last_answer: nullableString({ description: 'The last SMTP answer or error.' }),
  diagnostic_code: nullableString({ description: 'Enhanced status code, RFC 3463.' }),
  last_attempt_at: nullableTimestamp,
  next_attempt_at: nullableTimestamp,
  log: Type.Array(DeliveryAttempt, { description: 'The last 50 attempts, oldest first.' }),
})
