// New messages in the fields of Resend: addresses, bodies and attachments.
import type { BodyOf } from '@callsign/contract/operation'
import type { sendMessage } from '@callsign/contract/outbound-mail'
import { takeThreadHeaders } from '@callsign/mail/compose/custom-headers'
import { isGiven, listField, notOffered, ResendFailure, textField } from './route.ts'

export type Composition = BodyOf<typeof sendMessage>
export type AttachmentInput = NonNullable<Composition['attachments']>[number]

/** The bare address of the author, in lower case. */
export function senderOf({ from = '' }: Composition): string {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim().toLowerCase()
}

/** A new message of ours for an email of Resend. The time of a scheduled one is left to the caller. */
export function compositionOf(body: Record<string, unknown> | unknown[]): Composition {
  const fields = body as Record<string, unknown>
  if (isGiven(fields.topic_id)) throw notOffered('Sending to a topic')
  const [text, html] = [optionalText(fields, 'text'), optionalText(fields, 'html')]
  if (text === undefined && html === undefined) throw new ResendFailure(422, 'missing_required_field', 'Missing `html` or `text` field.')
  const to = listField(body, 'to')
  if (!to) throw new ResendFailure(422, 'missing_required_field', 'Missing `to` field.')
  const others = { cc: listField(body, 'cc'), bcc: listField(body, 'bcc'), reply_to: listField(body, 'reply_to') }
  return {
    from: textField(body, 'from'),
    to,
    subject: textField(body, 'subject'),
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    ...(others.cc && { cc: others.cc }),
    ...(others.bcc && { bcc: others.bcc }),
    ...(others.reply_to && { reply_to: others.reply_to }),
    ...(isGiven(fields.tags) && { tags: fields.tags as NonNullable<Composition['tags']> }),
    ...(isGiven(fields.headers) && threadedHeaders(fields.headers)),
    ...(isGiven(fields.attachments) && { attachments: attachmentsOf(fields.attachments) }),
  }
}

/** Headers as sends take them. Programs of Resend thread by In-Reply-To and References, which are a field of their own here. */
export function threadedHeaders(given: unknown): Pick<Composition, 'headers' | 'references'> {
  if (!isObject(given)) return { headers: given as Record<string, string> }
  const { headers, references } = takeThreadHeaders(given as Record<string, string>)
  return { headers, ...(references.length > 0 && { references }) }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function optionalText(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new ResendFailure(422, 'validation_error', `The \`${name}\` field must be a string.`)
  return value
}

/** Attachments as sends, replies and forwards take them. */
export function attachmentsOf(given: unknown): AttachmentInput[] {
  if (!Array.isArray(given)) throw new ResendFailure(422, 'invalid_attachment', 'The `attachments` field must be a list.')
  return given.map(attachmentOf)
}

/** `content` is base64, or the list of bytes that JSON makes of a Buffer. `path` is a public URL. */
function attachmentOf(given: unknown): AttachmentInput {
  const { content, filename, path, content_type: contentType, content_id: contentId } = (given ?? {}) as Record<string, unknown>
  const bytes = (content as { type?: unknown; data?: unknown } | null | undefined)?.data
  const base64 =
    typeof content === 'string' ? content : Array.isArray(bytes) ? Buffer.from(bytes as number[]).toString('base64') : undefined
  if (base64 === undefined && typeof path !== 'string')
    throw new ResendFailure(422, 'invalid_attachment', 'An attachment needs `content` or `path`.')
  const last = typeof path === 'string' && URL.canParse(path) ? new URL(path).pathname.split('/').at(-1) : undefined
  return {
    filename: typeof filename === 'string' && filename !== '' ? filename : last || 'attachment',
    ...(base64 === undefined ? { url: path as string } : { content: base64 }),
    ...(typeof contentType === 'string' && { content_type: contentType }),
    ...(typeof contentId === 'string' && { content_id: contentId }),
  }
}

/** Attachments of a draft, which are stored on creation, so each needs its content. `feature` names the case without it. */
export const contentsOf = (attachments: AttachmentInput[], feature: string) =>
  attachments.map(({ content, url, ...attachment }) => {
    if (content === undefined || url !== undefined) throw notOffered(feature)
    return { ...attachment, content }
  })
