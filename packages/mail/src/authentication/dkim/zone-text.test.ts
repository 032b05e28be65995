// TXT values as a zone file holds them.
import { expect, test } from 'vitest'
import { quotedTxt } from './zone-text.ts'

test('a long value is cut into strings that together are the value', () => {
  const value = 'v=DKIM1; k=rsa; p='.padEnd(600, 'Ab/+')
  const strings = quotedTxt(value).split('" "')
  expect(strings.map((one) => one.replaceAll('"', '').length)).toEqual([255, 255, 90])
  expect(strings.join('').replaceAll('"', '')).toBe(value)
  expect(quotedTxt('a'.repeat(510))).toBe(`"${'a'.repeat(255)}" "${'a'.repeat(255)}"`)
})

test('an empty text is an empty string, and special characters are escaped', () => {
  expect(quotedTxt('')).toBe('""')
  expect(quotedTxt('a"b\\c\nü ~\x7f')).toBe('"a\\"b\\\\c\\010\\195\\188 ~\\127"')
})
