// The text of files of each format, built by other programs' libraries.
import { afterAll, describe, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { createFileReader } from '../src/edges/mail-worker/file-reader.ts'
import type { FileFailure, FileText } from '../src/features/mail/attachments/provider.ts'
import {
  instruction,
  makeArchive,
  makeDocx,
  makeGif,
  makeJpeg,
  makeOffice,
  makePdf,
  makePng,
  makeWebp,
  makeXlsx,
  toEntry,
} from './harness/sample-files.ts'

const reader = createFileReader({ log: createLog('silent'), taskMsMax: 120_000 })
afterAll(() => reader.close())

const read = (bytes: Buffer | string, filename = 'file', contentType = 'application/octet-stream', charactersMax = 100_000) =>
  reader.read({ bytes: Buffer.from(bytes), filename, contentType, charactersMax, owner: 'org_1' })

async function readText(...given: Parameters<typeof read>): Promise<FileText> {
  const found = await read(...given)
  if ('failure' in found) throw new Error(found.failure)
  return found
}

const failureOf = async (...given: Parameters<typeof read>): Promise<FileFailure | null> => {
  const found = await read(...given)
  return 'failure' in found ? found.failure : null
}

describe('PDF', () => {
  test('paragraphs and pages are kept apart', async () => {
    const pdf = await makePdf((page) => {
      page.fontSize(20).text('Invoice 1042').moveDown()
      page.fontSize(12).text('Total: 120 EUR').moveDown().text('Thank you')
      page.addPage().text('Terms')
    })
    expect(await readText(pdf)).toEqual({
      format: 'pdf',
      text: '## Page 1\n\nInvoice 1042\n\nTotal: 120 EUR\n\nThank you\n\n## Page 2\n\nTerms',
      isTruncated: false,
      flags: [],
    })
  })

  test('text too small to be seen is hidden text, and text outside the page is left out', async () => {
    const tiny = await makePdf((page) => void page.text('Offer').fontSize(1).text(instruction))
    expect((await readText(tiny)).flags.map(({ type, evidence }) => [type, evidence])).toEqual([
      ['hidden_text', instruction],
      ['model_instructions', instruction.toLowerCase()],
    ])
    const outside = await makePdf((page) => void page.text('Offer').text(instruction, 5000, 100, { lineBreak: false }))
    expect(await readText(outside)).toMatchObject({ text: 'Offer', flags: [] })
  })

  test('a password is an error of its own, and a password for the owner only is not needed', async () => {
    const draw = (page: PDFKit.PDFDocument) => void page.text('Secret')
    expect(await failureOf(await makePdf(draw, { userPassword: 'a', ownerPassword: 'b', pdfVersion: '1.7' }))).toBe('encrypted')
    expect((await readText(await makePdf(draw, { ownerPassword: 'b', pdfVersion: '1.7' }))).text).toBe('Secret')
  })

  test('a broken one is damaged', async () => {
    expect(await failureOf('%PDF-1.7 nothing more')).toBe('damaged')
  })
})

describe('DOCX', () => {
  test('headings, lists, links, tables and notes are Markdown, and hidden text is left out and flagged', async () => {
    const { text, format, flags } = await readText(await makeDocx(), 'wrong.pdf', 'application/pdf')
    expect(format).toBe('docx')
    expect(text).toBe(
      [
        '# Offer\n',
        'Dear Ada, welcome[^1]\n',
        '- First',
        '  - Nested',
        'the offer <https://shop.example/offer>\n\n',
        '| Item | Price |\n| --- | --- |\n| Pen \\| red | 2 |\n',
        'In white on white, for programs only.\n',
        '[^1]: Prices without tax.',
      ]
        .join('\n')
        .replace(/\n{3,}/g, '\n\n'),
    )
    expect(flags.map(({ type }) => type)).toEqual(['hidden_text', 'model_instructions'])
    expect(flags[0]?.evidence).toContain('In white on white')
  })

  test('deleted text and text of another kind of archive are not read', async () => {
    const body = (inner: string) => `<w:document><w:body><w:p>${inner}</w:p></w:body></w:document>`
    const deleted = body('<w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:t>Deleted</w:t></w:r></w:del>')
    expect((await readText(makeOffice('docx', { 'word/document.xml': deleted }))).text).toBe('Kept')
    expect(await failureOf(makeArchive([toEntry('a.txt', 'text')]))).toBe('not_supported')
  })

  test('a missing, broken or cut part is damaged', async () => {
    expect(await failureOf(makeOffice('docx', {}))).toBe('damaged')
    expect(await failureOf(makeOffice('docx', { 'word/document.xml': '<w:document><w:p>' }))).toBe('damaged')
    expect(await failureOf(makeOffice('docx', { 'word/document.xml': '<w:document></w:p>' }))).toBe('damaged')
    expect(await failureOf((await makeDocx()).subarray(0, 2000))).toBe('damaged')
  })
})

describe('XLSX', () => {
  test('sheets are tables with dates and truth values', async () => {
    const { text, format } = await readText(await makeXlsx())
    expect(format).toBe('xlsx')
    expect(text).toBe(
      [
        '## Prices\n',
        '| Item | Price | Since |\n| --- | --- | --- |',
        '| Pen \\| red | 2.5 | 2026-03-02 09:30:00 |\n| Ink |  | TRUE |\n',
        '## Second\n',
        '| Only | this |\n| --- | --- |',
      ].join('\n'),
    )
  })

  test('of a hidden sheet only the name is shown', async () => {
    const workbook = '<workbook xmlns:r="r"><sheets><sheet name="Rates" sheetId="1" state="veryHidden" r:id="rId1"/></sheets></workbook>'
    expect((await readText(makeOffice('xlsx', { 'xl/workbook.xml': workbook }))).text).toBe('## Rates (hidden sheet, left out)')
  })
})

test.each([
  ['a comma', 'Item,Price\n"Pen, red",2\n', 'a.csv', 'text/csv'],
  ['a semicolon', 'Item;Price\nPen, red;2\n', 'a.csv', 'application/octet-stream'],
  ['a tab', 'Item\tPrice\nPen, red\t2\n', 'a.txt', 'text/tab-separated-values'],
])('CSV with %s is a table', async (_name, source, filename, type) => {
  expect(await readText(source, filename, type)).toMatchObject({
    format: 'csv',
    text: '| Item | Price |\n| --- | --- |\n| Pen, red | 2 |',
    isTruncated: false,
  })
})

test('HTML is Markdown without its hidden text, which is flagged', async () => {
  const html = `<!doctype html><h1>Offer</h1><p>For <a href="https://shop.example/">you</a></p>
    <table><tr><th>Item</th><th>Price</th></tr><tr><td>Pen</td><td>2</td></tr></table><ul><li>One</li></ul>
    <div style="display:none">${instruction}</div>`
  const { text, flags, format } = await readText(html, 'page', 'application/octet-stream')
  expect(format).toBe('html')
  expect(text).toBe('# Offer\n\nFor you <https://shop.example/>\n\n| Item | Price |\n| --- | --- |\n| Pen | 2 |\n\n- One')
  expect(flags.map(({ type }) => type)).toEqual(['hidden_text', 'model_instructions'])
})

describe('RTF', () => {
  test('characters of code pages and Unicode, tables, and hidden text', async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}{\*\generator X;}{\info{\author Eve}}
\f0 Caf\'e9 {\f1 \'cf\'f0\'e8} \u8364?\~\{ok\}\par
{\v Only programs read this hidden sentence.}
\trowd Item\cell Price\cell\row \trowd Pen\cell 2\cell\row
{\pict\pngblip 89504e47}End\par}`
    const { text, format, flags } = await readText(rtf, 'a.doc', 'application/msword')
    expect(format).toBe('rtf')
    expect(text).toBe('Café При €\u00a0{ok}\n\n| Item | Price |\n| --- | --- |\n| Pen | 2 |\n\nEnd')
    expect(flags).toMatchObject([{ type: 'hidden_text', evidence: 'Only programs read this hidden sentence.' }])
  })
})

describe('images', () => {
  test.each([
    ['PNG', makePng(640, 480, [['tEXt', Buffer.from(`Comment\0${instruction}`)]])],
    ['JPEG', makeJpeg(640, 480, instruction)],
  ])('%s: size, and a description that is searched for instructions', async (name, bytes) => {
    const { text, format, flags } = await readText(bytes)
    expect(format).toBe('image')
    expect(text).toContain(`# ${name} image`)
    expect(text).toContain('- Image Width: 640px')
    expect(text).toContain('- Image Height: 480px')
    expect(text).toContain(instruction)
    expect(flags).toMatchObject([{ type: 'model_instructions' }])
  })

  test.each([
    ['GIF', makeGif(640, 480)],
    ['WebP', makeWebp(640, 480)],
  ])('%s: size', async (name, bytes) => {
    expect((await readText(bytes)).text).toMatch(new RegExp(`^# ${name} image\n[^]*Image Width: 640[^]*Image Height: 480`))
  })
})

