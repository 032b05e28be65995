// Indicators that a message wants to deceive: found in its content where it is read, and judged with what is known of its sender. Nothing is dropped for them.
import type { Flag as FlagSchema, FlagType } from '@callsign/contract/flags'
import type { Static } from 'typebox'
import { disallowedCharacters } from '../../authentication/dmarc/author-domain.ts'
import type { Verdicts } from '../../authentication/sender-checks.ts'
import { type ScannedHtml, scanHtml } from '../../html/scan.ts'
import type { ParsedAddress } from '../../mime/addresses.ts'
import { addressDomain, parseAddresses } from '../../mime/addresses.ts'
import type { ParsedMessage } from '../../mime/parse.ts'
import { isAscii } from '../../text/ascii.ts'
import { imitatedName, isSameOrganization, looksAlike, organizationOf } from './lookalike-domains.ts'
import { findModelInstructions } from './model-instructions.ts'

export type Flag = Static<typeof FlagSchema>

/** A link whose text names one host and that leads to another. */
type Misdirection = { shown: string; host: string; href: string }

/** What the content alone gives away; small, so that it travels well. */
export type Indicators = {
  hiddenText: string | null
  instructions: string | null
  misdirections: Misdirection[]
  /** Hosts of links that imitate another name. */
  imitations: { host: string; imitated: string }[]
}

const evidenceMax = 300
const kept = 10
const hiddenLettersMin = 15
const previewMax = 300

const letterCount = (text: string): number => text.replace(/[^\p{L}\p{N}]+/gu, '').length

/** Reads the indicators out of a parsed message. Never throws; linear in the message. */
export function findIndicators(parsed: Pick<ParsedMessage, 'from' | 'subject' | 'text' | 'html' | 'attachments'>): Indicators {
  const html = parsed.html === null ? null : scanHtml(parsed.html)
  const smuggled = findSmuggled([parsed.subject, parsed.text ?? '', html?.visible ?? ''])
  const hidden = html?.hidden ?? []
  const told = [
    hidden.map((one) => one.text).join('\n'),
    smuggled ?? '',
    `${parsed.from[0]?.name ?? ''}\n${parsed.subject}\n${parsed.attachments.map((one) => one.filename).join('\n')}`,
    parsed.text ?? '',
    html?.visible ?? '',
    html?.comments ?? '',
  ]
  const instructions = told.map((text) => (text === '' ? null : findModelInstructions(text))).find((found) => found !== null) ?? null
  return {
    hiddenText: smuggled ?? findHidden(html),
    instructions,
    misdirections: (html?.links ?? []).flatMap((link) => misdirectionOf(link) ?? []).slice(0, kept),
    imitations: imitationsOf(html?.links ?? []).slice(0, kept),
  }
}

/** Text that nobody sees and that says something: not the preview of a newsletter, and not what stands in sight elsewhere. */
function findHidden(html: ScannedHtml | null): string | null {
  if (html === null || html.hidden.length === 0) return null
  let seen: Set<string> | null = null
  for (const { text: hidden, isFirst } of html.hidden) {
    if (findModelInstructions(hidden) !== null) return hidden
    if (letterCount(hidden.slice(0, 4000)) < hiddenLettersMin) continue
    if (isFirst && hidden.length <= previewMax) continue
    const own = [...shinglesOf(hidden)]
    // Made for the first that is compared: what most newsletters hide is their preview.
    const shown: Set<string> = seen ?? shinglesOf(html.visible)
    seen = shown
    if (own.length > 0 && own.filter((one) => shown.has(one)).length >= own.length * 0.6) continue
    return hidden
  }
  return null
}

/** Runs of three words, for comparing texts; of a text with fewer words, the text. */
function shinglesOf(text: string): Set<string> {
  const words =
    text
      .slice(0, 300_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{1,60}/gu) ?? []
  const shingles = new Set<string>()
  for (let i = 0; i < words.length && shingles.size < 30_000; i++) {
    if (words.length < 3) shingles.add(words.join(' '))
    else if (i + 2 < words.length) shingles.add(`${words[i]} ${words[i + 1]} ${words[i + 2]}`)
  }
  return shingles
}

