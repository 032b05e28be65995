// The outbound guard finds every secret of a documented form, and flags no text that only looks like one.
import { expect, test } from 'vitest'
import { findSecrets } from '../../packages/mail/src/content/secrets/secrets.ts'
import { createRandom, type Random } from '../crash/random.ts'
import { harmlessForms, secretForms, sentence, withWrongDigit, writtenCards } from './secret-forms.ts'

const random = createRandom(1)
const made = (make: (random: Random) => string): string[] => Array.from({ length: 100 }, () => make(random))
const isFlagged = (text: string): boolean => findSecrets(text).length > 0

test.for(Object.entries(secretForms))('every %s is found', ([, make]) => {
  expect(made((from) => sentence(make(from))).filter((text) => !isFlagged(text))).toEqual([])
})

test.for(Object.entries(harmlessForms))('no %s is flagged', ([, make]) => {
  expect(made(make).filter(isFlagged)).toEqual([])
})

test('published card numbers are found, and none with a wrong last digit', () => {
  const texts = writtenCards.map((written) => `My card: ${written}, 12/30`)
  expect(texts.filter((text) => !isFlagged(text))).toEqual([])
  expect(writtenCards.map((written) => `My card: ${withWrongDigit(written)}, 12/30`).filter(isFlagged)).toEqual([])
})
