// Distinguishes automatic and bulk mail from personal mail (RFC 3834).
import { addressDomain, parseAddresses } from './addresses.ts'
import { firstToken, readParameters } from './content-type.ts'
import { findValue, type HeaderField } from './headers.ts'

// Present with any value: the fields of vacation programs and mailing lists (RFC 2369, RFC 2919).
const TELLING_FIELDS = new Set([
  'list-id',
  'list-unsubscribe',
  'list-post',
  'x-autoreply',
  'x-autorespond',
  'x-autoresponse',
  'x-auto-response-suppress',
  'x-mail-autoreply',
  'feedback-id',
])
const BULK_PRECEDENCE = new Set(['bulk', 'list', 'junk', 'auto_reply'])
const PROGRAM_NAMES = new Set([
  'mailer-daemon',
  'postmaster',
  'noreply',
  'no-reply',
  'no_reply',
  'donotreply',
  'do-not-reply',
  'bounce',
  'bounces',
])

/** True for an automatic answer, a notification, list or bulk mail, or a report, which must not get an automatic answer. */
export function isAutomatic(fields: readonly HeaderField[]): boolean {
  const submitted = findValue(fields, 'auto-submitted')
  if (submitted !== null && firstToken(submitted).toLowerCase() !== 'no') return true
  for (const { key, value } of fields) {
    if (TELLING_FIELDS.has(key)) return true
    if (key === 'precedence' && BULK_PRECEDENCE.has(firstToken(value).toLowerCase())) return true
    if (key === 'return-path' && value.replace(/\s/g, '') === '<>') return true
  }
  if (readParameters(findValue(fields, 'content-type') ?? '').value === 'multipart/report') return true
  const author = parseAddresses(findValue(fields, 'from') ?? '', 1)[0]
  // "From: MAILER-DAEMON (Mail Delivery System)" has no address.
  const address = author?.address || (author?.name ?? '')
  const localPart = addressDomain(address) === '' ? address : address.slice(0, address.lastIndexOf('@'))
  return PROGRAM_NAMES.has(localPart.toLowerCase())
}
