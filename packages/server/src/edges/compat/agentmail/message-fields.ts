// Messages, their labels and their attachments as AgentMail shows and takes them.

import type { Attachment } from '@callsign/contract/attachments'
import type { Message, MessageItem } from '@callsign/contract/message-views'
import type { BodyOf } from '@callsign/contract/operation'
import type { sendMessage } from '@callsign/contract/outbound-mail'
import { takeThreadHeaders } from '@callsign/mail/compose/custom-headers'
import type { Static } from 'typebox'
import { type AgentMailRequest, notOffered, notThere, optionalList, optionalText, present, wrongValue } from './route.ts'

type Item = Static<typeof MessageItem>
export type File = Static<typeof Attachment>
export type AttachmentInput = NonNullable<BodyOf<typeof sendMessage>['attachments']>[number]

/** Labels for states that only the server sets. */
const systemLabels = ['received', 'sent', 'delivered', 'bounced', 'complained', 'delayed', 'rejected', 'opened']

/** Labels for states that clients set. */
const stateLabels = ['read', 'unread', 'starred', 'spam', 'trash', 'blocked', 'unauthenticated']

const deliveryLabels: Partial<Record<Item['status'], string>> = { delivered: 'delivered', bounced: 'bounced', failed: 'rejected' }

/** Quarantined because its author is not proven. */
const unprovenBases = ['author', 'dmarc', 'hosted_domain']

/** The label of a message in quarantine. */
export const quarantineLabel = ({ guardrail }: Pick<Item, 'guardrail'>): 'unauthenticated' | 'blocked' =>
  guardrail !== null && unprovenBases.includes(guardrail.basis) ? 'unauthenticated' : 'blocked'

/** The fields of a message that its labels show. */
type Labelled = Pick<Item, 'direction' | 'status' | 'is_read' | 'is_starred' | 'trashed_at' | 'labels' | 'guardrail'>

/** Our states as labels, and then the labels of the message. */
export function labelsOf(item: Labelled): string[] {
  const isInbound = item.direction === 'inbound'
  const states = [
    isInbound ? 'received' : 'sent',
    isInbound ? (item.is_read ? 'read' : 'unread') : deliveryLabels[item.status],
    item.status === 'quarantined' && quarantineLabel(item),
    item.is_starred && 'starred',
    item.trashed_at !== null && 'trash',
  ]
  return [...new Set([...states.filter((state) => typeof state === 'string'), ...item.labels])]
}

/** The attributes of a message behind its labels. */
export type LabelChange = {
  is_read?: boolean
  is_starred?: boolean
  is_trashed?: boolean
  isReleased: boolean
  isSpam?: boolean
  add_labels?: string[]
  remove_labels?: string[]
}

/** The change that `add_labels` and `remove_labels` ask for. A label in both is removed. */
export function labelChangeOf(request: AgentMailRequest): LabelChange {
  const [adding, removing] = ['add_labels', 'remove_labels'].map(
    (name) => optionalList(request, name)?.map((label) => label.toLowerCase()) ?? [],
  )
  const removed = new Set(removing)
  const added = new Set(adding?.filter((label) => !removed.has(label)))
  if (added.size + removed.size === 0) throw wrongValue('`add_labels` or `remove_labels` is required.')
  checkOwnLabels([...added, ...removed])
  const take = (label: string): boolean | undefined => (added.delete(label) ? true : removed.delete(label) ? false : undefined)
  const [read, unread] = [take('read'), take('unread')]
  const [starred, trashed, spam] = [take('starred'), take('trash'), take('spam')]
  const quarantine = [take('blocked'), take('unauthenticated')]
  if (quarantine.includes(true)) throw wrongValue('`blocked` and `unauthenticated` are set by the server. They can only be removed.')
  return {
    isReleased: quarantine.includes(false),
    ...present({
      is_read: unread === undefined ? read : !unread,
      is_starred: starred,
      is_trashed: trashed,
      isSpam: spam,
      add_labels: added.size > 0 ? [...added] : undefined,
      remove_labels: removed.size > 0 ? [...removed] : undefined,
    }),
  }
}

function checkOwnLabels(labels: string[]): void {
  const [fixed] = labels.filter((label) => systemLabels.includes(label))
  if (fixed !== undefined) throw wrongValue(`\`${fixed}\` is a label of the server. It cannot be added or removed.`)
}

const orUndefined = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)

