// Reads the text of a file of any supported format as Markdown, with indicators of deception.

import { flagsOfContent } from '@callsign/mail/content/deception/flags'
import { findIndicators } from '@callsign/mail/content/deception/indicators'
import { HTML_CHARACTERS_MAX, htmlToMarkdown } from '@callsign/mail/html/text'
import { decodeText, guessText } from '@callsign/mail/mime/charsets'
import { storableText, unifyLineEnds } from '@callsign/mail/mime/storable-text'
import type { AttachmentFormat, FileText, NamedFile } from '../../../features/mail/attachments/provider.ts'
import { openArchive } from './archive.ts'
import { BoundedText } from './bounded-text.ts'
import { readDelimited } from './delimited.ts'
import { readDocx } from './docx.ts'
import { findFormat, hasUtf16Mark } from './format.ts'
import { readImage } from './image.ts'
import { findMainPart } from './office-parts.ts'
import { readPdf } from './pdf.ts'
import { readRtf } from './rtf.ts'
import { Unreadable } from './unreadable.ts'
import { readXlsx } from './xlsx.ts'

/** Throws `Unreadable` for a file without readable text, and any error of a parser for a damaged one. */
export async function readFile(file: Omit<NamedFile, 'owner'>): Promise<FileText> {
  const out = new BoundedText(file.charactersMax)
  const { format, html } = await readInto(file, out)
  const text = storableText(out.toText())
  return { format, text, isTruncated: out.isTruncated, flags: findFlags(file.filename, text, html, out.hidden) }
}

async function readInto(file: Omit<NamedFile, 'owner'>, out: BoundedText): Promise<{ format: AttachmentFormat; html: string | null }> {
  const { bytes } = file
  const found = findFormat(bytes, file)
  if (found === null) throw new Unreadable('not_supported', 'the format is not known')
  if (found === 'zip') return { format: await readOffice(bytes, out), html: null }
  if (found === 'ole') {
    // Word and Excel wrap an encrypted file like this. The name is in UTF-16.
    const isEncrypted = bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'))
    throw new Unreadable(isEncrypted ? 'encrypted' : 'not_supported', 'the file is a compound file')
  }
  if (typeof found === 'object') {
    readImage(bytes, found.image, out)
    return { format: 'image', html: null }
  }
  if (found === 'pdf') await readPdf(bytes, out)
  else if (found === 'rtf') readRtf(bytes, out)
  else return { format: found, html: readText(found, textOf(bytes), out) }
  return { format: found, html: null }
}

/** Returns the source of HTML, for the search for hidden text. */
function readText(format: 'html' | 'csv' | 'text', text: string, out: BoundedText): string | null {
  if (format === 'csv') readDelimited(text, out)
  else out.write(format === 'html' ? htmlToMarkdown(text) : text)
  if (format !== 'html') return null
  if (text.length > HTML_CHARACTERS_MAX) out.truncate()
  return text
}

async function readOffice(bytes: Buffer, out: BoundedText): Promise<'docx' | 'xlsx'> {
  const archive = await openArchive(bytes)
  const main = await findMainPart(archive)
  if (main === null) throw new Unreadable('not_supported', 'the archive is not a document')
  if (main.format === 'docx') await readDocx(archive, main.part, out)
  else await readXlsx(archive, main.part, out)
  return main.format
}

const textOf = (bytes: Buffer): string => unifyLineEnds(hasUtf16Mark(bytes) ? decodeText(bytes, 'utf-16').text : guessText(bytes))

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
