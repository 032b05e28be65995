// Subject, references, recipients and quotation of a reply or a forward.
import type { NamedAddress } from './message-draft.ts'

const subjectCharactersMax = 998
const referencesMax = 100

// Prefixes of mail programs in several languages, with counters such as Re[2]:, Re^2: and Re(2):
const replyPrefix = /^(?:re|aw|sv|antw)(?:\[\d{1,4}\]|\^\d{1,4}|\(\d{1,4}\))?\s?[:\uff1a]/i
const forwardPrefix = /^(?:fwd?|wg|tr)(?:\[\d{1,4}\])?\s?[:\uff1a]/i

/** The subject of a reply: prefixed with `Re:`, unless it has a reply prefix. */
export const replySubject = (subject: string): string => prefixedSubject(subject, 'Re:', replyPrefix)

/** The subject of a forward: prefixed with `Fwd:`, unless it has a forward prefix. */
export const forwardSubject = (subject: string): string => prefixedSubject(subject, 'Fwd:', forwardPrefix)

/** The subject with the prefix, unless it has one that `present` matches. */
export function prefixedSubject(subject: string, prefix: string, present: RegExp): string {
  const bare = subject.trim()
  const whole = present.test(bare) ? bare : `${prefix} ${bare}`.trim()
  return whole.length > subjectCharactersMax ? whole.slice(0, subjectCharactersMax).toWellFormed() : whole
}

/** The thread fields of a message, ids with their angle brackets. */
export type ThreadPlace = { messageId: string | null; references: string[]; inReplyTo: string[] }

/**
 * The References of a reply (RFC 5322 §3.6.4): those of the parent, or its In-Reply-To if that is one id, and the id of the parent. Each id occurs once.
 * There are at most 100 ids, and the first is kept because it names the thread.
 */
export function replyReferences(parent: ThreadPlace): string[] {
  const before = parent.references.length || parent.inReplyTo.length !== 1 ? parent.references : parent.inReplyTo
  const chain = new Set(before.map((id) => id.trim()).filter((id) => id && id !== parent.messageId))
  if (parent.messageId) chain.add(parent.messageId)
  const ids = [...chain]
  return ids.length > referencesMax ? [ids[0] as string, ...ids.slice(1 - referencesMax)] : ids
}

/** The addresses of the answered message and of the replying mailbox. */
export type ReplySource = {
  /** True for a message that the replying mailbox sent. A received one may name the mailbox as its author too, as the forms of web sites do. */
  isSent: boolean
  /** The authors. Usually one, none where From names none. */
  from: NamedAddress[]
  replyTo: NamedAddress[]
  to: NamedAddress[]
  cc: NamedAddress[]
  ownAddresses: string[]
  replyAll: boolean
}

/**
 * The recipients of a reply: Reply-To, or From (RFC 5322 §3.6.2), and those of a message that the replying mailbox wrote. With `replyAll`, all other
 * recipients too. The replying mailbox, also with a tag as in `handle+tag@`, and repetitions are left out.
 */
export function replyRecipients(source: ReplySource): { to: NamedAddress[]; cc: NamedAddress[] } {
  const own = new Set(source.ownAddresses.map(withoutTag))
  const isOwn = ({ address }: NamedAddress) => own.has(withoutTag(address))
  const seen = new Set<string>()
  const isNew = ({ address }: NamedAddress) => address !== '' && !seen.has(folded(address)) && seen.add(folded(address)) !== undefined
  const others = (list: NamedAddress[]) => list.filter((one) => !isOwn(one) && isNew(one))

  const answered = source.isSent ? [] : others(source.replyTo)
  if (!source.isSent && answered.length === 0) answered.push(...others(source.from))
  const isOurs = answered.length === 0 && (source.isSent || source.from.some(isOwn))
  const to = isOurs ? others(source.to) : answered
  if (source.replyAll && !isOurs) to.push(...others(source.to))
  const cc = source.replyAll ? others(source.cc) : []
  // The message had no recipients but the mailbox itself and blind copies.
  if (!to.length && !cc.length && isOurs) to.push(...[...source.to, ...source.from].slice(0, 1))
  return to.length ? { to, cc } : { to: cc, cc: [] }
}

const folded = (address: string): string => address.toLowerCase()

function withoutTag(address: string): string {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at).toLowerCase()
  const plus = local.indexOf('+')
  return `${plus > 0 ? local.slice(0, plus) : local}@${address.slice(at + 1).toLowerCase()}`
}

/** The forwarded message, and the text above it. A missing text is empty. */
export type ForwardSource = {
  from: NamedAddress[]
  to: NamedAddress[]
  cc: NamedAddress[]
  subject: string
  date: Date
  text: string
  html: string
  introText: string
  introHtml: string
}

/** `html` is empty without HTML. */
export type ForwardBodies = { text: string; html: string }

/** The bodies of a forward: the new text, then the message with its main headers. `html` is empty when neither has HTML. */
export function quotedForward(message: ForwardSource): ForwardBodies {
  const lines: [string, string][] = [
    ['From', shown(message.from)],
    ['Date', message.date.toUTCString().replace('GMT', '+0000')],
    ['Subject', message.subject],
    ['To', shown(message.to)],
    ...(message.cc.length ? [['Cc', shown(message.cc)] as [string, string]] : []),
  ]
  const head = [forwardTitle, ...lines.map(([name, value]) => `${name}: ${oneLine(value)}`)].join('\n')
  const text = [message.introText.trimEnd(), `${head}\n\n${message.text}`].filter(Boolean).join('\n\n')
  if (!message.html && !message.introHtml) return { text, html: '' }
  const intro = message.introHtml || textAsHtml(message.introText)
  const htmlHead = [forwardTitle, ...lines.map(([name, value]) => `<b>${name}:</b> ${escapeHtml(oneLine(value))}`)].join('<br>\n')
  const body = message.html ? bodyOf(message.html) : textAsHtml(message.text)
  return { text, html: [intro, `<div>${htmlHead}</div>`, `<div>${body}</div>`].filter(Boolean).join('\n<br>\n') }
}

const forwardTitle = '---------- Forwarded message ----------'

const textAsHtml = (text: string): string => (text ? `<div>${escapeHtml(text).replace(/\r\n|\r|\n/g, '<br>\n')}</div>` : '')

const shown = (list: NamedAddress[]): string => list.map(({ name, address }) => (name ? `${name} <${address}>` : address)).join(', ')

const oneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim()

const escapeHtml = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')

/** The content of the body element, or the whole HTML without one. Most programs drop the head of a nested document. */
function bodyOf(html: string): string {
  const open = html.search(/<body[\s>]/i)
  const start = open === -1 ? 0 : html.indexOf('>', open) + 1
  if (start === 0) return html
  const end = html.toLowerCase().lastIndexOf('</body')
  return html.slice(start, end >= start ? end : html.length)
}
