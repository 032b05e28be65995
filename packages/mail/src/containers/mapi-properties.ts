// Reads the list of MAPI properties in an attribute of TNEF (MS-OXTNEF §2.1.3.4, MS-OXCDATA §2.11.1).
import { decodeText } from '../mime/charsets.ts'

const PROPERTIES_MAX = 5_000
const NAMED_FROM = 0x8000
const MULTIPLE = 0x1000

const type = { short: 0x02, number: 0x03, object: 0x0d, string8: 0x1e, unicode: 0x1f, time: 0x40, binary: 0x102 }

/** Bytes per value of the types with a fixed length, with their padding. */
const fixedBytes = new Map<number, number>([
  [0x02, 4],
  [0x03, 4],
  [0x04, 4],
  [0x05, 8],
  [0x06, 8],
  [0x07, 8],
  [0x0a, 4],
  [0x0b, 4],
  [0x14, 8],
  [0x40, 8],
  [0x48, 16],
])

/** Bytes of the interface id in front of an embedded object. */
const OBJECT_ID_BYTES = 16
const MS_PER_FILE_TIME = 10_000n
const FILE_TIME_AT_1970_MS = 11_644_473_600_000

type Value = { type: number; bytes: Buffer }

/** The first value of each property, by its id. */
export interface Properties {
  text(id: number): string | null
  bytes(id: number): Buffer | null
  object(id: number): Buffer | null
  number(id: number): number | null
  time(id: number): Date | null
}

/** The properties of a list, up to its first damaged one. Named properties are skipped. Linear, never throws. */
export function readProperties(list: Buffer, codePage: number): Properties {
  const values = readValues(list)
  const firstOf = (id: number, ...types: number[]): Value | null => {
    const value = values.get(id)
    return value !== undefined && types.includes(value.type) ? value : null
  }
  return {
    text(id) {
      const value = firstOf(id, type.string8, type.unicode)
      if (value === null) return null
      const text = decodeText(value.bytes, value.type === type.unicode ? 'utf-16le' : `cp${codePage}`).text
      const end = text.indexOf('\0')
      return end < 0 ? text : text.slice(0, end)
    },
    bytes: (id) => firstOf(id, type.binary)?.bytes ?? null,
    object: (id) => firstOf(id, type.object)?.bytes.subarray(OBJECT_ID_BYTES) ?? null,
    number: (id) => firstOf(id, type.number)?.bytes.readInt32LE(0) ?? null,
    time(id) {
      const value = firstOf(id, type.time)
      return value === null ? null : dateOf(Number(value.bytes.readBigUInt64LE(0) / MS_PER_FILE_TIME) - FILE_TIME_AT_1970_MS)
    },
  }
}

function readValues(list: Buffer): Map<number, Value> {
  const found = new Map<number, Value>()
  if (list.length < 4) return found
  const count = Math.min(list.readUInt32LE(0), PROPERTIES_MAX)
  const cursor = new Cursor(list, 4)
  for (let index = 0; index < count; index++) {
    const kind = cursor.short()
    const id = cursor.short()
    if (id >= NAMED_FROM) cursor.skipName()
    const value = cursor.readValue(kind)
    if (cursor.isDamaged) break
    if (value !== null && id < NAMED_FROM && !found.has(id)) found.set(id, value)
  }
  return found
}

// A position in a list. Reading behind its end makes it damaged.
class Cursor {
  readonly #list: Buffer
  #at: number
  isDamaged = false

  constructor(list: Buffer, at: number) {
    this.#list = list
    this.#at = at
  }

  short(): number {
    return this.#take(2)?.readUInt16LE(0) ?? 0
  }

  skipName(): void {
    this.#take(OBJECT_ID_BYTES)
    const isText = this.#long() === 1
    if (isText) this.#takePadded(this.#long())
    else this.#take(4)
  }

  /** The first value of a property. Null for an empty one. */
  readValue(kind: number): Value | null {
    const base = kind & ~MULTIPLE
    const fixed = fixedBytes.get(base)
    const isMultiple = (kind & MULTIPLE) !== 0
    if (fixed === undefined && base !== type.object && base !== type.string8 && base !== type.unicode && base !== type.binary)
      this.isDamaged = true
    const count = isMultiple || fixed === undefined ? this.#long() : 1
    let first: Buffer | null = null
    for (let index = 0; index < count && !this.isDamaged; index++) {
      const value = fixed === undefined ? this.#takePadded(this.#long()) : this.#take(fixed)
      first ??= value
    }
    return first === null ? null : { type: base, bytes: first }
  }

  #long(): number {
    return this.#take(4)?.readUInt32LE(0) ?? 0
  }

  #takePadded(length: number): Buffer | null {
    const value = this.#take(length)
    this.#take(Math.min((4 - (length % 4)) % 4, this.#list.length - this.#at))
    return value
  }

  #take(length: number): Buffer | null {
    if (this.isDamaged || length > this.#list.length - this.#at) {
      this.isDamaged = true
      return null
    }
    this.#at += length
    return this.#list.subarray(this.#at - length, this.#at)
  }
}

/** A date of seven numbers of two bytes: year, month, day, hour, minute, second and weekday. The zone is that of the sender, so UTC is assumed. */
export function readDosDate(value: Buffer): Date | null {
  if (value.length < 12) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = [0, 2, 4, 6, 8, 10].map((at) => value.readUInt16LE(at))
  return dateOf(Date.UTC(year, month - 1, day, hour, minute, second))
}

const dateOf = (ms: number): Date | null => (ms > 0 && ms < Date.UTC(2200, 0, 1) ? new Date(ms) : null)
