// Seeded random choices. The same seed plans the same mail and the same kills.

export type Random = ReturnType<typeof createRandom>

/** A separate stream of choices per seed. mulberry32 is fast, small and good enough to plan a test. */
export function createRandom(seed: number) {
  let state = seed >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const whole = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))

  return {
    /** True with this probability. */
    isHit: (probability: number): boolean => next() < probability,
    /** A whole number from min to max, both included. */
    whole,
    pick: <T>(list: readonly T[]): T => list[whole(0, list.length - 1)] as T,
    /** This many different members of a list. */
    pickSome<T>(list: readonly T[], count: number): T[] {
      const rest = [...list]
      return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(whole(0, rest.length - 1), 1)[0] as T)
    },
    bytes(count: number): Buffer {
      const bytes = Buffer.alloc(count)
      let at = 0
      for (; at + 4 <= count; at += 4) bytes.writeUInt32LE((next() * 2 ** 32) >>> 0, at)
      for (; at < count; at++) bytes[at] = whole(0, 255)
      return bytes
    },
  }
}
