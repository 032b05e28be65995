// Search over the reference: operations, event types, error codes, schemas and their fields.
import { errorSentences } from '@callsign/contract/error-sentences'
import { type ErrorCode, errorStatuses } from '@callsign/contract/errors'
import type { JsonSchema, OpenApiDocument } from '@callsign/contract/openapi-types'
import { slugOf } from './prose.ts'

/** One place in the reference. `page` is the name of its page, and `anchor` its id there. */
export type Place = { title: string; about: string; page: string; anchor: string }

/** `names` weighs more than `text` in the order of the results. Both are in lower case. */
type Indexed = Place & { names: string; text: string }

/** The longest search that is read, in characters. */
export const searchCharactersMax = 100
const foundMax = 40

/** Returns a search over this document. It returns the best places first, at most 40. */
export function createSearch(document: OpenApiDocument): (query: string) => Place[] {
  const places: Indexed[] = [
    ...Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const names = `${operation.operationId} ${spaced(operation.operationId)} ${path} ${operation.summary}`
        const fields = Object.keys((operation.requestBody?.content['application/json']?.schema.properties as object | undefined) ?? {})
        return indexed(
          {
            title: `${method.toUpperCase()} ${path}`,
            about: operation.summary,
            page: slugOf(operation.tags[0] ?? ''),
            anchor: operation.operationId,
          },
          names,
          `${operation.description ?? ''} ${fields.join(' ')} ${operation.tags.join(' ')}`,
        )
      }),
    ),
    ...Object.entries(document.webhooks).map(([type, { post }]) =>
      indexed({ title: type, about: `Event. ${post?.summary ?? ''}`, page: 'event-types', anchor: type }, type, post?.summary ?? ''),
    ),
    ...(Object.keys(errorStatuses) as ErrorCode[]).map((code) =>
      indexed(
        { title: code, about: `Error ${errorStatuses[code]}. ${errorSentences[code] ?? ''}`, page: 'errors', anchor: code },
        code,
        errorSentences[code] ?? '',
      ),
    ),
    ...Object.entries(document.components.schemas).map(([name, schema]) => {
      const fields = Object.keys((schema.properties as Record<string, JsonSchema> | undefined) ?? {})
      return indexed({ title: name, about: `Schema. ${fields.join(', ')}`, page: 'schemas', anchor: name }, name, fields.join(' '))
    }),
  ]
  return (query) => {
    const words = query.slice(0, searchCharactersMax).toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return []
    return places
      .map((place) => ({ place, score: scoreOf(place, words) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)
      .slice(0, foundMax)
      .map(({ place: { title, about, page, anchor } }) => ({ title, about, page, anchor }))
  }
}

const indexed = (place: Place, names: string, text: string): Indexed => ({ ...place, names: names.toLowerCase(), text: text.toLowerCase() })

const spaced = (id: string): string => id.replace(/([a-z])([A-Z])/g, '$1 $2')

/** 0 unless every word occurs. */
function scoreOf({ names, text }: Indexed, words: string[]): number {
  let score = 0
  for (const word of words) {
    if (names.includes(word)) score += names.startsWith(word) || names.includes(` ${word}`) ? 4 : 3
    else if (text.includes(word)) score += 1
    else return 0
  }
  return score
}