describe('text', () => {
  test.each([
    ['UTF-8', Buffer.from('naïve')],
    ['windows-1252', Buffer.from('naïve', 'latin1')],
    ['UTF-16 with a byte order mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('naïve', 'utf16le')])],
  ])('%s', async (_name, bytes) => {
    expect(await readText(bytes, 'a.md', 'text/markdown')).toMatchObject({ format: 'text', text: 'naïve', flags: [] })
  })

  test('is cut at the limit', async () => {
    expect(await readText('abcdef', 'a.txt', 'text/plain', 4)).toMatchObject({ text: 'abcd', isTruncated: true })
    expect(await readText('abcd', 'a.txt', 'text/plain', 4)).toMatchObject({ text: 'abcd', isTruncated: false })
  })

  test('instructions in the file name are flagged too', async () => {
    expect((await readText('a', `${instruction}.txt`, 'text/plain')).flags).toMatchObject([{ type: 'model_instructions' }])
  })
})

test.each([
  ['bytes of no known format', Buffer.from([0, 1, 2, 3, 255]), 'not_supported'],
  ['a program', Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(100)]), 'not_supported'],
  ['an old Word file', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]), 'not_supported'],
  [
    'an office file with a password',
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600), Buffer.from('EncryptedPackage', 'utf16le')]),
    'encrypted',
  ],
])('%s has an error of its own', async (_name, bytes, failure) => {
  expect(await failureOf(bytes, 'invoice.pdf', 'application/pdf')).toBe(failure)
})
