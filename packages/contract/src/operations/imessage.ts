// iMessage. The router line pairs people with agents, and each pair has a conversation with messages.
import Type from 'typebox'
import { operation } from '../operation.ts'
import {
  Cursor,
  described,
  HandleReference,
  id,
  Limit,
  nullableString,
  nullableTimestamp,
  Order,
  page,
  pageFields,
  strict,
  Timestamp,
} from '../schema.ts'
import { attachmentBodyBytesMax } from './mail/attachments.ts'

/** Maximum length of a message's text, in characters. */
export const imessageTextCharactersMax = 20_000

/** Maximum size of a sent file, in bytes. */
export const imessageMediaBytesMax = 10 * 1024 * 1024

const E164 = Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$', description: 'A phone number in E.164, such as +12015550123' })

const Direction = Type.Unsafe<'inbound' | 'outbound'>({ type: 'string', enum: ['inbound', 'outbound'] })

const SendStatus = Type.Unsafe<'queued' | 'sent' | 'failed'>({ type: 'string', enum: ['queued', 'sent', 'failed'] })

const ConversationStatus = Type.Unsafe<'active' | 'archived'>({ type: 'string', enum: ['active', 'archived'] })

const ArchivedReason = Type.Unsafe<'disconnected_by_user' | 'disconnected_by_agent' | 'replaced' | null>({
  type: ['string', 'null'],
  enum: ['disconnected_by_user', 'disconnected_by_agent', 'replaced', null],
})

export const ImessageRouter = Type.Object(
  {
    phone_number: Type.String({ description: 'The router line, E.164.' }),
    display_name: Type.String(),
    connect_prompt: Type.String({ description: 'The text that a user sends to the line to connect to the agent.' }),
    url: Type.String({ description: 'A link that opens Messages with the prompt filled in.' }),
    sms_url: Type.String({ description: 'The same link for phones that do not support the `imessage` scheme.' }),
    qr_code: Type.String({ description: 'A QR code of `url`, as a PNG in a data URI.' }),
    provider: Type.String({ description: 'The provider of the line, one of simulator, bluebubbles and linq.' }),
  },
  { $id: 'ImessageRouter' },
)

export const ImessageSent = Type.Object(
  {
    id: Type.String(),
    conversation_id: Type.String(),
    direction: Type.Literal('outbound'),
    status: SendStatus,
    text: Type.String(),
    sent_at: Type.String({
      format: 'date-time',
      description: 'The time when the provider accepted the message. While the message is queued, the time when it was submitted.',
    }),
  },
  { $id: 'ImessageSent' },
)

export const ImessageMedia = Type.Object(
  {
    id: Type.String(),
    filename: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer(),
    status: Type.Unsafe<'pending' | 'stored' | 'unavailable'>({ type: 'string', enum: ['pending', 'stored', 'unavailable'] }),
    url: nullableString({ description: 'A signed download link, valid for one hour. null until the file is stored.' }),
  },
  { $id: 'ImessageMedia' },
)

export const ImessageItem = Type.Object(
  {
    id: Type.String(),
    conversation_id: Type.String(),
    direction: Direction,
    status: Type.Unsafe<'received' | 'queued' | 'sent' | 'failed'>({ type: 'string', enum: ['received', 'queued', 'sent', 'failed'] }),
    sender: Type.String({ description: 'The phone number (or Apple ID) for inbound, the agent handle for outbound.' }),
    text: Type.String(),
    media_url: nullableString({ description: 'A signed download link of the first file.' }),
    media: Type.Array(ImessageMedia),
    sent_at: nullableTimestamp,
    error: Type.Unsafe<{ code: string; message: string } | null>({
      type: ['object', 'null'],
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
      description: 'The reason why the message failed.',
    }),
    created_at: Timestamp,
  },
  { $id: 'ImessageItem' },
)

export const ImessageConversation = Type.Object(
  {
    id: Type.String(),
    agent_handle: Type.String(),
    agent_identity_id: Type.String(),
    phone_number: Type.String({ description: 'The router line.' }),
    recipient: Type.String({ description: 'The person that the agent talks to, as an E.164 number or an Apple ID.' }),
    provider: Type.String(),
    status: ConversationStatus,
    archived_at: nullableTimestamp,
    archived_reason: ArchivedReason,
    last_message_at: nullableTimestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'ImessageConversation' },
)

export const getImessageRouter = operation({
  id: 'getImessageRouter',
  method: 'GET',
  path: '/api/v1/imessage/router',
  summary: 'Returns the line, the text, the links and the QR code with which a user connects to an agent.',
  tag: 'iMessage',
  scopes: ['imessage:read'],
  query: strict({
    agent: Type.Optional(HandleReference),
    phone: Type.Optional(
      Type.String({ maxLength: 40, description: "The user's number in E.164. A user with an assigned line gets that line." }),
    ),
    user_phone: Type.Optional(Type.String({ maxLength: 40, description: 'Alias of phone.' })),
  }),
  status: 200,
  reply: ImessageRouter,
  errors: ['not_found', 'upstream_provider_error'],
})

