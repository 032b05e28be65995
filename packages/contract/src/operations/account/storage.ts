// Storage of mail: its quotas, and the retention that deletes old data.
import Type, { type Static } from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, described, HandleReference, Limit, nullableString, page, strict } from '../../schema.ts'

const days = (description: string) => Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 36_500, description })

const mailDays = {
  messages_days: days('Messages older than this are deleted for good, with their files.'),
  attachments_days: days('Attachments of older messages are deleted, with the raw messages that contain them. The messages stay.'),
}
const organizationDays = {
  ...mailDays,
  events_days: days('Events older than this are deleted.'),
  requests_days: days('Entries of the log of API requests older than this are deleted.'),
}

const optional = <T extends Record<string, ReturnType<typeof days>>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])) as {
    [K in keyof T]: ReturnType<typeof Type.Optional<T[K]>>
  }

/** null is the day of the organization. */
export const Retention = Type.Object(mailDays, { $id: 'Retention' })
/** null keeps the data as long as the server does. */
export const OrganizationRetention = Type.Object(organizationDays, { $id: 'OrganizationRetention' })
export type OrganizationRetention = Static<typeof OrganizationRetention>

/** Omitted days stay. */
export const RetentionChange = strict(optional(mailDays), {
  $id: 'RetentionChange',
  minProperties: 1,
  description: 'Days after which data of the agent is deleted. Omitted ones stay, and null is the value of the organization.',
})
export const OrganizationRetentionChange = strict(optional(organizationDays), {
  $id: 'OrganizationRetentionChange',
  minProperties: 1,
  description: 'Days after which data is deleted. Omitted ones stay, and null keeps data as long as the server does.',
})

/** A quota in bytes. */
export const StorageQuota = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 1,
  maximum: 1_000_000_000_000_000,
  description: 'The most bytes of stored mail: messages, and attachments of drafts. null means no quota of its own.',
})

export const storageSubjects = ['organization', 'agent'] as const
export type StorageSubject = (typeof storageSubjects)[number]

export const StorageUse = Type.Object(
  {
    agent_handle: nullableString({ description: 'The agent, with `by=agent`.' }),
    used_bytes: Type.Integer({ minimum: 0 }),
    quota_bytes: StorageQuota,
  },
  { $id: 'StorageUse' },
)
export type StorageUse = Static<typeof StorageUse>

export const listStorage = operation({
  id: 'listStorage',
  method: 'GET',
  path: '/api/v1/usage/storage',
  summary: 'Lists the bytes of stored mail with their quotas, of the organization or per agent.',
  tag: 'Usage',
  scopes: ['usage:read'],
  query: strict({
    by: Type.Optional(
      Type.Unsafe<StorageSubject>({
        type: 'string',
        enum: [...storageSubjects],
        description: 'One item for the whole organization, which is the default, or one per agent, newest agent first.',
      }),
    ),
    agent_handle: Type.Optional(described(HandleReference, 'Only this agent. Needs `by=agent`.')),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(StorageUse),
})

const previewDays = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500, description }))

export const previewRetention = operation({
  id: 'previewRetention',
  method: 'GET',
  path: '/api/v1/retention/preview',
  summary: 'Counts what a retention would delete now. It deletes nothing.',
  tag: 'Usage',
  scopes: ['organization:read'],
  query: strict(
    {
      agent_handle: Type.Optional(described(HandleReference, 'Only mail of this agent.')),
      messages_days: previewDays('As in `retention`. Omitted, no messages are counted.'),
      attachments_days: previewDays('As in `retention`. Omitted, no attachments are counted.'),
    },
    { minProperties: 1 },
  ),
  status: 200,
  reply: Type.Object(
    {
      messages: Type.Integer({ minimum: 0, description: 'Messages that would be deleted.' }),
      messages_bytes: Type.Integer({ minimum: 0 }),
      attachments: Type.Integer({ minimum: 0, description: 'Attachments of other messages that would be deleted.' }),
      attachments_bytes: Type.Integer({ minimum: 0 }),
      held_messages: Type.Integer({
        minimum: 0,
        description:
          'Old messages that stay, because they are queued, or a draft that is scheduled or waits for approval answers or forwards them.',
      }),
    },
    { $id: 'RetentionPreview' },
  ),
  errors: ['not_found'],
})
