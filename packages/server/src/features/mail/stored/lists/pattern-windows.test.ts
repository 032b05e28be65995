// Windows of three characters, and the parts of a text that consist of chosen ones.
import { expect, test } from 'vitest'
import { runsOf, windowsOf } from './pattern-windows.ts'

test('windows are three ASCII letters or digits, or two at an edge of a word, folded, each once', () => {
  expect(windowsOf('Etter 5000')).toEqual(['ett', 'tte', 'ter', 'er ', ' 50', '500', '000'])
  expect(windowsOf('0000')).toEqual(['000'])
  expect(windowsOf('writer7@ex_')).toEqual(['wri', 'rit', 'ite', 'ter', 'er7', 'r7 ', ' ex', 'ex '])
  expect(windowsOf('xy.ab@abc')).toEqual(['xy ', ' ab', 'ab ', 'abc'])
  expect(windowsOf('a%b_c')).toEqual([])
  // Letters beyond ASCII end a word in some locales.
  expect(windowsOf('Müller')).toEqual(['lle', 'ler'])
  expect(windowsOf('xy\u212aab\u0130')).toEqual([])
  expect(windowsOf('ab')).toEqual([])
  expect(windowsOf('abcdefghijklmnopqrstuvwxyz0123456789'.repeat(9)).length).toBe(36)
})

test('runs are the longest parts of which every window is chosen', () => {
  const text = 'Etter 500000 better'
  expect(runsOf(text, new Set(['500', '000']))).toEqual(['500000'])
  expect(runsOf(text, new Set(windowsOf(text)))).toEqual(['etter ', ' 500000 ', ' better'])
  expect(runsOf('writer7@example.com', new Set(['er7', 'r7 ']))).toEqual(['er7@'])
  expect(runsOf(text, new Set(['tte', 'bet']))).toEqual(['tte', 'bet'])
  expect(runsOf('abcdef', new Set(['abc', 'def']))).toEqual(['abc', 'def'])
  expect(runsOf(text, new Set())).toEqual([])
})
