// The suppression list holds addresses to which an organization's mail is no longer sent.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { addressCharactersMax, Cursor, Deleted, described, id, Limit, nullableString, page, strict, Timestamp } from '../../schema.ts'

/** The origin of an entry, which is an API request, a hard bounce or a complaint. */
const sources = ['manual', 'bounce', 'complaint'] as const
export type SuppressionSource = (typeof sources)[number]
export const SuppressionSource = Type.Unsafe<SuppressionSource>({ type: 'string', enum: [...sources] })

export const Suppression = Type.Object(
  {
    id: Type.String(),
    email_address: Type.String({ description: 'In lower case, its domain in ASCII.' }),
    source: SuppressionSource,
    reason: nullableString({ description: 'The text of the bounce or complaint, or the reason given with the address.' }),
    message_id: nullableString({ description: 'The message that bounced or was complained about.' }),
    created_at: Timestamp,
  },
  { $id: 'Suppression' },
)

const EmailAddress = Type.String({ minLength: 3, maxLength: addressCharactersMax, description: 'A bare address, user@example.com.' })

export const createSuppression = operation({
  id: 'createSuppression',
  method: 'POST',
  path: '/api/v1/suppressions',
  summary: 'Adds an address to the suppression list. If it is on the list already, only a given reason changes.',
  tag: 'Suppressions',
  scopes: ['rules:write'],
  body: strict({
    email_address: EmailAddress,
    reason: Type.Optional(nullableString({ maxLength: 500, description: 'The reason, which refusals quote.' })),
  }),
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
  scopes: ['rules:read'],
  query: strict({
    email_address: Type.Optional(EmailAddress),
    id: Type.Optional(described(id('suppression'), 'Only the entry with this id.')),
    source: Type.Optional(described(SuppressionSource, 'Only entries of this origin: added by hand, a hard bounce, or a complaint.')),
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
  summary: 'Removes an address from the suppression list, so that you can send to it again. Idempotent.',
  tag: 'Suppressions',
  scopes: ['rules:write'],
  params: strict({ email_address: EmailAddress }),
  status: 200,
  reply: Deleted,
})
