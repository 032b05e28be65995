// Composes the bytes of a message from a draft.
import { createHash } from 'node:crypto'
import MailComposer, { type MailComposerAttachment } from 'nodemailer/lib/mail-composer'
import { detectExtension, encodeWord } from 'nodemailer/lib/mime-funcs'
import { formatMediaType, readParameters } from '../mime/content-type.ts'
import { autoSubmittedField, checkCustomHeaders } from './custom-headers.ts'
import { withFinishedContent } from './finished-content.ts'
import type { DraftAddress, DraftAttachment, MessageDraft, NamedAddress } from './message-draft.ts'
import { fieldName, fold, isPlainAddress, writePlainMessage } from './plain-message.ts'

const lineBytesMax = 998
// Neither quoted-printable nor base64 contains these two characters in a row (RFC 2045 §6.7).
const boundaryPrefix = '=_'
const wordLengthMax = 900
const nameCharactersMax = 250
const referencesTail = 50

/**
 * Composes a message (RFC 5322, RFC 2045). The same draft gives the same bytes: 7-bit lines of at most 998 octets that end in CRLF. Rejects
 * for a message id that does not fit a header, and for headers that `checkCustomHeaders` refuses.
 */
export async function composeMessage(draft: MessageDraft): Promise<Buffer> {
  const { cc = [], replyTo = [], headers: customHeaders = {}, autoSubmitted = null, attachments = [], date } = draft
  const { content } = draft
  if (content) return withFinishedContent(await composeMessage({ ...draft, content: null, text: '', html: '', attachments: [] }), content)
  const problem = checkCustomHeaders(customHeaders)[0]
  if (problem) throw new Error(`${problem.path}: ${problem.message}`)
  const messageId = messageIdIn(draft.messageId)
  if (!messageId) throw new Error('`messageId` must be an ASCII message id such as <1@example.com>')
  const inReplyTo = draft.inReplyTo == null ? null : messageIdIn(draft.inReplyTo)
  const references = referencesToEmit(draft.references ?? [])
  const html = crlf(draft.html ?? '')
  // A message of attachments alone gets an empty text, so that no attachment is shown as its body.
  const text = draft.text || !html ? crlf(draft.text || '\n') : ''
  const people = { from: mailbox(draft.from), to: draft.to.map(mailbox), cc: cc.map(mailbox), replyTo: replyTo.map(mailbox) }
  const headers = [
    header('Subject', draft.subject ?? ''),
    ...(inReplyTo ? [header('In-Reply-To', inReplyTo)] : []),
    ...Object.entries(customHeaders).map(([name, value]) => header(name, value)),
    ...(autoSubmitted === null ? [] : [header(autoSubmittedField, autoSubmitted)]),
  ].filter(({ value }) => value.value !== '')
  const seed = draft.boundarySeed ?? draft.messageId
  const baseBoundary = createHash('sha256').update(seed).digest('hex').slice(0, 32)
  if (attachments.length === 0 && [people.from, ...people.to, ...people.cc, ...people.replyTo].every(isPlainAddress)) {
    const fields = headers.map(({ key, value }) => `${fieldName(key)}: ${value.value}`)
    const boundary = `${boundaryPrefix}-${baseBoundary}-Part_1`
    return writePlainMessage({ ...people, fields, references, messageId, date, text, html, boundary })
  }
  const inlineIds = contentIdsIn(html)
  const composer = new MailComposer({
    ...people,
    messageId,
    ...(references.length ? { references } : {}),
    date,
    ...(text ? { text } : {}),
    ...(html ? { html } : {}),
    attachments: attachments.map((attachment, index) => attachmentPart(attachment, `attachment-${index + 1}`, inlineIds)),
    headers,
    baseBoundary,
    boundaryPrefix,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

/** A header with a prepared value: encoded where needed and folded. The composer does not interpret it again. */
function header(name: string, text: string): { key: string; value: { prepared: true; value: string } } {
  const value = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  // A mail program would decode an ASCII text that looks like an encoded word (RFC 2047 §7).
  const isPlain = /^\p{ASCII}*$/u.test(value) && !value.includes('=?') && !hasLongWord(value)
  const encoded = isPlain ? value : encodeWord(value.toWellFormed(), undefined, 52)
  return { key: name, value: { prepared: true, value: fold(encoded, name.length + 2) } }
}

const hasLongWord = (text: string): boolean => text.length > wordLengthMax && text.split(' ').some((word) => word.length > wordLengthMax)

const mailbox = ({ name = '', address }: DraftAddress): NamedAddress => ({
  // A name without a space cannot be folded, so its length is limited.
  name: name
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, nameCharactersMax)
    .toWellFormed()
    .trim(),
  address,
})

const crlf = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replaceAll('\n', '\r\n'))

/** The id in angle brackets. Null when it is not ASCII or would break a line, which occurs in received mail. */
function messageIdIn(text: string): string | null {
  const id = /^<?([!-;=?-~]+)>?$/.exec(text.trim())?.[1]
  return id && id.length < wordLengthMax ? `<${id}>` : null
}

/** The references to send: the first id, which names the thread, and the last 50. */
function referencesToEmit(references: string[]): string[] {
  const ids = references.map(messageIdIn).filter((id) => id !== null)
  return ids.length > referencesTail + 1 ? [ids[0] as string, ...ids.slice(-referencesTail)] : ids
}

/** The content ids that an html text refers to (RFC 2392). */
function contentIdsIn(html: string): Set<string> {
  const ids = new Set<string>()
  for (const match of html.matchAll(/\bcid:([^\s"'<>)&]+)/gi)) {
    const id = match[1] as string
    ids.add(id)
    try {
      ids.add(decodeURIComponent(id))
    } catch {
      // Not percent-encoded. The raw id has been added.
    }
  }
  return ids
}

function attachmentPart(
  { filename, contentType = '', contentId, bytes }: DraftAttachment,
  nameless: string,
  inlineIds: Set<string>,
): MailComposerAttachment {
  const type = partType(contentType, bytes)
  const id = contentId?.replace(/^<|>$/g, '')
  const isId = id !== undefined && /^[!-;=?-~]{1,250}$/.test(id)
  const isInline = isId && inlineIds.has(id)
  return {
    content: bytes,
    contentType: type,
    contentDisposition: isInline ? 'inline' : 'attachment',
    filename: filename ? shortened(filename) : `${nameless}.${extensionOf(type)}`,
    ...(type.startsWith('message/') ? {} : { contentTransferEncoding: 'base64' }),
    ...(isInline ? { cid: id } : isId ? { headers: { 'Content-ID': `<${id}>` } } : {}),
  }
}

/** The extension of a content type, `bin` for one without its own. */
function extensionOf(type: string): string {
  const extension = detectExtension(type.split(';', 1)[0] as string)
  return extension === '*' ? 'bin' : extension
}

/**
 * The content type of a part with its parameters, such as `method=REQUEST`. A multipart type is replaced, because it would make the part a container. An enclosed message must not be encoded
 * (RFC 2046 §5.2.1), so a message that does not fit on 7-bit lines is sent as `application/octet-stream`.
 */
function partType(contentType: string, bytes: Buffer): string {
  const type = /^\s*([a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127})\s*(?:;|$)/i.exec(contentType)
  const name = type?.[1]?.toLowerCase() ?? 'application/octet-stream'
  if (name.startsWith('multipart/')) return 'application/octet-stream'
  if (name.startsWith('message/') && !(name === 'message/rfc822' && fitsSevenBit(bytes))) return 'application/octet-stream'
  return type ? formatMediaType(name, readParameters(contentType).parameters) : name
}

function fitsSevenBit(bytes: Buffer): boolean {
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === 13 && bytes[i + 1] === 10) {
      i++
      length = 0
    } else if (byte === 0 || byte === 10 || byte === 13 || byte > 127 || ++length > lineBytesMax) {
      return false
    }
  }
  return bytes.length > 0
}

/** A file name of at most 250 characters, without its folder and with its extension. */
function shortened(filename: string): string {
  const name = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1).toWellFormed() || 'attachment'
  if (name.length <= nameCharactersMax) return name
  const ending = /\.[^.]{1,20}$/.exec(name)?.[0] ?? ''
  return (name.slice(0, nameCharactersMax - ending.length) + ending).toWellFormed()
}
