// Tag lists (RFC 6376 §3.2), the syntax of signatures, key records and DMARC records.

/** `value` has no surrounding white space, and single spaces within. `start` and `end` are the offsets of the raw value after the `=`. */
export type Tag = { value: string; start: number; end: number }

/** Names are case-sensitive. `firstName` is '' for an empty list. The tags of a list with a `defect` must not be trusted. */
export type TagList = { tags: Map<string, Tag>; firstName: string; defect: string | null }

/** Reads the tag list that starts at `from`. Never throws. A repeated tag is a defect of the list, and its last value counts. */
export function readTagList(text: string, from = 0): TagList {
  const list: TagList = { tags: new Map(), firstName: '', defect: null }
  let at = from
  do {
    const semicolon = text.indexOf(';', at)
    const end = semicolon < 0 ? text.length : semicolon
    const defect = readTag(text, at, end, list)
    // The list may end with one semicolon.
    if (defect !== null && (defect !== 'empty tag' || semicolon >= 0 || at === from)) list.defect ??= defect
    at = end + 1
  } while (at <= text.length)
  return list
}

/** Adds one tag to the list. Gives its defect, or null. */
function readTag(text: string, from: number, end: number, list: TagList): string | null {
  // The search is limited to the tag, because a list may hold 100,000 tags without an equals sign.
  const equals = from + text.slice(from, end).indexOf('=')
  if (equals < from) return squeeze(text, from, end) === '' ? 'empty tag' : 'tag without a value'
  const name = squeeze(text, from, equals)
  const isRepeated = list.tags.has(name)
  if (list.tags.size === 0) list.firstName = name
  list.tags.set(name, { value: squeeze(text, equals + 1, end), start: equals + 1, end })
  if (isRepeated) return 'tag given twice'
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name) ? null : 'tag with a bad name'
}

/** A part of the text, trimmed, with each run of folding white space as one space. */
function squeeze(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isWhite(text.charCodeAt(start))) start++
  while (end > start && isWhite(text.charCodeAt(end - 1))) end--
  const part = text.slice(start, end)
  return /[\t\r\n]| {2}/.test(part) ? part.replace(/[ \t\r\n]+/g, ' ') : part
}

const isWhite = (code: number): boolean => code === 32 || code === 9 || code === 13 || code === 10

/** The nonempty entries of a colon-separated list, in lower case and without white space. */
export const readNames = (value: string): string[] =>
  value
    .toLowerCase()
    .split(/ ?: ?/)
    .filter((name) => name !== '')
