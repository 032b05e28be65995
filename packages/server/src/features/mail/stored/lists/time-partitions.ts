// Time partitions: ranges of 12 days that the first characters of a message id name. Indexes by mailbox and partition cost the same in a mailbox of any size.
import { firstId, timeOfId } from '@callsign/contract/ids'

/** Length of a partition, 12 days: the first four characters of an id name it. */
const partitionMs = 2 ** 30

const partitionOf = (id: string): number => Math.floor(timeOfId(id) / partitionMs)
const nameOf = (partition: number): string => firstId('message', partition * partitionMs).slice(4, 8)

/** The indexes by owner and partition: words, marks, and marks of an organization. */
export type PartitionPrefix = 's' | 'm' | 'o'

/** Condition for the messages `m` of partitions, in the form of the index. The parameter is a list of `partitionKeys`. */
export const inPartitions = (prefix: PartitionPrefix, column: 'mailbox_id' | 'organization_id', parameter: string): string =>
  `ARRAY['${prefix}' || m.${column} || substr(m.id, 5, 4)] && ${parameter}::text[]`

/** The keys of an owner's partitions in an index. */
export const partitionKeys = (prefix: PartitionPrefix, ownerId: string, names: string[]): string[] =>
  names.map((name) => prefix + ownerId + name)

/** The lowest id of partitions, so that older partitions of the table are left out. The last of them is the oldest. */
export const firstIdIn = (names: string[]): string => `msg_${names.at(-1) ?? ''}`

/** Consecutive messages that were scanned, from the newer id to the older one, and the number of hits among them. */
export type Stretch = { hits: number; firstId: string; lastId: string }

const hitsPerPartition = (hits: number, fromMs: number, backToMs: number): number => (hits * partitionMs) / (fromMs - backToMs + 1)

/** The expected hits per partition, extrapolated from a stretch. */
export const expectedHits = ({ hits, firstId, lastId }: Stretch): number => hitsPerPartition(hits, timeOfId(firstId), timeOfId(lastId))

/**
 * Finds hits older than a stretch, partition by partition back to the oldest id, until it has `wanted`. Queries several partitions at once
 * where hits are rare. `ask` takes names of partitions, and returns their newest hits, at most `limit`.
 */
export async function askPartitions<T>(
  stretch: Stretch,
  oldestId: string,
  wanted: number,
  ask: (names: string[], limit: number) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = []
  const partitions = Array.from(
    { length: Math.max(0, partitionOf(stretch.lastId) - partitionOf(oldestId) + 1) },
    (_, back) => partitionOf(stretch.lastId) - back,
  )
  for (let together = 1; partitions.length > 0 && found.length < wanted; ) {
    const asked = partitions.splice(0, together)
    found.push(...(await ask(asked.map(nameOf), wanted - found.length)))
    const lastAsked = asked.at(-1) as number
    const perPartition = hitsPerPartition(stretch.hits + found.length, timeOfId(stretch.firstId), lastAsked * partitionMs)
    together = Math.max(1, Math.min(2 * together, Math.ceil((wanted - found.length) / perPartition)))
  }
  return found
}
