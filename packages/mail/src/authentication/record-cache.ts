// A cache of parsed DNS records by their text. Most mail comes from few senders, and a changed record has another text.

const keptMax = 1_000

/** Caches the 1,000 most recently used results of `read`, for records of up to `charactersMax` characters. */
export function keepReadings<Reading extends object>(
  read: (record: string) => Reading,
  charactersMax: number,
): (record: string) => Reading {
  const kept = new Map<string, Reading>()
  return (record) => {
    const known = kept.get(record)
    const reading = known ?? read(record)
    if (record.length > charactersMax) return reading
    // A map keeps the order of insertion, so that the first entry is the least recently used.
    if (known) kept.delete(record)
    kept.set(record, reading)
    if (kept.size > keptMax) kept.delete(kept.keys().next().value as string)
    return reading
  }
}
