// Building blocks of the schemas, such as strict inputs, nullable fields, timestamps, addresses and ids.
import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { type IdKind, idPattern, idPrefixes } from './ids.ts'

/** An object that rejects unknown fields. Used for every request body and query. */
export const strict = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false })

/** The same schema with a description of its use in one place. */
export const described = <S extends TSchema>(schema: S, description: string): S =>
  Object.defineProperties({} as S, {
    ...Object.getOwnPropertyDescriptors(schema),
    description: { value: description, enumerable: true, configurable: true, writable: true },
  })

/** A string or null, as one type array so that serialization stays cheap. */
export const nullableString = (options: Record<string, unknown> = {}) =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })

/** ISO 8601, UTC, milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' })

export const nullableTimestamp = nullableString({ format: 'date-time' })

/** Names of resources in sentences, where they differ from the kind of the id. */
const idNames: { [K in IdKind]?: string } = {
  messageShare: 'the link',
  domainReport: 'the report',
  mailRule: 'the rule',
  phoneNumber: 'the phone number',
  sms: 'the text',
  imessage: 'the message',
  tunnelRequest: 'the recorded request',
  vaultSecret: 'the secret',
  vaultAccess: 'the grant',
  vaultKey: 'the vault key or recovery key',
}

/** The id of an existing resource, as a path parameter, query parameter or body field. Ids are opaque: text of any other form is an unknown id. */
export const id = (kind: IdKind) =>
  Type.String({
    minLength: 1,
    description: `The id of ${idNames[kind] ?? `the ${kind}`}.`,
    examples: [`${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q`],
  })

/** The id of a new resource that the client creates itself. */
export const clientMadeId = (kind: IdKind) =>
  Type.String({
    pattern: idPattern(kind),
    maxLength: 40,
    description: 'An id that the client makes, so that the encrypted data can name it. Generated if it is missing.',
  })

/** A field that takes one string or a list, such as the recipients of replies and drafts. */
export const stringOrList = (item: TSchema, maxItems: number) =>
  Type.Unsafe<string | string[]>({ anyOf: [item, { type: 'array', items: item, maxItems }] })

/** Maximum characters of a bare address: 255 octets before the @, which forwarders and reply tokens need, and 255 after it. */
export const addressCharactersMax = 511

/** Any email address as text. The server parses it and answers 400 with the name of the field. It has room for a display name. */
export const AddressText = Type.String({ minLength: 3, maxLength: 900 })

/** The path parameter `{email_address}`, a full mailbox address, the agent's handle or the id of the mailbox. */
export const MailboxParam = Type.String({ minLength: 1, description: 'A full mailbox address, the agent handle or the mailbox id.' })

export const Handle = Type.String({ pattern: '^[a-z0-9_]{2,32}$', description: '2-32 lowercase alphanumerics or underscores.' })

/** The handle of an agent in a query or body, with an optional leading @. */
export const HandleReference = Type.String({ minLength: 1, description: 'The handle of the agent, such as sales. A leading @ is ignored.' })

/** The reply to a DELETE, `{id, deleted: true}`. */
export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) })

/** The fields of every list. Lists of mail, drafts and iMessage history have their items under a second name too. */
export const pageFields = <S extends TSchema>(item: S) => ({
  object: Type.Literal('list'),
  data: Type.Array(item),
  has_more: Type.Boolean(),
  next_cursor: nullableString({ description: 'The `cursor` of the next page. null on the last page.' }),
})

export const page = <S extends TSchema>(item: S) => Type.Object(pageFields(item))

export const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'The most items of a page.' }))
export const Cursor = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: 'Cursor from the previous page (next_cursor).' }),
)

/** The order of a list whose readers continue from its oldest item. */
export const Order = Type.Optional(
  Type.Union([Type.Literal('asc'), Type.Literal('desc')], { default: 'asc', description: '`desc` lists the newest first.' }),
)

export type Page<S extends TSchema> = { object: 'list'; data: Static<S>[]; has_more: boolean; next_cursor: string | null }
