// Plans the partitions of the large tables: the length of new ones, and the runs of empty ones that become one.

/** A partition of ids from `fromMs` to before `toMs`. The first one begins at minus infinity. */
export type Range = { fromMs: number; toMs: number }

const dayMs = 86_400_000
/** A partition of this size is vacuumed in minutes, and its indexes are built within some hundred megabytes of memory. */
const rowsPerPartition = 10_000_000
const shortestMs = dayMs
const longestMs = 366 * dayMs
/** Partitions are created this long before they are needed. A server that was off for longer creates them at its start. */
const [leastAheadMs, mostAheadMs] = [7 * dayMs, 30 * dayMs]

/** Length of the next partitions in ms, so that each gets about ten million rows at the rate of a partition with `rows` in `elapsedMs`. */
export function lengthOf(rows: number, elapsedMs: number): number {
  // A day, because the first hours of an installation say nothing.
  const perMs = rows / Math.max(elapsedMs, dayMs)
  const days = Math.floor(rowsPerPartition / Math.max(perMs, Number.MIN_VALUE) / dayMs)
  return Math.min(Math.max(days * dayMs, shortestMs), longestMs)
}

/**
 * Length of the partitions after these, by the faster of the rates of the one that is being filled and the one before it. The one that is being
 * filled alone says nothing in its first hours. `oldestMs` is the time of the oldest row.
 */
export function lengthAfter(partitions: (Range & { rows: number })[], oldestMs: number, nowMs: number): number {
  const index = partitions.findIndex(({ toMs }) => toMs > nowMs)
  const place = index === -1 ? partitions.length - 1 : index
  const lengths = partitions.slice(Math.max(0, place - 1), place + 1).map(({ rows, fromMs, toMs }) => {
    const startMs = Math.max(fromMs, oldestMs)
    // A partition that was never analysed has -1 rows.
    return lengthOf(Math.max(rows, 0), Math.min(nowMs, toMs) - startMs)
  })
  return Math.min(...lengths)
}

/**
 * The ranges to create behind `endMs`, so that ids have a partition for a time ahead. The time without a server is one range, because hundreds of
 * partitions would need more locks than PostgreSQL has for a transaction.
 */
export function missingRanges(endMs: number, lengthMs: number, nowMs: number): Range[] {
  const startMs = endMs + Math.max(0, Math.floor((nowMs - endMs) / lengthMs)) * lengthMs
  const past = startMs > endMs ? [{ fromMs: endMs, toMs: startMs }] : []
  const aheadMs = Math.min(Math.max(3 * lengthMs, leastAheadMs), mostAheadMs)
  const count = Math.max(0, Math.ceil((nowMs + aheadMs - startMs) / lengthMs))
  const ahead = Array.from({ length: count }, (_, index) => ({
    fromMs: startMs + index * lengthMs,
    toMs: startMs + (index + 1) * lengthMs,
  }))
  return [...past, ...ahead]
}

/** The parts of ranges behind `endMs`. The first one begins there, also when the ranges before it have become one. */
export const rangesBehind = (ranges: Range[], endMs: number): Range[] =>
  ranges.filter(({ toMs }) => toMs > endMs).map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, endMs), toMs }))

/** A range cut at times inside of it. */
export function dividedRanges({ fromMs, toMs }: Range, cutsMs: number[]): Range[] {
  const cuts = [...new Set(cutsMs)].filter((cut) => cut > fromMs && cut < toMs).sort((a, b) => a - b)
  return [fromMs, ...cuts].map((startMs, index) => ({ fromMs: startMs, toMs: cuts[index] ?? toMs }))
}

/** Times to cut at, so that `rows` that came evenly since `startMs` are divided well. */
export function cutsFor(rows: number, startMs: number, nowMs: number): number[] {
  const lengthMs = lengthOf(rows, nowMs - startMs)
  const firstMs = Math.floor(startMs / dayMs) * dayMs
  return Array.from({ length: Math.max(0, Math.floor((nowMs - firstMs) / lengthMs)) }, (_, index) => firstMs + (index + 1) * lengthMs)
}

/** Runs of neighbours that are empty and in the past, oldest first. Of a single one without a byte there is nothing to gain. */
export function emptyRuns<P extends Range & { isEmpty: boolean; sizeBytes: number }>(partitions: P[], nowMs: number): P[][] {
  const runs: P[][] = []
  let run: P[] = []
  for (const partition of partitions) {
    // A day, because the clocks of processes differ.
    if (partition.isEmpty && partition.toMs < nowMs - dayMs) {
      if (run.length === 0) runs.push(run)
      run.push(partition)
    } else {
      run = []
    }
  }
  return runs.filter((one) => one.length > 1 || one.some(({ sizeBytes }) => sizeBytes > 0))
}