/** A message without its bodies. */
export const toItem = (item: Item, inboxId: string) => ({
  inbox_id: inboxId,
  thread_id: item.thread_id,
  message_id: item.id,
  labels: labelsOf(item),
  timestamp: item.created_at,
  from: item.from,
  to: item.to,
  ...present({ cc: orUndefined(item.cc), bcc: orUndefined(item.bcc), reply_to: orUndefined(item.reply_to) }),
  subject: item.subject,
  preview: item.snippet,
  ...present({ attachments: orUndefined(item.attachments.map(toAttachment)) }),
  ...(item.in_reply_to_message_id !== null && { in_reply_to: item.in_reply_to_message_id }),
  ...present({ references: orUndefined(item.references) }),
  headers: item.headers ?? {},
  size: item.size_bytes,
  updated_at: item.trashed_at ?? item.released_at ?? item.created_at,
  created_at: item.created_at,
})

/** A message with its bodies. */
export const toMessage = (item: Item, inboxId: string) => ({
  ...toItem({ ...item, from: namedAuthor(item) }, inboxId),
  ...(item.text !== '' && { text: item.text, extracted_text: item.extracted_text }),
  ...(item.html !== '' && { html: item.html }),
})

/** The author with the name in From. A From that does not end with the address is left out. */
function namedAuthor({ from, headers }: Pick<Item | Static<typeof Message>, 'from' | 'headers'>): string {
  const written = headers?.from
  return written?.toLowerCase().endsWith(`<${from.toLowerCase()}>`) ? written : from
}

export const toAttachment = ({ id, filename, size_bytes, content_type, content_id }: File) => ({
  attachment_id: id,
  filename,
  size: size_bytes,
  content_type,
  content_disposition: content_id === null ? 'attachment' : 'inline',
  ...(content_id !== null && { content_id }),
})

/** An attachment with the link that downloads it. */
export function toDownload(file: File) {
  if (file.url === null) throw notThere('Attachment')
  return { ...toAttachment(file), ...downloadOf(file.url) }
}

/** A signed link and its end, which is its parameter `expires` in seconds. */
export const downloadOf = (url: string) => ({
  download_url: url,
  expires_at: new Date(Number(new URL(url).searchParams.get('expires')) * 1000).toISOString(),
})

/** The attachments of a request. */
export function attachmentInputs(
  given: unknown,
  name = 'attachments',
): (AttachmentInput & Required<Pick<AttachmentInput, 'content_type'>>)[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw wrongValue(`\`${name}\` must be a list.`)
  return given.map((one: Record<string, unknown> | null) => {
    const { filename, content_type, content, url, content_id } = one ?? {}
    const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
    if (isText(content) === isText(url)) throw wrongValue(`Each of \`${name}\` needs either \`content\` or \`url\`.`)
    return {
      filename: isText(filename) ? filename : 'attachment',
      content_type: isText(content_type) ? content_type : 'application/octet-stream',
      ...(isText(content) ? { content } : { url: url as string }),
      ...(isText(content_id) && { content_id }),
    }
  })
}

/** The labels of a field of the request, in lower case, for a message that is not sent yet. */
export function ownLabelsIn(request: AgentMailRequest, field: string): string[] {
  const labels = [...new Set(optionalList(request, field)?.map((label) => label.toLowerCase()))]
  checkOwnLabels(labels)
  const state = labels.find((label) => stateLabels.includes(label))
  if (state !== undefined) throw wrongValue(`\`${state}\` is a state of a message. Set it when the message is sent.`)
  return labels
}

/** A sent message in the answer. */
export const toSent = ({ id, thread_id }: { id: string; thread_id: string }) => ({ message_id: id, thread_id })

/**
 * The fields that new messages, replies and forwards have in common, and the Message-IDs in In-Reply-To and References, which programs set
 * themselves. A reply has those of its message.
 */
export function contentOf(request: AgentMailRequest) {
  if (request.body.track_opens === true) throw notOffered('`track_opens`')
  const given = request.body.headers
  const { headers, references } = takeThreadHeaders(typeof given === 'object' && given !== null ? (given as Record<string, string>) : {})
  const attachments = attachmentInputs(request.body.attachments)
  const labels = ownLabelsIn(request, 'labels')
  const content = {
    ...(labels.length > 0 && { labels }),
    ...present({ text: optionalText(request, 'text'), html: optionalText(request, 'html') }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(attachments.length > 0 && { attachments }),
  }
  return { content, references }
}
