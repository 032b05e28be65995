// Options for the labels and tags of messages, and for the metadata of messages, threads and identities.
import { type Option, several, text, type Values } from '../../command.ts'
import { UsageError } from '../../usage-error.ts'

type Options = Record<string, Option>

export const metadataOption: Options = {
  metadata: { type: 'string', multiple: true, value: 'KEY:VALUE', about: 'A key of its metadata and the value. Repeatable.' },
}

/** Options of commands that send a message or create a draft. */
export const markOptions: Options = {
  label: { type: 'string', multiple: true, value: 'LABEL', about: 'A label of the message. Repeatable.' },
  tag: { type: 'string', multiple: true, value: 'NAME:VALUE', about: 'A tag of the message. Repeatable.' },
  ...metadataOption,
}

export const metadataChangeOptions: Options = {
  ...metadataOption,
  'remove-metadata': { type: 'string', multiple: true, value: 'KEY', about: 'A key of its metadata to delete. Repeatable.' },
}

/** Options of commands that change messages. */
export const markChangeOptions: Options = {
  tag: {
    type: 'string',
    multiple: true,
    value: 'NAME:VALUE',
    about: 'A tag. Repeatable. Replaces the earlier ones, and an empty text removes them.',
  },
  ...metadataChangeOptions,
}

export const metadataFilterOption: Options = {
  metadata: { type: 'string', value: 'KEY:VALUE', about: 'Only with this value of a key of the metadata.' },
}

/** Options of lists of messages. */
export const markFilterOptions: Options = {
  tag: { type: 'string', value: 'NAME:VALUE', about: 'Only mail with this tag.' },
  ...metadataFilterOption,
}

/** Splits `name:value` at the first colon. Throws UsageError. */
function splitPair(option: string, pair: string): [string, string] {
  const colon = pair.indexOf(':')
  if (colon < 1) throw new UsageError(`--${option} must have the form ${option === 'tag' ? 'NAME:VALUE' : 'KEY:VALUE'}, not ${pair}.`)
  return [pair.slice(0, colon), pair.slice(colon + 1)]
}

/** The given tags. An empty text alone gives no tags. */
function readTags(values: Values): { tags?: { name: string; value: string }[] } {
  const given = several(values, 'tag')
  const tags = given
    .filter((pair) => pair !== '')
    .map((pair) => splitPair('tag', pair))
    .map(([name, value]) => ({ name, value }))
  return given.length > 0 ? { tags } : {}
}

export function readMetadata(values: Values): { metadata?: Record<string, string> } {
  const pairs = several(values, 'metadata').map((pair) => splitPair('metadata', pair))
  return pairs.length > 0 ? { metadata: Object.fromEntries(pairs) } : {}
}

export function readMetadataChange(values: Values): { metadata?: Record<string, string | null> } {
  const removed = several(values, 'remove-metadata').map((key) => [key, null] as const)
  const { metadata } = readMetadata(values)
  return removed.length > 0 || metadata ? { metadata: { ...metadata, ...Object.fromEntries(removed) } } : {}
}

/** The given labels. An empty text alone gives no labels. */
export function readLabels(values: Values): { labels?: string[] } {
  const given = several(values, 'label')
  return given.length > 0 ? { labels: given.filter((label) => label !== '') } : {}
}

export const readMarks = (values: Values) => ({ ...readLabels(values), ...readTags(values), ...readMetadata(values) })
export const readMarkChange = (values: Values) => ({ ...readTags(values), ...readMetadataChange(values) })

/** The filters by tag and metadata. A list of threads or identities has no tags. */
export function readMarkFilters(values: Values): { tag?: string; metadata?: string } {
  const [tag, metadata] = [text(values, 'tag'), text(values, 'metadata')]
  return { ...(tag !== undefined && { tag }), ...(metadata !== undefined && { metadata }) }
}

export function readMetadataFilter(values: Values): { metadata?: string } {
  const metadata = text(values, 'metadata')
  return metadata === undefined ? {} : { metadata }
}
