// Cleans strings for storage: no NUL, which PostgreSQL refuses, no lone surrogates, and no control characters in one-line values.

/** Removes NUL characters and replaces lone surrogates. Keeps line ends and tabs. */
export function storableText(text: string): string {
  const withoutNul = text.includes('\0') ? text.replaceAll('\0', '') : text
  return withoutNul.isWellFormed() ? withoutNul : withoutNul.toWellFormed()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const CONTROL = /[\x00-\x1f\x7f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const CONTROLS_BUT_NUL = /[\x01-\x1f\x7f]/g

/** A trimmed one-line value. NUL is removed, and other control characters, such as line ends in an encoded word, become spaces. */
export function storableLine(text: string): string {
  const line = CONTROL.test(text) ? text.replaceAll('\0', '').replace(CONTROLS_BUT_NUL, ' ') : text
  return (line.isWellFormed() ? line : line.toWellFormed()).trim()
}

/** The first `charactersMax` UTF-16 units of a text, without half a surrogate pair at the end. */
export function cutText(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const last = text.charCodeAt(charactersMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charactersMax - 1 : charactersMax)
}

/** Lines per join. A list of all lines would take many times the size of a text of very short lines. */
const linesMax = 1024

/** Replaces CRLF and lone CR by LF. `replaceAll` takes 4 times as long and 50 times the memory for short lines. */
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
