// Checks of attachment inputs that need no I/O.
import { formatMediaType, readParameters } from '@callsign/mail/mime/content-type'
import { ApiError, invalid } from '../../../core/errors.ts'

export type AttachmentInput = { filename: string; content_type?: string; content?: string; url?: string; content_id?: string | null }

/** An attachment with its bytes, ready to be stored or composed. */
export type LoadedAttachment = { id: string; filename: string; contentType: string; contentId: string | null; bytes: Buffer }

/** Decodes the bytes of a part of a message. */
export type Decode = (bytes: Buffer, encoding: 'base64' | 'quoted-printable' | 'identity') => Buffer

/** Attachments up to this size are stored in their row, larger ones in the blob store. */
export const inlineBytesMax = 32 * 1024

const typesByExtension: Record<string, string> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  ics: 'text/calendar',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
}

const contentTypePattern = /^[A-Za-z0-9!#$&^_.+-]{1,127}\/[A-Za-z0-9!#$&^_.+-]{1,127}$/

/** The media type: the caller's with its parameters, such as `method=REQUEST`, or one derived from the file name's extension. */
export function contentTypeOf(input: AttachmentInput, path: string): string {
  if (input.content_type === undefined) {
    const extension = /\.([A-Za-z0-9]{1,8})$/.exec(input.filename)?.[1]?.toLowerCase() ?? ''
    return typesByExtension[extension] ?? 'application/octet-stream'
  }
  const type = (input.content_type.split(';', 1)[0] as string).trim().toLowerCase()
  if (!contentTypePattern.test(type)) throw invalid(`${path}/content_type`, 'content_type must be a media type such as application/pdf')
  if (type.startsWith('multipart/')) throw invalid(`${path}/content_type`, 'content_type must not be multipart')
  return formatMediaType(type, readParameters(input.content_type).parameters)
}

/** The file name as given. Throws 400 for control characters and path separators. */
export function checkFilename(input: AttachmentInput, path: string): string {
  if (/[\p{Cc}\p{Zl}\p{Zp}/\\]/u.test(input.filename))
    throw invalid(`${path}/filename`, 'filename must not contain control characters or path separators')
  return input.filename
}

/** The Content-ID without angle brackets, or null. */
export function contentIdOf(input: AttachmentInput, path: string): string | null {
  if (input.content_id === undefined || input.content_id === null) return null
  const id = input.content_id.replace(/^<(.*)>$/, '$1')
  if (!/^[\x21-\x3b\x3d\x3f-\x7e]{1,200}$/.test(id))
    throw invalid(`${path}/content_id`, 'content_id must be 1 to 200 printable ASCII characters without spaces')
  return id
}

/** Strict base64 (RFC 4648 §4), line breaks allowed. */
export function decodeBase64(content: string, path: string, field = 'content'): Buffer {
  const text = /[\r\n]/.test(content) ? content.replace(/[\r\n]+/g, '') : content
  const bytes = Buffer.from(text, 'base64')
  // Buffer skips characters outside base64, so fewer bytes than the length implies mean that the text had some.
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (text.length % 4 !== 0 || bytes.length !== (text.length / 4) * 3 - padding || /[-_]/.test(text)) {
    throw invalid(`${path}/${field}`, `${field} must be base64 with padding`)
  }
  return bytes
}

/** 404 for a file whose bytes were deleted before its message. */
export const filesDeleted = (): ApiError =>
  new ApiError('not_found', 'The file was deleted by the retention of the agent or of the organization. The text of its message is kept.')

/** Throws 413 when a message exceeds this size. */
export function checkTotal(bytes: number, bytesMax: number): void {
  if (bytes > bytesMax)
    throw new ApiError(
      'payload_too_large',
      `The message exceeds ${Math.floor(bytesMax / (1024 * 1024))} MB with its attachments. Send fewer or smaller ones.`,
    )
}

/** A file of a signed link. A page is shown by browsers instead of saved. */
export type FoundFile = { filename: string; contentType: string; isPage: boolean; read: () => Promise<Buffer> }

/** Neither scripts nor anything from elsewhere. Pages have styles and images of their own. */
export const policyOf = ({ isPage }: FoundFile): string =>
  `default-src 'none'; ${isPage ? "style-src 'unsafe-inline'; img-src data:; " : ''}sandbox`

/** Bytes of files together. */
export const bytesOf = (files: readonly { size_bytes: number }[]): number => files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