// Variation selectors, and the high surrogate of the tags and of the rest of them.
const mayBeSmuggled = /[\ufe00-\ufe0f\udb40]/

/** Text in characters that are never shown: Unicode tags, but for flags of regions, and long runs of variation selectors. */
function findSmuggled(texts: string[]): string | null {
  if (texts.every((one) => isAscii(one) || !mayBeSmuggled.test(one))) return null
  const text = texts.join('\n')
  const tags = /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0020}-\u{e007e}]{4,}/u.exec(text)?.[0]
  if (tags) return [...tags].map((character) => String.fromCharCode((character.codePointAt(0) as number) - 0xe0000)).join('')
  return /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{8,}/u.test(text) ? 'bytes in variation selectors, which are never shown' : null
}

const topLevels =
  'com|net|org|edu|gov|mil|int|info|biz|io|co|ai|app|dev|me|eu|uk|de|fr|nl|it|es|ch|at|be|se|no|dk|fi|pl|cz|pt|ie|us|ca|au|nz|jp|cn|in|br|ru|test|example'
const hostText = `(?:[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?\\.){1,8}[\\p{L}\\p{N}-]{2,30}`
const wholeHost = new RegExp(`^(?:${hostText.replace('[\\p{L}\\p{N}-]{2,30}', `(?:${topLevels})`)})(?:[/?#:]\\S*)?$`, 'iu')
const urlInText = new RegExp(`(?:https?://|\\bwww\\.)(${hostText})`, 'iu')
const addressInText = new RegExp(`[^\\s@<>"'()]{1,64}@(${hostText})`, 'iu')
const addressText = new RegExp(`^[^\\s@<>]{1,64}@(${hostText})$`, 'iu')

