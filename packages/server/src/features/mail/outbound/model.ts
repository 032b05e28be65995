// The outgoing message: its fields, its recipients, and the fields that answers and forwards copy.
import type { Metadata } from '@callsign/contract/metadata'
import { recipientsMax } from '@callsign/contract/outbound-mail'
import { checkCustomHeaders } from '@callsign/mail/compose/custom-headers'
import { type ForwardSource, replyRecipients, replyReferences, replySubject } from '@callsign/mail/compose/reply'
import { isPlainLocal, localBytesMax } from '@callsign/mail/mail-address'
import { type ParsedAddress, parseAddresses } from '@callsign/mail/mime/addresses'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import { isForeignKeyViolation } from '../../../core/sql.ts'
import type { NewAttachment } from '../attachments/operations.ts'
import type { MessageRow, RecipientRow } from '../stored/model.ts'
import type { AutoSubmitted } from './automatic-answer.ts'
import type { ComposedSearch } from './provider.ts'
import { findReceiptProblems } from './reply-addresses.ts'

/** The kind of the job that delivers one message. */
export const deliverJob = 'deliver-message'

export type Recipients = { to: ParsedAddress[]; cc: ParsedAddress[]; bcc: ParsedAddress[] }

/** The message that a new one answers: its id, its Message-ID, and the References of the answer. */
export type Parent = { id: string; messageId: string | null; references: string[] }

/** The fields of a new outbound message. */
export type OutgoingMessage = {
  /** One of the addresses of its agent. */
  from: ParsedAddress
  recipients: Recipients
  replyTo: ParsedAddress[]
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  labels: string[]
  /** Each `name:value`. Null for none. */
  tags: string[] | null
  metadata: Metadata | null
  /** Null for a message that a person or an agent wrote. */
  autoSubmitted: AutoSubmitted | null
  /** Rows to insert with the message, in order. */
  attachments: Omit<NewAttachment, 'position' | 'organization_id' | 'created_at'>[]
  /** Existing attachment rows that the caller moves to the message in the same transaction. */
  moved?: { count: number; sizeBytes: number }
  /** A message that a program has composed. */
  submitted?: {
    /** Its bytes, whose content is sent. Null for one that is composed again. */
    raw: {
      id: string
      organizationId: string
      sizeBytes: number
      sha256: Buffer
      bytes: Buffer | null
      blobKey: string | null
      at: Date
    } | null
    /** Its own Message-ID. Null for a new one. */
    messageId: string | null
    /** The content for the outbound guard in place of `attachments`. */
    searched: Pick<ComposedSearch, 'fileBytes' | 'readFiles'>
  }
  /** True when a person has approved exactly this message. */
  isApproved: boolean
  /** The API key that sends or scheduled it. Null for a person in the console and a link. */
  keyId: string | null
  parent: Parent | null
  /** Message-IDs that replace those of the parent, the answered one last. They may be of messages elsewhere. */
  references?: string[]
  /** The thread to join; null starts one. */
  threadId: string | null
}

/** The place of a message in the threads of its mailbox. */
export type ThreadPlace = Pick<OutgoingMessage, 'parent' | 'threadId' | 'references'>

/** The content of a message, before it is queued. */
export type ComposedMessage = Pick<
  OutgoingMessage,
  'from' | 'recipients' | 'replyTo' | 'subject' | 'references' | 'text' | 'html' | 'headers' | 'autoSubmitted'
>

/** A message that has been filed as queued. */
export type Queued = { id: string; threadId: string; at: Date }

/** The reply to a send. */
export const toQueuedReply = ({ id, threadId, at }: Queued) => ({
  id,
  thread_id: threadId,
  status: 'queued' as const,
  created_at: at.toISOString(),
})

/** 409: the message to forward is gone. */
export const forwardedIsGone = (): ApiError => new ApiError('conflict', 'The message to forward was deleted.')

/** Rethrows the error of a failed write, as 404 when the mailbox was deleted meanwhile. */
export const orGone = (error: unknown): never => {
  throw isForeignKeyViolation(error) ? notFound('mailbox') : error
}

/** `string | string[] | undefined` as a list. */
export const asList = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value

