// Writes messages without attachments, which are most mail, in a fifth of the composer's time.
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { NamedAddress } from './message-draft.ts'
import { type EncodedText, encodeText } from './mime-text.ts'

/** Checked and cleaned input. `fields` are folded header fields for the top. `text` and `html` have CRLF line ends, and one of them is not empty. */
export type PlainMessage = {
  fields: string[]
  from: NamedAddress
  to: NamedAddress[]
  cc: NamedAddress[]
  replyTo: NamedAddress[]
  references: string[]
  messageId: string
  date: Date
  text: string
  html: string
  boundary: string
}

const lineLength = 76
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const plainAddress = new RegExp(`^${atom}(?:\\.${atom})*@[a-z0-9-]+(?:\\.[a-z0-9-]+)*$`)

/** True for an address that needs no quoting or encoding in a header. The composer writes the others. */
export const isPlainAddress = ({ address }: NamedAddress): boolean => plainAddress.test(address)

export function writePlainMessage(message: PlainMessage): Buffer {
  const fields = [
    ...message.fields,
    field('From', mailbox(message.from)),
    ...addressField('To', message.to),
    ...addressField('Cc', message.cc),
    ...addressField('Reply-To', message.replyTo),
    ...(message.references.length > 0 ? [field('References', message.references.join(' '))] : []),
    `Message-ID: ${message.messageId}`,
    `Date: ${message.date.toUTCString().replace('GMT', '+0000')}`,
  ]
  const parts = [...(message.text ? [part('plain', message.text)] : []), ...(message.html ? [part('html', message.html)] : [])]
  const [only] = parts
  const rest = parts.length === 1 && only ? single(only) : alternative(parts, message.boundary)
  return Buffer.from(`${fields.join('\r\n')}\r\n${rest}`, 'latin1')
}

type Part = EncodedText & { type: string }

const part = (subtype: 'plain' | 'html', text: string): Part => ({ type: `text/${subtype}; charset=utf-8`, ...encodeText(text) })

function single({ encoding, type, body }: Part): string {
  const end = body.endsWith('\r\n') ? '' : '\r\n'
  return `Content-Transfer-Encoding: ${encoding}\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n${body}${end}`
}

function alternative(parts: Part[], boundary: string): string {
  const written = parts.map(
    ({ encoding, type, body }) => `--${boundary}\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`,
  )
  const type = field('Content-Type', `multipart/alternative; boundary="${boundary}"`)
  return `MIME-Version: 1.0\r\n${type}\r\n\r\n${written.join('')}--${boundary}--\r\n`
}

const addressField = (name: string, addresses: NamedAddress[]): string[] =>
  addresses.length > 0 ? [field(name, addresses.map(mailbox).join(', '))] : []

function mailbox({ name, address }: NamedAddress): string {
  if (!name) return address
  if (/^[\w ]*$/.test(name)) return `${name} <${address}>`
  const isAscii = /^[\x20-\x7e]*$/.test(name) && !name.includes('=?')
  return `${isAscii ? `"${name.replace(/["\\]/g, '\\$&')}"` : encodeWord(name, undefined, 52)} <${address}>`
}

/** A header field, folded. */
export const field = (name: string, value: string): string => `${name}: ${fold(value, name.length + 2)}`

/** Folds at spaces to lines of 76 characters, unless a word is longer. `used` is the length of the field name on the first line. */
export function fold(value: string, used: number): string {
  if (used + value.length <= lineLength) return value
  let folded = ''
  let length = used
  for (const word of value.split(' ')) {
    if (folded && length + 1 + word.length > lineLength) {
      folded += `\r\n ${word}`
      length = 1 + word.length
    } else {
      folded += folded ? ` ${word}` : word
      length += 1 + word.length
    }
  }
  return folded
}

/** The usual capitalization of a field name, for example `List-ID`. */
export const fieldName = (name: string): string =>
  name.toLowerCase().replace(/^mime\b|-(?:spf|fbl|id|md5)$|(?:^|-)[a-z]/g, (part) => part.toUpperCase())
