// Hostile files of every format: bounded in time and memory, without delaying the main thread, and never the end of the process.
import { deflateSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { allowedMs, measureThread } from '../../mail/tests/harness/processor.ts'
import { createLog } from '../src/core/log.ts'
import { createFileReader, type FileReaderSettings } from '../src/edges/mail-worker/file-reader.ts'
import { watchMemory } from './harness/memory-watch.ts'
import {
  compressedGigabyte,
  makeArchive,
  makeGif,
  makeJpeg,
  makeOffice,
  makePagePdf,
  makePng,
  makeRawPdf,
  makeWebp,
  toBombEntry,
  toEntry,
} from './harness/sample-files.ts'

const readers: ReturnType<typeof createFileReader>[] = []
function open(settings: Partial<FileReaderSettings> = {}) {
  const reader = createFileReader({ log: createLog('silent'), ...settings })
  readers.push(reader)
  return reader
}
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.close()))
})

const megabyte = 1024 * 1024
const charactersMax = 100_000
const fileOf = (bytes: Buffer, filename = 'file', owner = 'org_1') => ({ bytes, filename, contentType: '', charactersMax, owner })

const documentOf = (inner: string): string => `<w:document><w:body><w:p><w:r>${inner}</w:r></w:p></w:body></w:document>`
const docxOf = (inner: string): Buffer => makeOffice('docx', { 'word/document.xml': inner })

const docxBomb = (text: Parameters<typeof toBombEntry>[1]): Buffer => makeOffice('docx', {}, [toBombEntry('word/document.xml', text)])

const workbook = '<workbook xmlns:r="r"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>'
const relations =
  '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="s.xml"/><Relationship Id="r2" Type="x/sharedStrings" Target="strings.xml"/></Relationships>'

/** A workbook with one sheet. */
const xlsxOf = (sheet: string, strings = '<sst/>'): Buffer =>
  makeOffice('xlsx', { 'xl/workbook.xml': workbook, 'xl/_rels/workbook.xml.rels': relations, 'xl/s.xml': sheet, 'xl/strings.xml': strings })

/** A document whose archive declares a smaller size for it than it has. */
function lyingArchive(): Buffer {
  const bytes = docxOf(documentOf(`<w:t>${'a'.repeat(megabyte)}</w:t>`))
  const name = 'word/document.xml'
  const entry = bytes.lastIndexOf(name) - 46
  expect(bytes.toString('latin1', entry, entry + 4)).toBe('PK\x01\x02')
  bytes.writeUInt32LE(100, entry + 24)
  return bytes
}

const billionLaughs = `<!DOCTYPE d [<!ENTITY a "${'lol'.repeat(1000)}">${'bcdefghij'
  .split('')
  .map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghij'[at]};`.repeat(10)}">`)
  .join('')}]>`

const chainOfForms = (length: number) =>
  Array.from({ length }, (_, at) => ({
    dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X ${Math.min(at + 7, length + 5)} 0 R >> /Font << /F1 5 0 R >> >>`,
    stream: Buffer.from(at === length - 1 ? 'BT /F1 9 Tf (lol) Tj ET' : '/X Do '.repeat(10)),
  }))

