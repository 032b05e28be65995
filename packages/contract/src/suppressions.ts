// The suppression list: addresses that an organization's mail does not go to any more.
import Type from 'typebox'
import { operation } from './operation.ts'
import { Cursor, Deleted, Limit, nullableString, page, strict, Timestamp } from './schema.ts'

/** Who put an address on the list: somebody through the API, a hard bounce, or a complaint. */
const sources = ['manual', 'bounce', 'complaint'] as const
export type SuppressionSource = (typeof sources)[number]
export const SuppressionSource = Type.Unsafe<SuppressionSource>({ type: 'string', enum: [...sources] })

export const Suppression = Type.Object(
  {
    id: Type.String(),
    email_address: Type.String({ description: 'In lower case, its domain in ASCII.' }),
    source: SuppressionSource,
    reason: nullableString({ description: 'What the bounce or the complaint said, or what was given with the address.' }),
    message_id: nullableString({ description: 'The message that bounced or was complained about.' }),
    created_at: Timestamp,
  },
  { $id: 'Suppression' },
)

const EmailAddress = Type.String({ minLength: 3, maxLength: 320, description: 'A bare address, user@example.com.' })

export const createSuppression = operation({
  id: 'createSuppression',
  method: 'POST',
  path: '/api/v1/suppressions',
  summary: 'Puts an address on the suppression list. One that is there already stays, with the new reason if one is given.',
  tag: 'Suppressions',
  body: strict({ email_address: EmailAddress, reason: Type.Optional(nullableString({ maxLength: 500 })) }),
  status: 201,
  reply: Suppression,
  idempotent: true,
})

export const listSuppressions = operation({
  id: 'listSuppressions',
  method: 'GET',
  path: '/api/v1/suppressions',
  summary: 'Lists suppressed addresses, newest first.',
  tag: 'Suppressions',
  query: strict({
    email_address: Type.Optional(EmailAddress),
    source: Type.Optional(SuppressionSource),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(Suppression),
})

export const deleteSuppression = operation({
  id: 'deleteSuppression',
  method: 'DELETE',
  path: '/api/v1/suppressions/{email_address}',
  summary: 'Takes an address off the suppression list, so that mail goes to it again. Idempotent.',
  tag: 'Suppressions',
  params: strict({ email_address: EmailAddress }),
  status: 200,
  reply: Deleted,
})
