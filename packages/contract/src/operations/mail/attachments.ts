// Attachments of stored messages, attachments in requests, and the signed link that downloads one.
import Type from 'typebox'
import { operation } from '../../operation.ts'
import { described, id, MailboxParam, nullableString, strict } from '../../schema.ts'
import { Flag } from './flags.ts'

/** Bytes per message with its attachments. */
export const messageBytesMax = 25 * 1024 * 1024

/** Bytes per JSON body on routes that take attachments. 25 MB are 34 MB in base64, and the text needs room too. */
export const attachmentBodyBytesMax = 40 * 1024 * 1024

export const Attachment = Type.Object(
  {
    id: Type.String(),
    filename: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer(),
    content_id: nullableString(),
    url: nullableString({ description: 'A signed download link, valid for one hour.' }),
  },
  { $id: 'Attachment' },
)

export const attachmentsDescription = 'Files of the message. With the text, a message has at most 25 MB.'
const Filename = Type.String({ minLength: 1, maxLength: 255, description: 'The name of the file, without a path.' })
const ContentType = Type.String({ minLength: 3, maxLength: 255, description: 'The media type, such as application/pdf.' })
const Base64 = Type.String({ description: 'The bytes of the file as base64.' })

/** One attachment of a send, reply or forward, as base64 `content` or as a public `url` that the server fetches once. */
export const AttachmentInput = strict(
  {
    filename: Filename,
    content_type: Type.Optional(described(ContentType, 'The media type, such as application/pdf. By default that of the name.')),
    content: Type.Optional(described(Base64, 'The bytes of the file as base64. Required without url.')),
    url: Type.Optional(
      Type.String({ minLength: 8, maxLength: 2048, description: 'A public address from which the server fetches the file once.' }),
    ),
    content_id: Type.Optional(nullableString({ maxLength: 200, description: 'The name by which html shows the file, as cid:NAME.' })),
  },
  { $id: 'AttachmentInput' },
)

/** An attachment of a reply. Unlike in other sends, `content_type` is required. */
export const ReplyAttachmentInput = strict(
  {
    ...AttachmentInput.properties,
    content_type: ContentType,
  },
  { $id: 'ReplyAttachmentInput' },
)

/** One attachment of a draft, with its bytes. Only sends, replies and forwards take a URL. */
export const DraftAttachmentInput = strict(
  {
    filename: AttachmentInput.properties.filename,
    content_type: AttachmentInput.properties.content_type,
    content: Base64,
    content_id: AttachmentInput.properties.content_id,
  },
  { $id: 'DraftAttachmentInput' },
)

export const AttachmentInputs = Type.Array(AttachmentInput, { maxItems: 50, description: attachmentsDescription })

export const attachmentFormats = ['pdf', 'docx', 'xlsx', 'csv', 'html', 'rtf', 'image', 'message', 'text'] as const

/** Characters of the text of one attachment, and those without `max_characters`. */
export const attachmentTextCharactersMax = 500_000
export const attachmentTextCharactersDefault = 100_000

const textQuery = strict({
  max_characters: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: attachmentTextCharactersMax,
      default: attachmentTextCharactersDefault,
      description: 'The maximum number of characters of `text`.',
    }),
  ),
})

export const AttachmentText = Type.Object(
  {
    attachment_id: Type.String(),
    filename: Type.String(),
    content_type: Type.String({ description: 'The type that the sender declared.' }),
    format: Type.Unsafe<(typeof attachmentFormats)[number]>({
      type: 'string',
      enum: [...attachmentFormats],
      description: 'The format that the bytes have.',
    }),
    text: Type.String({ description: 'Markdown. Untrusted, because the sender wrote it.' }),
    token_estimate: Type.Integer({ description: 'About the number of tokens of `text` in a language model: a quarter of its bytes.' }),
    truncated: Type.Boolean({ description: 'True if the attachment has more text.' }),
    flags: Type.Array(Flag, { description: 'Indicators of deception in the text, at most one of each type.' }),
  },
  { $id: 'AttachmentText' },
)

const textErrors = [
  'attachment_damaged',
  'attachment_encrypted',
  'attachment_not_supported',
  'attachment_too_complex',
  'rate_limited',
] as const

export const getAttachmentText = operation({
  id: 'getAttachmentText',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/messages/{message_id}/attachments/{attachment_id}/text',
  summary: 'Gets the text of an attachment as Markdown, or the metadata of an image.',
  tag: 'Messages',
  scopes: ['mail:read'],
  params: strict({ email_address: MailboxParam, message_id: id('message'), attachment_id: id('attachment') }),
  query: textQuery,
  status: 200,
  reply: AttachmentText,
  errors: [...textErrors],
})

export const getDraftAttachmentText = operation({
  id: 'getDraftAttachmentText',
  method: 'GET',
  path: '/api/v1/mailboxes/{email_address}/drafts/{draft_id}/attachments/{attachment_id}/text',
  summary: 'Gets the text of an attachment of a draft as Markdown, or the metadata of an image.',
  tag: 'Drafts',
  scopes: ['drafts:read'],
  params: strict({ email_address: MailboxParam, draft_id: id('draft'), attachment_id: id('attachment') }),
  query: textQuery,
  status: 200,
  reply: AttachmentText,
  errors: [...textErrors],
})

export const downloadAttachment = operation({
  id: 'downloadAttachment',
  method: 'GET',
  path: '/media/{attachment_id}',
  summary: 'Downloads an attachment by its signed link. No API key is needed.',
  tag: 'Messages',
  scopes: [],
  params: strict({ attachment_id: id('attachment') }),
  query: strict({
    expires: Type.String({ maxLength: 20, description: 'The end of the link, in seconds since 1970, as the link has it.' }),
    signature: Type.String({ maxLength: 100, description: 'The signature of the link.' }),
  }),
  status: 200,
  media: 'application/octet-stream',
  errors: ['forbidden'],
  open: true,
})
