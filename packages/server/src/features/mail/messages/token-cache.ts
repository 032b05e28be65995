// Finds equal pieces of a text without creating a string for each, because most words of a message repeat.

import { CodeUnits } from '@callsign/mail/text/code-units'

/** The bit that is set in ASCII digits and small letters, and clear in capitals. */
export const caseBit = 0x20

/** Adds a code unit to a hash, the FNV-1a of 32 bits. */
export const mix = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x0100_0193)

/** The words of most messages fit into half of these slots. */
const slotsMin = 2048
/** Slots that are probed per piece. Ordinary words need about ten. Words chosen to collide would need as many as there are words. */
const stepsMax = 500

/** A hash table over one text at a time, in reused arrays. Pieces are numbered in the order of their first occurrence. */
export class TokenCache {
  readonly #texts = new CodeUnits()
  #units = new Uint16Array(0)
  /** The number of a piece plus 1, or 0. */
  #slots = new Int32Array(slotsMin)
  #slotMask = slotsMin - 1
  #hashes = new Int32Array(slotsMin / 2)
  #starts = new Int32Array(slotsMin / 2)
  /** Negative for a piece other than a plain word. */
  #lengths = new Int32Array(slotsMin / 2)
  #count = 0

  /** Starts a text. Returns its code units, followed by a blank. */
  start(text: string): Uint16Array {
    this.#units = this.#texts.of(text)
    this.#units[text.length] = 0x20
    this.#slotMask = slotsMin - 1
    this.#slots.fill(0, 0, slotsMin)
    this.#count = 0
    return this.#units
  }

  /** The number of a word of ASCII letters and digits, ignoring case. A new word gets the next number. Returns -1 after 500 probes. */
  findWord(start: number, end: number, hash: number): number {
    return this.#find(start, end - start, scatter(hash))
  }

  /** The number of any other piece, with case. */
  findOdd(start: number, end: number): number {
    let hash = 1
    for (let index = start; index < end; index++) hash = mix(hash, this.#units[index] as number)
    return this.#find(start, start - end, scatter(hash))
  }

  #find(start: number, length: number, hash: number): number {
    let slot = hash & this.#slotMask
    for (let steps = 0; steps < stepsMax; steps++) {
      const number = (this.#slots[slot] as number) - 1
      if (number < 0) return this.#add(slot, start, length, hash)
      if (this.#hashes[number] === hash && this.#lengths[number] === length && this.#isSame(this.#starts[number] as number, start, length))
        return number
      slot = (slot + 1) & this.#slotMask
    }
    return -1
  }

  #isSame(one: number, other: number, length: number): boolean {
    const units = this.#units
    const bit = length < 0 ? 0 : caseBit
    const end = one + Math.abs(length)
    for (; one < end; one++, other++) if (((units[one] as number) | bit) !== ((units[other] as number) | bit)) return false
    return true
  }

  #add(slot: number, start: number, length: number, hash: number): number {
    const number = this.#count++
    this.#slots[slot] = number + 1
    this.#hashes[number] = hash
    this.#starts[number] = start
    this.#lengths[number] = length
    if (this.#count * 2 > this.#slotMask) this.#grow()
    return number
  }

  #grow(): void {
    const slots = (this.#slotMask + 1) * 2
    if (slots > this.#slots.length) {
      this.#slots = new Int32Array(slots)
      this.#hashes = longer(this.#hashes)
      this.#starts = longer(this.#starts)
      this.#lengths = longer(this.#lengths)
    } else this.#slots.fill(0, 0, slots)
    this.#slotMask = slots - 1
    for (let number = 0; number < this.#count; number++) {
      let slot = (this.#hashes[number] as number) & this.#slotMask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#slotMask
      this.#slots[slot] = number + 1
    }
  }
}

function longer(array: Int32Array): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(array.length * 2)
  copy.set(array)
  return copy
}

/** Mixes the high bits of a hash into the low ones. */
const scatter = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d) ^ (hash >>> 12)
