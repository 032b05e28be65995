// Many messages are sent, changed or read by one request.
import Type from 'typebox'
import { ErrorDetail } from '../../errors.ts'
import { operation } from '../../operation.ts'
import { HandleReference, id, nullableString, nullableTimestamp, strict } from '../../schema.ts'
import { attachmentBodyBytesMax } from './attachments.ts'
import { Message } from './message-views.ts'
import { flagChanges, MessageFlags } from './messages.ts'
import { composition, refusals } from './outbound-mail.ts'

/** Maximum messages that one request sends. */
export const sendBatchMax = 100

/** Maximum bytes of text and HTML that one request sends. */
export const sendBatchBytesMax = 8 * 1024 * 1024

/** Maximum messages that one request changes or reads. */
export const messageBatchMax = 500

/** Maximum bytes of text and HTML that one request reads. */
export const readBatchBytesMax = 32 * 1024 * 1024

export const sendBatch = operation({
  id: 'sendBatch',
  method: 'POST',
  path: '/api/v1/mail/batch',
  summary: 'Sends up to 100 messages, from one or several agents, in one transaction. Their text and HTML have at most 8 MB.',
  tag: 'Mail',
  scopes: ['mail:send'],
  body: strict({
    messages: Type.Array(strict({ agent: HandleReference, ...composition }), {
      minItems: 1,
      maxItems: sendBatchMax,
      description: 'The messages, each with its agent.',
    }),
    mode: Type.Optional(
      Type.Unsafe<'strict' | 'permissive'>({
        type: 'string',
        enum: ['strict', 'permissive'],
        default: 'strict',
        description: 'strict sends all messages or none. permissive sends those that can be sent, and reports the others.',
      }),
    ),
  }),
  status: 201,
  reply: Type.Object(
    {
      queued: Type.Integer(),
      refused: Type.Integer(),
      data: Type.Array(
        Type.Object({
          index: Type.Integer({ description: 'The place in messages, from 0.' }),
          status: Type.Unsafe<'queued' | 'refused'>({ type: 'string', enum: ['queued', 'refused'] }),
          id: nullableString(),
          thread_id: nullableString(),
          created_at: nullableTimestamp,
          error: Type.Union([
            Type.Object({ code: Type.String(), message: Type.String(), details: Type.Optional(Type.Array(ErrorDetail)) }),
            Type.Null(),
          ]),
        }),
      ),
    },
    { $id: 'SentBatch' },
  ),
  errors: ['not_found', ...refusals],
  idempotent: true,
  bodyBytesMax: attachmentBodyBytesMax,
})

const ids = Type.Array(id('message'), {
  minItems: 1,
  maxItems: messageBatchMax,
  uniqueItems: true,
  description: 'Ids of messages, of any mailbox that the key can access.',
})
const missing = Type.Array(Type.String(), { description: 'Ids of messages that are not there, or that the key cannot access.' })

export const updateMessages = operation({
  id: 'updateMessages',
  method: 'PATCH',
  path: '/api/v1/mail/messages',
  summary: 'Changes flags, labels, tags and metadata of up to 500 messages, and moves them to the trash or back, in one transaction.',
  tag: 'Mail',
  scopes: ['mail:write'],
  errors: ['not_found'],
  body: strict(
    {
      ids,
      ...flagChanges,
      is_trashed: Type.Optional(Type.Boolean({ description: 'true moves the messages to the trash, false takes them out of it.' })),
    },
    { minProperties: 2 },
  ),
  status: 200,
  reply: Type.Object({ data: Type.Array(MessageFlags), missing }, { $id: 'UpdatedMessages' }),
})

export const getMessages = operation({
  id: 'getMessages',
  method: 'POST',
  path: '/api/v1/mail/messages/get',
  summary: 'Gets up to 500 messages, in the order of ids.',
  tag: 'Mail',
  scopes: ['mail:read'],
  errors: ['not_found'],
  body: strict({ ids }),
  status: 200,
  reply: Type.Object(
    {
      data: Type.Array(Message),
      missing,
      left: Type.Array(Type.String(), {
        description: 'Ids of messages that did not fit into a response of 32 MB of text. Get them with the next request.',
      }),
    },
    { $id: 'MessageBatch' },
  ),
})
