// Messages of the kinds that real systems send, each with its right reading.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readMail } from '../src/content/reading.ts'

const read = (name: string) => {
  const raw = readFileSync(join(import.meta.dirname, 'cases', `${name}.eml`), 'utf8').replaceAll('\n', '\r\n')
  return readMail(Buffer.from(raw))
}

test('a body in code page 850 has its umlauts and its pound sign', () => {
  expect(read('body-in-code-page-850').parsed).toMatchObject({ text: 'Grüße: 5 £, Größe', defects: [] })
})

test('a body of type text/markdown is text and no attachment', () => {
  const { parsed, extractedText } = read('body-of-type-text-markdown')
  expect(parsed.text).toBe('# Order\n\nPlease ship **12** bolts.')
  expect(extractedText).toBe(parsed.text)
  expect(parsed.attachments).toEqual([])
})

test('the body inside winmail.dat is the text of a message without one', () => {
  const { parsed } = read('body-inside-a-tnef-container')
  expect(parsed.text).toBe('The price is 500 EUR. Please confirm.')
  expect(parsed.attachments).toMatchObject([{ filename: 'winmail.dat', contentType: 'application/ms-tnef' }])
})

test('the type of a text file keeps its charset', () => {
  const { attachments } = read('text-files-in-declared-charsets').parsed
  expect(attachments.map(({ parameters }) => parameters.get('charset'))).toEqual(['windows-1251', 'koi8-r', undefined])
})

test('a form with lines like a header keeps all of them', () => {
  const { extractedText } = read('form-with-header-lines')
  expect(extractedText).toBe(
    'Neue Anfrage ueber die Webseite\n\nVon: Besucherin\nAn: Vertrieb\nDatum: 03.11.2025\nBetreff: Angebot\n\n12 Schrauben bitte, Lieferung bis Freitag',
  )
})

test('the code of nine digits and the confirming link are found, and the cancelling link is not', () => {
  const { codes } = read('confirmation-with-a-cancelling-link')
  expect(codes.map(({ kind, value }) => [kind, value.replace(/.*(\/[a-z]f-).*/, '$1')])).toEqual([
    ['one_time_code', '604221987'],
    ['confirmation_link', '/vf-'],
  ])
})
