// The addresses, besides the recipients, that an outgoing message asks others to write to: Reply-To, receipts and list commands.
import type { HeaderProblem } from '@callsign/mail/compose/custom-headers'
import { addressKey, untaggedKey } from '@callsign/mail/mail-address'
import { type ParsedAddress, parseAddresses } from '@callsign/mail/mime/addresses'

/** The field of the request with the address, as in `reply_to` or `headers/Return-Receipt-To`. */
export type ReplyAddress = { field: string; address: string }

/** Headers that ask for a receipt (RFC 8098 §2.1, and the older ones still in use). Their value must be addresses. */
const receiptNames = new Set([
  'disposition-notification-to',
  'return-receipt-to',
  'return-receipt-requested',
  'read-receipt-to',
  'x-confirm-reading-to',
  'errors-to',
])

/** Headers with `mailto:` URIs (RFC 2369). */
const listNames = new Set(['list-help', 'list-unsubscribe', 'list-subscribe', 'list-post', 'list-owner'])

const addressesMax = 100

/** Addresses that answers, receipts and errors go to, without the sender's own ones. */
export function replyAddressesOf(
  message: { replyTo: ParsedAddress[]; headers: Record<string, string> },
  ownAddresses: string[],
): ReplyAddress[] {
  const own = new Set(ownAddresses.map(addressKey))
  const found = [
    ...message.replyTo.map(({ address }) => ({ field: 'reply_to', address })),
    ...Object.entries(message.headers).flatMap(([name, value]) =>
      addressesIn(name.toLowerCase(), value).map((address) => ({ field: `headers/${name}`, address })),
    ),
  ]
  return found.filter(({ address }) => {
    const key = addressKey(address)
    return !own.has(key) && !own.has(untaggedKey(key) ?? key)
  })
}

/** Receipt headers without an address. Receivers may read more into such a value than this parser does. */
export const findReceiptProblems = (headers: Record<string, string>): HeaderProblem[] =>
  Object.entries(headers)
    .filter(([name, value]) => receiptNames.has(name.toLowerCase()) && addressesIn(name.toLowerCase(), value).length === 0)
    .map(([name]) => ({ path: `/headers/${name}`, message: 'This header needs an email address, such as user@example.com.' }))

/** The addresses in a header. Every name that ends in `-to` counts, because mail programs invent further ones. */
function addressesIn(name: string, value: string): string[] {
  if (listNames.has(name)) return decoded(value).match(/[^\s<>,;:?&="]+@[^\s<>,;:?&="]+/g) ?? []
  if (!receiptNames.has(name) && !name.endsWith('-to')) return []
  return parseAddresses(value, addressesMax)
    .map(({ address }) => address)
    .filter((address) => address.includes('@'))
}

const decoded = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
