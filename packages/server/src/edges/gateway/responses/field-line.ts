// Reads one header line of a request or response (RFC 9112 section 5). White space before the colon, folded lines and control characters
// are refused.

const namePattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/

const isBlank = (code: number): boolean => code === 32 || code === 9

/** Name and value of a line without its line end, with one character per byte. Null when the line is malformed. */
export function readField(line: string): [string, string] | null {
  const colon = line.indexOf(':')
  if (colon < 1) return null
  const name = line.slice(0, colon)
  // Trimmed by hand. A pattern for trailing blanks would retry from each blank of a run in the middle, in quadratic time.
  let from = colon + 1
  let to = line.length
  while (from < to && isBlank(line.charCodeAt(from))) from++
  while (to > from && isBlank(line.charCodeAt(to - 1))) to--
  const value = line.slice(from, to)
  return namePattern.test(name) && valuePattern.test(value) ? [name, value] : null
}
