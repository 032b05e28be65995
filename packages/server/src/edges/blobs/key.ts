// Validates blob keys, so that each is a safe file name and object name that cannot escape its folder.

const keyPattern = /^[a-z0-9_-][a-z0-9_.-]*(?:\/[a-z0-9_-][a-z0-9_.-]*)*$/
const keyLengthMax = 200

/**
 * Throws unless the key is a path of at most 200 lower-case letters, digits, `_`, `-`, `.` and `/`, whose parts do not begin with a dot. An
 * invalid key is a bug of the server.
 */
export function checkBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new Error(`not a blob key: ${JSON.stringify(key.slice(0, keyLengthMax))}`)
}

/** True for a key that this server could have written. */
export const isBlobKey = (key: string): boolean => key.length <= keyLengthMax && keyPattern.test(key)

/** Throws unless `start` and `end` (exclusive) are whole numbers with 0 ≤ start ≤ end. */
export function checkBlobRange(range: { start: number; end: number } | undefined): void {
  if (!range) return
  const isRange = Number.isSafeInteger(range.start) && Number.isSafeInteger(range.end) && range.start >= 0 && range.end >= range.start
  if (!isRange) throw new RangeError(`not a byte range: ${range.start}-${range.end}`)
}
