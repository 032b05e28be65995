// Signatures behind "-- ", and the lines that phones add.
import { describe, expect, test } from 'vitest'
import { findSignatures } from './signatures.ts'

/** The text without its signature, from line `from`. */
function without(text: string, from = 0): string | null {
  const lines = text.split('\n')
  const isExact = (index: number) => lines[index] === '-- '
  const [run] = findSignatures(lines, { from, to: lines.length }, isExact)
  return run === undefined ? null : lines.slice(run.from, run.to).join('\n')
}
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`).join('\n')

describe('a rule', () => {
  test.each<[string, string, string | null]>([
    ['exact', 'Hi\n-- \nAnn', 'Hi'],
    ['exact, above many lines', `Hi\n-- \n${lines(50)}`, 'Hi'],
    ['exact, the last line', 'Hi\n-- ', 'Hi'],
    ['the first of two exact ones', 'Hi\n-- \nAnn\n-- \nA list', 'Hi'],
    ['without its blank', 'Hi\n--\nAnn', 'Hi'],
    ['a long dash', 'Hi\n—\nAnn', 'Hi'],
    ['underscores', 'Hi\n__\nAnn', 'Hi'],
    ['with a hard space', 'Hi\n-- \u00a0\nAnn', 'Hi'],
    ['above ten lines', `Hi\n--\n${lines(10)}`, 'Hi'],
    ['above ten lines with empty ones', `Hi\n--\n${lines(5)}\n\n\n${lines(5)}`, 'Hi'],
    ['above eleven lines', `Hi\n--\n${lines(11)}`, `Hi\n--\n${lines(11)}`],
    ['above nothing', 'Hi\n--', 'Hi\n--'],
    ['above an empty line', 'Hi\n--\n', 'Hi\n--\n'],
    ['of three dashes', 'Hi\n---\nAnn', 'Hi\n---\nAnn'],
    ['first', '-- \nAnn', null],
    ['first, without its blank', '--\nAnn', null],
  ])('%s', (_name, text, expected) => expect(without(text)).toBe(expected))

  test('above the range does not count', () => {
    expect(without('-- \nHi\nAnn', 1)).toBe('Hi\nAnn')
    expect(without('A\n--\nHi', 1)).toBeNull()
  })
})

describe('the line of a device', () => {
  test.each<[string, string | null]>([
    ['Hi\nSent from my iPhone', 'Hi'],
    ['Hi\n\nSent from my iPhone\n\n', 'Hi\n'],
    ['Hi\n<Sent from my iPhone>', 'Hi'],
    ['Hi\n*Sent from my iPhone*', 'Hi'],
    ['Hi\n  [Sent via Example Mail]', 'Hi'],
    ['Hi\nwritten on the way from my phone', 'Hi'],
    ['Hi\nSent from my iPhone, excuse typos', 'Hi'],
    ['Hi\nSent from my iPhone. Bitte entschuldigen', 'Hi'],
    ['Hi\nSent from my phone using an app', 'Hi'],
    ['Hi\nSent via  Example   Mail   for    Android', 'Hi'],
    ['Hi\nGet Outlook for iOS http://aka.ms/o0ukef', 'Hi'],
    ['Hi\nSent from my iPhone, which I bought', 'Hi\nSent from my iPhone, which I bought'],
    ['Hi\nSent from my phone as the one at home broke', 'Hi\nSent from my phone as the one at home broke'],
    ['Hi\nI wrote > Sent from my desk', 'Hi\nI wrote > Sent from my desk'],
    ['Hi\nIt came from my phonebook', 'Hi\nIt came from my phonebook'],
    [`Hi\nSent from my iPhone ${'<'.repeat(120)}`, `Hi\nSent from my iPhone ${'<'.repeat(120)}`],
    ['Sent from my iPhone', null],
    ['Hi\nSent from my iPhone\n-- \nAnn', 'Hi'],
    ['Hi\nSent from my iPhone\nMore', 'Hi\nSent from my iPhone\nMore'],
  ])('%j', (text, expected) => expect(without(text)).toBe(expected))

  test('above the range does not count', () => expect(without('Sent from my iPhone\n\n', 1)).toBe('\n'))
})