/** Files with the ends that are permitted for each: an error, or a text. */
const bombs: [name: string, make: () => Buffer, ends: RegExp, filename?: string][] = [
  [
    'a DOCX that unpacks to 400 MB of deleted text',
    () => docxBomb({ before: '<w:document><w:del>', piece: ' '.repeat(megabyte), times: 400, after: '</w:del></w:document>' }),
    /^too_complex$/,
  ],
  [
    'a DOCX with 400 MB of text',
    () =>
      docxBomb({
        before: '<w:document><w:p><w:r><w:t>',
        piece: 'a'.repeat(megabyte),
        times: 400,
        after: '</w:t></w:r></w:p></w:document>',
      }),
    /^truncated$/,
  ],
  ['a DOCX that declares a smaller size', lyingArchive, /^damaged$/],
  ['a DOCX with expanding entities', () => docxOf(`${billionLaughs}${documentOf('<w:t>&j;</w:t>')}`), /^damaged$/],
  ['a DOCX that nests a million elements', () => docxOf('<w:p>'.repeat(1_000_000)), /^too_complex$/],
  ['a DOCX with an attribute of 20 MB', () => docxOf(`<w:p a="${'a'.repeat(20 * megabyte)}"/>`), /^damaged$/],
  ['a DOCX with a name of 20 MB', () => docxOf(`<${'a'.repeat(20 * megabyte)}>`), /^damaged$/],
  ['an archive of 20,000 entries', () => makeArchive(Array.from({ length: 20_000 }, (_, at) => toEntry(`${at}`, ''))), /^too_complex$/],
  [
    'an XLSX with a million columns',
    () => xlsxOf(`<worksheet><row>${'<c t="str"><v>a</v></c>'.repeat(1_000_000)}</row></worksheet>`),
    /^truncated$/,
  ],
  [
    'an XLSX whose strings unpack to 400 MB',
    () =>
      makeOffice('xlsx', { 'xl/workbook.xml': workbook, 'xl/_rels/workbook.xml.rels': relations }, [
        toBombEntry('xl/strings.xml', { before: '<sst>', piece: `<si><t>${'a'.repeat(megabyte)}</t></si>`, times: 400, after: '</sst>' }),
      ]),
    /^too_complex$/,
  ],
  ['an XLSX with expanding entities', () => xlsxOf('<worksheet/>', `${billionLaughs}<sst><si><t>&j;</t></si></sst>`), /^damaged$/],
  ['a PDF whose page unpacks to 1 GB of nothing', () => makePagePdf('/Filter /FlateDecode', compressedGigabyte(' ')), /^too_complex$/],
  [
    'a PDF with 1 GB behind two filters',
    () => makePagePdf('/Filter [/FlateDecode /FlateDecode]', deflateSync(compressedGigabyte(' '))),
    /^too_complex$/,
  ],
  [
    'a PDF with a million nested arrays',
    () => makePagePdf('', Buffer.from('['.repeat(1_000_000))),
    /^(too_complex|damaged|text|truncated)$/,
  ],
  [
    'a PDF with nested dictionaries in its catalog',
    () => makeRawPdf([`<< /Type /Catalog /Pages ${'<< /a '.repeat(200_000)}`]),
    /^(too_complex|damaged)$/,
  ],
  [
    'a PDF whose forms multiply to 10 to the 12th',
    () => makePagePdf('', Buffer.from('/X Do'), chainOfForms(13), '/XObject << /X 6 0 R >>'),
    /^(too_complex|damaged|text|truncated)$/,
  ],
  [
    'a PDF that claims a billion pages',
    () => makeRawPdf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R] /Count 1000000000 >>']),
    /^(too_complex|damaged)$/,
  ],
  [
    'a PDF of 20 MB of signs',
    () => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(20 * megabyte, '<')]),
    /^(too_complex|damaged)$/,
  ],
  ['a CSV with a million columns', () => Buffer.from(`a${',a'.repeat(1_000_000)}\nb`), /^truncated$/, 'a.csv'],
  ['a CSV of 25 MB of commas', () => Buffer.alloc(25 * megabyte, ','), /^truncated$/, 'a.csv'],
  ['a CSV with an open quotation', () => Buffer.from(`"${'a,"",'.repeat(4_000_000)}`), /^truncated$/, 'a.csv'],
  ['an RTF with a million groups', () => Buffer.from(`{\\rtf1 ${'{'.repeat(1_000_000)}`), /^too_complex$/],
  ['an RTF of 20 MB of empty cells', () => Buffer.from(`{\\rtf1 ${'\\cell'.repeat(4_000_000)}`), /^(text|truncated)$/],
  ['an RTF with a binary part of any length', () => Buffer.from('{\\rtf1 a\\bin9999999999 b'), /^text$/],
  [
    'an RTF of 20 MB of backslashes',
    () => Buffer.concat([Buffer.from('{\\rtf1 '), Buffer.alloc(20 * megabyte, '\\')]),
    /^(text|truncated)$/,
  ],
  ['an HTML file with a million open elements', () => Buffer.from(`<html>${'<div>'.repeat(1_000_000)}a`), /^(text|truncated)$/],
  ['an HTML file with a million cells', () => Buffer.from(`<html><table>${'<tr><td>a<td>b'.repeat(100_000)}`), /^(text|truncated)$/],
  ['a text of 25 MB of spaces', () => Buffer.alloc(25 * megabyte, ' '), /^truncated$/],
  ['a PNG that claims 4 billion pixels a side', () => makePng(0xffffffff, 0xffffffff), /^text$/],
  [
    'a PNG with a compressed text of 1 GB',
    () => makePng(1, 1, [['zTXt', Buffer.concat([Buffer.from('Comment\0\0'), compressedGigabyte('a')])]]),
    /^text$/,
  ],
  ['a JPEG that claims 65,535 pixels a side', () => makeJpeg(65_535, 65_535, 'a'), /^text$/],
  ['a GIF that claims 65,535 pixels a side', () => makeGif(65_535, 65_535), /^text$/],
  ['a WebP that claims 16 million pixels a side', () => makeWebp(1 << 24, 1 << 24), /^text$/],
]