/** Reads one field of addresses, each `user@host` or `Name <user@host>`. Throws 400 with the path of an invalid entry. */
export function readAddresses(field: string, entries: string[]): ParsedAddress[] {
  return entries.map((entry, index) => {
    const address = readAddress(entry)
    if (!address) {
      throw invalid(
        `/${field}/${index}`,
        `${JSON.stringify(entry.slice(0, 100))} is not an email address; write user@example.com or Name <user@example.com>`,
      )
    }
    return address
  })
}

/**
 * One address with or without a name. Null when mail cannot be sent to it. Everything before the `<` is the name, because comments, groups and lists
 * belong to header fields. A name in quotes loses them.
 */
export function readAddress(entry: string): ParsedAddress | null {
  const text = entry.trim()
  const open = text.endsWith('>') ? openingOf(text) : -1
  const address = withLowerDomain(open < 0 ? text : text.slice(open + 1, -1))
  const before = open < 0 ? '' : text.slice(0, open).trim()
  const isQuoted = /^"(?:[^"\\]|\\.)*"$/.test(before)
  const name = isQuoted ? before.slice(1, -1).replace(/\\(.)/g, '$1') : before
  // Another address in front of the last one is a list, or a name that looks like another sender.
  const isName = isQuoted || !/[<>]|[^\s@]@[^\s@]/.test(before)
  return isName && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed() && isSendable(address)
    ? { name: isRepeated(name, address) ? '' : name, address }
    : null
}

/** The index of the `<` of the address that ends a text. A quoted local part may have a `<` of its own. */
function openingOf(text: string): number {
  const quoted = text.lastIndexOf('"@')
  const end = quoted < 0 ? text.length : text.slice(0, quoted).search(/<"(?:[^"\\]|\\.)*$/)
  return end >= 0 && quoted >= 0 ? end : text.lastIndexOf('<')
}

/** A name that only repeats the address says nothing. */
const isRepeated = (name: string, address: string): boolean => name.toLowerCase() === address.toLowerCase()

const withLowerDomain = (address: string): string => {
  const at = address.lastIndexOf('@')
  return address.slice(0, at + 1) + address.slice(at + 1).toLowerCase()
}

/** True for an address that SMTP can carry. Labels with underscores and local parts such as `first..last` are in use. */
function isSendable(address: string): boolean {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at)
  const domain = address.slice(at + 1)
  if (at < 1 || Buffer.byteLength(local) > localBytesMax || Buffer.byteLength(domain) > domainBytesMax) return false
  const label = '[\\p{L}\\p{N}_]([\\p{L}\\p{N}_-]{0,61}[\\p{L}\\p{N}_])?'
  const isDomain = new RegExp(`^${label}(\\.${label})*$`, 'u').test(domain) || /^\[(IPv6:[0-9a-f:.]+|[0-9.]+)\]$/i.test(domain)
  return isDomain && (isPlainLocal(local) || /^"([^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u.test(local))
}

const domainBytesMax = 255

/** Checks the number of recipients and drops duplicates. An address stays in the first field that names it. */
export function checkRecipients(recipients: Recipients): Recipients {
  const seen = new Set<string>()
  const distinct = (list: ParsedAddress[]) =>
    list.filter(({ address }) => {
      const key = address.toLowerCase()
      return !seen.has(key) && seen.add(key)
    })
  const checked = { to: distinct(recipients.to), cc: distinct(recipients.cc), bcc: distinct(recipients.bcc) }
  if (seen.size === 0) throw invalid('/to', 'at least one recipient is required')
  if (recipients.to.length + recipients.cc.length + recipients.bcc.length > recipientsMax) {
    throw invalid('/to', `a message has at most ${recipientsMax} recipients, to, cc and bcc together`)
  }
  return checked
}

/** The rows of a message's recipients, in order. */
export const toRecipientRows = (recipients: Recipients): Pick<RecipientRow, 'position' | 'kind' | 'name' | 'address'>[] =>
  (['to', 'cc', 'bcc'] as const)
    .flatMap((kind) => recipients[kind].map((entry) => ({ kind, name: entry.name, address: entry.address })))
    .map((row, position) => ({ position, ...row }))

/** Checks custom headers. Throws 400 with each forbidden header. */
export function checkHeaders(headers: Record<string, string> | undefined): Record<string, string> {
  const problems = [...checkCustomHeaders(headers ?? {}), ...findReceiptProblems(headers ?? {})]
  if (problems.length > 0) throw new ApiError('validation_error', problems[0]?.message ?? 'headers are not valid', { details: problems })
  return headers ?? {}
}

