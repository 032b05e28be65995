// Readings of DNS records, kept by their text: most mail comes from few senders, and a changed record is another text.

const keptMax = 1_000

/** A reader that keeps its last thousand readings, those of records up to `charactersMax`; what was not asked for longest goes first. */
export function keepReadings<Reading extends object>(
  read: (record: string) => Reading,
  charactersMax: number,
): (record: string) => Reading {
  const kept = new Map<string, Reading>()
  return (record) => {
    const known = kept.get(record)
    const reading = known ?? read(record)
    if (record.length > charactersMax) return reading
    // A map keeps the order of insertion.
    if (known) kept.delete(record)
    kept.set(record, reading)
    if (kept.size > keptMax) kept.delete(kept.keys().next().value as string)
    return reading
  }
}
