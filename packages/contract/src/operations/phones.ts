// Phone numbers that receive texts, the texts themselves, and the provider callbacks that deliver them.
import Type from 'typebox'
import { operation } from '../operation.ts'
import { Cursor, Deleted, HandleReference, id, Limit, nullableString, page, strict, Timestamp } from '../schema.ts'
import { Code } from './codes.ts'
import { WaitCursor, waitFields } from './waits.ts'

export const smsStatuses = ['pending', 'ready', 'assignment_failed'] as const
export type SmsStatus = (typeof smsStatuses)[number]

const CountryCode = Type.Unsafe<'US' | 'CA'>({ type: 'string', enum: ['US', 'CA'], description: 'The country of the number: US or CA.' })
const NumberType = Type.Unsafe<'local' | 'toll_free'>({
  type: 'string',
  enum: ['local', 'toll_free'],
  description: 'local for a number of a region, toll_free for one that callers do not pay for.',
})

export const PhoneNumber = Type.Object(
  {
    id: Type.String(),
    phone_number: Type.String({ description: 'E.164.' }),
    country_code: CountryCode,
    type: NumberType,
    region: Type.String({ description: 'Two-letter state or province code. Empty for toll-free numbers.' }),
    agent_handle: Type.String(),
    agent_identity_id: Type.String(),
    status: Type.Literal('active'),
    sms_status: Type.Unsafe<SmsStatus>({
      type: 'string',
      enum: [...smsStatuses],
      description: 'pending until the number can receive texts. number.sms_ready or number.sms_failed reports the change.',
    }),
    sms_error: Type.Unsafe<{ code: string; detail: string } | null>({
      type: ['object', 'null'],
      properties: { code: { type: 'string' }, detail: { type: 'string' } },
      required: ['code', 'detail'],
      description: 'The reason why the number cannot receive texts. null unless sms_status is assignment_failed.',
    }),
    capabilities: Type.Object({ sms: Type.Boolean(), mms: Type.Boolean(), voice: Type.Boolean() }),
    provider: Type.String({ description: 'The provider of the number. simulator numbers cannot be called.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'PhoneNumber' },
)

export const SmsMedia = Type.Object(
  {
    content_type: Type.String(),
    size_bytes: Type.Integer(),
    url: nullableString({
      description: 'A signed download link, valid for one hour. null if fetching the file from the provider failed.',
    }),
  },
  { $id: 'SmsMedia' },
)

export const SmsMessage = Type.Object(
  {
    id: Type.String(),
    phone_number_id: Type.String(),
    phone_number: Type.String({ description: 'Our number, E.164.' }),
    agent_handle: Type.String(),
    direction: Type.Literal('inbound'),
    type: Type.Unsafe<'sms' | 'mms'>({ type: 'string', enum: ['sms', 'mms'] }),
    from_number: Type.String({ description: 'E.164, a short code or a name, as reported by the provider.' }),
    to_numbers: Type.Array(Type.String(), { description: 'More than one in a group message.' }),
    text: Type.String(),
    media: Type.Array(SmsMedia),
    codes: Type.Array(Code, { description: 'One-time codes and confirmation links in the text, the most likely of each kind first.' }),
    is_read: Type.Boolean(),
    created_at: Timestamp,
  },
  { $id: 'SmsMessage' },
)

const tag = 'Phone numbers'

/** `{id}` is the id of the number, or the number itself. */
const NumberParam = Type.String({
  minLength: 1,
  examples: ['pn_01h455vb4pex5vsknk084sn02q'],
  description: 'The id of a phone number, or the number itself as E.164 (+12125550123).',
})
const numberParams = strict({ id: NumberParam })
const messageParams = strict({ id: NumberParam, message_id: id('sms') })

export const provisionPhoneNumber = operation({
  id: 'provisionPhoneNumber',
  method: 'POST',
  path: '/api/v1/phone/numbers',
  summary: 'Buys a phone number for an agent, which receives texts once sms_status is ready. An agent has one number.',
  tag,
  scopes: ['phone:write'],
  body: strict({
    agent_handle: HandleReference,
    country_code: Type.Optional(CountryCode),
    type: Type.Optional(NumberType),
    region: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'A two-letter state or province code in capitals.' })),
    area_code: Type.Optional(Type.String({ pattern: '^[0-9]{3}$', description: 'Three digits. Not together with region.' })),
  }),
  status: 201,
  reply: PhoneNumber,
  errors: ['not_found', 'no_numbers_available', 'number_already_assigned', 'upstream_provider_error'],
  idempotent: true,
})

