// Most mail has no long word, so it is spared the search for each issuer's secrets.

/** The characters that issued secrets consist of, and the length of the shortest ones. */
const runCharacters = Buffer.alloc(128)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/.:=-') runCharacters[character.charCodeAt(0)] = 1
const runMin = 20

/** True for a text that may hold an issued secret. Reads each possible run from its end, so that it skips most characters. */
export function hasLongRun(text: string): boolean {
  let start = 0
  while (start + runMin <= text.length) {
    let at = start + runMin - 1
    while (at >= start && runCharacters[text.charCodeAt(at)] === 1) at--
    if (at < start) return true
    start = at + 1
  }
  return false
}
