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

/** CRLF and lone CR become LF. */
export function unifyLineEnds(text: string): string {
  if (!text.includes('\r')) return text
  const unified = text.replaceAll('\r\n', '\n')
  return unified.includes('\r') ? unified.replaceAll('\r', '\n') : unified
}
