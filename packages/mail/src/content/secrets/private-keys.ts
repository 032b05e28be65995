// Finds private keys: PEM (RFC 7468), OpenSSH, PGP (RFC 9580 §6.2), PuTTY, and age.

/** A header alone is not a key. The smallest keys have 64 characters of Base64, of which those `+` at an end are taken for signs between strings. */
const keyCharactersMin = 60
const searchedCharacters = 2_000

const header = /-----BEGIN ((?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?)-----|PuTTY-User-Key-File-[23]: [a-z0-9-]{1,40}/g

/** The private keys in a text, with the type of each from its header. The text of a header ends at the next one. */
export function findPrivateKeys(text: string): { name: string; evidence: string }[] {
  const found: { name: string; evidence: string }[] = []
  if (text.includes('PRIVATE KEY') || text.includes('PuTTY-User-Key-File')) {
    const headers = [...text.matchAll(header)]
    for (const [index, match] of headers.entries()) {
      const start = match.index + match[0].length
      const end = Math.min(start + searchedCharacters, headers[index + 1]?.index ?? text.length)
      if (keyCharacters(text.slice(start, end)) < keyCharactersMin) continue
      found.push({ name: 'private key', evidence: match[1] ?? 'PuTTY' })
    }
  }
  if (/\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\b/.test(text)) found.push({ name: 'age key', evidence: 'AGE-SECRET-KEY-1…' })
  return found
}

/** Characters in lines of Base64 before the footer. Fields such as `Proc-Type: 4,ENCRYPTED` and prose do not count. */
function keyCharacters(text: string): number {
  const footer = text.indexOf('-----END')
  const body = (footer === -1 ? text : text.slice(0, footer)).replaceAll('\\r', '').replaceAll('\\n', '\n')
  let count = 0
  for (const line of body.split(/[\r\n]+/)) {
    const bare = withoutQuoting(line)
    if (/^[A-Za-z0-9+/]{16,}={0,2}$/.test(bare)) count += bare.length
  }
  return count
}

/** The line without the signs of quotes, indents and joined strings at both ends. Each character is looked at once, as a pattern would not. */
function withoutQuoting(line: string): string {
  let start = 0
  let end = line.length
  while (start < end && /[\s>"'+|,]/.test(line[start] as string)) start++
  while (end > start && /[\s"'+\\|,;]/.test(line[end - 1] as string)) end--
  return line.slice(start, end)
}