export function checkSubject(subject: string): void {
  if (/[\r\n\p{Zl}\p{Zp}]/u.test(subject)) throw invalid('/subject', 'subject must be one line')
}

/** The bytes of a message's text and HTML, as its limit counts them. */
export const bodyBytes = (body: Bodies): number => Buffer.byteLength(body.text ?? '') + Buffer.byteLength(body.html ?? '')

/** The authors of a message: usually one, several as listed in From, or none. */
const authorsOf = ({ from_name: name, from_address: address }: MessageRow): ParsedAddress[] =>
  name === '' && address.includes(',') ? parseAddresses(address) : address === '' ? [] : [{ name, address }]

/** The recipients, subject and thread position of an answer to a message. */
export function answerTo(message: MessageRow, ownAddresses: string[], replyAll: boolean) {
  const recipients = replyRecipients({
    isSent: message.direction === 'outbound',
    from: authorsOf(message),
    replyTo: message.reply_to.map(bare),
    to: message.to_addresses.map(bare),
    cc: message.cc_addresses.map(bare),
    ownAddresses,
    replyAll,
  })
  return { ...recipients, subject: replySubject(message.subject), parent: parentOf(message) }
}

/** The thread position of an answer to a message. */
export const parentOf = (message: MessageRow): Parent => ({
  id: message.id,
  messageId: message.rfc_message_id,
  references: replyReferences({
    messageId: message.rfc_message_id,
    references: message.reference_ids,
    inReplyTo: message.in_reply_to === null ? [] : [message.in_reply_to],
  }),
})

/** The text and HTML that a caller writes. */
export type Bodies = { text?: string | null | undefined; html?: string | null | undefined }

/** The source of the bodies of a forward: the caller's text, then the original. */
export const forwardSourceOf = (message: MessageRow, intro: Bodies): ForwardSource => ({
  from: authorsOf(message),
  to: message.to_addresses.map(bare),
  cc: message.cc_addresses.map(bare),
  date: message.created_at,
  subject: message.subject,
  text: message.text,
  html: message.html,
  introText: intro.text ?? '',
  introHtml: intro.html ?? '',
})

const bare = (address: string): ParsedAddress => parseAddresses(address, 1)[0] ?? { name: '', address }

/** The recipient of a return path. */
export type ReturnAddressee = { messageId: string; position: number }

export type ReturnPaths = {
  /** The return path for one recipient of a message: at most 59 characters before the @. */
  make(addressee: ReturnAddressee): string
  /** The recipient of a return path. Null for a foreign or forged one. */
  read(address: string): ReturnAddressee | null
  /** True for an address that can only be a return path, genuine or not. */
  isReturnPath(address: string): boolean
}

/** A message before the transaction that files it: its text, or that of its HTML, and the findings of its inspection. */
export type PreparedContent = { text: string; inspection: Inspection }

/** The findings of a message. `isHeld`: it needs approval for `reasons`. `answered`: the correspondents that it answers. */
export type Inspection = { flags: MessageRow['flags']; reasons: string[]; isHeld: boolean; answered: string[] }

/** The fields of a file that its recipients get besides its bytes. */
export type DeclaredFile = Pick<NewAttachment, 'filename' | 'content_type' | 'content_id'>

/** The parts of a message or draft that an inspection reads. */
export type Inspected = ComposedMessage &
  Pick<OutgoingMessage, 'parent' | 'threadId' | 'keyId'> & {
    files: DeclaredFile[]
    /** The files with their bytes. Not read for an identity without a guard. */
    searched: Pick<ComposedSearch, 'fileBytes' | 'readFiles'>
  }

/** 403 for a message that needs approval because of its content or its number. */
export class HeldForApproval extends ApiError {
  readonly reasons: string[]

  constructor(reasons: string[]) {
    super(
      'approval_required',
      `This message needs approval. ${reasons.join(' ')} Create a draft of it, which waits for approval, or change it.`,
    )
    this.reasons = reasons
  }
}

export const isHeldForApproval = (error: unknown): boolean => error instanceof ApiError && error.code === 'approval_required'
