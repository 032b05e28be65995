// The domain that a message says it is from, as DMARC asks for it (RFC 9989 §5.3.1): exactly one, or none can be answered for.
import { normalName } from '../sender-authentication/model.ts'
import { parseAddresses } from './addresses.ts'

/** `trouble`: why there is no single author domain; what a forger would like does not pass for having none. */
export type AuthorDomain = { domain: string } | { trouble: string }

/** More mailboxes in From than anybody writes; those behind it are not compared. */
const mailboxesMax = 100

/**
 * Reads the From fields of a message, each as it stands, octets as Latin-1. Several mailboxes of one domain have one author domain. The addresses
 * are those that the message is shown with: what is read in another way elsewhere is not what was checked here.
 */
export function readAuthorDomain(fields: readonly { text: string }[]): AuthorDomain {
  if (fields.length > 1) return { trouble: 'multiple from fields' }
  const text = fields[0]?.text ?? ''
  const value = Buffer.from(text.slice(text.indexOf(':') + 1), 'latin1')
    .toString('utf8')
    .replace(/\r\n/g, '')
  const found = parseAddresses(value, mailboxesMax + 1)
  if (found.length > mailboxesMax) return { trouble: 'too many authors' }
  const mailboxes = found.filter(({ address }) => address !== '')
  const domains = mailboxes.map(({ address }) => domainsOf(address))
  const distinct = new Set(domains.flat())
  if (distinct.size === 0) return { trouble: 'no author domain' }
  if (domains.some((found) => found.length === 0)) return { trouble: 'invalid author domain' }
  if (distinct.size > 1) return { trouble: 'multiple author domains' }
  return { domain: [...distinct][0] as string }
}

/** What stands behind each `@` of an address outside quotes: more than one is no address, and each may be what somebody sees. */
function domainsOf(address: string): string[] {
  const bare = address.replace(/^"(?:[^"\\]|\\.)*"(?=@)/s, '')
  return bare
    .split('@')
    .slice(1)
    .flatMap((part) => {
      const name = normalName(part)
      const isDomain = /^\[[^[\]\\]*\]$/.test(name) || (name !== '' && !/[\s"<>(),;:\\@[\]]/.test(name))
      return isDomain ? [name] : []
    })
}
