// File names of attachments: the characters that are left out, and what is cut off a long name.
import { expect, test } from 'vitest'
import { cleanFilename } from './filenames.ts'

test.each<[string, string | null]>([
  ['', null],
  ['a:b', 'a_b'],
  ['a\u2028b', 'a_b'],
  ['.a ', 'a'],
  ['a.', 'a.'],
  ['a ', 'a'],
  ['=?utf-8?Q?a=0D=0Ab?=.txt', 'a  b.txt'],
])('%j is kept as %j', (written, name) => {
  expect(cleanFilename(written)).toBe(name)
})

const x = (count: number) => 'x'.repeat(count)
test.each([
  [x(255), x(255)],
  [x(256), x(255)],
  [`${x(300)}.${'y'.repeat(31)}`, `${x(223)}.${'y'.repeat(31)}`],
  [`${x(300)}.${'y'.repeat(32)}`, x(255)],
  [`${x(254)}é`, x(254)],
  [`${x(253)}éé`, `${x(253)}é`],
  [`${x(253)}日`, x(253)],
  [`${x(252)}日日`, `${x(252)}日`],
  [`${x(252)}😀`, x(252)],
  [`${x(251)}😀😀`, `${x(251)}😀`],
  ['À'.repeat(128), 'À'.repeat(127)],
  ['\u0800'.repeat(86), '\u0800'.repeat(85)],
  [`${'😀'.repeat(100)}.pdf`, `${'😀'.repeat(62)}.pdf`],
])('a long name is cut to 255 octets: number %#', (written, name) => {
  expect(cleanFilename(written)).toBe(name)
})