describe('each bomb has its end, less than 250 ms of the main thread and less than 700 MB more memory', () => {
  test.each(bombs)('%s', async (_name, make, ends, filename) => {
    const bytes = make()
    expect(bytes.length).toBeLessThan(26 * megabyte)
    const reader = open()
    await reader.read(fileOf(Buffer.from('first')))
    const limitMs = await allowedMs(250)
    let leastMs = Number.POSITIVE_INFINITY
    // The main thread also collects the garbage of other tests, so the least of up to five readings counts.
    for (let round = 0; round < 5 && leastMs >= limitMs; round++) {
      const watch = await watchMemory()
      const startedMs = performance.now()
      const { ms, result: found } = await measureThread(() => reader.read(fileOf(bytes, filename)))
      // The main thread looks at the memory of the reading thread all the time, which takes up to a fiftieth of it.
      leastMs = Math.min(leastMs, ms - (performance.now() - startedMs) / 50)
      expect(await watch.end()).toBeLessThan(700 * megabyte)
      if (!('failure' in found)) expect(found.text.length).toBeLessThanOrEqual(charactersMax)
      expect('failure' in found ? found.failure : found.isTruncated ? 'truncated' : 'text').toMatch(ends)
    }
    expect(leastMs).toBeLessThan(limitMs)
    // The reader goes on with the next file.
    expect(await reader.read(fileOf(Buffer.from('next')))).toMatchObject({ text: 'next' })
  })
})

describe('limits', () => {
  const slow = () => makePagePdf('/Filter /FlateDecode', compressedGigabyte(' '))

  test('a file that takes too long is too complex, and its thread is replaced', async () => {
    const reader = open({ taskMsMax: 0 })
    expect(await reader.read(fileOf(Buffer.from('text')))).toEqual({ failure: 'too_complex' })
    expect(reader.threads()).toBe(0)
  })

  test('a bomb beside a file does not fail it', async () => {
    const reader = open({ threadsMax: 2 })
    const [bomb, ...others] = await Promise.all([
      reader.read(fileOf(slow())),
      ...[1, 2, 3].map(() => reader.read(fileOf(Buffer.from('a')))),
    ])
    expect(bomb).toEqual({ failure: 'too_complex' })
    for (const other of others) expect(other).toMatchObject({ text: 'a' })
    expect(reader.threads()).toBeLessThanOrEqual(2)
  })

  test('files wait for a thread, and one owner cannot fill the queue of the others', async () => {
    const reader = open({ threadsMax: 1, filesMax: 6, filesPerOwnerMax: 4 })
    const ask = (owner: string) => reader.read(fileOf(Buffer.from(owner), 'a.txt', owner))
    const found = await Promise.all(['one', 'one', 'one', 'one', 'one', 'two', 'two', 'two'].map(ask))
    expect(found.map((one) => ('failure' in one ? one.failure : one.text))).toEqual([
      'one',
      'one',
      'one',
      'one',
      'busy',
      'two',
      'two',
      'busy',
    ])
    expect(await ask('one')).toMatchObject({ text: 'one' })
  })

  test('idle threads end, and a closed reader has none', async () => {
    const reader = open({ idleMs: 0 })
    expect(await reader.read(fileOf(Buffer.from('a')))).toMatchObject({ text: 'a' })
    await expect.poll(() => reader.threads()).toBe(0)
    await reader.close()
    expect(await reader.read(fileOf(Buffer.from('a')))).toEqual({ failure: 'damaged' })
  })
})
