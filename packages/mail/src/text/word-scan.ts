// Searches of octets four at a time, for patterns that engines have no fast search for.

/** The octets as 32-bit words, from the aligned position at or before the first octet. Word i begins with octet `4 * i - skew`. */
export type Words = { words: Int32Array; skew: number }

export function wordsOf(bytes: Buffer): Words {
  const skew = bytes.byteOffset % 4
  return { words: new Int32Array(bytes.buffer, bytes.byteOffset - skew, (skew + bytes.length) >> 2), skew }
}

/**
 * Nonzero exactly when one of four octets is below a limit of at most 128. The highest bit of each such octet is set. The bit of an octet at
 * the limit may be set too, when it is above such an octet.
 */
export const octetsBelow = (four: number, limit: number): number => (four - Math.imul(limit, 0x0101_0101)) & ~four & 0x8080_8080
