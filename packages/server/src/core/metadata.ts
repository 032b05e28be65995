// Metadata of objects and tags of messages: checks, changes, and the forms that filters compare.
import { createHash } from 'node:crypto'
import {
  type Metadata,
  type MetadataChange,
  type MetadataValue,
  metadataBytesMax,
  metadataKeysMax,
  type Tag,
} from '@callsign/contract/metadata'
import { type ApiError, invalid } from './errors.ts'

/** The error of metadata above a limit. */
export const metadataTooLarge = (): ApiError =>
  invalid('/metadata', `metadata has at most ${metadataKeysMax} keys and ${metadataBytesMax / 1024} KB`)

/** Metadata as stored, or null for none. Throws 400 above the limits. */
export function readMetadata(given: Metadata | undefined): Metadata | null {
  return given === undefined ? null : changeMetadata(null, given)
}

/** The metadata after a change, or null for none. Throws 400 above the limits. */
export function changeMetadata(before: Metadata | null, change: MetadataChange): Metadata | null {
  checkMetadataValues(change)
  const after = Object.fromEntries(
    Object.entries({ ...before, ...change }).filter((entry): entry is [string, MetadataValue] => entry[1] !== null),
  )
  if (!isWithinLimits(after)) throw metadataTooLarge()
  return Object.keys(after).length === 0 ? null : after
}

/** The metadata of objects that become one: the first with a key sets it. An object whose keys would exceed the limits adds none. */
export function joinMetadata(all: (Metadata | null)[]): Metadata | null {
  let joined: Metadata | null = null
  for (const one of all) {
    const both: Metadata = { ...one, ...joined }
    if (one !== null && isWithinLimits(both)) joined = both
  }
  return joined
}

/** True for metadata without a key, too. The database stores a space after each colon and comma. */
function isWithinLimits(metadata: Metadata): boolean {
  const count = Object.keys(metadata).length
  return count <= metadataKeysMax && Buffer.byteLength(JSON.stringify(metadata)) + 2 * count - 1 <= metadataBytesMax
}

/** Throws 400 for a number that JSON writes with an exponent, since the database writes it in digits. */
export function checkMetadataValues(change: MetadataChange): void {
  for (const [key, value] of Object.entries(change))
    if (typeof value === 'number' && String(value).includes('e'))
      throw invalid('/metadata', `the number of ${JSON.stringify(key)} is too large or too small: send it as a string`)
}

/** The labels, tags and metadata of a message that is sent. Throws 400 when they are not valid. */
export const readMarks = ({ labels, tags, metadata }: { labels?: string[]; tags?: Tag[]; metadata?: Metadata }) => ({
  labels: readLabels(labels),
  tags: readTags(tags),
  metadata: readMetadata(metadata),
})

/** Labels as stored. */
export const readLabels = (labels: string[] | undefined): string[] => (labels ?? []).toSorted()

/** Tags as stored, `name:value` each, or null for none. Throws 400 for a name that occurs twice. */
export function readTags(tags: Tag[] | undefined): string[] | null {
  if (tags === undefined || tags.length === 0) return null
  const names = tags.map(({ name }) => name)
  const twice = names.findIndex((name, place) => names.indexOf(name) !== place)
  if (twice !== -1) throw invalid(`/tags/${twice}/name`, `the tag ${names[twice]} occurs twice: give each name once`)
  return tags.map(({ name, value }) => `${name}:${value}`)
}

export const toTags = (stored: string[] | null): Tag[] =>
  (stored ?? []).map((tag) => ({ name: tag.slice(0, tag.indexOf(':')), value: tag.slice(tag.indexOf(':') + 1) }))

/** A key and a value of fixed length, for tables that list objects by their metadata. A value and its text have the same mark. */
const markOf = (pair: string): string => createHash('sha256').update(pair).digest('base64url')
export const metadataMarks = (metadata: Metadata | null): string[] =>
  Object.entries(metadata ?? {}).map(([key, value]) => markOf(`${key}:${value}`))

/** The mark of a filter `key:value`. */
export const filterMark = (filter: string | undefined): string | undefined => (filter === undefined ? undefined : markOf(filter))

/** The metadata that a filter `key:value` matches, as JSON: with the value as text, and as a number or boolean of that form. */
export function filterObjects(filter: string): string[] {
  const [key, text] = [filter.slice(0, filter.indexOf(':')), filter.slice(filter.indexOf(':') + 1)]
  const others =
    text === 'true' || text === 'false'
      ? [text === 'true']
      : String(Number(text)) === text && Number.isFinite(Number(text))
        ? [Number(text)]
        : []
  return [text, ...others].map((value) => JSON.stringify({ [key]: value }))
}
