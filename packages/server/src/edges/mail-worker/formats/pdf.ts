// Reads the text of PDF documents page by page with pdf.js. Nothing is drawn, and images are not decoded.
import { definePDFJSModule, getDocumentProxy } from 'unpdf'
import type { BoundedText } from './bounded-text.ts'
import { writeAnnotations } from './pdf-annotations.ts'
import { PdfPainting } from './pdf-painting.ts'
import { tinyHeightMax } from './pdf-text-state.ts'
import { Unreadable } from './unreadable.ts'

/** A gap of more than this many line heights starts a paragraph. */
const paragraphGap = 1.6
/** The time for the search for unseen text, of all pages together. Later pages are not searched. */
const searchMsMax = 5000

type Document = Awaited<ReturnType<typeof getDocumentProxy>>
type Page = Awaited<ReturnType<Document['getPage']>>

export async function readPdf(bytes: Buffer, out: BoundedText): Promise<void> {
  const document = await open(bytes)
  let searchMs = 0
  try {
    for (let number = 1; number <= document.numPages && !out.isFull; number++) {
      const page = await document.getPage(number)
      if (document.numPages > 1) out.write(`\n\n## Page ${number}\n\n`)
      await readPage(page, out)
      if (!out.isFull) writeAnnotations(await page.getAnnotations(), page.view, out)
      const beganMs = performance.now()
      if (searchMs < searchMsMax) out.hide(await findUnseen(page))
      searchMs += performance.now() - beganMs
      page.cleanup()
    }
  } finally {
    await document.loadingTask.destroy()
  }
}

async function open(bytes: Buffer): Promise<Document> {
  await definePDFJSModule(() => import('unpdf/pdfjs'))
  try {
    return await getDocumentProxy(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), {
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
      stopAtErrors: false,
      maxImageSize: 1,
    })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (error.name === 'PasswordException') throw new Unreadable('encrypted', 'the PDF has a password')
    throw new Unreadable('damaged', error.message)
  }
}

type Item = { str: string; transform: number[]; height: number; hasEOL: boolean }

/** Text outside of the page is left out by pdf.js. */
async function readPage(page: Page, out: BoundedText): Promise<void> {
  const reader = page.streamTextContent({ includeMarkedContent: false }).getReader()
  let lineY: number | null = null
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    for (const item of value.items as Item[]) {
      const y = item.transform[5] as number
      if (item.str.trim() !== '' && item.height < tinyHeightMax) out.hide(`${item.str}\n`)
      if (lineY !== null && item.str !== '' && lineY - y > paragraphGap * item.height) out.write('\n')
      if (item.str !== '') lineY = y
      out.write(item.hasEOL ? `${item.str}\n` : item.str)
    }
    if (out.isFull) {
      await reader.cancel()
      return
    }
  }
}

/** Text that the page does not show. Empty for a page that pdf.js cannot follow. */
async function findUnseen(page: Page): Promise<string> {
  const { OPS, AnnotationMode } = await import('unpdf/pdfjs')
  try {
    const painting = new PdfPainting(page.view as [number, number, number, number], OPS)
    painting.run(await page.getOperatorList({ annotationMode: AnnotationMode.DISABLE }))
    const unseen = painting.findUnseen()
    return unseen === '' ? '' : `${unseen}\n`
  } catch {
    return ''
  }
}
