// The one author that a message says it is from, as DMARC asks for it (RFC 9989 §5.3.1): exactly one, or none can be answered for.
import { domainToUnicode } from 'node:url'
import { parseAddresses } from '../../mime/addresses.ts'
import { normalName } from '../domain-names.ts'

/** `failure`: why there is no single author; what a forger would like does not pass for having none. */
export type AuthorDomain = { domain: string } | { failure: string }

/** Said of a domain with characters that are invisible, or that no domain name can hold (RFC 5892). */
export const disallowedCharacters = 'the author domain holds characters that are not allowed in a domain name'

/** More mailboxes in From than a person writes; those behind it are not compared. */
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
  const found = parseAddresses(value, mailboxesMax + 1)
  if (found.length > mailboxesMax) return { failure: 'too many authors' }
  const [mailbox, ...others] = found.filter(({ address }) => address !== '')
  if (!mailbox) return { failure: 'no author' }
  if (others.length > 0) return { failure: 'multiple authors' }
  if (isGroup(value)) return { failure: 'a group instead of an author' }
  return readDomain(mailbox.address)
}

/** Whether a list holds a group (RFC 6854): a colon and a semicolon outside of quotes, comments, angle brackets and domain literals. */
const isGroup = (value: string): boolean => /:.*;/s.test(value.replace(/"(?:[^"\\]|\\.)*"|\([^()]*\)|<[^<>]*>|\[[^[\]]*\]/gs, ' '))

/** The domain behind the one `@` of an address outside quotes: another one is no address, and each part may be what a reader sees. */
export function readDomain(address: string): AuthorDomain {
  const bare = address.replace(/^"(?:[^"\\]|\\.)*"(?=@)/s, '')
  const [part = '', ...more] = bare.split('@').slice(1)
  if (more.length > 0) return { failure: 'multiple author domains' }
  if (/^\[[^[\]\\]*\]$/.test(part)) return { domain: normalName(part) }
  if (!part.split('.').every(isLabel)) return { failure: disallowedCharacters }
  const domain = normalName(part)
  return /^[a-z0-9_.-]+$/.test(domain) ? { domain } : { failure: 'invalid author domain' }
}

/** Letters, marks, digits, hyphens, underscores and the few signs of RFC 5892 appendix A that show; what an A-label stands for as well. */
const labelPattern = /^[\p{L}\p{M}\p{Nd}_\-\u00b7\u0375\u05f3\u05f4\u30fb]*$/u
/** Invisible all the same: fillers of Hangul and Khmer vowels that are never drawn, and variation selectors. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

function isLabel(label: string): boolean {
  if (!labelPattern.test(label) || invisible.test(label)) return false
  if (!/^xn--/i.test(label)) return true
  const shown = domainToUnicode(label)
  return shown !== '' && !/^xn--/i.test(shown) && labelPattern.test(shown) && !invisible.test(shown)
}
