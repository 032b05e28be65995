// What a reply or a forward takes over from the message it answers: subject, references, recipients, quotation.
import type { NamedAddress } from './message-draft.ts'

const subjectCharactersMax = 998
const referencesMax = 100

// Prefixes as mail programs of several languages write them, with the counters that some add: Re[2]:, Re^2:, Re(2):
const replyPrefix = /^(?:re|aw|sv|antw)(?:\[\d{1,4}\]|\^\d{1,4}|\(\d{1,4}\))?\s?[:\uff1a]/i
const forwardPrefix = /^(?:fwd?|wg|tr)(?:\[\d{1,4}\])?\s?[:\uff1a]/i

/** The subject of a reply: `Re:` in front, unless a reply's prefix stands there already. */
export const replySubject = (subject: string): string => prefixedSubject(subject, 'Re:', replyPrefix)

/** The subject of a forward: `Fwd:` in front, unless a forward's prefix stands there already. */
export const forwardSubject = (subject: string): string => prefixedSubject(subject, 'Fwd:', forwardPrefix)

/** The subject with the prefix in front, unless one that `present` matches stands there already. */
export function prefixedSubject(subject: string, prefix: string, present: RegExp): string {
  const bare = subject.trim()
  const whole = present.test(bare) ? bare : `${prefix} ${bare}`.trim()
  return whole.length > subjectCharactersMax ? whole.slice(0, subjectCharactersMax).toWellFormed() : whole
}

/** Where a message stands in its thread, ids with their angle brackets. */
export type ThreadPlace = { messageId: string | null; references: string[]; inReplyTo: string[] }

/**
 * The References of a reply (RFC 5322 §3.6.4): the parent's, or its In-Reply-To if that is one id, then the parent itself; each id once, at
 * most a hundred, the first kept because it names the thread.
 */
export function replyReferences(parent: ThreadPlace): string[] {
  const before = parent.references.length || parent.inReplyTo.length !== 1 ? parent.references : parent.inReplyTo
  const chain = new Set(before.map((id) => id.trim()).filter((id) => id && id !== parent.messageId))
  if (parent.messageId) chain.add(parent.messageId)
  const ids = [...chain]
  return ids.length > referencesMax ? [ids[0] as string, ...ids.slice(1 - referencesMax)] : ids
}

/** The addresses of the message that is answered, and who answers it. */
export type ReplySource = {
  /** The authors: one as a rule, none where From names none. */
  from: NamedAddress[]
  replyTo: NamedAddress[]
  to: NamedAddress[]
  cc: NamedAddress[]
  ownAddress: string
  replyAll: boolean
}

/**
 * Who gets the reply. It goes to Reply-To, or to From; to everybody else as well when `replyAll`, without ourselves (`handle+tag@` is us
 * too) and without repetitions. A reply to a message of our own goes to those it was sent to.
 */
export function replyRecipients(source: ReplySource): { to: NamedAddress[]; cc: NamedAddress[] } {
  const own = withoutTag(source.ownAddress)
  const isOwn = ({ address }: NamedAddress) => withoutTag(address) === own
  const isOurs = source.from.some(isOwn)
  const seen = new Set<string>()
  const isNew = ({ address }: NamedAddress) => address !== '' && !seen.has(folded(address)) && seen.add(folded(address)) !== undefined
  const others = (list: NamedAddress[]) => list.filter((one) => !isOwn(one) && isNew(one))

  const answered = source.replyTo.length ? others(source.replyTo) : []
  const to = isOurs ? others(source.to) : answered.length ? answered : others(source.from)
  if (source.replyAll && !isOurs) to.push(...others(source.to))
  const cc = source.replyAll ? others(source.cc) : []
  // We wrote to nobody but ourselves, or by blind copy only.
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

/** What a forward passes on, and the words to put above it. Texts that are not there are empty. */
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

/** The bodies of a forward: one's own words, then the message with its most important headers. `html` is empty when neither has html. */
export function quotedForward(message: ForwardSource): { text: string; html: string } {
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

/** What stands inside the body element, or all of it: a document inside a document loses its head in most programs. */
function bodyOf(html: string): string {
  const open = html.search(/<body[\s>]/i)
  const start = open === -1 ? 0 : html.indexOf('>', open) + 1
  if (start === 0) return html
  const end = html.toLowerCase().lastIndexOf('</body')
  return html.slice(start, end >= start ? end : html.length)
}