/** The host that a link's text says it leads to, or null when it says none. */
function shownHost(text: string): string | null {
  const url = urlInText.exec(text)
  if (url) return (url[1] as string).toLowerCase()
  if (wholeHost.test(text)) return (text.split(/[/?#:]/, 1)[0] as string).toLowerCase()
  return addressText.exec(text)?.[1]?.toLowerCase() ?? null
}

function hostOf(href: string): { host: string; url: URL } | null {
  const url = URL.parse(href)
  if (url?.protocol === 'mailto:') {
    const host = addressDomain(decode(url.pathname).split(',', 1)[0] as string)
    return host === '' ? null : { host: host.toLowerCase(), url }
  }
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? { host: url.hostname, url } : null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function misdirectionOf({ href, text }: { href: string; text: string }): Misdirection | null {
  const target = hostOf(href)
  if (!target) return null
  // https://bank.example@elsewhere.test leads to elsewhere.test.
  const pretended = target.url.protocol !== 'mailto:' && target.url.username.includes('.') ? target.url.username : null
  const shown = shownHost(text) ?? (pretended === null ? null : shownHost(decode(pretended)))
  if (shown === null || isSameOrganization(asciiHost(shown), target.host)) return null
  // Gateways that check links say in the link where it leads.
  if (pretended === null && tellsTarget(target.url, shown)) return null
  return { shown, host: target.host, href: href.slice(0, evidenceMax) }
}

const asciiHost = (host: string): string => URL.parse(`http://${host}/`)?.hostname ?? host

/** Redirecting links of mail gateways and search engines, which carry their target in the open. */
const openRedirects = [
  'safelinks.protection.outlook.com',
  'urldefense.proofpoint.com',
  'urldefense.com',
  'google.com',
  'protect-us.mimecast.com',
]

function tellsTarget(url: URL, shown: string): boolean {
  if (!openRedirects.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`))) return false
  const told = decode(`${url.pathname}${url.search}`)
    .replace(/-([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/_/g, '/')
  const target = /https?:\/{1,3}([^/?#&\s]+)/i.exec(told)?.[1]
  return target !== undefined && isSameOrganization(target.toLowerCase(), asciiHost(shown))
}

function imitationsOf(links: { href: string }[]): { host: string; imitated: string }[] {
  const hosts = new Set(links.flatMap(({ href }) => hostOf(href)?.host ?? []))
  return [...hosts].flatMap((host) => {
    const imitated = imitatedName(host)
    return imitated === null ? [] : [{ host, imitated }]
  })
}

/** What the indicators of a message's content are worth, and the indicators of its sender, now that it is known. */
export type Sender = {
  parsed: Pick<ParsedMessage, 'from' | 'replyTo' | 'to' | 'cc' | 'headers' | 'autoSubmitted'>
  address: string
  name: string
  verdicts: Verdicts
  /** From names exactly one usable author. */
  hasAuthor: boolean
  /** The DNS servers answered nothing, so that the sender could not be checked. */
  isUnverified: boolean
  /** The mail domain of this server, and that of the mailbox. */
  ownDomains: string[]
}

/** The flags of a message, at most one of each type. */
export function toFlags(indicators: Indicators, sender: Sender): Flag[] {
  const flags: Flag[] = []
  const add = (type: FlagType, reason: string, evidence: string) => {
    if (flags.every((flag) => flag.type !== type)) flags.push({ type, reason, evidence: evidence.slice(0, evidenceMax).toWellFormed() })
  }
  const { verdicts, parsed, address, name } = sender
  const domain = addressDomain(address).toLowerCase()
  const isAuthentic = verdicts.dmarc?.result === 'pass' || verdicts.dmarc?.alignment.spf === true || verdicts.dmarc?.alignment.dkim === true
  const isBulk = parsed.autoSubmitted || parsed.headers.some((field) => /^(?:list-id|list-unsubscribe)$/i.test(field.name))

  if (indicators.hiddenText !== null)
    add('hidden_text', 'It holds text that people who read it cannot see, and that a program reads all the same.', indicators.hiddenText)
  if (indicators.instructions !== null)
    add(
      'model_instructions',
      'Some of its words read like instructions to a language model. They are the sender’s, not yours.',
      indicators.instructions,
    )

  const authors = new Set(parsed.from.map((one) => one.address.toLowerCase()).filter((one) => one !== ''))
  if (authors.size > 1)
    add('several_senders', `It says it is from ${authors.size} senders at once; programs show one of them only.`, [...authors].join(', '))

  const { dmarc } = verdicts
  if (!sender.hasAuthor)
    add(
      'failed_authentication',
      `It does not name exactly one author in From${dmarc?.reason ? ` (${dmarc.reason})` : ''}: nothing says who wrote it.`,
      parsed.from.map((one) => one.address || one.name).join(', '),
    )
  if (sender.isUnverified)
    add('unverified_sender', 'The DNS servers of this machine did not answer, so that its sender could not be checked.', address)
  if (dmarc?.reason === disallowedCharacters)
    add(
      'lookalike_domain',
      'The domain of its author holds characters that do not show, or that no domain name can hold.',
      visibly(address),
    )
  if (dmarc?.result === 'fail' && (dmarc.policy === 'reject' || dmarc.policy === 'quarantine'))
    add(
      'failed_authentication',
      `It failed the checks of ${dmarc.domain ?? domain}, which says that mail like it is not its own: the sender may be forged.`,
      address,
    )
  else if (verdicts.source === 'smtp' && !isAuthentic && sender.ownDomains.some((own) => domain === own || domain.endsWith(`.${own}`)))
    add(
      'failed_authentication',
      `It came from outside in the name of ${domain}, which is at home here, and nothing proves that it is.`,
      address,
    )

  const spoofed = spoofedName(name, domain, parsed.replyTo)
  if (spoofed !== null)
    add('display_name_spoofing', `The sender’s name shows ${spoofed}, but the message is from ${address}.`, `${name} <${address}>`)

  const elsewhere = divertedReply(sender, domain, isBulk && isAuthentic)
  if (elsewhere !== null) add('reply_to_mismatch', `It is from ${address}, but an answer would go to ${elsewhere}.`, elsewhere)

  for (const { shown, host, href } of indicators.misdirections) {
    // A sender that is who it says may count the clicks on its own name; so may a list's provider on any.
    if (isAuthentic && (isSameOrganization(asciiHost(shown), domain) || (isBulk && isClickCounter(host)))) continue
    add('link_mismatch', `A link that shows ${shown} leads to ${host}.`, href)
  }

  const seen = [address, ...parsed.replyTo.map((one) => one.address)]
    .map((one) => addressDomain(one).toLowerCase())
    .filter((one) => one !== '')
  for (const host of seen) {
    const imitated = imitatedName(host)
    if (imitated !== null) add('lookalike_domain', `${host} is drawn like ${imitated}, with letters of another script.`, host)
  }
  for (const { host, imitated } of indicators.imitations)
    add('lookalike_domain', `A link leads to ${host}, which is drawn like ${imitated}, with letters of another script.`, host)
  const known = [...sender.ownDomains, ...[...parsed.to, ...parsed.cc].map((one) => addressDomain(one.address).toLowerCase())]
  for (const host of seen) {
    const other = known.slice(0, 50).find((one) => one !== '' && looksAlike(host, one))
    if (other !== undefined) add('lookalike_domain', `${host} looks like ${other}, and is another domain.`, host)
  }
  return flags
}

/** A text with every character beyond printable ASCII written as its code point. */
const visibly = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (character) => `<U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}>`)

// Hosts through which the large senders of newsletters count clicks.
const clickCounters =
  'sendgrid.net list-manage.com mailchimpapp.net mcsv.net mandrillapp.com mailgun.org sparkpostmail.com awstrack.me amazonses.com hubspotlinks.com hs-sites.com hubspotemail.net klaviyomail.com klclick.com klclick1.com rs6.net constantcontact.com exct.net exacttarget.com sfmc-content.com mailjet.com mjt.lu sendinblue.com brevo.com sibforms.com createsend.com cmail19.com cmail20.com convertkit-mail.com ck.page beehiiv.com substack.com customeriomail.com iterable.com braze.com marketo.com mkt.com pardot.com t.co lnkd.in bit.ly'.split(
    ' ',
  )
const isClickCounter = (host: string): boolean => clickCounters.includes(organizationOf(host))

/** An address or a domain that a display name shows and that the message is not from; null when there is none. */
function spoofedName(name: string, domain: string, replyTo: ParsedAddress[]): string | null {
  const text = name.slice(0, 500).trim()
  if (text === '') return null
  if (/[\u202d\u202e]/.test(text)) return 'its letters in another order than they are written'
  const shown = addressInText.exec(text)
  const host = shown ? (shown[1] as string) : wholeHost.test(text.replace(/^www\./i, '')) ? text.replace(/^www\./i, '') : null
  if (host === null || domain === '' || isSameOrganization(asciiHost(host), domain)) return null
  // "ann@example.com via Documents": what is shown is where an answer goes.
  if (shown && replyTo.some((one) => one.address.toLowerCase() === shown[0].toLowerCase())) return null
  return shown?.[0] ?? host
}

const programNames =
  /^(?:no-?_?reply|do-?not-?reply|notifications?|mailer|mailer-daemon|postmaster|bounces?|news|newsletter|info|alerts?|forms?|wordpress)\b|no-?reply[^@]*@/i

/** Where an answer would go, when that is another organization than the sender's and nothing explains it. */
function divertedReply({ parsed, address, name }: Sender, domain: string, isTrustedBulk: boolean): string | null {
  if (isTrustedBulk || domain === '' || programNames.test(address)) return null
  const listed = new Set([...parsed.to, ...parsed.cc].map((one) => one.address.toLowerCase()))
  // A list has answers sent to itself.
  const posts = parsed.headers
    .filter((field) => /^list-post$/i.test(field.name))
    .flatMap((field) => parseAddresses(field.value.replace(/mailto:/gi, ''), 5))
  const lists = new Set(posts.map((one) => one.address.toLowerCase()))
  const other = parsed.replyTo.slice(0, 20).find(({ address: one }) => {
    const host = addressDomain(one).toLowerCase()
    return (
      host !== '' &&
      !isSameOrganization(host, domain) &&
      !listed.has(one.toLowerCase()) &&
      !lists.has(one.toLowerCase()) &&
      !name.toLowerCase().includes(one.toLowerCase())
    )
  })
  return other?.address ?? null
}
