// Eras: what ids of messages have in common at their beginning. Some indexes go by mailbox and era, so that what they cost does not grow with a mailbox.
import { firstId, idAlphabet } from '@callsign/contract/ids'

/** Milliseconds of an era, 12 days: the first four characters of an id tell it (migration 0026). */
const eraMs = 2 ** 30

const timeOf = (id: string): number => [...id.slice(4, 14)].reduce((sum, digit) => sum * 32 + idAlphabet.indexOf(digit), 0)
const eraOf = (id: string): number => Math.floor(timeOf(id) / eraMs)
const nameOf = (era: number): string => firstId('message', era * eraMs).slice(4, 8)

/** Messages in a row, from the newer id to the older one, that were looked through, and how many of them were wanted. */
export type Stretch = { hits: number; firstId: string; lastId: string }

const hitsOfEra = (hits: number, fromMs: number, backToMs: number): number => (hits * eraMs) / (fromMs - backToMs + 1)

/** How many hits an era has where all of it is like this stretch. */
export const expectedHits = ({ hits, firstId, lastId }: Stretch): number => hitsOfEra(hits, timeOf(firstId), timeOf(lastId))

/**
 * Asks for what is older than a stretch, era by era back to the oldest id, until `wanted` are found: several eras at once where hits are rare. `ask` takes
 * the names of eras and gives the newest hits of all of them, at most so many.
 */
export async function askEras<T>(
  stretch: Stretch,
  oldestId: string,
  wanted: number,
  ask: (names: string[], limit: number) => Promise<T[]>,
): Promise<T[]> {
  const found: T[] = []
  const eras = Array.from({ length: Math.max(0, eraOf(stretch.lastId) - eraOf(oldestId) + 1) }, (_, back) => eraOf(stretch.lastId) - back)
  for (let together = 1; eras.length > 0 && found.length < wanted; ) {
    const asked = eras.splice(0, together)
    found.push(...(await ask(asked.map(nameOf), wanted - found.length)))
    const perEra = hitsOfEra(stretch.hits + found.length, timeOf(stretch.firstId), (asked.at(-1) as number) * eraMs)
    together = Math.max(1, Math.min(2 * together, Math.ceil((wanted - found.length) / perEra)))
  }
  return found
}
