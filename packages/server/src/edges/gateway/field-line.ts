// One header line, the same for both sides (RFC 9112 section 5): no white space before the colon, no folded lines, no control characters.

const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/

const isBlank = (code: number): boolean => code === 32 || code === 9

/** Name and value of a line without its end, a character for each byte; null when it is not well-formed. */
export function readField(line: string): [string, string] | null {
  const colon = line.indexOf(':')
  if (colon < 1) return null
  const name = line.slice(0, colon)
  // By hand: a pattern for blanks at the end would look at a run of them in the middle from each of its places on.
  let from = colon + 1
  let to = line.length
  while (from < to && isBlank(line.charCodeAt(from))) from++
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--
  const value = line.slice(from, to)
  return namePattern.test(name) && valuePattern.test(value) ? [name, value] : null
}
