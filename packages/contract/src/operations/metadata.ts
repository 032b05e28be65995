// Labels and tags of messages, and the metadata of identities, threads, messages and drafts: fields in requests and replies, limits and filters.
import Type, { type Static } from 'typebox'

export const Label = Type.String({ minLength: 1, maxLength: 100, description: 'A label.' })

/** The most labels of a message, and of a thread. */
export const labelsMax = 50
export const Labels = Type.Array(Label, { maxItems: labelsMax, uniqueItems: true, description: 'Labels of your own.' })

/** Maximum tags of a message. */
export const tagsMax = 50

/** Maximum characters of the name of a tag, and of its value. */
export const tagCharactersMax = 256

/** Maximum keys of metadata. */
export const metadataKeysMax = 50

/** Maximum size of metadata as JSON text, in bytes of UTF-8. */
export const metadataBytesMax = 16 * 1024

/** Maximum characters of a key, and of a value that is a string. */
export const metadataKeyCharactersMax = 100
export const metadataValueCharactersMax = 1000

const tagPart = `[A-Za-z0-9_-]{1,${tagCharactersMax}}`
const TagPart = Type.String({
  pattern: `^${tagPart}$`,
  maxLength: tagCharactersMax,
  description: `1 to ${tagCharactersMax} ASCII letters, digits, underscores and hyphens.`,
})

export const Tag = Type.Object({ name: TagPart, value: TagPart }, { additionalProperties: false, $id: 'Tag' })
export type Tag = Static<typeof Tag>

export const Tags = Type.Array(Tag, { maxItems: tagsMax, description: 'Names and values of your own. Each name occurs once.' })

/** The tags of a reply. */
export const tagsField = Type.Array(Tag, { description: 'Tags, as given when the message was sent or later.' })

export type MetadataValue = string | number | boolean
export type Metadata = Record<string, MetadataValue>

const keyPattern = `[^:\\u0000-\\u001f\\u007f]{1,${metadataKeyCharactersMax}}`
const keys = {
  pattern: `^${keyPattern}$`,
  description: `Each key has 1 to ${metadataKeyCharactersMax} characters, without colons and control characters.`,
}

/** The metadata of a reply. */
export const metadataField = Type.Unsafe<Metadata>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  description: 'Data of your own, as keys and values.',
})

export const Metadata = Type.Unsafe<Metadata>({
  type: 'object',
  propertyNames: keys,
  additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: metadataValueCharactersMax },
  maxProperties: metadataKeysMax,
  description: `Data of your own, as keys and values: at most ${metadataKeysMax} keys and 16 KB.`,
})

export type MetadataChange = Record<string, MetadataValue | null>

export const MetadataChange = Type.Unsafe<MetadataChange>({
  type: 'object',
  propertyNames: keys,
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: metadataValueCharactersMax },
  maxProperties: 2 * metadataKeysMax,
  description: 'Sets these keys, and deletes those with null. Other keys stay.',
})

/** A message that a program generates. */
export const automaticField = Type.Optional(
  Type.Boolean({
    description:
      'Set to true for messages that a program generates, such as notifications. Adds Auto-Submitted with auto-generated (RFC 3834).',
  }),
)

/** The labels, tags and metadata of a message that is sent. */
export const marks = { labels: Type.Optional(Labels), tags: Type.Optional(Tags), metadata: Type.Optional(Metadata) }

/** The changes of tags and metadata of a message. `tags` replaces all of them. */
export const markChanges = { tags: Type.Optional(Tags), metadata: Type.Optional(MetadataChange) }

const TagFilter = Type.String({
  pattern: `^${tagPart}:${tagPart}$`,
  maxLength: 2 * tagCharactersMax + 1,
  description: 'A tag of the message, as name:value.',
})

const MetadataFilter = Type.String({
  pattern: `^${keyPattern}:[^\\u0000]*$`,
  maxLength: metadataKeyCharactersMax + metadataValueCharactersMax + 1,
  description: 'A key of the metadata with its value, as key:value.',
})

/** The filter by metadata in lists of identities and threads. */
export const metadataFilter = { metadata: Type.Optional(MetadataFilter) }

/** The filters in lists of messages and searches. */
export const markFilters = { tag: Type.Optional(TagFilter), ...metadataFilter }
