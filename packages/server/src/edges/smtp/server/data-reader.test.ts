// The data reader compared with a slow, simple implementation of RFC 5321 §4.5.2, and with itself on other splits of the same bytes.
import { describe, expect, test, vi } from 'vitest'
import { ByteBudget } from '../../../core/byte-budget.ts'
import { DataReader } from './data-reader.ts'
import { replies, type SmtpReply } from './reply.ts'

type Limits = ConstructorParameters<typeof DataReader>[0]
type Reading = { progress: string; refusal: SmtpReply | null; read: number; raw: string | null }

const wide: Limits = {
  sizeBytesMax: 1_000_000,
  headerBytesMax: 100_000,
  headerLinesMax: 1_000,
  hopsMax: 50,
  lineBytesMax: 100_000,
  discardBytesMax: 100_000,
}

/** Feeds the bytes in chunks that end at the given cuts, at every alignment to four bytes in memory. */
function read(bytes: Buffer, cuts: number[], limits: Limits, budget = new ByteBudget(1e9)): Reading {
  const reader = new DataReader(limits, budget.shareOf(), null)
  reader.start()
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    const skew = from % 4
    const piece = Buffer.concat([Buffer.alloc(skew), bytes.subarray(from, to)]).subarray(skew)
    const progress = reader.feed(piece, 0)
    if (progress !== 'more') {
      const isKept = progress === 'end' && reader.refusal === null
      // After an unsafe octet reading stops, so its position is not reported.
      const wire = progress === 'unsafe' ? 0 : from + reader.consumed
      return { progress, refusal: reader.refusal, read: wire, raw: isKept ? (reader.take(0) as Buffer).toString('latin1') : null }
    }
    from = to
  }
  return { progress: 'more', refusal: reader.refusal, read: from, raw: null }
}

/** Finds the first bad octet or the end, then unstuffs line by line. */
function readSlowly(bytes: Buffer): Reading {
  const text = `\r\n${bytes.toString('latin1')}`
  const end = text.indexOf('\r\n.\r\n')
  const bad = /\r(?!\n)|(?<!\r)\n|\0/.exec(text)
  // A CR at the very end may still be followed by its LF.
  const isBad = bad !== null && (end === -1 || bad.index < end) && !(bad[0] === '\r' && bad.index === text.length - 1)
  if (isBad) {
    const isNul = bad[0] === '\0' || text[bad.index + 1] === '\0'
    return {
      progress: 'unsafe',
      refusal: isNul && (bad[0] === '\0' || bad[0] === '\r') ? replies.nulByte : replies.bareLineEnd,
      read: 0,
      raw: null,
    }
  }
  if (end === -1) return { progress: 'more', refusal: null, read: bytes.length, raw: null }
  return {
    progress: 'end',
    refusal: null,
    read: end + 3,
    raw: text
      .slice(0, end + 2)
      .replace(/\r\n\./g, '\r\n')
      .slice(2),
  }
}

let state = 1
/** mulberry32 with a fixed seed, so that a failure can be repeated. */
function below(bound: number): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
}

const randomMessage = (words: string[], count: number): Buffer =>
  Buffer.from(Array.from({ length: below(count) }, () => words[below(words.length)]).join(''), 'latin1')

const everyOctet = (bytes: Buffer): number[] => Array.from({ length: Math.max(0, bytes.length - 1) }, (_, index) => index + 1)

const randomCuts = (bytes: Buffer): number[] => everyOctet(bytes).filter(() => below(4) === 0)

