// Judges the indicators of a message together with its authenticated sender, and returns flags. Flagged messages are not dropped.
import type { Flag as FlagSchema, FlagType } from '@callsign/contract/flags'
import type { Static } from 'typebox'
import { disallowedCharacters } from '../../authentication/dmarc/author-domain.ts'
import type { Verdicts } from '../../authentication/sender-checks.ts'
import type { ParsedAddress } from '../../mime/addresses.ts'
import { addressDomain, parseAddresses } from '../../mime/addresses.ts'
import type { ParsedMessage } from '../../mime/parse.ts'
import { evidenceCharactersMax, type Indicators } from './indicators.ts'
import { imitatedName, isSameOrganization, looksAlike, organizationOf } from './lookalike-domains.ts'
import { addressInText, asciiHost, wholeHost } from './shown-hosts.ts'

export type Flag = Static<typeof FlagSchema>

/** The sender of a message with its verdicts. */
export type Sender = {
  parsed: Pick<ParsedMessage, 'from' | 'replyTo' | 'to' | 'cc' | 'headers' | 'autoSubmitted'>
  address: string
  name: string
  verdicts: Verdicts
  /** From names exactly one usable author. */
  hasAuthor: boolean
  /** DNS was down, so that the sender could not be authenticated. */
  isUnverified: boolean
  /** The mail domain of this server, and that of the mailbox. */
  ownDomains: string[]
}

/** A sender with the facts that several checks read. */
type JudgedSender = Sender & {
  domain: string
  isAuthentic: boolean
  /** Mailing lists, newsletters and automatic mail. */
  isBulk: boolean
}

/** The flags of a message, at most one of each type. */
export function toFlags(indicators: Indicators, sender: Sender): Flag[] {
  const { parsed, verdicts } = sender
  const { dmarc } = verdicts
  const judged: JudgedSender = {
    ...sender,
    domain: addressDomain(sender.address).toLowerCase(),
    isAuthentic: dmarc?.result === 'pass' || dmarc?.alignment.spf === true || dmarc?.alignment.dkim === true,
    isBulk: parsed.autoSubmitted || parsed.headers.some((field) => /^(?:list-id|list-unsubscribe)$/i.test(field.name)),
  }
  const first = new Map<FlagType, Flag>()
  const all = [
    ...flagsOfContent(indicators, 'The message'),
    ...flagsOfAuthor(judged),
    ...flagsOfNames(judged),
    ...flagsOfLinks(indicators, judged),
    ...flagsOfLookalikes(indicators, judged),
  ]
  for (const flag of all) if (!first.has(flag.type)) first.set(flag.type, flag)
  return [...first.values()]
}

const flagOf = (type: FlagType, reason: string, evidence: string): Flag => ({
  type,
  reason,
  evidence: evidence.slice(0, evidenceCharactersMax).toWellFormed(),
})

/** The flags of what a message or file contains, regardless of its sender. `what` starts the sentence of the reason. */
export function flagsOfContent({ hiddenText, instructions }: Pick<Indicators, 'hiddenText' | 'instructions'>, what: string): Flag[] {
  const flags: Flag[] = []
  if (hiddenText !== null) flags.push(flagOf('hidden_text', `${what} contains text that readers cannot see but programs read.`, hiddenText))
  if (instructions !== null)
    flags.push(flagOf('model_instructions', `${what} contains text that reads like instructions to a language model.`, instructions))
  return flags
}

/** Flags of the From field and of its authentication. */
function* flagsOfAuthor({
  verdicts,
  parsed,
  address,
  domain,
  isAuthentic,
  hasAuthor,
  isUnverified,
  ownDomains,
}: JudgedSender): Generator<Flag> {
  const { dmarc } = verdicts
  const authors = new Set(parsed.from.map((one) => one.address.toLowerCase()).filter((one) => one !== ''))
  if (authors.size > 1)
    yield flagOf('several_senders', `From names ${authors.size} senders, and mail programs show only one of them.`, [...authors].join(', '))
  if (!hasAuthor)
    yield flagOf(
      'failed_authentication',
      `From does not name exactly one author${dmarc?.reason ? ` (${dmarc.reason})` : ''}, so the author cannot be authenticated.`,
      parsed.from.map((one) => one.address || one.name).join(', '),
    )
  if (isUnverified)
    yield flagOf('unverified_sender', 'The DNS servers of this machine did not answer, so the sender could not be authenticated.', address)
  if (dmarc?.reason === disallowedCharacters)
    yield flagOf(
      'lookalike_domain',
      "The author's domain contains invisible characters, or characters that domain names cannot contain.",
      visibly(address),
    )
  if (dmarc?.result === 'fail' && (dmarc.policy === 'reject' || dmarc.policy === 'quarantine'))
    yield flagOf(
      'failed_authentication',
      `The message failed the DMARC policy of ${dmarc.domain ?? domain}, so its sender may be forged.`,
      address,
    )
  else if (verdicts.source === 'smtp' && !isAuthentic && ownDomains.some((own) => domain === own || domain.endsWith(`.${own}`)))
    yield flagOf(
      'failed_authentication',
      `The message came from outside in the name of ${domain}, which is hosted here, and is not authenticated.`,
      address,
    )
}

