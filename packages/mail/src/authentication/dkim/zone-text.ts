// Text in the syntax of zone files (RFC 1035 §5.1).

const stringOctetsMax = 255

/** A TXT value as quoted strings of at most 255 octets. Octets other than plain ASCII are escaped as \DDD. */
export function quotedTxt(value: string): string {
  const bytes = Buffer.from(value)
  const strings: string[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += stringOctetsMax) strings.push(quoted(bytes.subarray(at, at + stringOctetsMax)))
  return strings.join(' ')
}

const quoted = (bytes: Buffer): string => `"${[...bytes].map(escaped).join('')}"`

function escaped(byte: number): string {
  if (byte < 0x20 || byte > 0x7e) return `\\${String(byte).padStart(3, '0')}`
  const character = String.fromCharCode(byte)
  return character === '"' || character === '\\' ? `\\${character}` : character
}
