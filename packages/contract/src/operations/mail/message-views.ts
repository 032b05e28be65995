// A message as the API shows it: whole, as an item of a list, and as a summary.
import Type, { type Static, type TSchema } from 'typebox'
import { nullableString, Timestamp } from '../../schema.ts'
import { Code } from '../codes.ts'
import { Guardrail } from '../mail-settings/mail-rules.ts'
import { metadataField, tagsField } from '../metadata.ts'
import { Attachment } from './attachments.ts'
import { Flag } from './flags.ts'
import { MessageStatus, RecipientDelivery } from './message-delivery.ts'
import { Authentication } from './sender-checks.ts'

export const Direction = Type.Unsafe<'inbound' | 'outbound'>({ type: 'string', enum: ['inbound', 'outbound'] })

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const messageFields = {
  id: Type.String(),
  mailbox_id: Type.String(),
  thread_id: Type.String(),
  direction: Direction,
  status: MessageStatus,
  from: Type.String(),
  to: Type.Array(Type.String()),
  cc: Type.Array(Type.String()),
  bcc: Type.Array(Type.String()),
  reply_to: Type.Array(Type.String()),
  subject: Type.String(),
  snippet: Type.String(),
  text: Type.String(),
  html: Type.String(),
  delivered_to: nullableString({
    description: 'The address of the mailbox that the message came to, without a tag. null for sent messages.',
  }),
  extracted_text: Type.String({ description: 'The new text of a message, without quoted text. A forwarded message is kept.' }),
  in_reply_to_message_id: nullableString(),
  message_id: nullableString({ description: 'The RFC 5322 Message-ID.' }),
  references: Type.Array(Type.String()),
  headers: Type.Record(Type.String(), Type.String()),
  is_read: Type.Boolean(),
  is_starred: Type.Boolean(),
  labels: Type.Array(Type.String()),
  tags: tagsField,
  metadata: metadataField,
  attachments: Type.Array(Attachment),
  codes: Type.Array(Code, {
    description: 'One-time codes and confirmation links in an inbound message, the most likely of each kind first.',
  }),
  size_bytes: Type.Integer(),
  flags: Type.Array(Flag, { description: 'Indicators of deception in an inbound message, at most one of each type.' }),
  guardrail: nullable(Guardrail),
  released_at: nullableString({ format: 'date-time', description: 'The time when the message was released from quarantine.' }),
  trashed_at: nullableString({
    format: 'date-time',
    description: 'The time when the message was moved to the trash. It is deleted 30 days later.',
  }),
  created_at: Timestamp,
}

export const Message = Type.Object(
  {
    ...messageFields,
    authentication: Authentication,
    raw_url: Type.String({ description: 'A signed download link of the raw message (RFC 5322), valid for one hour.' }),
    delivery: Type.Union([Type.Object({ recipients: Type.Array(RecipientDelivery) }), Type.Null()]),
  },
  { $id: 'Message' },
)

const { text, html, extracted_text, headers, references, ...summaryFields } = messageFields

/** An item of a list with view=summary. */
export type MessageSummary = Omit<Static<typeof MessageItem>, 'text' | 'html' | 'extracted_text' | 'headers' | 'references'>

type ItemField<F extends TSchema> = ReturnType<typeof Type.Unsafe<Static<F>>>
const inSomeViews = <F extends TSchema>(field: F) => Type.Optional(field) as unknown as ItemField<F>

/** The fields of a listed message. Their types are those of the standard view: only `headers` may be missing. */
export const itemFields = {
  ...summaryFields,
  text: inSomeViews(text),
  html: inSomeViews(html),
  extracted_text: inSomeViews(extracted_text),
  references: inSomeViews(references),
  headers: Type.Optional(headers),
}

/** One item of a list. Here, `from` may have the form `display name <address>`. */
export const MessageItem = Type.Object(itemFields, { $id: 'MessageItem' })

/** The views of a list of messages, with the fields that each leaves out. */
export const viewOmissions = {
  standard: ['headers'],
  full: [],
  summary: ['text', 'html', 'extracted_text', 'headers', 'references'],
} as const satisfies Record<string, readonly (keyof typeof itemFields)[]>
export type View = keyof typeof viewOmissions
export const viewDefault: View = 'standard'
export const viewField = Type.Optional(
  Type.Unsafe<View>({
    type: 'string',
    enum: Object.keys(viewOmissions),
    description:
      'standard, the default, leaves out headers. full has them too. summary also leaves out text, html, extracted_text and references.',
  }),
)
