// Usage counts the mail of each day for the organization, per agent or per domain.
import Type, { type Static } from 'typebox'
import { operation } from '../../operation.ts'
import { described, HandleReference, Limit, nullableString, page, strict } from '../../schema.ts'

/** The owners of the counts of one day. */
export const usageSubjects = ['organization', 'agent', 'domain'] as const
export type UsageSubject = (typeof usageSubjects)[number]

/** The names of the counts, in the order of documents. */
export const usageCounts = ['received', 'quarantined', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'complained'] as const
export type UsageCount = (typeof usageCounts)[number]

const countMeanings: Record<UsageCount, string> = {
  received: 'Messages that arrived, or were released from quarantine.',
  quarantined: 'Messages that arrived in quarantine.',
  queued: 'Messages that the API accepted for sending.',
  sent: 'Messages that a relay accepted.',
  delivered: 'Messages that the servers of all recipients accepted.',
  bounced: 'Messages that the server of a recipient rejected, at once or later.',
  failed: 'Messages that could not be delivered to a recipient.',
  complained: 'Complaints of recipients.',
}

const Counts = Type.Object(
  Object.fromEntries(
    usageCounts.map((name) => [name, Type.Integer({ minimum: 0, description: countMeanings[name] })]),
  ) as unknown as Record<UsageCount, ReturnType<typeof Type.Integer>>,
)

/** A day of the calendar in UTC. */
const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A day in UTC, YYYY-MM-DD.' })

export const UsageDay = Type.Object(
  {
    date: Type.String({ description: 'The day in UTC, YYYY-MM-DD.' }),
    agent_handle: nullableString({ description: 'The agent, with `by=agent`.' }),
    domain: nullableString({ description: 'The domain of the addresses, with `by=domain`.' }),
    messages: Counts,
  },
  { $id: 'UsageDay' },
)
export type UsageDay = Static<typeof UsageDay>

export const listUsage = operation({
  id: 'listUsage',
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'Lists the counts of mail per day, newest day first.',
  tag: 'Usage',
  scopes: ['usage:read'],
  query: strict({
    by: Type.Optional(
      Type.Unsafe<UsageSubject>({
        type: 'string',
        enum: [...usageSubjects],
        description: 'One item per day for the whole organization, which is the default, per agent, or per domain.',
      }),
    ),
    agent_handle: Type.Optional(described(HandleReference, 'Only this agent. Needs `by=agent`.')),
    domain: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Only this domain. Needs `by=domain`.' })),
    start_date: Type.Optional(Day),
    end_date: Type.Optional(Day),
    limit: Limit,
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 300, description: 'Cursor from the previous page (next_cursor).' })),
  }),
  status: 200,
  reply: page(UsageDay),
})
