// Inputs of the fuzzer. These are seeds, repeatable chance, mutations, and a pool that keeps inputs with new behaviour.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Chance = { below: (bound: number) => number; pick: <T>(list: readonly T[]) => T }

/** mulberry32 is small and fast, and gives the same numbers for a seed on every machine. */
export function createChance(seed: number): Chance {
  let state = seed | 0
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
  return { below, pick: (list) => list[below(list.length)] as never }
}

const bytesMax = 96 * 1024

/** Changes a few places of the bytes by flips, cuts, copies, protocol keywords, and pieces of another input. */
export function mutate(bytes: Buffer, other: Buffer, words: readonly string[], chance: Chance): Buffer {
  let changed = Buffer.from(bytes)
  for (let count = 1 + chance.below(5); count > 0; count--) {
    const at = chance.below(changed.length + 1)
    const length = 1 + chance.below(chance.below(4) === 0 ? 2_000 : 20)
    const before = changed.subarray(0, at)
    const after = changed.subarray(at)
    const word = Buffer.from(chance.pick(words), 'latin1')
    const from = chance.below(other.length + 1)
    switch (chance.below(8)) {
      case 0:
        changed = Buffer.concat([before, Buffer.of(chance.below(256)), after.subarray(1)])
        break
      case 1:
        changed = Buffer.concat([before, after.subarray(length)])
        break
      case 2:
        changed = Buffer.concat([before, after.subarray(0, length), after])
        break
      case 3:
      case 4:
        changed = Buffer.concat([before, word, after])
        break
      case 5:
        changed = Buffer.concat([before, Buffer.from(word.toString('latin1').repeat(1 + chance.below(300)), 'latin1'), after])
        break
      case 6:
        changed = Buffer.concat([before, other.subarray(from, from + length * 10), after])
        break
      default:
        changed = Buffer.concat([before, other.subarray(from)])
    }
    if (changed.length > bytesMax) changed = changed.subarray(0, bytesMax)
  }
  return changed
}

/** Keeps every input that behaved in a new way or reached new code. Of inputs with equal behaviour the smallest stays. */
export class Pool {
  readonly #kept = new Map<string, Buffer>()
  readonly #behavioursMax = 1_000
  #behaviours = 0

  addBehaviour(behaviour: string, bytes: Buffer): void {
    const known = this.#kept.get(behaviour)
    if (known === undefined && this.#behaviours >= this.#behavioursMax) return
    if (known === undefined) this.#behaviours++
    if (known === undefined || bytes.length < known.length) this.#kept.set(behaviour, copyOf(bytes))
  }

  /** Adds a seed, or the first input that reached a block. All of them are kept, and there are at most as many as blocks. */
  addFirst(name: string, bytes: Buffer): void {
    this.#kept.set(name, copyOf(bytes))
  }

  pick(chance: Chance): Buffer {
    let index = chance.below(this.#kept.size)
    for (const bytes of this.#kept.values()) if (index-- === 0) return bytes
    return Buffer.alloc(0)
  }

  /** Octets of all inputs kept. */
  get bytes(): number {
    return [...this.#kept.values()].reduce((sum, bytes) => sum + bytes.length, 0)
  }

  get size(): number {
    return this.#kept.size
  }
}

/** Copies into separate memory, because small buffers share slabs, and one kept buffer would keep the whole slab. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

const packages = join(import.meta.dirname, '..', '..', 'packages')
const mailFolder = join(packages, 'mail', 'tests', 'messages')
const dialogFolder = join(packages, 'server', 'tests', 'transcripts', 'smtp')

/** The messages that the parser's tests use. */
export const readMailSeeds = (): Buffer[] => globSync('*.eml', { cwd: mailFolder }).map((name) => readFileSync(join(mailFolder, name)))

/** Client bytes of the transcripts that the SMTP server's tests play. */
export const readDialogSeeds = (): Buffer[] =>
  globSync('*.txt', { cwd: dialogFolder }).map((name) => {
    const lines = readFileSync(join(dialogFolder, name), 'latin1').split('\n')
    return Buffer.from(lines.flatMap((line) => (line.startsWith('C: ') ? [`${line.slice(3)}\r\n`] : [])).join(''), 'latin1')
  })
