// Reads TNEF, the container winmail.dat of Outlook (MS-OXTNEF): its text and its files. Bounded, and strict about lengths.
import { decodeText } from '../mime/charsets.ts'
import { readDosDate, readProperties } from './mapi-properties.ts'
import { readRtfBody } from './rtf-body.ts'

/** A file in a container. `bytes` of an embedded message are TNEF again. */
export type TnefFile = { filename: string; contentType: string; bytes: Buffer }

/** The content of a container. `text` and `html` are versions of one body, from its compressed RTF if it has no other. */
export type TnefContent = {
  subject: string
  author: string
  date: Date | null
  text: string | null
  html: string | null
  files: TnefFile[]
}

const SIGNATURE = 0x223e9f78
const FILES_MAX = 200
const ATTRIBUTES_MAX = 20_000
const LEVEL_MESSAGE = 1
const LEVEL_ATTACHMENT = 2

/** Attributes by their number, without the type in the upper 16 bits. */
const attribute = {
  from: 0x8000,
  subject: 0x8004,
  dateSent: 0x8005,
  body: 0x800c,
  fileData: 0x800f,
  fileTitle: 0x8010,
  fileStart: 0x9002,
  messageProperties: 0x9003,
  fileProperties: 0x9005,
  codePage: 0x9007,
}

const property = {
  subject: 0x0037,
  authorName: 0x0c1a,
  authorAddress: 0x5d01,
  sentAt: 0x0039,
  body: 0x1000,
  html: 0x1013,
  rtf: 0x1009,
  charset: 0x3fde,
  displayName: 0x3001,
  fileData: 0x3701,
  shortName: 0x3704,
  longName: 0x3707,
  mediaType: 0x370e,
}

/** True for bytes that begin like TNEF. */
export const isTnef = (bytes: Buffer): boolean => bytes.length >= 6 && bytes.readUInt32LE(0) === SIGNATURE

/** The content of TNEF, up to its first damaged attribute. Null for other bytes. Linear, never throws. */
export function readTnef(bytes: Buffer): TnefContent | null {
  if (!isTnef(bytes)) return null
  const reader = new TnefReader()
  // The signature, and a key of two bytes.
  let at = 6
  for (let count = 0; count < ATTRIBUTES_MAX && at + 11 <= bytes.length; count++) {
    const level = bytes[at]!
    const number = bytes.readUInt16LE(at + 1)
    const start = at + 9
    const end = start + bytes.readUInt32LE(at + 5)
    // A checksum of two bytes follows. The last one may be cut.
    if ((level !== LEVEL_MESSAGE && level !== LEVEL_ATTACHMENT) || end > bytes.length) break
    if (level === LEVEL_MESSAGE) reader.readMessageAttribute(number, bytes.subarray(start, end))
    else if (!reader.readFileAttribute(number, bytes.subarray(start, end))) break
    at = end + 2
  }
  return reader.finish()
}

class TnefReader {
  #codePage = 1252
  #subject = ''
  #author = ''
  #date: Date | null = null
  #text: string | null = null
  #html: string | null = null
  #rtf: Buffer | null = null
  readonly #files: TnefFile[] = []

  readMessageAttribute(number: number, value: Buffer): void {
    if (number === attribute.codePage && value.length >= 4) this.#codePage = value.readUInt32LE(0)
    else if (number === attribute.subject) this.#subject ||= this.#string(value)
    else if (number === attribute.from) this.#author ||= this.#authorOf(value)
    else if (number === attribute.dateSent) this.#date ??= readDosDate(value)
    else if (number === attribute.body) this.#text ??= this.#string(value)
    else if (number === attribute.messageProperties) this.#readMessageProperties(value)
  }

  /** False when there are too many files. */
  readFileAttribute(number: number, value: Buffer): boolean {
    if (number === attribute.fileStart) {
      if (this.#files.length >= FILES_MAX) return false
      this.#files.push({ filename: '', contentType: 'application/octet-stream', bytes: Buffer.alloc(0) })
    }
    const file = this.#files.at(-1)
    if (file === undefined) return true
    if (number === attribute.fileTitle) file.filename ||= this.#string(value)
    else if (number === attribute.fileData) file.bytes = value
    else if (number === attribute.fileProperties) this.#readFileProperties(file, value)
    return true
  }

  finish(): TnefContent {
    const isEmpty = !this.#text?.trim() && !this.#html?.trim()
    const body = isEmpty && this.#rtf ? readRtfBody(this.#rtf) : { text: this.#text, html: this.#html }
    return {
      subject: this.#subject,
      author: this.#author,
      date: this.#date,
      ...body,
      files: this.#files,
    }
  }

  #readMessageProperties(value: Buffer): void {
    const found = readProperties(value, this.#codePage)
    const textOf = (id: number): string => found.text(id) ?? ''
    this.#subject = textOf(property.subject) || this.#subject
    const address = textOf(property.authorAddress)
    const name = textOf(property.authorName)
    this.#author = (address.includes('@') && address !== name ? `${name} <${address}>`.trim() : name) || this.#author
    this.#date = found.time(property.sentAt) ?? this.#date
    this.#text = found.text(property.body) ?? this.#text
    const html = found.bytes(property.html)
    if (html !== null) this.#html = decodeText(html, `cp${found.number(property.charset) ?? this.#codePage}`).text
    else this.#html = found.text(property.html) ?? this.#html
    this.#rtf = found.bytes(property.rtf) ?? this.#rtf
  }

  #readFileProperties(file: TnefFile, value: Buffer): void {
    const found = readProperties(value, this.#codePage)
    file.filename =
      found.text(property.longName) || file.filename || found.text(property.shortName) || found.text(property.displayName) || ''
    file.contentType = found.text(property.mediaType)?.toLowerCase() || file.contentType
    const embedded = found.object(property.fileData)
    if (embedded !== null && isTnef(embedded)) {
      file.bytes = embedded
      file.contentType = 'application/ms-tnef'
    } else if (file.bytes.length === 0) file.bytes = found.bytes(property.fileData) ?? embedded ?? file.bytes
  }

  // A name and an address of the form "SMTP:ann@example.com", each with its length (MS-OXTNEF, TRP structure).
  #authorOf(value: Buffer): string {
    if (value.length < 8) return ''
    const nameEnd = 8 + value.readUInt16LE(4)
    const addressEnd = nameEnd + value.readUInt16LE(6)
    if (addressEnd > value.length) return ''
    const name = this.#string(value.subarray(8, nameEnd))
    const address = this.#string(value.subarray(nameEnd, addressEnd)).replace(/^smtp:/i, '')
    return address.includes('@') ? `${name} <${address}>`.trim() : name
  }

  #string(value: Buffer): string {
    const end = value.indexOf(0)
    return decodeText(end < 0 ? value : value.subarray(0, end), `cp${this.#codePage}`).text
  }
}
