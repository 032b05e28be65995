// Octets looked at four at a time: what engines do not search for by themselves is found sooner so.

/** The octets of `bytes` in fours, from the boundary of four at or before the first of them: word i begins with octet `4 * i - skew`. */
export type Quads = { words: Int32Array; skew: number }

export function quadsOf(bytes: Buffer): Quads {
  const skew = bytes.byteOffset % 4
  return { words: new Int32Array(bytes.buffer, bytes.byteOffset - skew, (skew + bytes.length) >> 2), skew }
}

/**
 * Not 0 exactly when one of four octets is below a limit of at most 128. Its bits are the highest of each octet that is; above one that is, perhaps
 * that of an octet at the limit as well.
 */
export const octetsBelow = (four: number, limit: number): number => (four - Math.imul(limit, 0x0101_0101)) & ~four & 0x8080_8080
