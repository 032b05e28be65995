// Codes in languages beyond the large ones, in quotation marks, and behind other colons.
import { expect, test } from 'vitest'
import { findCodes } from './codes.ts'

const valuesIn = (text: string): string[] => findCodes({ text }).flatMap((code) => (code.kind === 'one_time_code' ? [code.value] : []))

test.each([
  // Quotation marks and the backticks of chat programs.
  'Your code is `482913`.',
  '`482913` ist Ihr Prüfcode.',
  "Your code is '482913'.",
  'Ihr Code: „482913“',
  'Votre code est “482913”',
  // Colons of other scripts.
  'SUMMIT៖ លេខកូដ៖ 482913',
  'Ձեր կոդը՝ 482913',
  'ኮድዎ፦ 482913',
  // The word for a code with the endings of its language.
  'SUMMIT: Сіздің кодыңыз: 482913',
  'SUMMIT: Сиздин кодуңуз: 482913',
  'Ваша шифра је: 482913',
  'كودىڭىز: 482913',
  'Sisäänkirjautumiskoodisi on alla.\n\n482913',
  'Kòd ou: 482913',
  'Erabili kodea: 482913',
  // Words for codes, tokens and passcodes.
  'الكود: 482913',
  'סיסמתך: 482913',
  'আপনার পাসকোড: 482913',
  'あなたのトークンは482913です',
  'お客様のOTPは482913です',
  '482913 ni msimbo wako wa kuthibitisha',
  'Namba yako ya siri ni 482913',
  'የማረጋገጫ ቁጥር: 482913',
  'Рамзи тасдиқ: 482913',
  'Баталгаажуулах код: 482913',
  'Twoje hasło do logowania to: 482913.',
  'Vash kod podtverzhdeniya: 482913',
  'Din e-mailbekræftelseskode står her.\n\n482913',
  'Usa il codice di verifica 482913 per il tuo profilo',
  // An instruction between the word and the verb.
  'Le code à saisir pour votre virement de 12 euros est 482913.',
  'The code you enter at the desk is 482913.',
])('%s', (text) => {
  expect(valuesIn(text)).toEqual(['482913'])
})

test.each([
  // Quotations and numbers without a word for a code.
  "She wrote '482913' on the board",
  'Line `482913` of the log',
  "The summer of '2013",
  // Words that begin like a code.
  'Kodak: 482913',
  'Кодекс: 482913',
  'Kodein 4829 mg',
  // Other codes.
  'Der Fehlercode ist `482913`',
  'কুপন কোড নয়, অর্ডার 482913',
  'The code to enter the garage of building 4829, which is 12 m high',
])('%s is not one', (text) => {
  expect(valuesIn(text)).toEqual([])
})
