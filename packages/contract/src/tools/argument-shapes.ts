// Shapes that several tools share: arguments, and messages in results.
import Type, { type TObject } from 'typebox'
import { addressCharactersMax } from '../schema.ts'
import { FencedText, foreign, type Reply } from './tool.ts'

/** Characters of foreign text per result, unless the caller asks for more, and the most that a call gets. */
export const charactersDefault = 8000
export const charactersMax = 40_000
/** Characters of a text in a list. */
const snippetCharactersMax = 300

/** One of these texts, as a JSON Schema with `enum`, which every client of MCP reads. */
export const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: [...values] })

export const MessageId = Type.String({ minLength: 1, maxLength: 64, description: 'msg_…' })
export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 }))
export const PageCursor = Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'next_cursor of the previous result.' }))
export const Offset = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    default: 0,
    description: 'The first character to return: next_offset of the previous result.',
  }),
)
export const MaxCharacters = Type.Optional(
  Type.Integer({
    minimum: 200,
    maximum: charactersMax,
    default: charactersDefault,
  }),
)
export const Recipients = Type.Array(Type.String({ minLength: 3, maxLength: addressCharactersMax }), {
  minItems: 1,
  maxItems: 50,
  description: 'Email addresses.',
})
export const IdempotencyKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'A new text for each message. A retry with it sends nothing twice.',
  }),
)

const nullable = { type: ['string', 'null'] } as unknown as ReturnType<typeof Type.String>

/** The output schema of a tool, with `summary`. Further fields may follow in later versions. */
export const outputOf = (fields: TObject['properties']): TObject => Type.Object({ summary: Type.String(), ...fields }) as unknown as TObject

export const MessageItem = Type.Object({
  id: Type.String(),
  thread_id: Type.String(),
  direction: Type.String(),
  status: Type.String(),
  is_read: Type.Boolean(),
  labels: Type.Array(Type.String()),
  created_at: Type.String(),
  has_attachments: Type.Boolean(),
  flags: Type.Array(Type.String(), { description: 'Indicators of deception.' }),
  content: FencedText,
})

export const NextCursor = nullable
export const NullableInteger = { type: ['integer', 'null'] } as unknown as ReturnType<typeof Type.Integer>

/** Labels are the organization's own words, unless an agent copied them from mail. */
const plainLabels = (labels: string[]): string[] => labels.map((label) => label.replace(/[^\p{L}\p{N} ._/-]/gu, '').slice(0, 60))

const lines = (...pairs: [string, string | undefined | null][]): string =>
  pairs.flatMap(([name, value]) => (value ? [`${name}: ${value.replace(/\s+/g, ' ')}`] : [])).join('\n')

/** A message in a list: ids and states outside, everything that its writer chose inside. */
export const toItem = (message: Reply) => ({
  id: message.id,
  thread_id: message.thread_id,
  direction: message.direction,
  status: message.status,
  is_read: message.is_read,
  labels: plainLabels(message.labels),
  created_at: message.created_at,
  has_attachments: message.attachments.length > 0,
  flags: message.flags.map((flag: Reply) => flag.type),
  content: foreign(
    lines(
      ['From', message.from],
      ['To', message.to.join(', ')],
      ['Subject', message.subject],
      ['Text', message.snippet.slice(0, snippetCharactersMax)],
      ['Codes', message.codes.map((code: Reply) => code.value).join(' ')],
    ),
  ),
})

/** One slice of a text, with how to get the rest. */
export function sliceOf(text: string, offset = 0, max = charactersDefault) {
  const end = Math.min(text.length, offset + max)
  return { part: text.slice(offset, end), total_characters: text.length, next_offset: end < text.length ? end : null }
}

/** Results of the sender checks in words that a stranger cannot choose. null on outbound messages. */
export const toAuthentication = (authentication: Reply) => ({
  source: authentication?.source ?? null,
  spf: authentication?.spf?.result ?? null,
  dkim: authentication?.dkim?.result ?? null,
  dmarc: authentication?.dmarc?.result ?? null,
})

export const Authentication = Type.Object({ source: nullable, spf: nullable, dkim: nullable, dmarc: nullable })

/** Indicators of deception. The evidence is the sender's own text. */
export const toFlags = (flags: Reply[]) => flags.map((flag) => ({ type: flag.type, evidence: foreign(flag.evidence) }))

export const Flags = Type.Array(Type.Object({ type: Type.String(), evidence: FencedText }))

/** The whole message, with its text from `offset`. */
export function toMessage(message: Reply, options: { full?: boolean; offset?: number; max_characters?: number }) {
  const own = message.extracted_text || message.text
  const { part, total_characters, next_offset } = sliceOf(options.full ? message.text : own, options.offset, options.max_characters)
  return {
    id: message.id,
    thread_id: message.thread_id,
    direction: message.direction,
    status: message.status,
    created_at: message.created_at,
    is_read: message.is_read,
    labels: plainLabels(message.labels),
    authentication: toAuthentication(message.authentication),
    flags: toFlags(message.flags),
    attachments: message.attachments.map((file: Reply) => ({
      id: file.id,
      size_bytes: file.size_bytes,
      name: foreign(`${file.filename} (${file.content_type})`),
    })),
    is_whole_text: Boolean(options.full) || own === message.text,
    total_characters,
    next_offset,
    content: foreign(
      `${lines(['From', message.from], ['To', message.to.join(', ')], ['Cc', message.cc.join(', ')], ['Reply-To', message.reply_to.join(', ')], ['Subject', message.subject], ['Codes', message.codes.map((code: Reply) => `${code.value}${code.domain ? ` (${code.domain})` : ''}`).join(' ')])}\n\n${part}`,
    ),
  }
}

export const WholeMessage = Type.Object({
  id: Type.String(),
  thread_id: Type.String(),
  direction: Type.String(),
  status: Type.String(),
  created_at: Type.String(),
  is_read: Type.Boolean(),
  labels: Type.Array(Type.String()),
  authentication: Authentication,
  flags: Flags,
  attachments: Type.Array(Type.Object({ id: Type.String(), size_bytes: Type.Integer(), name: FencedText })),
  is_whole_text: Type.Boolean({ description: 'False if quoted text was left out. Call again with full.' }),
  total_characters: Type.Integer(),
  next_offset: { type: ['integer', 'null'], description: 'Where the rest of the text starts.' } as unknown as ReturnType<
    typeof Type.Integer
  >,
  content: FencedText,
})

export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
