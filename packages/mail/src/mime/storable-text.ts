// Makes any string fit for storage: no NUL (PostgreSQL text cannot hold it), no lone surrogates, and for one-line values no control characters.

/** Removes NUL characters and replaces lone surrogates; line ends and tabs stay. */
export function storableText(text: string): string {
  const withoutNul = text.includes('\0') ? text.replaceAll('\0', '') : text
  return withoutNul.isWellFormed() ? withoutNul : withoutNul.toWellFormed()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\x00-\x1f\x7f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS_BUT_NUL = /[\x01-\x1f\x7f]/g

/** A one-line value: NUL removed, other control characters (line ends that an encoded word smuggled in, too) become spaces, ends trimmed. */
export function storableLine(text: string): string {
  const line = CONTROL.test(text) ? text.replaceAll('\0', '').replace(CONTROLS_BUT_NUL, ' ') : text
  return (line.isWellFormed() ? line : line.toWellFormed()).trim()
}

/** The first `charactersMax` UTF-16 units of a text, never ending in half a surrogate pair. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const last = text.charCodeAt(charactersMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charactersMax - 1 : charactersMax)
}

/** So many lines are put together at a time: a text of very short lines would take many times its size as a list of them. */
const linesMax = 1024

/** CRLF and lone CR become LF. V8's own replacing takes four times as long and fifty times the memory for short lines. */
export function unifyLineEnds(text: string): string {
  let end = text.indexOf('\r')
  if (end < 0) return text
  const unified: string[] = []
  let lines: string[] = []
  let start = 0
  for (; end >= 0; end = text.indexOf('\r', start)) {
    lines.push(text.slice(start, end))
    start = text.charCodeAt(end + 1) === 0x0a ? end + 2 : end + 1
    if (lines.length < linesMax) continue
    unified.push(lines.join('\n'))
    lines = []
  }
  lines.push(text.slice(start))
  unified.push(lines.join('\n'))
  return unified.join('\n')
}
