// Finds retired terms in identifiers, columns and file names.
import { lineFinder } from './passages.ts'
import type { Place } from './prose-rules.ts'
import type { Source } from './sources.ts'
import { readSyntax } from './syntax.ts'

type Retired = {
  /** The word, or words, as a name is split: `toldAt` and `told_at` are `told at`. */
  words: RegExp
  use: string
  /** Where the term is retired; elsewhere it is the field's own. */
  where?: RegExp
  /** Whole names that mean something else. */
  except?: RegExp
}

const tunnelCode = /tunnel|gateway/
const queueCode = /jobs|outbound|webhook|smtp|delivery|app\/|imessage|phones/

export const retiredNames: Retired[] = [
  { words: /\btroubles?\b/, use: 'error, failure' },
  { words: /\bletters?\b/, use: 'message', except: /^(is|uses|hidden|ascii)?letters?(Min|Max|Count|Before\w+)?$/i },
  { words: /\b(doors?|meets?)\b/, use: 'handler, unavailable-handler, onConnection' },
  { words: /\bgates?\b/, use: 'admission, preHandler' },
  { words: /\b(visitors?|exchanges?)\b/, use: 'public request, proxied request', where: tunnelCode },
  { words: /\bcarriers?\b/, use: 'client session', where: tunnelCode },
  { words: /\bunder way\b/, use: 'in-flight' },
  { words: /\b(gathered|crumbs?|splices?|spliced)\b/, use: 'buffered, chunk, relay', where: tunnelCode, except: /^splice$/ },
  { words: /\bpassing buffers\b/, use: 'external-buffers' },
  { words: /\b(quads?|eras?|piece table)\b/, use: 'word-scan, time partition, token cache' },
  { words: /\bstandings?\b/, use: 'status, nextStatus' },
  { words: /\b(told at|list untold|untold)\b/, use: 'delivered_at, listUndelivered' },
  { words: /\bchores?\b/, use: 'scheduled tasks' },
  { words: /\bjournals?\b/, use: 'business events' },
  { words: /\b(turns?|heats?|pokes?|hurry|hurries|pumps?)\b/, use: 'queue slot, mark due, schedule, poll now', where: queueCode },
  { words: /\b(shelf|shelves|desks?)\b/, use: 'attachment source, simulator state' },
  { words: /\bhandovers?\b|^hop$/, use: 'delivery result, next hop', except: /^hop$/ },
  { words: /\b(fresh|plain) letters?\b/, use: 'message cache, plain-message writer' },
  { words: /\bsettles?\b/, use: 'commit results', except: /settle(Ms|Seconds)$/i },
  { words: /\b(resting|patience|farewells?|obeys?)\b/, use: 'backoff, wait timer, close reply, apply' },
  { words: /\b(likeness|signs|circumstances)\b/, use: 'lookalike, indicators, context' },
  { words: /\b(stages?|house)\b/, use: 'fixtures, harness, architecture' },
  { words: /\b(leftovers?|diagnosis)\b/, use: 'stale files, diagnostics' },
]

const split = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_.#]+/g, ' ')
    .trim()
    .toLowerCase()

/** The replacement of a retired name, or null. */
export function replacementFor(name: string, path: string): string | null {
  const words = split(name)
  const retired = retiredNames.find((term) => term.words.test(words) && (!term.where || term.where.test(path)) && !term.except?.test(name))
  return retired ? retired.use : null
}

/** Each retired name once per file, at its first line, and each file or folder name at line 1. */
export function findRetiredNames(sources: Source[]): Place[] {
  const folders = new Set<string>()
  return sources.flatMap((source) => {
    const places: Place[] = []
    const parts = source.path.split('/')
    parts.forEach((part, index) => {
      const path = parts.slice(0, index + 1).join('/')
      const name = part.replace(/(\.test)?\.\w+$/, '')
      const use = replacementFor(name, path)
      if (!use || folders.has(path)) return
      folders.add(path)
      places.push({ path, line: 1, excerpt: `${name}: use ${use}` })
    })
    const names = new Map<string, number>()
    for (const { text, at } of namesIn(source)) if (!names.has(text)) names.set(text, at)
    const lineAt = lineFinder(source.text)
    for (const [name, at] of names) {
      const use = replacementFor(name, source.path)
      if (use) places.push({ path: source.path, line: lineAt(at), excerpt: `${name}: use ${use}` })
    }
    return places
  })
}

function namesIn(source: Source): { text: string; at: number }[] {
  if (source.language === 'ts' || source.language === 'tsx') return readSyntax(source).names
  if (source.language !== 'sql') return []
  const code = source.text.replace(/--[^\n]*|'(?:[^']|'')*'/g, (text) => ' '.repeat(text.length))
  return [...code.matchAll(/\w+/g)].map((match) => ({ text: match[0], at: match.index }))
}
