// Search over the documentation: the parts of every page, operations, event types, error codes, schemas and their fields.
import { errorSentences } from '@callsign/contract/error-sentences'
import { type ErrorCode, errorStatuses } from '@callsign/contract/errors'
import type { JsonSchema, OpenApiDocument } from '@callsign/contract/openapi-types'
import type { Guide } from './guides.ts'
import { slugOf } from './reference/prose.ts'

/** One place in the documentation. `page` is the path of its page below /docs, and `anchor` its id there. */
export type Place = {
  kind: 'guide' | 'operation' | 'event' | 'error' | 'schema'
  title: string
  about: string
  page: string
  anchor: string
}

/** `names` weighs more than `text` in the order of the results. Both are in lower case. `body` is the text as it is written. */
type Indexed = { place: Place; names: string; text: string; body: string }

/** The longest search that is read, in characters. */
export const searchCharactersMax = 100
const foundMax = 40
const aboutCharacters = 160

/** Returns a search over these pages. It returns the best places first, at most 40. */
export function createSearch(document: OpenApiDocument, guides: Guide[]): (query: string) => Place[] {
  const indexed = [...guides.flatMap(guidePlaces), ...referencePlaces(document)]
  return (query) => {
    const words = query.slice(0, searchCharactersMax).toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return []
    const scored = indexed.map((entry) => ({ entry, ...scoreOf(entry, words) }))
    // Places with every word. If there is none, those with the most words, and with half of them at least.
    const most = Math.max(...scored.map(({ matched }) => matched))
    return scored
      .filter(({ matched }) => matched > 0 && matched === most && matched * 2 >= words.length)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, foundMax)
      .map(({ entry: { place, body } }) => ({ ...place, about: place.about || excerpt(body, words) }))
  }
}

const entry = (place: Place, names: string, body: string, code = ''): Indexed => ({
  place,
  names: names.toLowerCase(),
  text: `${body} ${code}`.toLowerCase(),
  body,
})

const guidePlaces = ({ path, title, parts }: Guide): Indexed[] =>
  parts
    .filter((part) => part.title !== '' || part.text !== '')
    .map((part) => {
      const name = part.title === '' ? title : `${title}: ${part.title}`
      return entry({ kind: 'guide', title: name, about: '', page: path, anchor: part.anchor }, name, part.text, part.code)
    })

const referencePlaces = (document: OpenApiDocument): Indexed[] => [
  ...Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const names = `${operation.operationId} ${spaced(operation.operationId)} ${path} ${operation.summary}`
      const fields = Object.keys((operation.requestBody?.content['application/json']?.schema.properties as object | undefined) ?? {})
      const page = `api/${slugOf(operation.tags[0] ?? '')}`
      const title = `${method.toUpperCase()} ${path}`
      return entry(
        { kind: 'operation', title, about: operation.summary, page, anchor: operation.operationId },
        names,
        `${operation.description ?? ''} ${fields.join(' ')} ${operation.tags.join(' ')}`,
      )
    }),
  ),
  ...Object.entries(document.webhooks).map(([type, { post }]) =>
    entry(
      { kind: 'event', title: type, about: `Event. ${post?.summary ?? ''}`, page: 'api/event-types', anchor: type },
      type,
      post?.summary ?? '',
    ),
  ),
  ...(Object.keys(errorStatuses) as ErrorCode[]).map((code) => {
    const about = `Error ${errorStatuses[code]}. ${errorSentences[code] ?? ''}`
    return entry({ kind: 'error', title: code, about, page: 'api/errors', anchor: code }, code, errorSentences[code] ?? '')
  }),
  ...Object.entries(document.components.schemas).map(([name, schema]) => {
    const fields = Object.keys((schema.properties as Record<string, JsonSchema> | undefined) ?? {}).join(', ')
    return entry({ kind: 'schema', title: name, about: `Schema. ${fields}`, page: 'api/schemas', anchor: name }, name, fields)
  }),
]

const spaced = (id: string): string => id.replace(/([a-z])([A-Z])/g, '$1 $2')

/** Pages of many short parts, printed from tables. */
const tablePages: ReadonlySet<string> = new Set(['cli', 'configuration', 'monitoring'])

/** The number of words that occur, and their weight. Of equal places, a page with explanations comes first. */
function scoreOf({ names, text, place }: Indexed, words: string[]): { matched: number; score: number } {
  let matched = 0
  let score = place.kind === 'guide' && !tablePages.has(place.page) ? 0.5 : 0
  for (const word of words) {
    if (!names.includes(word) && !text.includes(word)) continue
    matched += 1
    if (names.includes(word)) score += names.startsWith(word) || names.includes(` ${word}`) ? 4 : 3
    else score += 1
  }
  return { matched, score }
}

/** The text around the first word that occurs, cut at spaces. */
function excerpt(body: string, words: string[]): string {
  const text = body.replace(/\s+/g, ' ')
  const lower = text.toLowerCase()
  const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((place) => place >= 0), text.length) % text.length
  const from = !(at > aboutCharacters / 2) ? 0 : text.indexOf(' ', at - aboutCharacters / 2) + 1
  const part = text.slice(from, from + aboutCharacters)
  const isCut = from + aboutCharacters < text.length
  return `${from > 0 ? '… ' : ''}${isCut ? `${part.slice(0, part.lastIndexOf(' '))} …` : part}`
}
