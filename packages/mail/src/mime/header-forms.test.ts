// Header blocks in obsolete and broken forms, each with its complete result.
import { expect, test } from 'vitest'
import { findValue, findValues, HEADER_BYTES_MAX, readHeaderBlock } from './headers.ts'

const forms: [string, string[], string, string[]][] = [
  ['A: 1\rB: 2\r\n\r\nx', ['A=1\rB: 2'], 'x', []],
  ['A: 1\nxB: 2\n\nx', ['A=1', 'xB=2'], 'x', []],
  ['A: 1\nx\nB: 2\n\ny', ['A=1', 'B=2'], 'y', ['bad-header-line']],
  ['A: 1\r\n\r', ['A=1'], '', ['no-header-end', 'bad-header-line']],
  ['A: 1\n--b\nB: 2', ['A=1', 'B=2'], '', ['no-header-end', 'bad-header-line']],
  ['A: 1\n-b: 2\n\nx', ['A=1', '-b=2'], 'x', []],
  ['From a\r\nA: 1\r\n\r\n', ['A=1'], '', []],
  ['>From a\r\nA: 1\r\n\r\n', ['A=1'], '', []],
  ['A: 1\r\nFrom a\r\nB: 2\r\n\r\n', ['A=1', 'B=2'], '', ['bad-header-line']],
  ['From a\r\n\r\n', [], 'From a\r\n\r\n', ['no-header-end']],
  ['xFrom a: 1\r\n\r\n', [], 'xFrom a: 1\r\n\r\n', ['no-header-end']],
  ['A\t : 1\r\n\r\n', ['A=1'], '', []],
  ['A \t: 1\r\n\r\n', ['A=1'], '', []],
  ['A x: 1\r\n\r\n', [], 'A x: 1\r\n\r\n', ['no-header-end']],
  ['A: 1\r\nB x: 2\r\n\r\n', ['A=1'], '', ['bad-header-line']],
  ['A: 1\r\nB \r\n\r\n', ['A=1'], '', ['bad-header-line']],
  [': 1\r\n\r\n', [], ': 1\r\n\r\n', ['no-header-end']],
  ['A: 1\r\n: 2\r\n\r\n', ['A=1'], '', ['bad-header-line']],
  ['A: 1\r\n\u007f: 2\r\n\r\n', ['A=1'], '', ['bad-header-line']],
  ['A: 1\r\nB\u0080: 2\r\n\r\n', ['A=1'], '', ['bad-header-line']],
  ['A: 1\r\nB\u0001: 2\r\n\r\n', ['A=1'], '', ['bad-header-line']],
  ['Content-Type: a/b;\r\ncharset=x\r\n\r\n', ['Content-Type=a/b; charset=x'], '', ['bad-header-line']],
  [
    'Content-Type: a/b;\r\ncharset="x"\r\nfoo*0*=y\r\nfoo*12=z\r\nB: 2\r\n\r\n',
    ['Content-Type=a/b; charset="x" foo*0*=y foo*12=z', 'B=2'],
    '',
    ['bad-header-line'],
  ],
  ['Subject: a\r\ncharset=x\r\n\r\n', ['Subject=a'], '', ['bad-header-line']],
  ['charset=x\r\n\r\n', [], 'charset=x\r\n\r\n', ['no-header-end']],
  ['Content-Type: a/b;\r\ncharset= x\r\n\r\n', ['Content-Type=a/b;'], '', ['bad-header-line']],
  ['Content-Type: a/b;\r\n1=x\r\n\r\n', ['Content-Type=a/b;'], '', ['bad-header-line']],
  ['A: 1 \r\n  2\r\n\t\r\n3\r\n\r\n', ['A=1  2'], '', ['bad-header-line']],
  ['A:\r\n\r\n', ['A='], '', []],
  ['A:  1  \r\n\r\n', ['A=1'], '', []],
  ['A: Ã\u00a4\r\n ä\r\nB: x\r\n\r\n', ['A=Ã\u00a4 ä', 'B=x'], '', []],
  ['A: 1\r\nnonsense\r\nnonsense\r\n\r\n', ['A=1'], '', ['bad-header-line']],
  [' A: 1\r\n\r\n', [], ' A: 1\r\n\r\n', ['no-header-end']],
  ['A: 1', ['A=1'], '', ['no-header-end']],
]
test.each(forms)('%j', (text, fields, body, defects) => {
  const raw = Buffer.from(text, 'latin1')
  const block = readHeaderBlock(raw, 0, null, null)
  expect(block.fields.map(({ name, value }) => `${name}=${value}`)).toEqual(fields)
  expect([raw.toString('latin1', block.bodyStart), block.defects]).toEqual([body, defects])
  // Also behind other octets, as a part of a message stands.
  const behind = readHeaderBlock(Buffer.concat([Buffer.from('before\n'), raw]), 7, null, null)
  expect([behind.fields, behind.bodyStart - 7, behind.defects]).toEqual([block.fields, block.bodyStart, block.defects])
})

test('a delimiter ends the block, another line of dashes does not', () => {
  const raw = Buffer.from('A: 1\n--x\n--b\nB: 2\n')
  const block = readHeaderBlock(raw, 0, (at) => raw.toString('latin1', at, at + 3) === '--b', null)
  expect([block.fields.map(({ key }) => key), block.bodyStart, block.defects]).toEqual([['a'], 9, ['bad-header-line']])
})

test('only wanted fields are kept, and a stray parameter belongs to a wanted field alone', () => {
  const raw = Buffer.from('Content-Id: 1\nx=1\nContent-Type: a/b\nx=2\nTo: y\nx=3\n\n')
  const { fields, defects } = readHeaderBlock(raw, 0, null, (key) => key === 'content-type' || key === 'to')
  expect(fields).toEqual([
    { name: 'Content-Type', key: 'content-type', value: 'a/b x=2' },
    { name: 'To', key: 'to', value: 'y' },
  ])
  expect(defects).toEqual(['bad-header-line'])
})

test('a block of the exact limit is kept, and nothing behind a longer one', () => {
  const read = (length: number) => {
    const raw = Buffer.from(`A: ${'x'.repeat(length - 5)}\r\nB: 2\r\n\r\n`)
    return readHeaderBlock(raw, 0, null, null)
  }
  expect(read(HEADER_BYTES_MAX).fields.map(({ key }) => key)).toEqual(['a'])
  expect(read(HEADER_BYTES_MAX + 1)).toMatchObject({ fields: [], defects: ['long-header'] })
})

test('the first value and all values of a key', () => {
  const { fields } = readHeaderBlock(Buffer.from('A: 1\nB: 2\na: 3\n\n'), 0, null, null)
  expect([findValue(fields, 'a'), findValue(fields, 'c'), findValues(fields, 'a')]).toEqual(['1', null, ['1', '3']])
})
