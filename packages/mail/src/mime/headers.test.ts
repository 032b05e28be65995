// Header blocks, dates and message identifiers: folded, obsolete, broken and too long.
import { describe, expect, it } from 'vitest'
import { readDate } from './dates.ts'
import { HEADER_BYTES_MAX, HEADER_LINES_MAX, readHeaderBlock } from './headers.ts'
import { readMessageId, readMessageIds } from './message-ids.ts'

const read = (text: string) => {
  const raw = Buffer.from(text, 'latin1')
  const block = readHeaderBlock(raw, 0, null, null)
  return {
    fields: block.fields.map(({ name, value }) => `${name}=${value}`),
    body: raw.toString('latin1', block.bodyStart),
    defects: block.defects,
  }
}

describe('header blocks', () => {
  it('unfolds, with either line end', () => {
    const expected = { fields: ['A=1 2 3', 'b=x'], body: 'body', defects: [] }
    expect(read('A: 1\r\n 2\r\n\t3\r\nb:x\r\n\r\nbody')).toEqual(expected)
    expect(read('A: 1\n 2\n\t3\nb:x\n\nbody')).toEqual(expected)
  })
  it('allows blanks before the colon and skips an mbox line', () =>
    expect(read('From a@b.example Mon\r\nFrom : x\r\n\r\n')).toEqual({ fields: ['From=x'], body: '', defects: [] }))
  it('reads 8-bit values as UTF-8 or windows-1252', () => expect(read('A: \xc3\xa4\r\nB: \xe4\r\n\r\n').fields).toEqual(['A=ä', 'B=ä']))
  it('skips a line that is not a field', () =>
    expect(read('A: 1\r\nnonsense\r\n more\r\nB: 2\r\n\r\nx')).toEqual({ fields: ['A=1', 'B=2'], body: 'x', defects: ['bad-header-line'] }))
  it('takes text without any header as body', () =>
    expect(read('hello world\r\nbye')).toEqual({ fields: [], body: 'hello world\r\nbye', defects: ['no-header-end'] }))
  it('knows when the end is missing', () => expect(read('A: 1\r\n')).toEqual({ fields: ['A=1'], body: '', defects: ['no-header-end'] }))
  it('has no fields before a blank first line', () => expect(read('\r\nA: 1')).toEqual({ fields: [], body: 'A: 1', defects: [] }))
  it('keeps the lines and bytes of the limits and still finds the body', () => {
    const lines = read(`${'A: 1\r\n'.repeat(HEADER_LINES_MAX + 5)}\r\nbody`)
    expect(lines.fields).toHaveLength(HEADER_LINES_MAX)
    expect([lines.body, lines.defects]).toEqual(['body', ['long-header']])
    const bytes = read(`A: 1\r\nB: ${'x'.repeat(HEADER_BYTES_MAX)}\r\n\r\nbody`)
    expect([bytes.fields, bytes.body, bytes.defects]).toEqual([['A=1'], 'body', ['long-header']])
  })
})

describe('dates', () => {
  const table: [string, string | null][] = [
    ['Fri, 21 Nov 1997 09:55:06 -0600', '1997-11-21T15:55:06.000Z'],
    ['Tue, 1 Jul 2003 10:52:37 +0200', '2003-07-01T08:52:37.000Z'],
    [
      'Thu,\r\n      13\r\n        Feb\r\n          1969\r\n      23:32\r\n               -0330 (Newfoundland Time)',
      '1969-02-14T03:02:00.000Z',
    ],
    ['21 Nov 97 09:55:06 GMT', '1997-11-21T09:55:06.000Z'],
    ['Fri, 21 Nov 1997 09(comment):   55  :  06 -0600', '1997-11-21T15:55:06.000Z'],
    ['1 Jan 03 00:00 EST', '2003-01-01T05:00:00.000Z'],
    ['Mon, 2 March 2026 10:00:00 GMT+0100', '2026-03-02T09:00:00.000Z'],
    ['2026-03-02T10:00:00Z', '2026-03-02T10:00:00.000Z'],
    ['Mon, 99 Xyz 2026 10:00:00', null],
    ['yesterday', null],
    ['1 Jan 0001 00:00:00 +0000', null],
    ['', null],
  ]
  it.each(table)('%j', (value, expected) => expect(readDate(value)?.toISOString() ?? null).toBe(expected))
})

describe('identifiers', () => {
  it('reads lists, folded and commented', () => {
    expect(readMessageIds(['<a@b> (x) <c@d>\t<a@b>', 'Your mail of Monday <e@f >'])).toEqual(['<a@b>', '<c@d>', '<e@f>'])
    expect(readMessageIds(['a@b, c@d'])).toEqual(['<a@b>', '<c@d>'])
    expect(readMessageIds(['<a <b@c>', '<>', '<open'])).toEqual(['<b@c>'])
  })
  it('keeps the first and last fifty of many', () => {
    const ids = readMessageIds([Array.from({ length: 300 }, (_, index) => `<${index}@x>`).join(' ')])
    expect(ids).toHaveLength(100)
    expect([ids[0], ids[49], ids[50], ids[99]]).toEqual(['<0@x>', '<49@x>', '<250@x>', '<299@x>'])
  })
  it('adds missing brackets', () => {
    expect(readMessageId('abc')).toBe('<abc>')
    expect(readMessageId('<a@b>')).toBe('<a@b>')
    expect(readMessageId('two words')).toBe(null)
    expect(readMessageId(`<${'x'.repeat(999)}>`)).toBe(null)
  })
})
