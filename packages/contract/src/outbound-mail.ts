// Sends new messages, replies and forwards.
import Type from 'typebox'
import { AttachmentInputs, attachmentBodyBytesMax, ReplyAttachmentInput } from './attachments.ts'
import type { ErrorCode } from './errors.ts'
import { automaticField, marks } from './metadata.ts'
import { operation } from './operation.ts'
import { AddressText, HandleReference, id, MailboxParam, strict, stringOrList, Timestamp } from './schema.ts'

/** Maximum recipients per message, in To, Cc and Bcc together. */
export const recipientsMax = 50

/** Maximum characters per subject. RFC 5322 §2.1.1 limits a header line to 998. */
export const subjectCharactersMax = 998

const Addresses = Type.Array(AddressText, { maxItems: recipientsMax })
export const AddressOrAddresses = stringOrList(AddressText, recipientsMax)
export const Subject = Type.String({ maxLength: subjectCharactersMax })
export const Text = Type.String({ maxLength: 10_000_000 })
export const CustomHeaders = Type.Record(Type.String(), Type.String({ maxLength: 16_384 }), { maxProperties: 50 })

/** The author of a message, among the addresses of its agent. */
export const FromAddress = Type.String({
  minLength: 3,
  maxLength: 900,
  description:
    'An address of the agent, as user@example.com or Name <user@example.com>. Defaults to the primary address, and in an answer to the address that the message came to.',
})

export const References = Type.Array(Type.String({ minLength: 3, maxLength: 998, pattern: '^<[^<>\\s]+>$' }), {
  maxItems: 100,
  description:
    'The Message-IDs of the messages that this one answers, oldest first, with their angle brackets. They are sent as References, the last also as In-Reply-To. The message joins the thread of the nearest one that the mailbox has. Not together with thread_id or in_reply_to.',
})

/** The fields of a new message. */
export const composition = {
  from: Type.Optional(FromAddress),
  to: Type.Array(AddressText, { minItems: 1, maxItems: recipientsMax }),
  cc: Type.Optional(Addresses),
  bcc: Type.Optional(Addresses),
  reply_to: Type.Optional(AddressOrAddresses),
  subject: Subject,
  text: Type.Optional(
    Type.String({ maxLength: 10_000_000, description: 'Required without html. Derived from html when it is missing or blank.' }),
  ),
  html: Type.Optional(Text),
  thread_id: Type.Optional(id('thread')),
  references: Type.Optional(References),
  attachments: Type.Optional(AttachmentInputs),
  headers: Type.Optional(CustomHeaders),
  automatic: automaticField,
  ...marks,
}

/** The errors of every message that may not be sent now. */
export const refusals: ErrorCode[] = [
  'approval_required',
  'recipient_not_allowed',
  'recipient_suppressed',
  'sending_limit_reached',
  'storage_quota_exceeded',
]

export const QueuedMessage = Type.Object(
  { id: Type.String(), thread_id: Type.String(), status: Type.Literal('queued'), created_at: Timestamp },
  { $id: 'QueuedMessage' },
)

export const sendMail = operation({
  id: 'sendMail',
  method: 'POST',
  path: '/api/v1/mail/send',
  summary: 'Sends a message from an agent.',
  tag: 'Mail',
  scopes: ['mail:send'],
  body: strict({ agent: HandleReference, ...composition }),
  status: 201,
  reply: QueuedMessage,
  errors: ['not_found', ...refusals],
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})

export const sendMessage = operation({
  id: 'sendMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages',
  summary: 'Sends a message from a mailbox.',
  tag: 'Messages',
  scopes: ['mail:send'],
  params: strict({ email_address: MailboxParam }),
  body: strict(composition),
  status: 201,
  reply: QueuedMessage,
  errors: refusals,
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})

const messageParams = strict({ email_address: MailboxParam, message_id: id('message') })
const SentReply = Type.Object({ id: Type.String(), thread_id: Type.String() }, { $id: 'SentReply' })

export const replyToMessage = operation({
  id: 'replyToMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/reply',
  summary: 'Replies to a message in its thread. text or html is required.',
  tag: 'Messages',
  scopes: ['mail:send'],
  params: messageParams,
  body: strict({
    from: Type.Optional(FromAddress),
    text: Type.Optional(Text),
    html: Type.Optional(Text),
    reply_all: Type.Optional(Type.Boolean()),
    to: Type.Optional(AddressOrAddresses),
    cc: Type.Optional(AddressOrAddresses),
    bcc: Type.Optional(AddressOrAddresses),
    reply_to: Type.Optional(AddressOrAddresses),
    attachments: Type.Optional(Type.Array(ReplyAttachmentInput, { maxItems: 50 })),
    headers: Type.Optional(CustomHeaders),
    automatic: Type.Optional(
      Type.Boolean({
        description:
          'Set to true for automatic replies, such as a notice of absence (RFC 3834). The reply goes to the sender alone, with the null return path and Auto-Submitted set to auto-replied. Automatic or bulk mail is rejected with 409, and so is a second automatic reply to this sender within a day.',
      }),
    ),
    ...marks,
  }),
  status: 201,
  reply: SentReply,
  errors: ['conflict', ...refusals],
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})

export const forwardMessage = operation({
  id: 'forwardMessage',
  method: 'POST',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/forward',
  summary: 'Forwards a message with its attachments, below your text.',
  tag: 'Messages',
  scopes: ['mail:send'],
  params: messageParams,
  body: strict({
    from: Type.Optional(FromAddress),
    to: stringOrList(AddressText, recipientsMax),
    cc: Type.Optional(AddressOrAddresses),
    bcc: Type.Optional(AddressOrAddresses),
    reply_to: Type.Optional(AddressOrAddresses),
    subject: Type.Optional(Subject),
    text: Type.Optional(Text),
    html: Type.Optional(Text),
    forward_attachments: Type.Optional(Type.Boolean()),
    attachments: Type.Optional(AttachmentInputs),
    headers: Type.Optional(CustomHeaders),
    ...marks,
  }),
  status: 201,
  reply: SentReply,
  errors: ['conflict', ...refusals],
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})
