// Sends new messages, replies and forwards.
import Type from 'typebox'
import type { ErrorCode } from '../../errors.ts'
import { operation } from '../../operation.ts'
import { AddressText, described, HandleReference, id, MailboxParam, strict, stringOrList, Timestamp } from '../../schema.ts'
import { automaticField, marks } from '../metadata.ts'
import { AttachmentInputs, attachmentBodyBytesMax, attachmentsDescription, ReplyAttachmentInput } from './attachments.ts'

/** Maximum recipients per message, in To, Cc and Bcc together. */
export const recipientsMax = 50

/** Maximum characters per subject. RFC 5322 §2.1.1 limits a header line to 998. */
export const subjectCharactersMax = 998

const Addresses = Type.Array(AddressText, {
  maxItems: recipientsMax,
  description: 'Addresses, each as user@example.com or Name <user@example.com>.',
})
export const AddressOrAddresses = stringOrList(AddressText, recipientsMax)
export const Subject = Type.String({ maxLength: subjectCharactersMax, description: 'The subject, in one line.' })
export const Text = Type.String({
  maxLength: 10_000_000,
  description: 'The body as plain text. Derived from html when it is missing or blank.',
})
export const Html = Type.String({ maxLength: 10_000_000, description: 'The body as HTML.' })
export const CustomHeaders = Type.Record(Type.String(), Type.String({ maxLength: 16_384 }), {
  maxProperties: 50,
  description: 'Further header fields of the message by name, such as List-Unsubscribe. Fields that the server writes itself are refused.',
})

/** The recipients of replies, forwards and drafts, as one address or a list. To, Cc and Bcc have at most 50 addresses together. */
export const recipients = {
  to: Type.Optional(described(AddressOrAddresses, 'Recipients. To, Cc and Bcc have at most 50 addresses together.')),
  cc: Type.Optional(described(AddressOrAddresses, 'Recipients of a copy.')),
  bcc: Type.Optional(described(AddressOrAddresses, 'Recipients of a copy that the other recipients do not see.')),
}
export const replyToField = Type.Optional(described(AddressOrAddresses, 'Addresses for answers, if they are not to go to the author.'))
export const threadField = Type.Optional(
  described(id('thread'), 'The thread of the mailbox that the message joins. A new thread starts without it.'),
)

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

export const replyAllField = Type.Optional(
  Type.Boolean({ description: 'true also answers the other recipients of the message, in Cc. `to` and `cc` replace them.' }),
)
export const forwardAttachmentsField = Type.Optional(
  Type.Boolean({ description: 'false leaves out the attachments of the forwarded message.' }),
)

/** The fields of a new message. */
export const composition = {
  from: Type.Optional(FromAddress),
  to: Type.Array(AddressText, {
    minItems: 1,
    maxItems: recipientsMax,
    description: 'Recipients, each as user@example.com or Name <user@example.com>. To, Cc and Bcc have at most 50 addresses together.',
  }),
  cc: Type.Optional(described(Addresses, 'Recipients of a copy.')),
  bcc: Type.Optional(described(Addresses, 'Recipients of a copy that the other recipients do not see.')),
  reply_to: replyToField,
  subject: Subject,
  text: Type.Optional(described(Text, 'The body as plain text. Required without html. Derived from html when it is missing or blank.')),
  html: Type.Optional(Html),
  thread_id: threadField,
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
    html: Type.Optional(Html),
    reply_all: replyAllField,
    ...recipients,
    reply_to: replyToField,
    attachments: Type.Optional(Type.Array(ReplyAttachmentInput, { maxItems: 50, description: attachmentsDescription })),
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
    ...recipients,
    to: described(AddressOrAddresses, 'Recipients. To, Cc and Bcc have at most 50 addresses together.'),
    reply_to: replyToField,
    subject: Type.Optional(described(Subject, 'The subject. By default that of the message, with Fwd: before it.')),
    text: Type.Optional(Text),
    html: Type.Optional(Html),
    forward_attachments: forwardAttachmentsField,
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
