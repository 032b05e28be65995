// Links to pages that show one message, for people without a key, and their revocation.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { Cursor, Deleted, id, Limit, MailboxParam, nullableTimestamp, page, strict, Timestamp } from '../../schema.ts'

/** Seconds for which a shared link is valid: 48 hours, and at most 7 days. */
export const shareSecondsDefault = 172_800
export const shareSecondsMax = 604_800

const messagePath = '/api/v1/mailboxes/{email_address}/messages/{message_id}'
const messageParams = { email_address: MailboxParam, message_id: id('message') }

/** A link of a message. It does not contain the URL, which is shown once. */
export const MessageShare = Type.Object(
  {
    id: Type.String(),
    message_id: Type.String(),
    created_by: Type.String({ description: 'The API key or the member that made it.' }),
    is_active: Type.Boolean({
      description:
        'True if the link opens the message now. False after a revocation, while the message is in the trash, and after the key that made the link has ended.',
    }),
    expires_at: Timestamp,
    revoked_at: nullableTimestamp,
    created_at: Timestamp,
  },
  { $id: 'MessageShare' },
)

export const shareMessage = operation({
  id: 'shareMessage',
  method: 'POST',
  path: `${messagePath}/share`,
  summary: 'Makes a signed link to a page with the message, for people without a key.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: strict(messageParams),
  body: strict({
    expires_in_seconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: shareSecondsMax,
        default: shareSecondsDefault,
        description: 'Seconds until the link ends: 48 hours by default, at most 7 days.',
      }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  reply: Type.Object(
    {
      id: Type.String(),
      link_id: Type.String({ description: 'The id of the link, to revoke it.' }),
      url: Type.String(),
      expires_at: Timestamp,
    },
    { $id: 'SharedMessage' },
  ),
  errors: ['conflict'],
})

export const listMessageShares = operation({
  id: 'listMessageShares',
  method: 'GET',
  path: `${messagePath}/shares`,
  summary: 'Lists the links to a message that have not expired, newest first.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: strict(messageParams),
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(MessageShare),
})

export const unshareMessage = operation({
  id: 'unshareMessage',
  method: 'DELETE',
  path: `${messagePath}/shares/{link_id}`,
  summary: 'Revokes a link to a message. Other links to the message stay valid.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: strict({ ...messageParams, link_id: id('messageShare') }),
  status: 200,
  reply: Deleted,
})
