// Text of others cannot control the terminal, as text and as JSON.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Output, type Screen, table, wantsColors } from './output.ts'

const hostile = 'a\u001b[2Jb\u009b31mc\u202ed\u2066e\u061cf\u200fg\u007f'

function createScreen(isTTY: boolean) {
  const stream: Screen = Object.assign(new PassThrough(), { isTTY })
  return { stream, shown: () => String((stream as PassThrough).read() ?? '') }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds them
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

test.each([
  ['result', (output: Output) => output.result({ subject: hostile }, () => '')],
  ['line', (output: Output) => output.line({ subject: hostile })],
])('%s escapes JSON on a terminal, and the value stays the same', (_name, print) => {
  const screen = createScreen(true)
  print(new Output(true, screen.stream, screen.stream))
  const shown = screen.shown()
  expect(shown).not.toMatch(controls)
  expect(JSON.parse(shown)).toEqual({ subject: hostile })
})

test('an error escapes JSON on a terminal', () => {
  const screen = createScreen(true)
  new Output(true, createScreen(false).stream, screen.stream).failure({ code: 'x', message: hostile })
  const shown = screen.shown()
  expect(shown).not.toMatch(controls)
  expect(JSON.parse(shown).error.message).toBe(hostile)
})

test('JSON for a program is not changed', () => {
  const screen = createScreen(false)
  new Output(true, screen.stream, screen.stream).result({ subject: 'å\u202e' }, () => '')
  expect(screen.shown()).toContain('å\u202e')
})

test('a table is narrowed to the width of the terminal, but for its first column', () => {
  const rows = [
    ['long identifier', 'a long text here', 'x'],
    ['2', '\u001b', 'y'],
  ]
  expect(table(['ID', 'B', 'C'], rows, 29).split('\n')).toEqual([
    'ID               B          C',
    'long identifier  a long t…  x',
    '2                \ufffd          y',
  ])
  expect(table(['ID', 'B', 'C'], rows)).toContain('a long text here')
  expect(table(['A'], [['wide']], 1)).toBe('A\nwide')
  expect(table(['A'], [])).toBe('')
})

test('headings and errors have colors on a terminal, unless NO_COLOR or the terminal refuses them', () => {
  const print = (isTTY: boolean, isJson: boolean, environment: Record<string, string>) => {
    const screen = createScreen(isTTY)
    const output = new Output(isJson, screen.stream, screen.stream, wantsColors(environment))
    output.result([1], () => 'ID  NAME\n1   GOOD  DAY\n2   b')
    output.failure({ code: 'x', message: 'No.' })
    return screen.shown()
  }
  expect(print(true, false, {})).toBe('\u001b[2mID  NAME\u001b[0m\n1   GOOD  DAY\n2   b\n\u001b[31mcallsign:\u001b[0m No.\n')
  const plain = 'ID  NAME\n1   GOOD  DAY\n2   b\ncallsign: No.\n'
  expect(print(false, false, {})).toBe(plain)
  expect(print(true, false, { NO_COLOR: '1' })).toBe(plain)
  expect(print(true, false, { TERM: 'dumb' })).toBe(plain)
  expect(print(true, false, { NO_COLOR: '' })).toContain('\u001b[31m')
  expect(print(true, true, {})).not.toContain('\u001b')
})
