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
  const equals = text.indexOf('=', from)
  if (equals < 0 || equals >= end) return squeeze(text.slice(from, end)) === '' ? 'empty tag' : 'tag without a value'
  const name = squeeze(text.slice(from, equals))
  const isRepeated = list.tags.has(name)
  if (list.tags.size === 0) list.firstName = name
  list.tags.set(name, { value: squeeze(text.slice(equals + 1, end)), start: equals + 1, end })
  if (isRepeated) return 'tag given twice'
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name) ? null : 'tag with a bad name'
}

/** Runs of folding white space as one space, none at the ends. */
const squeeze = (text: string): string => text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '')

/** The entries of a colon-separated list in lower case, without white space and empty ones. */
export const readNames = (value: string): string[] =>
  value
    .toLowerCase()
    .split(':')
    .map((name) => name.replace(/^ | $/g, ''))
    .filter((name) => name !== '')
