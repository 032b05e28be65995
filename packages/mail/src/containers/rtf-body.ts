// The body of an Outlook message that is only compressed RTF: as HTML where it was made from HTML, otherwise as text.
import { decompressRtf } from './compressed-rtf.ts'
import { type RtfOutput, readRtf } from './rtf.ts'

/** Up to 0.5 seconds of reading, for a document of small groups. */
const RTF_BYTES_MAX = 1024 * 1024
const CHARACTERS_MAX = 1024 * 1024

/** Both are null for bytes that are not compressed RTF, and for a document without text. */
export function readRtfBody(compressed: Buffer): { text: string | null; html: string | null } {
  const rtf = decompressRtf(compressed, RTF_BYTES_MAX)
  if (rtf === null) return { text: null, html: null }
  const body = new Body()
  readRtf(rtf, body)
  const [text, html] = [body.lines, body.tags].map((pieces) => pieces.join('').slice(0, CHARACTERS_MAX))
  return { text: text?.trim() ? text : null, html: html?.trim() ? html : null }
}

class Body implements RtfOutput {
  readonly lines: string[] = []
  readonly tags: string[] = []
  room = CHARACTERS_MAX

  get isFull(): boolean {
    return this.room <= 0
  }

  paragraph(text: string): void {
    this.#keep(this.lines, `${text}\n`)
  }

  row(cells: readonly string[]): void {
    this.paragraph(cells.join('\t'))
  }

  html(text: string): void {
    this.#keep(this.tags, text)
  }

  /** Hidden text is not part of a body. */
  hide(): void {}

  #keep(pieces: string[], text: string): void {
    pieces.push(text)
    this.room -= text.length
  }
}
