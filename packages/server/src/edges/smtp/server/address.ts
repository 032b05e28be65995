// Reads the <path> of MAIL and RCPT (RFC 5321 §4.1.2) with the UTF-8 of RFC 6531 §3.3.
import { isIPv4, isIPv6 } from 'node:net'
import { localBytesMax } from '@callsign/mail/mail-address'

/** The address in its shortest form ('' for <>), and the text after the '>'. */
type ParsedPath = { address: string; rest: string }

const labelLengthMax = 63
const domainBytesMax = 255

// Wider than Dot-string, because senders such as `first..last@` and `first.@` exist.
const plainString = /[\w!#$%&'*+\-/=?^`{|}~.\u{a0}-\u{10ffff}]+/uy
const quotedString = /"(?:[ !#-[\]-~\u{a0}-\u{10ffff}]|\\[ -~])*"/uy
const label = /^[\w\u{a0}-\u{10ffff}](?:[\w\u{a0}-\u{10ffff}-]*[\w\u{a0}-\u{10ffff}])?$/u

/** True for a domain name of letters, digits, hyphens and underscores, or of Unicode labels. Many senders have names that no host may have. A trailing dot is refused. */
const isDomain = (text: string): boolean =>
  Buffer.byteLength(text) <= domainBytesMax && text.split('.').every((part) => part.length <= labelLengthMax && label.test(part))

/** True for [192.0.2.1] and [IPv6:2001:db8::1]. */
export function isAddressLiteral(text: string): boolean {
  if (!text.startsWith('[') || !text.endsWith(']')) return false
  const inner = text.slice(1, -1)
  return isIPv4(inner) || (/^ipv6:/i.test(inner) && !inner.includes('%') && isIPv6(inner.slice(5)))
}

/** True when the address needs SMTPUTF8. */
export const isBeyondAscii = (text: string): boolean => /[^ -~]/.test(text)

/**
 * Parses a path at the start of the text, or returns null. `kind` selects the special forms, `<>` for a sender and `<postmaster>` for a
 * recipient.
 * A source route is checked and ignored (RFC 5321 appendix C). Linear in the length of the text.
 */
export function parsePath(text: string, kind: 'sender' | 'recipient'): ParsedPath | null {
  if (!text.startsWith('<')) return null
  if (text.startsWith('<>')) return kind === 'sender' ? { address: '', rest: text.slice(2) } : null
  const postmaster = kind === 'recipient' ? /^<(postmaster)>/i.exec(text) : null
  if (postmaster) return { address: postmaster[1]!, rest: text.slice(postmaster[0].length) }

  const start = text.startsWith('<@') ? skipRoute(text) : 1
  if (start === -1) return null
  const local = readLocalPart(text, start)
  if (!local || Buffer.byteLength(local.text) > localBytesMax || text[local.end] !== '@') return null
  const close = text.indexOf('>', local.end)
  if (close === -1) return null
  const domain = text.slice(local.end + 1, close)
  if (!isDomain(domain) && !isAddressLiteral(domain)) return null
  return { address: `${local.text}@${domain}`, rest: text.slice(close + 1) }
}

/** The index after `@one,@two:`, or -1. */
function skipRoute(text: string): number {
  const end = text.indexOf(':')
  if (end === -1) return -1
  const hops = text.slice(1, end).split(',')
  return hops.every((hop) => hop.startsWith('@') && isDomain(hop.slice(1))) ? end + 1 : -1
}

/** "john"@x and john@x are the same mailbox (§4.1.2), so redundant quotes and backslashes are dropped. */
function readLocalPart(text: string, start: number): { text: string; end: number } | null {
  if (text[start] !== '"') {
    const plain = matchAt(plainString, text, start)
    return plain === null ? null : { text: plain, end: start + plain.length }
  }
  const quoted = matchAt(quotedString, text, start)
  if (quoted === null) return null
  const content = quoted.slice(1, -1).replace(/\\(.)/gu, '$1')
  const isPlain = matchAt(plainString, content, 0) === content
  return { text: isPlain && content !== '' ? content : `"${content.replace(/["\\]/g, '\\$&')}"`, end: start + quoted.length }
}

function matchAt(pattern: RegExp, text: string, index: number): string | null {
  pattern.lastIndex = index
  return pattern.exec(text)?.[0] ?? null
}
