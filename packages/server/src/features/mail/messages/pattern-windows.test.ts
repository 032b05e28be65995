// Windows of three letters or digits, and the parts of a text that consist of chosen ones.
import { expect, test } from 'vitest'
import { runsOf, windowsOf } from './pattern-windows.ts'

test('windows are three consecutive ASCII letters or digits, folded, each once', () => {
  expect(windowsOf('Etter 5000')).toEqual(['ett', 'tte', 'ter', '500', '000'])
  expect(windowsOf('0000')).toEqual(['000'])
  expect(windowsOf('a%b_c')).toEqual([])
  expect(windowsOf('Müller')).toEqual(['lle', 'ler'])
  expect(windowsOf('ab')).toEqual([])
  expect(windowsOf('abcdefghijklmnopqrstuvwxyz0123456789'.repeat(9)).length).toBe(36)
})

test('runs are the longest parts of which every window is chosen', () => {
  const text = 'Etter 500000 better'
  expect(runsOf(text, new Set(['500', '000']))).toEqual(['500000'])
  expect(runsOf(text, new Set(windowsOf(text)))).toEqual(['etter', '500000', 'better'])
  expect(runsOf(text, new Set(['tte', 'bet']))).toEqual(['tte', 'bet'])
  expect(runsOf('abcdef', new Set(['abc', 'def']))).toEqual(['abc', 'def'])
  expect(runsOf(text, new Set())).toEqual([])
})