function* flagsOfNames(sender: JudgedSender): Generator<Flag> {
  const { name, address, domain, parsed, isBulk, isAuthentic } = sender
  const spoofed = spoofedName(name, domain, parsed.replyTo)
  if (spoofed !== null)
    yield flagOf('display_name_spoofing', `The display name shows ${spoofed}, but the message is from ${address}.`, `${name} <${address}>`)
  const elsewhere = divertedReply(sender, domain, isBulk && isAuthentic)
  if (elsewhere !== null) yield flagOf('reply_to_mismatch', `The message is from ${address}, but replies go to ${elsewhere}.`, elsewhere)
}

function* flagsOfLinks({ misdirections }: Indicators, { isAuthentic, isBulk, domain }: JudgedSender): Generator<Flag> {
  for (const { shown, host, href } of misdirections) {
    // An authenticated sender may count clicks on its own name, and a list's provider on any name.
    if (isAuthentic && (isSameOrganization(asciiHost(shown), domain) || (isBulk && isClickCounter(host)))) continue
    yield flagOf('link_mismatch', `A link that shows ${shown} leads to ${host}.`, href)
  }
}

function* flagsOfLookalikes({ imitations }: Indicators, { parsed, address, ownDomains }: JudgedSender): Generator<Flag> {
  const domainsOf = (addresses: string[]) => addresses.map((one) => addressDomain(one).toLowerCase())
  const hosts = domainsOf([address, ...parsed.replyTo.map((one) => one.address)])
  for (const host of hosts) {
    const imitated = imitatedName(host)
    if (imitated !== null) yield flagOf('lookalike_domain', `${host} imitates ${imitated} with letters of another script.`, host)
  }
  for (const { host, imitated } of imitations)
    yield flagOf('lookalike_domain', `A link leads to ${host}, which imitates ${imitated} with letters of another script.`, host)
  const known = [...ownDomains, ...[...parsed.to, ...parsed.cc].map((one) => addressDomain(one.address).toLowerCase())]
  for (const host of hosts) {
    const other = known.slice(0, 50).find((one) => looksAlike(host, one))
    if (other !== undefined) yield flagOf('lookalike_domain', `${host} looks like ${other} but is another domain.`, host)
  }
}

/** Writes every character beyond printable ASCII as its code point. */
const visibly = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (character) => `<U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}>`)

// Hosts that large newsletter providers count clicks with.
const clickCounters =
  'sendgrid.net list-manage.com mailchimpapp.net mcsv.net mandrillapp.com mailgun.org sparkpostmail.com awstrack.me amazonses.com hubspotlinks.com hs-sites.com hubspotemail.net klaviyomail.com klclick.com klclick1.com rs6.net constantcontact.com exct.net exacttarget.com sfmc-content.com mailjet.com mjt.lu sendinblue.com brevo.com sibforms.com createsend.com cmail19.com cmail20.com convertkit-mail.com ck.page beehiiv.com substack.com customeriomail.com iterable.com braze.com marketo.com mkt.com pardot.com t.co lnkd.in bit.ly'.split(
    ' ',
  )
const isClickCounter = (host: string): boolean => clickCounters.includes(organizationOf(host))

/** An address or a domain in a display name that is not the sender's. Null when there is none. */
function spoofedName(name: string, domain: string, replyTo: ParsedAddress[]): string | null {
  const text = name.slice(0, 500).trim()
  if (/[\u202d\u202e]/.test(text)) return 'its letters in another order than they are written'
  const shown = addressInText.exec(text)
  const host = shown ? (shown[1] as string) : wholeHost.test(text.replace(/^www\./i, '')) ? text.replace(/^www\./i, '') : null
  if (host === null || domain === '' || isSameOrganization(asciiHost(host), domain)) return null
  // "ann@example.com via Documents": the name shows the address for replies.
  if (shown && replyTo.some((one) => one.address.toLowerCase() === shown[0].toLowerCase())) return null
  return shown?.[0] ?? host
}

const programNames =
  /^(?:no-?_?reply|do-?not-?reply|notifications?|mailer|mailer-daemon|postmaster|bounces?|news|newsletter|info|alerts?|forms?|wordpress)\b|no-?reply[^@]*@/i

/** The Reply-To address, when it is in another organization than the sender and not explained by the message. */
function divertedReply({ parsed, address, name }: Sender, domain: string, isTrustedBulk: boolean): string | null {
  if (isTrustedBulk || domain === '' || programNames.test(address)) return null
  const listed = new Set([...parsed.to, ...parsed.cc].map((one) => one.address.toLowerCase()))
  // Mailing lists set Reply-To to themselves.
  const posts = parsed.headers
    .filter((field) => /^list-post$/i.test(field.name))
    .flatMap((field) => parseAddresses(field.value.replace(/mailto:/gi, ''), 5))
  const lists = new Set(posts.map((one) => one.address.toLowerCase()))
  const other = parsed.replyTo.slice(0, 20).find(({ address: one }) => {
    const host = addressDomain(one)
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