export const listPhoneNumbers = operation({
  id: 'listPhoneNumbers',
  method: 'GET',
  path: '/api/v1/phone/numbers',
  summary: 'Lists phone numbers, newest first.',
  tag,
  scopes: ['phone:read'],
  query: strict({ limit: Limit, cursor: Cursor }),
  status: 200,
  reply: page(PhoneNumber),
})

export const getPhoneNumber = operation({
  id: 'getPhoneNumber',
  method: 'GET',
  path: '/api/v1/phone/numbers/{id}',
  summary: 'Gets one phone number.',
  tag,
  scopes: ['phone:read'],
  params: numberParams,
  status: 200,
  reply: PhoneNumber,
})

export const releasePhoneNumber = operation({
  id: 'releasePhoneNumber',
  method: 'DELETE',
  path: '/api/v1/phone/numbers/{id}',
  summary: 'Gives a phone number back to its provider and deletes its texts. Idempotent by the id of the number.',
  tag,
  scopes: ['phone:write'],
  params: numberParams,
  status: 200,
  reply: Deleted,
})

export const listSmsMessages = operation({
  id: 'listSmsMessages',
  method: 'GET',
  path: '/api/v1/phone/numbers/{id}/messages',
  summary: 'Lists the texts of a number, newest first.',
  tag,
  scopes: ['phone:read'],
  params: numberParams,
  query: strict({
    is_read: Type.Optional(Type.Boolean({ description: 'Only read texts, or only unread ones.' })),
    from: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'The whole number of the sender.' })),
    limit: Limit,
    cursor: Cursor,
  }),
  status: 200,
  reply: page(SmsMessage),
})

export const waitForSms = operation({
  id: 'waitForSms',
  method: 'GET',
  path: '/api/v1/phone/numbers/{id}/wait',
  summary: 'Waits for the next text that passes every filter. message is null if none arrives in time.',
  tag,
  scopes: ['phone:read'],
  params: numberParams,
  query: strict({
    ...waitFields,
    from: Type.Optional(Type.String({ minLength: 1, maxLength: 40, description: 'Part of the number or name of the sender.' })),
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the text.' })),
  }),
  status: 200,
  reply: Type.Object({ message: Type.Union([SmsMessage, Type.Null()]), cursor: WaitCursor }, { $id: 'SmsWait' }),
})

export const getSmsMessage = operation({
  id: 'getSmsMessage',
  method: 'GET',
  path: '/api/v1/phone/numbers/{id}/messages/{message_id}',
  summary: 'Gets one text.',
  tag,
  scopes: ['phone:read'],
  params: messageParams,
  status: 200,
  reply: SmsMessage,
})

export const updateSmsMessage = operation({
  id: 'updateSmsMessage',
  method: 'PATCH',
  path: '/api/v1/phone/numbers/{id}/messages/{message_id}',
  summary: 'Marks a text as read or unread.',
  tag,
  scopes: ['phone:write'],
  params: messageParams,
  body: strict({ is_read: Type.Boolean({ description: 'true marks as read, false as unread.' }) }),
  status: 200,
  reply: SmsMessage,
})

export const sendSmsMessage = operation({
  id: 'sendSmsMessage',
  method: 'POST',
  path: '/api/v1/phone/numbers/{id}/messages',
  summary: 'Always answers 405, because numbers can only receive texts.',
  tag,
  scopes: ['phone:write'],
  params: numberParams,
  status: 405,
  errors: ['sms_outbound_unavailable'],
})

/** The maximum size of a callback. Providers send MMS as links and stay far below it. The simulator sends the bytes. */
export const phoneHookBytesMax = 1024 * 1024

export const receivePhoneHook = operation({
  id: 'receivePhoneHook',
  method: 'POST',
  path: '/hooks/phone/{provider}/{route_token}',
  summary: 'Receives callbacks of a phone provider. The signature of the provider replaces the API key.',
  tag,
  scopes: [],
  params: strict({
    provider: Type.String({ pattern: '^[a-z]{2,20}$', description: 'telnyx, twilio or simulator.' }),
    route_token: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'The secret part of the address.' }),
  }),
  status: 200,
  media: 'text/xml',
  errors: ['forbidden'],
  bodyBytesMax: phoneHookBytesMax,
  raw: true,
  open: true,
})
