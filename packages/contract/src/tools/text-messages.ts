// Tools for texts and iMessage.
import Type from 'typebox'
import { listImessageConversations, listImessages, sendImessage } from '../operations/imessage.ts'
import { listPhoneNumbers, listSmsMessages, waitForSms } from '../operations/phones.ts'
import { count, IdempotencyKey, Limit, NextCursor, outputOf, PageCursor } from './argument-shapes.ts'
import { FencedText, foreign, type Reply, reads, sends, tool } from './tool.ts'

const textCharactersMax = 2000

/** The number of the agent. It has one at most. */
const numberOf = (agent: string, page: Reply): string | undefined => page.data.find((one: Reply) => one.agent_handle === agent)?.id

const toText = (message: Reply) => ({
  id: message.id,
  created_at: message.created_at,
  is_read: message.is_read,
  content: foreign(
    `From: ${message.from_number.replace(/\s+/g, ' ')}\nCodes: ${message.codes.map((code: Reply) => code.value).join(' ')}\n\n${message.text.slice(0, textCharactersMax)}`,
  ),
})
const SmsText = Type.Object({ id: Type.String(), created_at: Type.String(), is_read: Type.Boolean(), content: FencedText })
const phone = { toolset: 'phone', takesAgent: true, scopes: ['phone:read'] } as const
const imessage = { toolset: 'imessage', takesAgent: true } as const
const noNumber = 'The agent has no phone number. An organization key can buy one.'

export const phoneTools = [
  tool({
    ...phone,
    ...reads,
    name: 'sms_list',
    title: 'List texts',
    description: 'Lists the texts (SMS) that the number of the agent has received, newest first, with their one-time codes.',
    input: Type.Object({ unread: Type.Optional(Type.Boolean()), limit: Limit }),
    output: outputOf({ texts: Type.Array(SmsText) }),
    request: () => ({ operation: listPhoneNumbers, query: { limit: 100 } }),
    next: ({ agent, unread, limit = 10 }, page) => {
      const id = numberOf(agent, page)
      return id
        ? { operation: listSmsMessages, params: { id }, query: { limit, ...(unread === undefined ? {} : { is_read: !unread }) } }
        : null
    },
    result: (_input, _page, texts?: Reply) => ({
      summary: texts ? `${count(texts.data.length, 'text')}, newest first.` : noNumber,
      texts: texts ? texts.data.map(toText) : [],
    }),
  }),

  tool({
    ...phone,
    ...reads,
    isIdempotent: false,
    name: 'sms_wait',
    title: 'Wait for a text',
    description:
      'Waits for the next text (SMS), for example with a one-time code. Give after with the time before you caused it. If none arrives, call again with next_cursor as cursor.',
    input: Type.Object({
      timeout: Type.Optional(Type.Integer({ minimum: 0, maximum: 60, default: 30, description: 'Seconds to wait.' })),
      after: Type.Optional(Type.String({ maxLength: 40, description: 'Also return what arrived after this time, ISO 8601.' })),
      cursor: PageCursor,
      from: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'Part of the number or name of the sender.' })),
      has_code: Type.Optional(Type.Boolean({ description: 'true waits for a one-time code.' })),
    }),
    output: outputOf({ text: Type.Union([SmsText, Type.Null()]), next_cursor: NextCursor }),
    request: () => ({ operation: listPhoneNumbers, query: { limit: 100 } }),
    next: ({ agent, ...query }, page) => {
      const id = numberOf(agent, page)
      return id ? { operation: waitForSms, params: { id }, query } : null
    },
    result: (_input, _page, reply?: Reply) => {
      const none = reply ? 'No text has arrived. Call again with next_cursor as cursor to go on waiting.' : noNumber
      return {
        summary: reply?.message ? 'A text has arrived.' : none,
        text: reply?.message ? toText(reply.message) : null,
        next_cursor: reply?.cursor ?? null,
      }
    },
  }),

  tool({
    ...imessage,
    ...reads,
    scopes: ['imessage:read'],
    name: 'imessage_conversations',
    title: 'List iMessage conversations',
    description: 'Lists the conversations of the agent, newest first. People start them. You can write only into an active conversation.',
    input: Type.Object({ limit: Limit, cursor: PageCursor }),
    output: outputOf({
      conversations: Type.Array(Type.Object({ id: Type.String(), status: Type.String(), last_message_at: NextCursor, person: FencedText })),
      next_cursor: NextCursor,
    }),
    request: ({ agent, limit = 10, cursor }) => ({
      operation: listImessageConversations,
      query: { agent, limit, ...(cursor ? { cursor } : {}) },
    }),
    result: (_input, reply) => ({
      summary: `${count(reply.data.length, 'conversation')}.`,
      conversations: reply.data.map((one: Reply) => ({
        id: one.id,
        status: one.status,
        last_message_at: one.last_message_at,
        person: foreign(one.recipient),
      })),
      next_cursor: reply.next_cursor,
    }),
  }),

  tool({
    ...imessage,
    ...reads,
    scopes: ['imessage:read'],
    name: 'imessage_messages',
    title: 'Read an iMessage conversation',
    description: 'Returns the messages of a conversation, oldest first. Use next_cursor to continue.',
    input: Type.Object({ conversation_id: Type.String({ minLength: 1, maxLength: 64 }), limit: Limit, cursor: PageCursor }),
    output: outputOf({
      messages: Type.Array(
        Type.Object({ id: Type.String(), direction: Type.String(), status: Type.String(), created_at: Type.String(), content: FencedText }),
      ),
      next_cursor: NextCursor,
    }),
    request: ({ conversation_id, limit = 10, cursor }) => ({
      operation: listImessages,
      query: { conversation_id, limit, ...(cursor ? { cursor } : {}) },
    }),
    result: (_input, reply) => ({
      summary: `${count(reply.messages.length, 'message')}, oldest first.`,
      messages: reply.messages.map((one: Reply) => ({
        id: one.id,
        direction: one.direction,
        status: one.status,
        created_at: one.created_at,
        content: foreign(`${one.sender}\n\n${one.text.slice(0, textCharactersMax)}`),
      })),
      next_cursor: reply.next_cursor,
    }),
  }),

  tool({
    ...imessage,
    ...sends,
    scopes: ['imessage:send'],
    name: 'imessage_send',
    title: 'Send an iMessage',
    description: 'Sends a message into an active conversation. It cannot be taken back.',
    input: Type.Object({
      conversation_id: Type.String({ minLength: 1, maxLength: 64 }),
      text: Type.String({ minLength: 1, maxLength: 20_000 }),
      idempotency_key: IdempotencyKey,
    }),
    output: outputOf({ id: Type.String(), status: Type.String() }),
    request: ({ conversation_id, text }) => ({ operation: sendImessage, body: { conversation_id, text } }),
    result: (_input, { id, status }) => ({ summary: `The message is ${status}.`, id, status }),
  }),
]
