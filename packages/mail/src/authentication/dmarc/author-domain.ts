// The one author that a message says it is from, as DMARC asks for it (RFC 9989 §5.3.1): exactly one, or none can be answered for.
import { domainToUnicode } from 'node:url'
import ipaddr from 'ipaddr.js'
import { type ParsedAddress, parseAddressList } from '../../mime/addresses.ts'
import { canBeAsked, normalName } from '../domain-names.ts'

/** `failure` is the reason for not finding a single author. A malformed From does not count as a missing one. */
export type AuthorDomain = { domain: string } | { failure: string }

/** Said of a domain with characters that are invisible, or that no domain name can hold (RFC 5892). */
export const disallowedCharacters = 'the author domain holds characters that are not allowed in a domain name'

/** Limit of compared mailboxes in From. */
const mailboxesMax = 100

/**
 * Reads the From fields of a message, each as it stands, octets as Latin-1. Several mailboxes have no author domain, even those of one domain: programs
 * show one of them only, and each its own choice. The addresses are those that the message is shown with.
 */
export function readAuthorDomain(fields: readonly { text: string }[]): AuthorDomain {
  if (fields.length > 1) return { failure: 'multiple from fields' }
  const text = fields[0]?.text ?? ''
  const value = Buffer.from(text.slice(text.indexOf(':') + 1), 'latin1')
    .toString('utf8')
    .replace(/\r\n/g, '')
  const { mailboxes, hasGroup } = parseAddressList(value, mailboxesMax + 1)
  if (mailboxes.length > mailboxesMax) return { failure: 'too many authors' }
  const authors = distinctAuthors(mailboxes)
  const [author, ...others] = authors
  if (!author) return { failure: 'no author' }
  if (others.length > 0) return { failure: 'multiple authors' }
  if (hasGroup) return { failure: 'a group instead of an author' }
  return readDomain(author.address)
}

/** The mailboxes that have an address, each address once: a program that repeats its sender names one author. */
export function distinctAuthors(mailboxes: readonly ParsedAddress[]): ParsedAddress[] {
  const byAddress = new Map<string, ParsedAddress>()
  for (const mailbox of mailboxes) {
    const key = mailbox.address.toLowerCase()
    if (mailbox.address !== '' && !byAddress.has(key)) byAddress.set(key, mailbox)
  }
  return [...byAddress.values()]
}

/**
 * The domain behind the one `@` of an address outside quotes, in normal form. Another `@` is not an address: each part may be the one that a reader
 * sees. A domain literal has to be an IP address, and a name has to be one that DNS can hold (RFC 1035 §2.3.4).
 */
export function readDomain(address: string): AuthorDomain {
  const bare = address.replace(/^"(?:[^"\\]|\\.)*"(?=@)/s, '')
  const [part = '', ...more] = bare.split('@').slice(1)
  if (more.length > 0) return { failure: 'multiple author domains' }
  const literal = /^\[(?:ipv6:)?([0-9a-f:.]+)\]$/i.exec(part)?.[1]
  if (literal !== undefined && ipaddr.isValid(literal)) return { domain: part.toLowerCase() }
  const labels = part.split('.')
  if (labels.includes('')) return { failure: 'invalid author domain' }
  if (!labels.every(isShown)) return { failure: disallowedCharacters }
  const domain = normalName(part)
  if (!canBeAsked(domain) || !/^[a-z0-9_.-]+$/.test(domain)) return { failure: 'invalid author domain' }
  // The normal form may hold A-labels that the address did not show, as full-width letters do.
  return domain.split('.').every(isDecodable) ? { domain } : { failure: disallowedCharacters }
}

/** Letters, marks, digits, hyphens, underscores and the few signs of RFC 5892 appendix A that are drawn. */
const labelPattern = /^[\p{L}\p{M}\p{Nd}_\-\u00b7\u0375\u05f3\u05f4\u30fb]*$/u
/** Letters that are never drawn, such as Hangul fillers, and variation selectors. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

const isShown = (label: string): boolean => labelPattern.test(label) && !invisible.test(label)

/** True for an A-label whose characters a domain name may contain, and for every other label. */
function isDecodable(label: string): boolean {
  if (!label.startsWith('xn--')) return true
  const shown = domainToUnicode(label) || label
  return !shown.startsWith('xn--') && isShown(shown)
}
