// Controls of the simulator for incoming mail and texts, provider progress and faults. You can try every channel on one machine without a provider account.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { AddressText, Cursor, Limit, nullableString, page, strict, Timestamp } from '../schema.ts'
import { attachmentBodyBytesMax } from './mail/attachments.ts'
import { PhoneNumber } from './phones.ts'
import { type FaultChannel, type SimulatedMailSample, simulatedFaults, simulatedMailSamples } from './simulator-choices.ts'

const tag = 'Simulator'

/** A file sent by a simulated phone, as base64 or as a URL that is fetched through the outbound guard. */
export const SimulatedMedia = strict({
  content_type: Type.Optional(Type.String({ minLength: 3, maxLength: 255, description: 'The media type, such as image/png.' })),
  content: Type.Optional(Type.String({ description: 'The bytes of the file as base64.' })),
  url: Type.Optional(
    Type.String({ minLength: 8, maxLength: 2048, description: 'A public address from which the server fetches the file.' }),
  ),
})

/** A file of a simulated message, as base64. */
const SimulatedFile = strict({
  filename: Type.String({ minLength: 1, maxLength: 255, description: 'The name of the file.' }),
  content_type: Type.Optional(Type.String({ minLength: 3, maxLength: 255, description: 'The media type, such as image/png.' })),
  content: Type.String({ description: 'The bytes of the file as base64.' }),
})

export const simulateSms = operation({
  id: 'simulateSms',
  method: 'POST',
  path: '/api/v1/simulator/sms',
  summary: 'Sends a text to a simulated number, as an external phone. It takes the same path as a real callback.',
  tag,
  scopes: ['simulator:write'],
  body: strict({
    to: Type.String({ pattern: '^\\+[1-9][0-9]{6,14}$', description: 'A phone number of your organization, E.164.' }),
    from: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'Default +15555550100.' })),
    text: Type.Optional(Type.String({ maxLength: 1600, description: 'The text. Required without media.' })),
    media: Type.Optional(Type.Array(SimulatedMedia, { maxItems: 10, description: 'Files, which make the text an MMS.' })),
  }),
  status: 201,
  reply: Type.Object(
    {
      provider_message_id: Type.String(),
      message_id: nullableString({
        description: 'The filed text. null while its media is being fetched, or if a fault suppressed it.',
      }),
      status: Type.Unsafe<'received' | 'pending' | 'dropped'>({ type: 'string', enum: ['received', 'pending', 'dropped'] }),
    },
    { $id: 'SimulatedSms' },
  ),
  errors: ['not_found', 'payload_too_large'],
  bodyBytesMax: attachmentBodyBytesMax,
})

export const simulateMail = operation({
  id: 'simulateMail',
  method: 'POST',
  path: '/api/v1/simulator/mail',
  summary: 'Delivers a message to an agent, as an external mail server. It takes the same path as mail over SMTP.',
  tag,
  scopes: ['simulator:write'],
  body: strict({
    to: Type.String({ minLength: 1, maxLength: 320, description: 'A mailbox address or an agent handle of your organization.' }),
    from: Type.Optional({ ...AddressText, description: 'Default `Ada Park <ada@people.example>`.' }),
    subject: Type.Optional(Type.String({ maxLength: 998, description: 'The subject, in one line.' })),
    text: Type.Optional(Type.String({ description: 'The body as plain text.' })),
    html: Type.Optional(Type.String({ description: 'The body as HTML.' })),
    attachments: Type.Optional(Type.Array(SimulatedFile, { maxItems: 20, description: 'Files of the message.' })),
    sample: Type.Optional(
      Type.Unsafe<SimulatedMailSample>({
        type: 'string',
        enum: Object.keys(simulatedMailSamples),
        description: 'A prepared message. Other fields than `to` cannot be combined with it.',
      }),
    ),
  }),
  status: 201,
  reply: Type.Object(
    {
      agent_handle: Type.String(),
      message_id: Type.String(),
      status: Type.Unsafe<'received' | 'quarantined'>({ type: 'string', enum: ['received', 'quarantined'] }),
    },
    { $id: 'SimulatedMail' },
  ),
  errors: ['not_found', 'conflict', 'payload_too_large'],
  bodyBytesMax: attachmentBodyBytesMax,
})

export const advanceNumber = operation({
  id: 'advanceNumber',
  method: 'POST',
  path: '/api/v1/simulator/numbers/{id}/advance',
  summary: 'Ends the pending status of a simulated number, which becomes ready for texts or fails.',
  tag,
  scopes: ['simulator:write'],
  params: strict({ id: Type.String({ minLength: 3, maxLength: 40, description: 'The id of a phone number, or the number itself.' }) }),
  body: strict({
    to: Type.Optional(
      Type.Unsafe<'ready' | 'assignment_failed'>({
        type: 'string',
        enum: ['ready', 'assignment_failed'],
        description: 'The new state: ready by default.',
      }),
    ),
  }),
  bodyOptional: true,
  status: 200,
  reply: PhoneNumber,
  errors: ['conflict'],
})

const unionOf = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())]

export const Fault = Type.Object(
  {
    provider: Type.Unsafe<FaultChannel>({ type: 'string', enum: Object.keys(simulatedFaults) }),
    op: Type.String(),
    fail: Type.String(),
    times: Type.Integer({ description: 'Number of next calls that will still fail.' }),
  },
  { $id: 'SimulatedFault' },
)

export const setFault = operation({
  id: 'setFault',
  method: 'POST',
  path: '/api/v1/simulator/faults',
  summary: 'Makes the next calls of a simulated provider fail. Returns every pending fault.',
  tag,
  scopes: ['simulator:write'],
  body: strict({
    provider: Type.Unsafe<FaultChannel>({
      type: 'string',
      enum: Object.keys(simulatedFaults),
      description: 'The simulated provider whose calls fail.',
    }),
    op: Type.Unsafe<string>({
      type: 'string',
      enum: unionOf(Object.values(simulatedFaults).map((ops) => Object.keys(ops))),
      description: 'The call of the provider that fails. Each provider has calls of its own.',
    }),
    fail: Type.Unsafe<string>({
      type: 'string',
      enum: unionOf(Object.values(simulatedFaults).flatMap((ops) => Object.values(ops))),
      description: 'The way in which the call fails.',
    }),
    times: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, default: 1, description: 'Number of calls to fail. 0 removes the fault.' }),
    ),
  }),
  status: 200,
  reply: Type.Object({ faults: Type.Array(Fault) }),
})

export const OutboxItem = Type.Object(
  {
    id: Type.String(),
    channel: Type.Unsafe<'imessage' | 'sms'>({ type: 'string', enum: ['imessage', 'sms'] }),
    from: Type.String(),
    to: Type.String(),
    text: Type.String(),
    media_url: nullableString(),
    created_at: Timestamp,
  },
  { $id: 'OutboxItem' },
)

export const listOutbox = operation({
  id: 'listOutbox',
  method: 'GET',
  path: '/api/v1/simulator/outbox',
  summary: 'Lists the messages sent to external phones, newest first.',
  tag,
  scopes: ['simulator:read'],
  query: strict({
    to: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'Only messages to this number.' })),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(OutboxItem),
})
