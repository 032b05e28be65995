// The draft: its row, the fields of a request, and its view in the API.

import type { DraftReview } from '@callsign/contract/approvals'
import type { Attachment } from '@callsign/contract/attachments'
import { type Draft, scheduleDaysMax } from '@callsign/contract/drafts'
import type { Metadata, Tag } from '@callsign/contract/metadata'
import { recipientsMax } from '@callsign/contract/outbound-mail'
import { HTML_CHARACTERS_MAX, htmlToText } from '@callsign/mail/html/text'
import { formatAddress } from '@callsign/mail/mail-address'
import type { Static } from 'typebox'
import { ApiError, invalid } from '../../../core/errors.ts'
import { readLabels, readTags, toTags } from '../../../core/metadata.ts'
import { asList, checkHeaders, checkSubject, readAddress, readAddresses } from '../outbound/model.ts'
import { snippetOf } from '../stored/model.ts'
import { type ApprovalColumns, toApproval } from './approval.ts'

/** The kind of the job that sends a scheduled draft. */
export const sendDraftJob = 'send-draft'

/** A stored draft. Every row has the status `draft`, because sending deletes the row in one transaction. */
export type DraftRow = {
  id: string
  organization_id: string
  mailbox_id: string
  thread_id: string | null
  in_reply_to_message_id: string | null
  in_reply_to: string | null
  reference_ids: string[]
  forward_of_message_id: string | null
  reply_all: boolean
  forward_attachments: boolean
  to_addresses: string[]
  cc_addresses: string[]
  bcc_addresses: string[]
  reply_to: string[]
  subject: string | null
  snippet: string | null
  text: string | null
  html: string | null
  headers: Record<string, string>
  /** The author as the caller gave it. Null for the primary address. */
  from_entry: string | null
  version: number
  attachment_count: number
  send_at: Date | null
  job_id: string | null
  /** The key of the latest change of a scheduled draft. Null for a member, or without a schedule. */
  scheduled_by_key_id: string | null
  /** True when the caller of that change could approve the draft. */
  is_scheduled_by_approver: boolean
  send_error: string | null
  is_written_by_agent: boolean
  change_id: string
  client_id: string | null
  is_automatic: boolean
  labels: string[]
  /** Each `name:value`. Null for none. */
  tags: string[] | null
  metadata: Metadata | null
  created_at: Date
  updated_at: Date
} & ApprovalColumns

/** A draft's fields in a request: null clears, undefined leaves unchanged. `body_text` and `body_html` are aliases. */
export type DraftBody = {
  from?: string | null
  to?: string | string[] | null
  cc?: string | string[] | null
  bcc?: string | string[] | null
  reply_to?: string | string[] | null
  subject?: string | null
  text?: string | null
  body_text?: string | null
  html?: string | null
  body_html?: string | null
  headers?: Record<string, string> | null
  automatic?: boolean
  labels?: string[]
  tags?: Tag[]
  send_at?: string | null
}

/** The columns that a request sets. Absent columns stay unchanged. */
export type DraftFields = Partial<
  Pick<
    DraftRow,
    | 'to_addresses'
    | 'cc_addresses'
    | 'bcc_addresses'
    | 'reply_to'
    | 'subject'
    | 'text'
    | 'html'
    | 'headers'
    | 'from_entry'
    | 'is_automatic'
    | 'labels'
    | 'tags'
    | 'send_at'
  >
>

/** Reads and checks the fields of a request. Throws 400 with the path of an invalid value. */
export function readFields(body: DraftBody, nowMs: number): DraftFields {
  const fields: DraftFields = {}
  for (const kind of ['to', 'cc', 'bcc', 'reply_to'] as const) {
    const given = body[kind]
    if (given === undefined) continue
    const entries = asList(given ?? []).map((entry) => entry.trim())
    readAddresses(kind, entries)
    fields[kind === 'reply_to' ? 'reply_to' : (`${kind}_addresses` as const)] = entries
  }
  if (body.subject !== undefined) {
    if (body.subject !== null) checkSubject(body.subject)
    fields.subject = body.subject
  }
  for (const name of ['text', 'html'] as const) {
    const alias = `body_${name}` as const
    if (body[name] !== undefined && body[alias] !== undefined)
      throw invalid(`/${alias}`, `${alias} is another name of ${name}: send one of the two`)
    const given = body[name] !== undefined ? body[name] : body[alias]
    if (given !== undefined) fields[name] = given
  }
  if (body.from !== undefined) fields.from_entry = body.from?.trim() ?? null
  if (body.headers !== undefined) fields.headers = checkHeaders(body.headers ?? {})
  if (body.automatic !== undefined) fields.is_automatic = body.automatic
  if (body.labels !== undefined) fields.labels = readLabels(body.labels)
  if (body.tags !== undefined) fields.tags = readTags(body.tags)
  if (body.send_at !== undefined) fields.send_at = body.send_at === null ? null : readSendAt(body.send_at, nowMs)
  return fields
}

function readSendAt(text: string, nowMs: number): Date {
  const at = new Date(text)
  if (at.getTime() <= nowMs) throw invalid('/send_at', 'send_at must be in the future')
  if (at.getTime() > nowMs + scheduleDaysMax * 24 * 3_600_000) throw invalid('/send_at', `send_at must be within ${scheduleDaysMax} days`)
  return at
}