export const sendImessage = operation({
  id: 'sendImessage',
  method: 'POST',
  path: '/api/v1/imessage/messages',
  summary: 'Sends a message into a conversation, or to the number of a connected person.',
  tag: 'iMessage',
  scopes: ['imessage:send'],
  body: strict({
    conversation_id: Type.Optional(described(id('conversation'), 'The conversation to write in. Not together with `to`.')),
    to: Type.Optional(described(E164, 'The number of the person, such as +12015550123. Required without conversation_id.')),
    text: Type.String({ minLength: 1, maxLength: imessageTextCharactersMax, description: 'The text of the message.' }),
    media_url: Type.Optional(
      Type.String({ minLength: 8, maxLength: 2048, description: 'A PNG, JPEG, GIF or PDF of at most 10 MB. The server fetches it once.' }),
    ),
    identity_id: Type.Optional(
      described(
        HandleReference,
        'The agent that writes: its handle or identity id. Needed if the person is connected to several agents, or to none.',
      ),
    ),
  }),
  status: 200,
  reply: ImessageSent,
  errors: ['not_found', 'recipient_not_connected', 'conversation_archived', 'conflict', 'upstream_provider_error'],
  codesOf400: ['unsupported_media_type'],
  idempotent: true,
})

export const listImessages = operation({
  id: 'listImessages',
  method: 'GET',
  path: '/api/v1/imessage/messages',
  summary: 'Lists messages of one active or archived conversation, or of all, oldest first by default.',
  tag: 'iMessage',
  scopes: ['imessage:read'],
  query: strict({
    conversation_id: Type.Optional(described(id('conversation'), 'Only messages of this conversation.')),
    order: Order,
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: Type.Object(
    { messages: Type.Array(ImessageItem, { description: 'The same items as `data`.' }), ...pageFields(ImessageItem) },
    { $id: 'ImessageHistory' },
  ),
  errors: ['not_found'],
})

export const listImessageConversations = operation({
  id: 'listImessageConversations',
  method: 'GET',
  path: '/api/v1/imessage/conversations',
  summary: 'Lists conversations, newest first.',
  tag: 'iMessage',
  scopes: ['imessage:read'],
  query: strict({
    agent: Type.Optional(HandleReference),
    status: Type.Optional(described(ConversationStatus, 'Only active conversations, or only those that have ended.')),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(ImessageConversation),
  errors: ['not_found'],
})

const conversationParams = strict({ conversation_id: id('conversation') })

export const getImessageConversation = operation({
  id: 'getImessageConversation',
  method: 'GET',
  path: '/api/v1/imessage/conversations/{conversation_id}',
  summary: 'Gets one conversation.',
  tag: 'iMessage',
  scopes: ['imessage:read'],
  params: conversationParams,
  status: 200,
  reply: ImessageConversation,
})

export const disconnectImessageConversation = operation({
  id: 'disconnectImessageConversation',
  method: 'POST',
  path: '/api/v1/imessage/conversations/{conversation_id}/disconnect',
  summary: 'Archives a conversation. Its queued messages fail. Idempotent.',
  tag: 'iMessage',
  scopes: ['imessage:send'],
  params: conversationParams,
  status: 200,
  reply: ImessageConversation,
  idempotent: true,
})

export const receiveImessageCallback = operation({
  id: 'receiveImessageCallback',
  method: 'POST',
  path: '/hooks/imessage/{provider}/{route_token}',
  summary: 'Receives callbacks of the iMessage provider. They are verified before they are parsed.',
  tag: 'iMessage',
  scopes: [],
  params: strict({
    provider: Type.String({ minLength: 1, maxLength: 32, description: 'The name of the provider, such as linq.' }),
    route_token: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The secret part of the address that the server gave the provider.',
    }),
  }),
  raw: true,
  status: 200,
  reply: Type.Object({ received: Type.Literal(true) }, { $id: 'CallbackTaken' }),
  open: true,
})

/** A file sent by a simulated phone. */
const SimulatedFile = strict({
  content_type: Type.Optional(Type.String({ minLength: 3, maxLength: 255, description: 'The media type, such as image/png.' })),
  content: Type.Optional(Type.String({ description: 'The bytes of the file as base64. Required without url.' })),
  url: Type.Optional(
    Type.String({ minLength: 8, maxLength: 2048, description: 'A public address from which the server fetches the file.' }),
  ),
})

export const simulateImessage = operation({
  id: 'simulateImessage',
  method: 'POST',
  path: '/api/v1/simulator/imessage',
  summary: 'Sends a message to the router line as an external phone. It takes the same path as a real callback.',
  tag: 'Simulator',
  scopes: ['simulator:write'],
  body: strict({
    from: Type.String({ minLength: 3, maxLength: 320, description: 'A phone number in E.164, or an Apple ID.' }),
    text: Type.Optional(Type.String({ maxLength: imessageTextCharactersMax, description: 'The text. Required without media.' })),
    media: Type.Optional(Type.Array(SimulatedFile, { maxItems: 10, description: 'Files of the message.' })),
  }),
  status: 201,
  reply: Type.Object(
    {
      provider_message_id: Type.String(),
      conversation_id: nullableString({ description: 'The conversation that the message was filed in, or that it started or ended.' }),
      message_id: nullableString({ description: 'The filed message. null for commands to the router, such as connect.' }),
      effect: Type.Unsafe<'filed' | 'connected' | 'disconnected' | 'helped' | 'ignored' | 'dropped'>({
        type: 'string',
        enum: ['filed', 'connected', 'disconnected', 'helped', 'ignored', 'dropped'],
      }),
    },
    { $id: 'SimulatedImessage' },
  ),
  errors: ['payload_too_large'],
  bodyBytesMax: attachmentBodyBytesMax,
})
