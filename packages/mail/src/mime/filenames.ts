// Gives every attachment a file name that is safe to store, to show and to save.
import { decodeEncodedWords } from './encoded-words.ts'
import { storableLine } from './storable-text.ts'

const NAME_BYTES_MAX = 255

const DEFAULT_NAMES = new Map([
  ['message/rfc822', 'message.eml'],
  ['message/global', 'message.eml'],
  ['message/delivery-status', 'delivery-status.txt'],
  ['message/global-delivery-status', 'delivery-status.txt'],
  ['message/disposition-notification', 'disposition-notification.txt'],
  ['message/feedback-report', 'feedback-report.txt'],
  ['text/rfc822-headers', 'headers.txt'],
  ['text/plain', 'text.txt'],
  ['text/html', 'page.html'],
  ['text/calendar', 'invite.ics'],
  ['application/ics', 'invite.ics'],
  ['text/csv', 'table.csv'],
  ['text/vcard', 'contact.vcf'],
  ['text/x-vcard', 'contact.vcf'],
  ['text/x-amp-html', 'page.amp.html'],
  ['image/jpeg', 'image.jpg'],
  ['image/png', 'image.png'],
  ['image/gif', 'image.gif'],
  ['image/webp', 'image.webp'],
  ['image/svg+xml', 'image.svg'],
  ['image/tiff', 'image.tiff'],
  ['image/heic', 'image.heic'],
  ['audio/mpeg', 'audio.mp3'],
  ['audio/wav', 'audio.wav'],
  ['audio/ogg', 'audio.ogg'],
  ['video/mp4', 'video.mp4'],
  ['application/pdf', 'document.pdf'],
  ['application/json', 'data.json'],
  ['application/xml', 'data.xml'],
  ['text/xml', 'data.xml'],
  ['application/zip', 'archive.zip'],
  ['application/gzip', 'archive.gz'],
  ['application/pgp-signature', 'signature.asc'],
  ['application/pgp-keys', 'key.asc'],
  ['application/pgp-encrypted', 'version.txt'],
  ['application/pkcs7-signature', 'smime.p7s'],
  ['application/x-pkcs7-signature', 'smime.p7s'],
  ['application/pkcs7-mime', 'smime.p7m'],
  ['application/x-pkcs7-mime', 'smime.p7m'],
  ['application/msword', 'document.doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'document.docx'],
  ['application/vnd.ms-excel', 'sheet.xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'sheet.xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'slides.pptx'],
])

/** The name used for a part without a usable one, by its media type in lower case. */
export function defaultFilename(contentType: string): string {
  return DEFAULT_NAMES.get(contentType) ?? 'attachment.bin'
}

/**
 * Makes a sender's file name safe: decodes encoded words, and removes path separators, control and direction-changing characters, leading
 * dots and trailing blanks. Keeps at most 255 bytes of UTF-8, with the extension. `null` when nothing usable is left.
 */
export function cleanFilename(written: string | undefined): string | null {
  if (written === undefined || written === '') return null
  const line = storableLine(decodeEncodedWords(written.slice(0, 8192)))
  const name = line
    .replace(/[/\\:\u2028\u2029]/g, '_')
    // Direction marks can make "exe.gpj" look like another type.
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u0080-\u009f]/g, '')
    .replace(/^[.\s]+/, '')
    .trimEnd()
  return name === '' ? null : shorten(name)
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : ''
  let stem = Buffer.from(name).subarray(0, NAME_BYTES_MAX - Buffer.byteLength(extension))
  // Cut before a character that the limit would split.
  let end = stem.length
  while ((stem[end - 1]! & 0xc0) === 0x80) end--
  if (stem[end - 1]! >= 0xc0) stem = stem.subarray(0, isWhole(stem, end - 1) ? stem.length : end - 1)
  return stem.toString() + extension
}

function isWhole(bytes: Buffer, lead: number): boolean {
  const byte = bytes[lead]!
  return bytes.length - lead === (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2)
}
