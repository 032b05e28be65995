// Composes the bytes of a message: the same draft gives the same bytes, on 7-bit lines of at most 998 octets that end in CRLF.
import { createHash } from 'node:crypto'
import MailComposer, { type MailComposerAttachment } from 'nodemailer/lib/mail-composer'
import { detectExtension, encodeWord } from 'nodemailer/lib/mime-funcs'
import { autoSubmittedField, checkCustomHeaders } from './custom-headers.ts'
import type { DraftAttachment, MessageDraft, NamedAddress } from './message-draft.ts'
import { fieldName, fold, isPlainAddress, writePlainLetter } from './plain-message.ts'

const lineBytesMax = 998
// Neither quoted-printable nor base64 can hold these two characters in a row (RFC 2045 §6.7), and they name no program.
const boundaryPrefix = '=_'
const wordLengthMax = 900
const nameCharactersMax = 250
const referencesTail = 50

/** The raw message. Throws for custom headers that checkCustomHeaders refuses, and for a message id that is none: those are our bugs. */
export async function composeMessage(draft: MessageDraft): Promise<Buffer> {
  const problem = checkCustomHeaders(draft.headers)[0]
  if (problem) throw new Error(`${problem.path}: ${problem.message}`)
  const messageId = messageIdIn(draft.messageId)
  if (!messageId) throw new Error('the message id cannot stand in a header')
  const inReplyTo = draft.inReplyTo === null ? null : messageIdIn(draft.inReplyTo)
  const references = referencesToEmit(draft.references)
  const html = crlf(draft.html)
  const inlineIds = contentIdsIn(html)
  // A message of attachments alone gets an empty text, so that none of them stands in its place.
  const text = draft.text || !html ? crlf(draft.text || '\n') : ''
  const people = {
    from: mailbox(draft.from),
    to: draft.to.map(mailbox),
    cc: draft.cc.map(mailbox),
    replyTo: draft.replyTo.map(mailbox),
  }
  const headers = [
    header('Subject', draft.subject),
    ...(inReplyTo ? [header('In-Reply-To', inReplyTo)] : []),
    ...Object.entries(draft.headers).map(([name, value]) => header(name, value)),
    ...(draft.autoSubmitted === null ? [] : [header(autoSubmittedField, draft.autoSubmitted)]),
  ]
  const baseBoundary = createHash('sha256').update(draft.boundarySeed).digest('hex').slice(0, 32)
  if (draft.attachments.length === 0 && [people.from, ...people.to, ...people.cc, ...people.replyTo].every(isPlainAddress)) {
    const fields = headers.map(({ key, value }) => `${fieldName(key)}: ${value.value}`)
    const boundary = `${boundaryPrefix}-${baseBoundary}-Part_1`
    return writePlainLetter({ ...people, fields, references, messageId, date: draft.date, text, html, boundary })
  }
  const composer = new MailComposer({
    ...people,
    messageId,
    ...(references.length ? { references } : {}),
    date: draft.date,
    ...(text ? { text } : {}),
    ...(html ? { html } : {}),
    attachments: draft.attachments.map((attachment, index) => attachmentPart(attachment, `attachment-${index + 1}`, inlineIds)),
    headers,
    baseBoundary,
    boundaryPrefix,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

/** A header whose value is ready: encoded when it needs to be, folded, and never interpreted by the composer again. */
function header(name: string, text: string): { key: string; value: { prepared: true; value: string } } {
  const value = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  // An ASCII text that reads as an encoded word would be decoded by whoever shows it (RFC 2047 §7).
  const isPlain = /^\p{ASCII}*$/u.test(value) && !value.includes('=?') && !hasLongWord(value)
  const encoded = isPlain ? value : encodeWord(value.toWellFormed(), undefined, 52)
  // The composer leaves out a header without a value; a subject may be empty.
  return { key: name, value: { prepared: true, value: fold(encoded, name.length + 2) || ' ' } }
}

const hasLongWord = (text: string): boolean => text.length > wordLengthMax && text.split(' ').some((word) => word.length > wordLengthMax)

const mailbox = ({ name, address }: NamedAddress): { name: string; address: string } => ({
  // A name without a space cannot be folded; nobody is called by more than this.
  name: name
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, nameCharactersMax)
    .toWellFormed()
    .trim(),
  address,
})

const crlf = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replaceAll('\n', '\r\n'))

/** The id in its angle brackets, or null for what would break a line or is no ASCII: such ids exist in mail that arrives. */
function messageIdIn(text: string): string | null {
  const id = /^<?([!-;=?-~]+)>?$/.exec(text.trim())?.[1]
  return id && id.length < wordLengthMax ? `<${id}>` : null
}

/** The chain as it is sent: its first id, which names the thread, and the last fifty. */
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
    if (id.includes('%')) {
      try {
        ids.add(decodeURIComponent(id))
      } catch {
        // No percent encoding after all; the id as it stands has been added.
      }
    }
  }
  return ids
}

function attachmentPart(
  { filename, contentType, contentId, bytes }: DraftAttachment,
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
    filename: filename ? shortened(filename) : `${nameless}.${detectExtension(type.split(';', 1)[0] as string)}`,
    ...(type.startsWith('message/') ? {} : { contentTransferEncoding: 'base64' }),
    ...(isInline ? { cid: id } : isId ? { headers: { 'Content-ID': `<${id}>` } } : {}),
  }
}

/**
 * The type that a part is sent with. A multipart type would make the part a container; a message must not be encoded (RFC 2046 §5.2.1), so
 * one that does not fit on 7-bit lines as it is goes as plain octets.
 */
function partType(contentType: string, bytes: Buffer): string {
  const type = /^\s*([a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127})\s*(?:;\s*charset="?([a-z0-9_.:+-]{1,40})"?\s*)?(?:;|$)/i.exec(
    contentType,
  )
  const name = type?.[1]?.toLowerCase() ?? 'application/octet-stream'
  if (name.startsWith('multipart/')) return 'application/octet-stream'
  if (name.startsWith('message/') && !(name === 'message/rfc822' && fitsSevenBit(bytes))) return 'application/octet-stream'
  return type?.[2] && name.startsWith('text/') ? `${name}; charset=${type[2]}` : name
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

/** A file name of at most 250 characters that keeps its ending and does not say in which folder it lay. */
function shortened(filename: string): string {
  const name = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1).toWellFormed() || 'attachment'
  if (name.length <= nameCharactersMax) return name
  const ending = /\.[^.]{1,20}$/.exec(name)?.[0] ?? ''
  return (name.slice(0, nameCharactersMax - ending.length) + ending).toWellFormed()
}
