// Decodes text files by their byte order mark, the charset of their type, or the charset that they declare inside.
import { sniffCharset } from '@callsign/mail/mime/bodies'
import { decodeText } from '@callsign/mail/mime/charsets'
import { readParameters } from '@callsign/mail/mime/content-type'
import { unifyLineEnds } from '@callsign/mail/mime/storable-text'

/** The charset parameter of a content type, or null. */
export const charsetOf = (contentType: string): string | null => readParameters(contentType).parameters.get('charset') || null

/** The text with LF line ends. Without any declaration it is UTF-8 when it can be, else windows-1252. */
export function decodeFile(bytes: Buffer, contentType: string, isHtml: boolean): string {
  const label = charsetOfMark(bytes) ?? charsetOf(contentType) ?? declaredCharset(bytes, isHtml)
  return unifyLineEnds(decodeText(bytes, label).text)
}

function charsetOfMark(bytes: Buffer): string | null {
  const [first, second, third] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'utf-16'
  // XML without a mark (XML 1.0, appendix F).
  if (first === 0x3c && second === 0) return 'utf-16le'
  if (first === 0 && second === 0x3c) return 'utf-16be'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : null
}

const xmlCharset = /^\s*<\?xml[^>]{1,200}?encoding\s{0,5}=\s{0,5}["']([\w.:-]{1,40})/

/** XML and HTML name their charset near their start. */
function declaredCharset(bytes: Buffer, isHtml: boolean): string | null {
  const label = xmlCharset.exec(bytes.toString('latin1', 0, 400))?.[1] ?? (isHtml ? sniffCharset(bytes) : null)
  // The declaration could not be read in UTF-16.
  return label !== null && /^utf-?16/i.test(label) ? 'utf-8' : label
}
