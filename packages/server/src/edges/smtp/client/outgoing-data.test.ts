// Tests of dot-stuffing and of addresses on the wire.
import { describe, expect, test } from 'vitest'
import { expectCost } from '../../../../../mail/tests/harness/cost.ts'
import { leastThreadMs } from '../../../../../mail/tests/harness/processor.ts'
import { prepareData, wirePath } from './outgoing-data.ts'

const prepared = (text: string) => prepareData(Buffer.from(text, 'latin1'))?.wire.toString('latin1') ?? null

describe('prepareData', () => {
  test.each([
    ['', '.\r\n'],
    ['a\r\n', 'a\r\n.\r\n'],
    ['a', 'a\r\n.\r\n'],
    ['.', '..\r\n.\r\n'],
    ['.\r\n', '..\r\n.\r\n'],
    ['..\r\n.a\r\na.\r\n', '...\r\n..a\r\na.\r\n.\r\n'],
    ['\r\n.\r\n', '\r\n..\r\n.\r\n'],
    ['\t.\r\n \r\n', '\t.\r\n \r\n.\r\n'],
  ])('%j becomes %j', (raw, wire) => {
    expect(prepared(raw)).toBe(wire)
  })

  test.each(['\n', '\r', 'a\nb\r\n', 'a\rb\r\n', 'a\r\r\n', '\r\n.\n', '\n.\r\n', '\r.\r', 'a\0\r\n', 'a\r\n\n', '\r\n.\r'])(
    'refuses %j',
    (raw) => {
      expect(prepared(raw)).toBeNull()
    },
  )

  test('un-stuffing restores the original, for every text of up to six of these pieces', () => {
    const pieces = ['.', 'a', '\r\n']
    let texts = ['']
    for (let length = 0; length < 6; length++) {
      texts = texts.flatMap((text) => pieces.map((piece) => text + piece))
      for (const text of texts) {
        const wire = prepared(text) as string
        const end = wire.indexOf('\r\n.\r\n')
        expect(wire === '.\r\n' || end === wire.length - 5).toBe(true)
        const lines = wire
          .slice(0, -3)
          .split('\r\n')
          .map((line) => (line.startsWith('.') ? line.slice(1) : line))
        expect(lines.join('\r\n')).toBe(text.endsWith('\r\n') || text === '' ? text : `${text}\r\n`)
      }
    }
  })

  test('reports the extensions that the server must offer', () => {
    const needs = (text: string) => {
      const data = prepareData(Buffer.from(text))
      return [data?.hasEightBit, data?.hasEightBitHeader]
    }
    expect(needs('Subject: a\r\n\r\na\r\n')).toEqual([false, false])
    expect(needs('Subject: a\r\n\r\n\u00e9\r\n')).toEqual([true, false])
    expect(needs('Subject: \u00e9\r\n\r\na\r\n')).toEqual([true, true])
  })

  test('a flood of dots costs at most a few times as much as text', async () => {
    const text = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(130_000))
    const dots = Buffer.from('.\r\n'.repeat(3_400_000))
    await expectCost(() => prepareData(dots), 10 * (await leastThreadMs(() => prepareData(text), { rounds: 6 })) + 50)
  })
})

describe('wirePath', () => {
  test.each([
    ['', '', false],
    ['a@x.test', 'a@x.test', false],
    ['bounce+01-a_b=c@X.Test', 'bounce+01-a_b=c@X.Test', false],
    ['"a b\\"@c"@x.test', '"a b\\"@c"@x.test', false],
    ['a@[IPv6:2001:db8::1]', 'a@[IPv6:2001:db8::1]', false],
    ['a@b\u00fccher.test', 'a@xn--bcher-kva.test', false],
    ['j\u00f6rg@b\u00fccher.test', 'j\u00f6rg@xn--bcher-kva.test', true],
    ['\u{1f600}@x.test', '\u{1f600}@x.test', true],
  ])('%j is written %j', (address, path, needsSmtputf8) => {
    expect(wirePath(address)).toEqual({ path, needsSmtputf8 })
  })

  test.each([
    'a',
    '@',
    'a@',
    '@x',
    'a b@x',
    '"a@x',
    '"a"b@x',
    'a@x>',
    'a@-x',
    'a@x\r\n',
    'a\u0085@x',
    '\ud800@x.test',
    'a@\u2024',
    'a@x\u3002',
    'a@\uff11',
  ])('refuses %j', (address) => {
    expect(wirePath(address)).toBeNull()
  })
})
