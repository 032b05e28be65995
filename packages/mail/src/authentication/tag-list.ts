// Tag lists (RFC 6376 §3.2), as signatures, key records and DMARC records are written.

/** `value`: without white space around it, runs within as one space. `start` and `end`: where all that stands behind the `=` lies in the text. */
export type Tag = { value: string; start: number; end: number }

/** Names are case-sensitive. `firstName` is '' for a list of nothing; `defect` says what is wrong with the list, whose tags are then not to be trusted. */
export type TagList = { tags: Map<string, Tag>; firstName: string; defect: string | null }

/** Reads the tag list that starts at `from`. Never throws; a repeated tag is a defect of the whole list, and its last value stands. */
export function readTagList(text: string, from = 0): TagList {
  const list: TagList = { tags: new Map(), firstName: '', defect: null }
  let at = from
  do {
    const semicolon = text.indexOf(';', at)
    const end = semicolon < 0 ? text.length : semicolon
    const defect = readTag(text, at, end, list)
    // One semicolon may stand at the end of the list, and nothing behind it.
    if (defect !== null && (defect !== 'empty tag' || semicolon >= 0 || at === from)) list.defect ??= defect
    at = end + 1
  } while (at <= text.length)
  return list
}

/** Adds one tag to the list; gives what is wrong with it. */
function readTag(text: string, from: number, end: number, list: TagList): string | null {
  // Not looked for in all that follows: a list may hold a hundred thousand tags without one.
  const equals = from + text.slice(from, end).indexOf('=')
  if (equals < from) return squeeze(text, from, end) === '' ? 'empty tag' : 'tag without a value'
  const name = squeeze(text, from, equals)
  const isRepeated = list.tags.has(name)
  if (list.tags.size === 0) list.firstName = name
  list.tags.set(name, { value: squeeze(text, equals + 1, end), start: equals + 1, end })
  if (isRepeated) return 'tag given twice'
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name) ? null : 'tag with a bad name'
}

/** A part of the text with runs of folding white space as one space, none at the ends. */
function squeeze(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isWhite(text.charCodeAt(start))) start++
  while (end > start && isWhite(text.charCodeAt(end - 1))) end--
  const part = text.slice(start, end)
  return /[\t\r\n]| {2}/.test(part) ? part.replace(/[ \t\r\n]+/g, ' ') : part
}

const isWhite = (code: number): boolean => code === 32 || code === 9 || code === 13 || code === 10

/** The entries of a colon-separated list in lower case, without white space and empty ones. */
export const readNames = (value: string): string[] =>
  value
    .toLowerCase()
    .split(/ ?: ?/)
    .filter((name) => name !== '')
