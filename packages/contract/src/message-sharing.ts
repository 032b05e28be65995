// Links to pages that show one message, for people without a key.
import Type from 'typebox'
import { operation } from './operation.ts'
import { id, MailboxParam, strict, Timestamp } from './schema.ts'

/** Seconds for which a shared link is valid: 48 hours, and at most 7 days. */
export const shareSecondsDefault = 172_800
export const shareSecondsMax = 604_800

export const shareMessage = operation({
  id: 'shareMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/share',
  summary: 'Makes a signed link to a page with the message, for people without a key.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: strict({ email_address: MailboxParam, message_id: id('message') }),
  body: strict({
    expires_in_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: shareSecondsMax, default: shareSecondsDefault })),
  }),
  bodyOptional: true,
  status: 200,
  reply: Type.Object({ id: Type.String(), url: Type.String(), expires_at: Timestamp }, { $id: 'SharedMessage' }),
})