describe('data reader', () => {
  test('agrees with the simple implementation', () => {
    const clean = ['\r\n', '\r\n', '.', '..', 'a', 'several words', 'Received: x', ' ', '\t', '\x01', '\xff', 'X: y', '\r\n.']
    const dirty = [...clean, '\r', '\n', '\0']
    for (let round = 0; round < 4_000; round++) {
      const bytes = Buffer.concat([randomMessage(round % 2 ? clean : dirty, 24), Buffer.from(below(3) === 0 ? '' : '\r\n.\r\nNOOP')])
      const expected = readSlowly(bytes)
      for (const cuts of [[], everyOctet(bytes), randomCuts(bytes)]) {
        expect(read(bytes, cuts, wide), JSON.stringify([bytes.toString('latin1'), cuts])).toEqual(expected)
      }
    }
  })

  test('limits apply at the same octet for any division into chunks', () => {
    const words = [
      '\r\n',
      '\r\n',
      '\r\n',
      '..',
      'Received: x\r\n',
      'Subject: y\r\n',
      'aaaaaaaa',
      ' folded\r\n',
      '\t\t',
      'xxxxxxxxxxxxxxxxxxxx',
      '\n',
      '\0',
    ]
    const seen = new Set<string>()
    for (let round = 0; round < 4_000; round++) {
      const limits: Limits = {
        sizeBytesMax: 20 + below(300),
        headerBytesMax: 10 + below(200),
        headerLinesMax: 1 + below(12),
        hopsMax: below(6),
        lineBytesMax: 10 + below(60),
        discardBytesMax: below(120),
      }
      const bytes = Buffer.concat([randomMessage(round % 3 ? words.slice(0, -2) : words, 40), Buffer.from('\r\n.\r\nNOOP\r\n')])
      const expected = read(bytes, [], limits)
      seen.add(`${expected.progress} ${expected.refusal?.text}`)
      for (const cuts of [everyOctet(bytes), randomCuts(bytes), [below(bytes.length)]]) {
        expect(read(bytes, cuts, limits), JSON.stringify([bytes.toString('latin1'), cuts, limits])).toEqual(expected)
      }
    }
    const refused = ['messageTooBig', 'headerTooBig', 'tooManyHops', 'dataLineTooLong'] as const
    for (const name of refused) for (const progress of ['end', 'abort']) expect(seen).toContain(`${progress} ${replies[name].text}`)
  })

  test('a stuffed dot makes no native call of its own, and each octet moves at most once', () => {
    const typedArray: Uint8Array = Object.getPrototypeOf(Uint8Array.prototype)
    const moving = vi.spyOn(typedArray, 'copyWithin')
    const making = [
      vi.spyOn(typedArray, 'set'),
      ...(['copy', 'slice', 'subarray', 'toString'] as const).map((name) => vi.spyOn(Buffer.prototype, name)),
      ...(['from', 'alloc', 'allocUnsafe', 'allocUnsafeSlow', 'concat'] as const).map((name) => vi.spyOn(Buffer, name)),
    ]
    // One chunk, so that a reader that moves the rest of it at each dot does not end.
    const costOf = (line: string) => {
      const chunk = Buffer.from(`\r\n${line.repeat(4_000_000 / line.length)}.\r\n`)
      const reader = new DataReader({ ...wide, sizeBytesMax: chunk.length }, new ByteBudget(1e9).shareOf(), null)
      reader.start()
      for (const spy of [moving, ...making]) spy.mockClear()
      expect(reader.feed(chunk, 0)).toBe('end')
      const moved = moving.mock.calls.reduce((sum, [, from, to]) => sum + (to as number) - from, 0)
      return { calls: making.reduce((sum, spy) => sum + spy.mock.calls.length, 0), moves: moving.mock.calls.length, moved }
    }
    const plain = costOf(`${'x'.repeat(78)}\r\n`)
    const dots = costOf('..\r\n')
    const long = costOf(`..${'x'.repeat(76)}\r\n`)
    vi.restoreAllMocks()
    expect([plain.moves, dots.moves, long.moves]).toEqual([0, 0, 50_000])
    expect(Math.max(dots.calls, long.calls)).toBeLessThanOrEqual(plain.calls)
    expect(long.moved).toBeLessThan(4_000_000)
  })

  test('memory is taken from the budget in steps and returned', () => {
    const budget = new ByteBudget(3_000_000)
    const bytes = Buffer.from(`\r\n${`${'x'.repeat(98)}\r\n`.repeat(9_000)}.\r\n`)
    const reader = new DataReader(wide, budget.shareOf(), null)
    for (let round = 0; round < 3; round++) {
      reader.start()
      for (let at = 0; at < bytes.length; at += 1_000) reader.feed(bytes.subarray(at, at + 1_000), 0)
      expect(budget.used).toBeLessThan(2 * bytes.length)
      expect((reader.take(0) as Buffer).length).toBe(bytes.length - 3)
      expect(budget.used).toBeGreaterThan(bytes.length / 2)
      reader.clear()
      expect(budget.used).toBe(0)
    }
  })

  test('a full budget refuses for now and keeps no data', () => {
    const budget = new ByteBudget(40_000)
    const bytes = Buffer.from(`\r\n${'x\r\n'.repeat(20_000)}.\r\n`)
    expect(read(bytes, randomCuts(bytes), wide, budget)).toEqual({
      progress: 'end',
      refusal: replies.memoryFull,
      read: bytes.length,
      raw: null,
    })
    expect(budget.used).toBe(0)
  })
})
