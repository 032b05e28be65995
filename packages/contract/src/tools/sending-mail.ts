// Tools that write mail and drafts. Where mail of the agent needs approval, sending creates a draft that waits for a person.
import Type from 'typebox'
import { createDraft, sendDraft, updateDraft } from '../operations/drafts/drafts.ts'
import { forwardMessage, replyToMessage, sendMessage } from '../operations/mail/outbound-mail.ts'
import { IdempotencyKey, MessageId, oneOf, outputOf, Recipients } from './argument-shapes.ts'
import { changes, type Reply, sends, tool } from './tool.ts'

const mail = { toolset: 'mail', takesAgent: true, scopes: ['mail:send', 'drafts:write'] } as const
const Subject = Type.String({ maxLength: 998 })
const Text = Type.String({ minLength: 1, maxLength: 500_000 })
const Html = Type.Optional(Type.String({ maxLength: 1_000_000, description: 'The same as HTML.' }))
const DraftId = Type.String({ minLength: 1, maxLength: 64, description: 'drf_…' })
const Version = Type.Optional(Type.Integer({ minimum: 1, description: 'The version that you read.' }))

/** The reply is a sent message or, where approval is needed, a draft. */
const SendOutput = outputOf({
  id: Type.String({ description: 'The id of the message, or of the draft.' }),
  thread_id: Type.Union([Type.String(), Type.Null()]),
  state: oneOf(['queued', 'waiting_for_approval']),
})

/** A draft has a version, and a message has none. */
function toSent(reply: Reply) {
  const isDraft = 'version' in reply
  return {
    summary: isDraft
      ? 'Nothing is sent yet. The message is a draft that waits for the approval of a person. Tell the user.'
      : 'The message is queued for delivery.',
    id: reply.id,
    thread_id: reply.thread_id ?? null,
    state: isDraft ? 'waiting_for_approval' : 'queued',
  }
}

const toDraft = ({ id, version, status, to, cc, bcc, send_at }: Reply) => ({
  summary: `The draft is at version ${version}.`,
  id,
  version,
  status,
  recipients: to.length + cc.length + bcc.length,
  send_at,
})

const DraftOutput = outputOf({
  id: Type.String(),
  version: Type.Integer(),
  status: Type.String(),
  recipients: Type.Integer(),
  send_at: Type.Union([Type.String(), Type.Null()]),
})

export const sendingTools = [
  tool({
    ...mail,
    ...sends,
    name: 'mail_send',
    title: 'Send a message',
    description:
      'Sends a new message. It cannot be taken back. To answer a message, use mail_reply, which keeps the thread. If the agent needs approval, the message becomes a draft that waits for a person.',
    input: Type.Object({
      to: Recipients,
      cc: Type.Optional(Recipients),
      bcc: Type.Optional(Recipients),
      subject: Subject,
      text: Text,
      html: Html,
      idempotency_key: IdempotencyKey,
    }),
    output: SendOutput,
    request: ({ agent, idempotency_key: _key, ...body }) => ({ operation: sendMessage, params: { email_address: agent }, body }),
    draft: ({ agent, idempotency_key: _key, ...body }) => ({ operation: createDraft, params: { email_address: agent }, body }),
    result: (_input, reply) => toSent(reply),
  }),

  tool({
    ...mail,
    ...sends,
    name: 'mail_reply',
    title: 'Reply to a message',
    description:
      'Replies to a message in its thread, to its sender, or with reply_all to everybody. It cannot be taken back. Read the thread first. Needs approval like mail_send.',
    input: Type.Object({
      message_id: MessageId,
      text: Text,
      html: Html,
      reply_all: Type.Optional(Type.Boolean({ default: false })),
      idempotency_key: IdempotencyKey,
    }),
    output: SendOutput,
    request: ({ agent, message_id, idempotency_key: _key, ...body }) => ({
      operation: replyToMessage,
      params: { email_address: agent, message_id },
      body,
    }),
    draft: ({ agent, message_id, idempotency_key: _key, ...body }) => ({
      operation: createDraft,
      params: { email_address: agent },
      body: { ...body, in_reply_to: message_id },
    }),
    result: (_input, reply) => toSent(reply),
  }),

  tool({
    ...mail,
    ...sends,
    name: 'mail_forward',
    title: 'Forward a message',
    description:
      'Forwards a message with its attachments below your text. It cannot be taken back, so forward only to people with permission to see the message. Needs approval like mail_send.',
    input: Type.Object({ message_id: MessageId, to: Recipients, text: Type.Optional(Text), idempotency_key: IdempotencyKey }),
    output: SendOutput,
    request: ({ agent, message_id, idempotency_key: _key, ...body }) => ({
      operation: forwardMessage,
      params: { email_address: agent, message_id },
      body,
    }),
    draft: ({ agent, message_id, idempotency_key: _key, ...body }) => ({
      operation: createDraft,
      params: { email_address: agent },
      body: { ...body, forward_of: message_id },
    }),
    result: (_input, reply) => toSent(reply),
  }),

  tool({
    ...mail,
    ...changes,
    isIdempotent: false,
    name: 'draft_create',
    title: 'Create a draft',
    description:
      'Creates a draft that a person or you can send later. With in_reply_to, recipients and subject come from that message. send_at schedules it.',
    scopes: ['drafts:write'],
    input: Type.Object({
      to: Type.Optional(Recipients),
      cc: Type.Optional(Recipients),
      subject: Type.Optional(Subject),
      text: Type.Optional(Text),
      html: Html,
      in_reply_to: Type.Optional(MessageId),
      reply_all: Type.Optional(Type.Boolean()),
      send_at: Type.Optional(Type.String({ maxLength: 40, description: 'The time to send it, ISO 8601.' })),
    }),
    output: DraftOutput,
    request: ({ agent, ...body }) => ({ operation: createDraft, params: { email_address: agent }, body }),
    result: (_input, reply) => toDraft(reply),
  }),

  tool({
    ...mail,
    ...changes,
    isDestructive: true,
    isIdempotent: false,
    name: 'draft_update',
    title: 'Change a draft',
    description: 'Replaces the given fields of a draft. Give the version that you read, so that a concurrent change is not lost.',
    scopes: ['drafts:write'],
    input: Type.Object({
      draft_id: DraftId,
      version: Version,
      to: Type.Optional(Recipients),
      cc: Type.Optional(Recipients),
      subject: Type.Optional(Subject),
      text: Type.Optional(Text),
      html: Html,
    }),
    output: DraftOutput,
    request: ({ agent, draft_id, ...body }) => ({ operation: updateDraft, params: { email_address: agent, draft_id }, body }),
    result: (_input, reply) => toDraft(reply),
  }),

  tool({
    ...mail,
    ...sends,
    isIdempotent: true,
    name: 'draft_send',
    title: 'Send a draft',
    description: 'Sends a draft, once however often you call it. If the agent needs approval, only a person can send it.',
    scopes: ['mail:send'],
    input: Type.Object({ draft_id: DraftId, version: Version }),
    output: outputOf({ id: Type.String(), thread_id: Type.Union([Type.String(), Type.Null()]) }),
    request: ({ agent, draft_id, ...body }) => ({ operation: sendDraft, params: { email_address: agent, draft_id }, body }),
    result: (_input, { id, thread_id }) => ({ summary: 'The draft is queued for delivery.', id, thread_id: thread_id ?? null }),
  }),
]
