// Reads the text of a file of any supported format as Markdown, with indicators of deception.

import { flagsOfContent } from '@callsign/mail/content/deception/flags'
import { findIndicators } from '@callsign/mail/content/deception/indicators'
import { HTML_CHARACTERS_MAX, htmlToMarkdown } from '@callsign/mail/html/text'
import { storableText } from '@callsign/mail/mime/storable-text'
import type { AttachmentFormat, FileText, NamedFile } from '../../../features/mail/attachments/provider.ts'
import { openArchive } from './archive.ts'
import { BoundedText } from './bounded-text.ts'
import { type Container, openContainer, writeContainer } from './containers.ts'
import { readDelimited } from './delimited.ts'
import { readDocx } from './docx.ts'
import { decodeFile } from './file-charset.ts'
import { findFormat } from './format.ts'
import { readImage } from './image.ts'
import { findMainPart } from './office-parts.ts'
import { readPdf } from './pdf.ts'
import { readRtf } from './rtf.ts'
import { Unreadable } from './unreadable.ts'
import { readXlsx } from './xlsx.ts'

type GivenFile = Omit<NamedFile, 'owner' | 'charactersMax'>

/** Files that are read in one attachment, and nesting of containers. */
const innerFilesMax = 100
const depthMax = 5

/** A reading of one attachment with the files inside. `html` has the sources of HTML, for the search for hidden text. */
type Reading = { out: BoundedText; html: string[]; innerFiles: number }

/** Throws `Unreadable` for a file without readable text, and any error of a parser for a damaged one. */
export async function readFile({ charactersMax, ...file }: Omit<NamedFile, 'owner'>): Promise<FileText> {
  const reading: Reading = { out: new BoundedText(charactersMax), html: [], innerFiles: 0 }
  const format = await readInto(file, reading, 0)
  const { out, html } = reading
  const text = storableText(out.toText())
  const source = html.length === 0 ? null : html.join('\n')
  return { format, text, isTruncated: out.isTruncated, flags: findFlags(file.filename, text, source, out.hidden) }
}

async function readInto(file: GivenFile, reading: Reading, depth: number): Promise<AttachmentFormat> {
  const { bytes } = file
  const { out } = reading
  const found = findFormat(bytes, file)
  if (found === null) throw new Unreadable('not_supported', 'the format is not known')
  if (found === 'zip') return readOffice(bytes, out)
  if (found === 'ole') {
    // Word and Excel wrap an encrypted file like this. The name is in UTF-16.
    const isEncrypted = bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))
    throw new Unreadable(isEncrypted ? 'encrypted' : 'not_supported', 'the file is a compound file')
  }
  if (typeof found === 'object') {
    readImage(bytes, found.image, out)
    return 'image'
  }
  if (found === 'message' || found === 'tnef' || found === 'signed') return readContainer(openContainer(file, found), reading, depth)
  if (found === 'pdf') await readPdf(bytes, out)
  else if (found === 'rtf') readRtf(bytes, out)
  else readText(found, decodeFile(bytes, file.contentType, found === 'html'), reading)
  return found
}

function readText(format: 'html' | 'csv' | 'text', text: string, { out, html }: Reading): void {
  if (format === 'csv') readDelimited(text, out)
  else out.write(format === 'html' ? htmlToMarkdown(text) : text)
  if (format !== 'html') return
  if (text.length > HTML_CHARACTERS_MAX) out.truncate()
  html.push(text)
}

/** Writes the container, and the text of each file in it. A file without text is named. */
async function readContainer(container: Container, reading: Reading, depth: number): Promise<AttachmentFormat> {
  if (depth >= depthMax) throw new Unreadable('too_complex', `containers nest deeper than ${depthMax}`)
  const { out } = reading
  if (container.kind === 'file') return readInto(container.file, reading, depth + 1)
  if (container.html !== null) reading.html.push(container.html)
  writeContainer(container, out)
  for (const file of container.files) {
    if (out.isFull) break
    if (++reading.innerFiles > innerFilesMax) {
      out.truncate()
      break
    }
    out.write(`\n\n## ${file.filename}\n\n`)
    try {
      await readInto({ ...file, bytes: file.read() }, reading, depth + 1)
    } catch (error) {
      out.write(`(No text: ${error instanceof Unreadable ? error.failure : 'damaged'})`)
    }
  }
  return 'message'
}

async function readOffice(bytes: Buffer, out: BoundedText): Promise<'docx' | 'xlsx'> {
  const archive = await openArchive(bytes)
  const main = await findMainPart(archive)
  if (main === null) throw new Unreadable('not_supported', 'the archive is not a document')
  if (main.format === 'docx') await readDocx(archive, main.part, out)
  else await readXlsx(archive, main.part, out)
  return main.format
}

const hiddenLettersMin = 15

/** The indicators of mail, for the name and text of a file. */
function findFlags(filename: string, text: string, html: string | null, hidden: string): FileText['flags'] {
  const found = findIndicators({ from: [], subject: filename, text, html, attachments: [] })
  const unseen = findIndicators({ from: [], subject: '', text: hidden, html: null, attachments: [] })
  const isHidden = unseen.instructions !== null || hidden.replace(/[^\p{L}\p{N}]+/gu, '').length >= hiddenLettersMin
  return flagsOfContent(
    {
      hiddenText: found.hiddenText ?? (isHidden ? hidden.trim() : unseen.hiddenText),
      instructions: unseen.instructions ?? found.instructions,
    },
    'The attachment',
  )
}
