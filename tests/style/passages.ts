// Cuts sources into passages of prose: one comment, paragraph, list item, table cell or message each, without the code in them.
import type { Source } from './sources.ts'
import { type Fragment, insertion, readSyntax } from './syntax.ts'

/** A line break in `text` is a line break in the file, so that an offset has a line. */
export type Passage = { path: string; line: number; kind: 'comment' | 'doc' | 'message'; text: string }

/** Stands where code was cut out, so that the sentence still has a noun there. */
export const cutCode = '◦'

const wordsOfMessageMin = 3
// SQL, HTML, CSS, protocol text and lists of phrases.
const looksLikeCode = new RegExp(
  [
    /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|FROM|JOIN|VALUES|RETURNING|CREATE|ALTER|DROP|ORDER BY|FOR UPDATE|BEGIN|SET|AND)\b/,
    /<\/?[a-z][^<>]*>|\{[^{}]*;|;[ \w-]+=|HTTP\/1|\\r\\n|\r|\|[^|]*\|/,
  ]
    .map((pattern) => pattern.source)
    .join('|'),
)

export function readPassages(source: Source): Passage[] {
  if (source.language === 'md') return readMarkdown(source)
  if (source.language === 'sql') return readSqlComments(source)
  const { comments, strings } = readSyntax(source)
  const lineAt = lineFinder(source.text)
  return [
    ...joinLineComments(source.text, comments).flatMap((comment) => commentPassages(source.path, lineAt(comment.at), comment.text)),
    ...strings.flatMap((string) => messagePassages(source.path, lineAt(string.at), string.text)),
  ]
}

export function lineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}

/** Neighbouring `//` lines are one comment. */
function joinLineComments(text: string, comments: Fragment[]): Fragment[] {
  const joined: Fragment[] = []
  let end = -1
  for (const comment of comments) {
    const last = joined.at(-1)
    const isLine = comment.text.startsWith('//')
    const follows = end >= 0 && /^\r?\n[ \t]*$/.test(text.slice(end, comment.at))
    if (last && isLine && follows && last.text.startsWith('//')) last.text += `\n${comment.text}`
    else joined.push({ ...comment })
    end = isLine ? comment.at + comment.text.length : -1
  }
  return joined
}

function commentPassages(path: string, line: number, comment: string): Passage[] {
  const lines = comment
    .replace(/^\/\*+|\*+\/$/g, '')
    .split('\n')
    .map((text) => text.replace(/^\s*(\/\/+|--+|\*)?/, ''))
    .map((text) => text.replace(/^\s*(biome-ignore|@ts-\w+|eslint-\S+)[^:]*:?/, '').replace(/^\s*@(param|returns?|throws)(\s+\w+)?/, ''))
  return paragraphs(lines, line).map((part) => ({ path, kind: 'comment' as const, line: part.line, text: cutIdentifiers(part.text) }))
}

/** Splits at blank lines and at list items. */
function paragraphs(lines: string[], firstLine: number): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = []
  let open = false
  lines.forEach((text, index) => {
    const isItem = /^\s*([-*+]|\d+\.)\s/.test(text)
    const last = found.at(-1)
    if (text.trim() === '') open = false
    else if (open && !isItem && last) last.text += `\n${text}`
    else {
      found.push({ line: firstLine + index, text })
      open = true
    }
  })
  return found
}

function messagePassages(path: string, line: number, text: string): Passage[] {
  if (looksLikeCode.test(text)) return []
  return text
    .split('\n')
    .map((part, index) => ({
      path,
      kind: 'message' as const,
      line: line + index,
      text: cutIdentifiers(part.replaceAll(insertion, cutCode)),
    }))
    .filter((passage) => wordsIn(passage.text) >= wordsOfMessageMin)
}

function readSqlComments({ path, text }: Source): Passage[] {
  const masked = text.replace(/'(?:[^']|'')*'/g, (literal) => literal.replace(/[^\n]/g, '_'))
  const comments = [...masked.matchAll(/--[^\n]*|\/\*[\s\S]*?\*\//g)].map((match) => ({
    at: match.index,
    text: text.slice(match.index, match.index + match[0].length).replace(/^--/, '//'),
  }))
  const lineAt = lineFinder(text)
  return joinLineComments(text, comments).flatMap((comment) => commentPassages(path, lineAt(comment.at), comment.text))
}

function readMarkdown({ path, text }: Source): Passage[] {
  const found: { line: number; text: string }[] = []
  const withoutCode = text
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^( *)(```|~~~)[^\n]*\n[\s\S]*?^ *\2 *$/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
  // Headings and table rows end the paragraph before them.
  const lines = withoutCode.split('\n').map((line, index) => {
    const isRow = /^\s*\|.*\|\s*$/.test(line)
    const isHeading = line.startsWith('#')
    if (isHeading) found.push({ line: index + 1, text: line })
    if (isRow) for (const cell of cutSpans(line).split('|').slice(1, -1)) found.push({ line: index + 1, text: cell })
    return isRow || isHeading ? '' : line.replace(/^\s*>\s?/, '')
  })
  return [...found, ...paragraphs(lines, 1)]
    .filter((part) => /[a-z]/i.test(part.text))
    .map((part) => ({ path, kind: 'doc' as const, line: part.line, text: cutIdentifiers(part.text) }))
    .toSorted((a, b) => a.line - b.line)
}

const blank = (code: string): string => code.replace(/[^\n]/g, '')

const cutSpans = (text: string): string => text.replace(/``?[^`]+``?/g, (code) => cutCode + code.replace(/[^\n]/g, ''))

/** Cuts code spans, link targets, URLs, paths, calls and compound names. The rest is read as English. */
export function cutIdentifiers(text: string): string {
  return cutSpans(text)
    .replace(/\]\([^)\n]*\)/g, ']')
    .replace(/\b[a-z][a-z+.-]*:\/\/[^\s)>\]]+/gi, cutCode)
    .replace(/(?<![\w@])[\w.+-]+@[\w.-]+\w/g, cutCode)
    .replace(/\$\{[^}]*\}/g, cutCode)
    .replace(/\b\w+\([^)\s]*\)/g, cutCode)
    .replace(/[\w.-]*\w[./_]\w[\w./-]*/g, (name) => (/[a-z]/i.test(name) ? cutCode : name))
    .replace(/\b[a-z]+\d*[A-Z]\w*/g, cutCode)
}

export const wordsIn = (text: string): number => text.match(/[A-Za-z][A-Za-z'’-]*/g)?.length ?? 0

/** Sentences with their offset into the passage. A closing bracket or quote belongs to the sentence before it. */
export function sentencesOf(text: string): { at: number; text: string }[] {
  const found: { at: number; text: string }[] = []
  let from = 0
  for (const match of text.matchAll(/[.!?]["'”)\]*]*(?=\s+["'“([*]*[A-Z0-9◦])/g)) {
    const end = match.index + match[0].length
    found.push({ at: from, text: text.slice(from, end) })
    from = end
  }
  found.push({ at: from, text: text.slice(from) })
  return found
    .map((sentence) => {
      const lead = /^[\s\-*+>#("'“[]*(\d+\.\s+)?[*_"“(]*/.exec(sentence.text)?.[0].length ?? 0
      return { at: sentence.at + lead, text: sentence.text.slice(lead) }
    })
    .filter((sentence) => sentence.text.trim() !== '')
}
