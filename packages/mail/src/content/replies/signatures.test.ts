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

const RULE = '_'.repeat(40)

describe('the footer of a mailing list', () => {
  test.each<[string, string, string]>([
    ['with its name', `Hi\n\n${RULE}\nGardeners mailing list\ngardeners@lists.example`, 'Hi\n'],
    ['with its page', `Hi\n${RULE}\n\ngardeners@lists.example\nhttps://lists.example/listinfo/gardeners\n`, 'Hi'],
    ['a rule above own text', `Hi\n${RULE}\nThe second part is about roses.`, `Hi\n${RULE}\nThe second part is about roses.`],
    ['a rule above a long text', `Hi\n${RULE}\n${lines(7)}\nmailing list`, `Hi\n${RULE}\n${lines(7)}\nmailing list`],
    ['a short rule', 'Hi\n_____\nGardeners mailing list', 'Hi\n_____\nGardeners mailing list'],
  ])('%s', (_name, text, kept) => expect(without(text)).toBe(kept))
})

describe('the line of a device above a quotation without marks', () => {
  test.each<[string, string, string]>([
    ['below own text', 'Yes\n\nSent from my iPhone\n\nCan you come?\nBob', 'Yes\n'],
    ['above own text', 'Sent from my iPhone\n\nYes, I can.', 'Sent from my iPhone\n\nYes, I can.'],
    ['above a postscript', 'Yes\n\nSent from my iPhone\n\nP.S. Bring milk.', 'Yes\n\nSent from my iPhone\n\nP.S. Bring milk.'],
    ['of an app', 'Ja\n\nGesendet von Outlook für Android<https://aka.ms/x>\n\nKommst du?', 'Ja\n'],
    ['that names no device', 'Yes\n\nSent via the post office\n\nBye', 'Yes\n\nSent via the post office\n\nBye'],
    ['within a paragraph', 'The photo was\nsent from my iPhone\nthis morning.', 'The photo was\nsent from my iPhone\nthis morning.'],
    [
      'that is a sentence',
      'Yes\n\nSent from my desk, which is much larger than yours.\n\nBye',
      'Yes\n\nSent from my desk, which is much larger than yours.\n\nBye',
    ],
  ])('%s', (_name, text, kept) => expect(without(text)).toBe(kept))
})

test.each([
  'Poslano iz mojega telefona',
  'Dikirim dari iPhone saya',
  'Στάλθηκε από το iPhone μου',
  'Ottieni Outlook per iOS',
  'ส่งจาก iPhone ของฉัน',
  'Sent with Spark',
  'Sent from Samsung Mobile',
])('the last line of a device: %s', (line) => expect(without(`Hi\n\n${line}`)).toBe('Hi\n'))
