// A message to be sent: who it goes to, and what its delivery still has to do.
import { recipientsMax } from '@callsign/contract/outbound-mail'
import { invalid } from '../../core/errors.ts'
import { type ParsedAddress, parseAddresses } from '../inbound-mail/model.ts'
import type { RecipientRow } from '../messages/model.ts'

/** The kind of the job that delivers one message. */
export const deliverJob = 'deliver-message'

export type Recipients = { to: ParsedAddress[]; cc: ParsedAddress[]; bcc: ParsedAddress[] }

/** `string | string[] | undefined` as a list. */
export const asList = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value

/** Reads one field of addresses, each `user@host` or `Name <user@host>`. 400 names the entry that is no address. */
export function readAddresses(field: string, entries: string[]): ParsedAddress[] {
  return entries.map((entry, index) => {
    const [address, ...others] = parseAddresses(entry, 2)
    if (!address || others.length > 0 || !isSendable(address.address)) {
      throw invalid(
        `/${field}/${index}`,
        `${JSON.stringify(entry.slice(0, 100))} is not an email address; write user@example.com or Name <user@example.com>`,
      )
    }
    return address
  })
}

/** An address that can stand on the wire (RFC 5321 §4.5.3.1: 64 octets before the @, 255 after, 254 in all). */
function isSendable(address: string): boolean {
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at)
  const domain = address.slice(at + 1)
  if (at < 1 || Buffer.byteLength(local) > 64 || Buffer.byteLength(address) > 254) return false
  const label = '[\\p{L}\\p{N}]([\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'
  const isDomain = new RegExp(`^${label}(\\.${label})*$`, 'u').test(domain) || /^\[(IPv6:[0-9a-fA-F:.]+|[0-9.]+)\]$/.test(domain)
  return isDomain && /^([^\s"(),:;<>@[\\\]\p{Cc}]+|"([^"\\\p{Cc}]|\\[^\p{Cc}])*")$/u.test(local)
}

/** Checks the number of recipients and drops repeated ones: an address is served once, in the first field that names it. */
export function checkRecipients(recipients: Recipients): Recipients {
  const seen = new Set<string>()
  const distinct = (list: ParsedAddress[]) =>
    list.filter(({ address }) => {
      const key = address.toLowerCase()
      return !seen.has(key) && seen.add(key)
    })
  const checked = { to: distinct(recipients.to), cc: distinct(recipients.cc), bcc: distinct(recipients.bcc) }
  if (seen.size === 0) throw invalid('/to', 'a message needs at least one recipient')
  if (recipients.to.length + recipients.cc.length + recipients.bcc.length > recipientsMax) {
    throw invalid('/to', `a message has at most ${recipientsMax} recipients, to, cc and bcc together`)
  }
  return checked
}

/** The rows of a message's recipients, in order. */
export const toRecipientRows = (recipients: Recipients): Pick<RecipientRow, 'position' | 'kind' | 'name' | 'address'>[] =>
  (['to', 'cc', 'bcc'] as const)
    .flatMap((kind) => recipients[kind].map((entry) => ({ kind, name: entry.name, address: entry.address })))
    .map((row, position) => ({ position, ...row }))
