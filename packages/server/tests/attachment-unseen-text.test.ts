// Text of a PDF that its page does not show: found in the color of its background, transparent, covered or cut off, and not where people read it.
import { afterAll, expect, test } from 'vitest'
import { createLog } from '../src/core/log.ts'
import { createFileReader } from '../src/edges/mail-worker/file-reader.ts'
import type { FileText } from '../src/features/mail/attachments/provider.ts'
import { instruction, makePdf, makePng } from './harness/sample-files.ts'

const reader = createFileReader({ log: createLog('silent'), taskMsMax: 120_000 })
afterAll(() => reader.close())

async function readText(bytes: Buffer): Promise<FileText> {
  const found = await reader.read({ bytes, filename: 'file', contentType: 'application/pdf', charactersMax: 100_000, owner: 'org_1' })
  if ('failure' in found) throw new Error(found.failure)
  return found
}

const image = makePng(40, 30)
const covered: [string, (page: PDFKit.PDFDocument) => unknown][] = [
  ['white on the empty page', (page) => page.fillColor('#fff').text(instruction)],
  ['almost white', (page) => page.fillColor('#f6f6f6').text(instruction)],
  ['white in CMYK', (page) => page.fillColor([0, 0, 0, 0]).text(instruction)],
  [
    'in the color of a filled rectangle',
    (page) => page.rect(40, 40, 500, 200).fill('#203040').fillColor('#203040').text(instruction, 60, 60),
  ],
  [
    'in the mixed color of two rectangles',
    (page) =>
      page
        .rect(40, 40, 500, 200)
        .fill('#000')
        .fillOpacity(0.5)
        .rect(40, 40, 500, 200)
        .fill('#fff')
        .fillOpacity(1)
        .fillColor('#808080')
        .text(instruction, 60, 60),
  ],
  ['below a rectangle painted later', (page) => page.fillColor('#000').text(instruction, 60, 60).rect(40, 40, 500, 200).fill('#eee')],
  ['without opacity', (page) => page.fillOpacity(0).text(instruction)],
  ['outside of the clipped area', (page) => page.save().rect(10, 10, 20, 20).clip().text(instruction, 60, 300).restore()],
  [
    'white in a moved and scaled system',
    (page) => page.save().translate(10, 300).scale(1.1).fillColor('#fff').text(instruction, 0, 0).restore(),
  ],
  ['white beside an image', (page) => page.image(image, 50, 300, { width: 100 }).fillColor('#fff').text(instruction, 50, 100)],
  [
    'in the third mode',
    (page) => {
      page.addContent('3 Tr')
      page.text(instruction)
    },
  ],
]
test.each(covered)('%s', async (_name, draw) => {
  const { text, flags } = await readText(
    await makePdf((page) => {
      page.text('Offer', 60, 20)
      draw(page)
    }),
  )
  expect(text).toContain(instruction)
  expect(flags.map(({ type, evidence }) => [type, evidence])).toEqual([
    ['hidden_text', instruction],
    ['model_instructions', instruction.toLowerCase()],
  ])
})

const shown: [string, (page: PDFKit.PDFDocument) => unknown][] = [
  [
    'white on a dark rectangle',
    (page) => page.rect(40, 40, 500, 200).fill('#203040').fillColor('#fff').text('A heading on a dark band', 60, 60),
  ],
  [
    'white on a rectangle inside of a clip',
    (page) =>
      page
        .save()
        .rect(40, 40, 500, 200)
        .clip()
        .rect(0, 0, 600, 700)
        .fill('#203040')
        .fillColor('#fff')
        .text('A heading on a dark band', 60, 60)
        .restore(),
  ],
  ['white on an image', (page) => page.image(image, 40, 40, { width: 500 }).fillColor('#fff').text('A caption on a photograph', 60, 60)],
  [
    'white on a gradient',
    (page) =>
      page
        .rect(40, 40, 500, 200)
        .fill(page.linearGradient(40, 40, 540, 40).stop(0, '#000').stop(1, '#333'))
        .fillColor('#fff')
        .text('A heading on a gradient', 60, 60),
  ],
  [
    'white on a round shape',
    (page) => page.circle(200, 200, 150).fill('#203040').fillColor('#fff').text('A label on a round badge', 120, 200),
  ],
  ['light grey on white', (page) => page.fillColor('#aaa').text('A footnote in small print')],
  ['half transparent', (page) => page.fillOpacity(0.4).text('A watermark across the page')],
  [
    'on a cell of a table of one path',
    (page) => page.rect(40, 40, 100, 30).rect(140, 40, 400, 30).fill('#203040').fillColor('#fff').text('The head of a table', 150, 50),
  ],
  ['stroked only', (page) => page.fillColor('#fff').strokeColor('#000').text('Letters with an outline', { stroke: true, fill: true })],
  [
    'in the third mode over a scanned page',
    (page) => {
      page.image(image, 0, 0, { width: 612, height: 792 })
      page.addContent('3 Tr')
      page.text('The words of a scanned page', 60, 60)
    },
  ],
  [
    'in the third mode under a scanned page',
    (page) => {
      page.addContent('3 Tr')
      page.text('The words of a scanned page', 60, 60)
      page.image(image, 0, 0, { width: 612, height: 792 })
    },
  ],
  ['black after white, with the state restored', (page) => page.save().fillColor('#fff').restore().text('A line in the color of before')],
]
test.each(shown)('is not %s', async (_name, draw) => {
  const { text, flags } = await readText(
    await makePdf((page) => {
      page.text('Offer', 60, 20)
      draw(page)
    }),
  )
  expect([text.length > 20, flags]).toEqual([true, []])
})

test('a page of 50,000 rectangles and 20,000 words is read whole', async () => {
  const pdf = await makePdf((page) => {
    for (let n = 0; n < 50_000; n++) page.rect(n % 600, (n * 7) % 800, 3, 3).fill(n % 2 ? '#eee' : '#ddd')
    page.fillColor('#000')
    for (let n = 0; n < 20_000; n++) page.text('Word', (n * 11) % 500, (n * 13) % 700, { lineBreak: false })
  })
  const { text, flags } = await readText(pdf)
  expect(text.match(/Word/g)?.length).toBe(20_000)
  expect(flags).toEqual([])
})
