// Reads a file for a search for secrets. The bytes decide what it is, because its sender chooses the declared type and name.
import { isUtf8 } from 'node:buffer'
import { decodeText } from '../../mime/charsets.ts'

/**
 * `text`: all of it is readable. `container`: an image, a sound, a film, a PDF, an archive or an Office document. `unknown`: any other bytes,
 * such as encrypted ones.
 */
export type SearchedKind = 'text' | 'container' | 'unknown'

/** A file as a search reads it. The text of a file that is not a text has its runs of printable ASCII, also of UTF-16. */
export type SearchedFile = { kind: SearchedKind; text: string }

/** The bytes at the start that decide between text and other files. */
const sniffedBytes = 64 * 1024
/** More control characters than this share are not a text. Random bytes have a tenth. */
const controlShareMax = 0.002
/** More zero bytes than this share at every second place are the high bytes of UTF-16. */
const zeroShareMin = 0.4
const runCharactersMin = 8

export function readSearchedFile(bytes: Buffer): SearchedFile {
  const head = bytes.subarray(0, sniffedBytes)
  const utf16 = utf16Of(head)
  if (utf16 !== null) {
    const text = decodeText(bytes, utf16).text.replace(/^\ufeff/, '')
    return { kind: isReadable(text.slice(0, sniffedBytes)) ? 'text' : 'unknown', text: `${text}\n${printable(bytes)}` }
  }
  if (!bytes.includes(0) && isReadable(head.toString('latin1')))
    return { kind: 'text', text: decodeText(bytes, isUtf8(bytes) ? 'utf-8' : null).text }
  return { kind: isContainer(head) ? 'container' : 'unknown', text: printable(bytes) }
}

/** The byte order of UTF-16, by its mark or by zero bytes at every second place. Null for other bytes. */
function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const zeros = [0, 0]
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] as number) + 1
  const [even, odd] = zeros.map((count) => count / Math.max(1, head.length / 2)) as [number, number]
  if (odd >= zeroShareMin && even < zeroShareMin / 2) return 'utf-16le'
  return even >= zeroShareMin && odd < zeroShareMin / 2 ? 'utf-16be' : null
}

/** True for a text with few control characters, those of white space and escape sequences apart. */
function isReadable(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: counts control characters
  const controls = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/g)?.length ?? 0
  return controls <= text.length * controlShareMax
}

/** Runs of printable ASCII, one per line. Zero bytes are left out, which are the high bytes of UTF-16 and UTF-32. */
function printable(bytes: Buffer): string {
  const runs = bytes.toString('latin1').replaceAll('\0', '').match(printableRun)
  return runs === null ? '' : runs.join('\n')
}

const printableRun = new RegExp(`[\\t\\x20-\\x7e]{${runCharactersMin},}`, 'g')

/** Bytes of files whose content is not text, or is compressed, by their offset: pictures, sounds and films, then archives and documents. */
const signatures: readonly (readonly [offset: number, ...texts: string[]])[] = [
  [0, '\x89PNG\r\n\x1a\n', '\xff\xd8\xff', 'GIF87a', 'GIF89a', 'BM', 'II*\0', 'MM\0*', '\0\0\x01\0', '8BPS', 'RIFF'],
  [0, 'ID3', 'OggS', 'fLaC', '\xff\xfb', '\xff\xf3', '\xff\xf2', '\xff\xf1', '\xff\xf9', '\x1a\x45\xdf\xa3'],
  [4, 'ftyp'],
  [0, 'PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08', '\x1f\x8b\x08', 'BZh', '\xfd7zXZ\0', '7z\xbc\xaf\x27\x1c', 'Rar!\x1a\x07'],
  [0, '\x28\xb5\x2f\xfd', 'MSCF', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  [257, 'ustar'],
]

/** Bytes before the header of a PDF that readers accept. */
const pdfHeaderWithin = 1024

function isContainer(head: Buffer): boolean {
  const start = head.toString('latin1', 0, pdfHeaderWithin)
  return start.includes('%PDF-') || signatures.some(([offset, ...texts]) => texts.some((text) => start.startsWith(text, offset)))
}
