// Opens the files that hold a message or other files: messages, TNEF and signed data.
import { readSignedContent } from '@callsign/mail/containers/signed-data'
import { readTnef, type TnefContent } from '@callsign/mail/containers/tnef'
import { htmlToText } from '@callsign/mail/html/text'
import { formatMediaType } from '@callsign/mail/mime/content-type'
import { cleanFilename, defaultFilename } from '@callsign/mail/mime/filenames'
import { parseMessage } from '@callsign/mail/mime/parse'
import { storableLine, storableText, unifyLineEnds } from '@callsign/mail/mime/storable-text'
import { decodeAttachment } from '@callsign/mail/mime/transfer-encoding'
import type { NamedFile } from '../../../features/mail/attachments/provider.ts'
import type { BoundedText } from './bounded-text.ts'
import { Unreadable } from './unreadable.ts'

type GivenFile = Pick<NamedFile, 'bytes' | 'filename' | 'contentType'>
type InnerFile = Pick<NamedFile, 'filename' | 'contentType'> & { read: () => Buffer }

/** A message with its files, or a signed file. */
export type Container =
  | { kind: 'message'; fields: [label: string, value: string][]; text: string; html: string | null; files: InnerFile[] }
  | { kind: 'file'; file: GivenFile }

/** Throws `Unreadable` for encrypted data, and for bytes that are not a container. */
export function openContainer(file: GivenFile, format: 'message' | 'tnef' | 'signed'): Container {
  if (format === 'message') return openMessage(file.bytes)
  if (format === 'signed') return openSigned(file)
  const content = readTnef(file.bytes)
  if (content === null) throw new Unreadable('damaged', 'the file is not TNEF')
  return openTnef(content)
}

/** The fields and the text of a message. Its files are written by the caller. */
export function writeContainer({ fields, text }: Extract<Container, { kind: 'message' }>, out: BoundedText): void {
  const lines = fields.flatMap(([label, value]) => (value === '' ? [] : [`${label}: ${storableLine(value)}\n`]))
  out.write(`${lines.join('')}\n${text}\n`)
}

function openMessage(raw: Buffer): Container {
  const parsed = parseMessage(raw)
  const people = (list: { name: string; address: string }[]): string =>
    list
      .slice(0, 20)
      .map(({ name, address }) => (name === '' ? address : `${name} <${address}>`))
      .join(', ')
  return {
    kind: 'message',
    fields: [
      ['From', people(parsed.from)],
      ['To', people(parsed.to)],
      ['Cc', people(parsed.cc)],
      ['Date', parsed.date?.toISOString() ?? ''],
      ['Subject', parsed.subject],
    ],
    text: parsed.text ?? '',
    html: parsed.html,
    files: parsed.attachments.map(({ filename, contentType, parameters, start, end, encoding }) => ({
      filename,
      contentType: formatMediaType(contentType, parameters),
      read: () => decodeAttachment(raw.subarray(start, end), encoding),
    })),
  }
}

/** Signed data is a part of a message, unless its name is that of a signed file, such as "invoice.pdf.p7m". */
function openSigned({ bytes, filename }: GivenFile): Container {
  const content = readSignedContent(withoutBase64(bytes))
  if (content === 'encrypted') throw new Unreadable('encrypted', 'the data is encrypted')
  if (content === null) throw new Unreadable('not_supported', 'the file has no signed content')
  const inner = /^(.{1,250}\.\w{1,8})\.p7m$/i.exec(filename)?.[1]
  if (inner === undefined) return openMessage(content)
  return { kind: 'file', file: { bytes: content, filename: inner, contentType: 'application/octet-stream' } }
}

/** Some programs write signed files as base64, perhaps between the lines of PEM. */
function withoutBase64(bytes: Buffer): Buffer {
  const head = bytes.toString('latin1', 0, 100)
  if (!/^\s*(?:-----BEGIN |MI[A-Za-z0-9+/\s]{20})/.test(head)) return bytes
  return Buffer.from(bytes.toString('latin1').replace(/-----[^-\n]{1,60}-----/g, ''), 'base64')
}

function openTnef({ subject, author, date, text, html, files }: TnefContent): Container {
  return {
    kind: 'message',
    fields: [
      ['From', author],
      ['Date', date?.toISOString() ?? ''],
      ['Subject', subject],
    ],
    text: unifyLineEnds(storableText(text ?? htmlToText(html ?? ''))),
    html,
    files: files.map(({ filename, contentType, bytes }) => ({
      filename: cleanFilename(filename) ?? defaultFilename(contentType),
      contentType,
      read: () => bytes,
    })),
  }
}