/** Addresses in request form. Drops a name that this form cannot express, since it came from received mail. */
export const asEntries = (list: { name: string; address: string }[]): string[] =>
  list.map(({ name, address }) => {
    const entry = formatAddress(name, address)
    return readAddress(entry)?.address === address ? entry : address
  })

/** Throws 400 when a draft has more recipients than a message may have, before it is sent. */
export function checkRecipientCount(row: Pick<DraftRow, 'to_addresses' | 'cc_addresses' | 'bcc_addresses'>): void {
  if (row.to_addresses.length + row.cc_addresses.length + row.bcc_addresses.length > recipientsMax)
    throw invalid('/to', `a message has at most ${recipientsMax} recipients, to, cc and bcc together`)
}

/** A preview reads this many characters of the HTML. */
const previewCharactersMax = 20_000

/** A short preview of the text, or of the HTML's visible text. */
export function previewOf({ text, html }: { text: string | null; html: string | null }): string | null {
  if (text) return snippetOf(text)
  return html ? snippetOf(htmlToText(html.slice(0, previewCharactersMax))) : null
}

type Fields = Pick<DraftRow, 'to_addresses' | 'cc_addresses' | 'bcc_addresses' | 'text' | 'html' | 'forward_of_message_id'>

/** The parts that a draft lacks for being sent. A forward needs no body. */
export const missingParts = (row: Fields): { path: string; message: string }[] => [
  ...(row.to_addresses.length + row.cc_addresses.length + row.bcc_addresses.length === 0
    ? [{ path: '/to', message: 'at least one recipient is required' }]
    : []),
  ...(!row.text && !row.html && row.forward_of_message_id === null ? [{ path: '/text', message: 'a message needs text or html' }] : []),
]

/** Throws `draft_incomplete` for a draft without recipients or without a body. */
export function checkComplete(row: Fields): void {
  const missing = missingParts(row)
  if (missing.length > 0)
    throw new ApiError('draft_incomplete', `The draft cannot be sent: ${missing.map((one) => one.message).join(', and ')}.`, {
      details: missing,
    })
}

export function toDraft(row: DraftRow, attachments: Static<typeof Attachment>[]): Static<typeof Draft> {
  return {
    id: row.id,
    mailbox_id: row.mailbox_id,
    thread_id: row.thread_id,
    in_reply_to_message_id: row.in_reply_to_message_id,
    forward_of_message_id: row.forward_of_message_id,
    reply_all: row.reply_all,
    forward_attachments: row.forward_attachments,
    from: row.from_entry,
    to: row.to_addresses,
    cc: row.cc_addresses,
    bcc: row.bcc_addresses,
    reply_to: row.reply_to,
    subject: row.subject,
    snippet: row.snippet,
    text: row.text,
    html: row.html,
    status: 'draft',
    version: row.version,
    has_attachments: row.attachment_count > 0,
    attachments,
    headers: row.headers,
    automatic: row.is_automatic,
    labels: row.labels,
    tags: toTags(row.tags),
    metadata: row.metadata ?? {},
    send_at: row.send_at?.toISOString() ?? null,
    client_id: row.client_id,
    send_error: row.send_error,
    approval: toApproval(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Throws `draft_version_conflict` when the draft has another version. */
export function checkVersion(row: Pick<DraftRow, 'version'>, version: number | undefined): void {
  if (version !== undefined && version !== row.version)
    throw new ApiError(
      'draft_version_conflict',
      `The draft is at version ${row.version}, not ${version}: get it again and reapply your change.`,
    )
}

export type Decision = { approve: true } | { approve: false; reason: string | null }

export interface LinkDecisions {
  /** The review of the draft of a genuine, unused link. Null for any other token. */
  find(token: string): Promise<Static<typeof DraftReview> | null>
  /** Sends or deletes the draft. False when the link has been used or invalidated meanwhile. Throws when the draft cannot be sent. */
  decide(token: string, decision: Decision, requestId: string): Promise<boolean>
}

/** The sender of a draft. `isApproved`: a person has approved exactly this version. */
export type SentBy = { keyId: string | null; isApproved: boolean }

/** The rows of added attachments, which come after those that the draft keeps. */
export function placedAfter<A extends object>(kept: { position: number }[], added: A[], row: DraftRow, at: Date) {
  const first = (kept.at(-1)?.position ?? -1) + 1
  const more = { draft_id: row.id, organization_id: row.organization_id, created_at: at }
  return added.map((one, index) => ({ ...one, position: first + index, ...more }))
}

/** Longer content is not approved on a page of text, because a person cannot review it there. */
export const shownCharactersMax = 100_000

/** True when the texts are too long to show, or when the HTML is longer than its text covers. Recipients would see what the person did not. */
export const isTooLongToApprove = ({ text, html, html_text: htmlText }: Static<typeof DraftReview>): boolean =>
  text.length + (htmlText?.length ?? 0) > shownCharactersMax || (html?.length ?? 0) > HTML_CHARACTERS_MAX
