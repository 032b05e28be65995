// Most mail has no long word, or only links, so the search for each issuer's secrets reads a small part of it.

/** The characters that issued secrets consist of, and the length of the shortest ones. */
const runCharacters = Buffer.alloc(128)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/.:=~|-')
  runCharacters[character.charCodeAt(0)] = 1
const runMin = 20

/** Longer than the names of settings by which some secrets are recognized, and what stands between. */
const surroundings = 256

/**
 * The parts of a text that may hold an issued secret: long runs with their surroundings, joined by empty lines. Empty for a text without any.
 * Reads each possible run from its end, so that it skips most characters.
 */
export function aroundLongRuns(text: string): string {
  const parts: { from: number; to: number }[] = []
  let start = 0
  while (start + runMin <= text.length) {
    let at = start + runMin - 1
    while (at >= start && runCharacters[text.charCodeAt(at)] === 1) at--
    if (at >= start) {
      start = at + 1
      continue
    }
    let end = start + runMin
    while (end < text.length && runCharacters[text.charCodeAt(end)] === 1) end++
    const [from, to] = [Math.max(0, start - surroundings), end + surroundings]
    const last = parts.at(-1)
    if (last && from <= last.to) last.to = to
    else parts.push({ from, to })
    start = end + 1
  }
  return parts.length === 1 && parts[0]?.from === 0 && parts[0].to >= text.length
    ? text
    : parts.map(({ from, to }) => text.slice(from, to)).join('\n\n')
}
