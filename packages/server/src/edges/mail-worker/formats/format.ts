// Finds the format of a file by its first bytes. The declared name and type decide only between kinds of text.
import { isUtf8 } from 'node:buffer'
import { isTnef } from '@callsign/mail/containers/tnef'
import { mediaTypeOnly } from '@callsign/mail/mime/content-type'
import type { NamedFile } from '../../../features/mail/attachments/provider.ts'
import { charsetOf } from './file-charset.ts'

export type FoundFormat = 'pdf' | 'zip' | 'ole' | 'rtf' | 'html' | 'csv' | 'text' | 'message' | 'tnef' | 'signed' | { image: string } | null

/** Bytes before the header of a PDF that readers accept. */
const pdfHeaderWithin = 1024
const sniffedBytes = 4096

const messageType = /^message\/(?:rfc822|global|news)$/
const signedType = /^application\/(?:x-)?pkcs7-mime$/
/** The first line of a header, perhaps below the line of an mbox file. */
const headerStart = /^\s*(?:From [^\n]*\n)?[!-9;-~]{1,70}[ \t]*:/

export function findFormat(bytes: Buffer, file: Pick<NamedFile, 'filename' | 'contentType'>): FoundFormat {
  const contentType = mediaTypeOnly(file.contentType)
  const extension = /\.(\w{1,8})$/.exec(file.filename)?.[1]?.toLowerCase()
  const head = bytes.subarray(0, sniffedBytes)
  const start = head.toString('latin1', 0, 16)
  // Before the search for a PDF, which a message may contain.
  if ((messageType.test(contentType) || extension === 'eml') && headerStart.test(head.toString('latin1', 0, 1000))) return 'message'
  if (isTnef(bytes)) return 'tnef'
  if (signedType.test(contentType) || extension === 'p7m') return 'signed'
  if (head.subarray(0, pdfHeaderWithin).includes('%PDF-')) return 'pdf'
  if (start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06')) return 'zip'
  if (start.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return 'ole'
  if (/^\s*\{\\rtf/.test(start)) return 'rtf'
  const image = imageOf(start)
  if (image !== null) return { image }
  if (!isText(bytes) && !/^(?:utf-?16|utf-?32|ucs-?2)/i.test(charsetOf(file.contentType) ?? '')) return null
  if (
    contentType === 'text/html' ||
    extension === 'html' ||
    extension === 'htm' ||
    /^\s*(?:<!doctype html|<html\b)/i.test(head.toString('latin1', 0, 200))
  )
    return 'html'
  if (/^(?:text\/(?:csv|tab-separated-values)|application\/csv)$/.test(contentType) || extension === 'csv' || extension === 'tsv')
    return 'csv'
  return 'text'
}

function imageOf(start: string): string | null {
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'PNG'
  if (start.startsWith('\xff\xd8\xff')) return 'JPEG'
  if (/^GIF8[79]a/.test(start)) return 'GIF'
  if (/^RIFF.{4}WEBP/s.test(start)) return 'WebP'
  return null
}

/** True for UTF-16 with a byte order mark, and for bytes that are UTF-8 or have no control characters. */
function isText(bytes: Buffer): boolean {
  if (hasUtf16Mark(bytes)) return true
  if (bytes.includes(0)) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: detects control characters
  return isUtf8(bytes) || !/[\x01-\x08\x0e-\x1a\x1c-\x1f]/.test(bytes.toString('latin1', 0, sniffedBytes))
}

const hasUtf16Mark = (bytes: Buffer): boolean => (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
