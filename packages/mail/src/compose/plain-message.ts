// Writes letters without attachments, which is most mail, without the composer: a fifth of its time, and the same words.
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { NamedAddress } from './message-draft.ts'
import { type EncodedText, encodeText } from './mime-text.ts'

/** Everything checked and cleaned. `fields` are whole header fields, folded, for the top; text and html have CRLF line ends, and one of them is not empty. */
export type PlainLetter = {
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

/** True for an address that stands in a header as it is; others are left to the composer: quoted ones, and those beyond ASCII. */
export const isPlainAddress = ({ address }: NamedAddress): boolean => plainAddress.test(address)

export function writePlainLetter(letter: PlainLetter): Buffer {
  const fields = [
    ...letter.fields,
    field('From', mailbox(letter.from)),
    ...addressField('To', letter.to),
    ...addressField('Cc', letter.cc),
    ...addressField('Reply-To', letter.replyTo),
    ...(letter.references.length > 0 ? [field('References', letter.references.join(' '))] : []),
    `Message-ID: ${letter.messageId}`,
    `Date: ${letter.date.toUTCString().replace('GMT', '+0000')}`,
  ]
  const parts = [...(letter.text ? [part('plain', letter.text)] : []), ...(letter.html ? [part('html', letter.html)] : [])]
  const [only] = parts
  const rest = parts.length === 1 && only ? single(only) : alternative(parts, letter.boundary)
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

/** Folds at spaces, so that lines have 76 characters unless a word is longer; `used` is what the field's name takes of the first. */
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

/** A field's name as mail systems write it. */
export const fieldName = (name: string): string =>
  name.toLowerCase().replace(/^mime\b|(?:^|-)[a-z]|-(?:spf|fbl|id|md5)$/g, (part) => part.toUpperCase())
