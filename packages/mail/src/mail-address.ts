// Normalized spellings of addresses and domains, by which lists and rules compare them.
import { domainToASCII } from 'node:url'

/**
 * The key of an address: lower case, composed (NFC), with a `domainKey` and without unnecessary quotes. Spellings of one mailbox have one key.
 * The address is not validated. The local part is in lower case too, because mail systems in use ignore its case, and a capital
 * letter must not evade a rule.
 */
export function addressKey(address: string): string {
  const text = address.trim().normalize('NFC')
  const at = text.lastIndexOf('@')
  if (at < 0) return text.toLowerCase()
  return `${localKey(text.slice(0, at)).toLowerCase()}@${domainKey(text.slice(at + 1))}`
}

/** The key without its `+tag`, which is the mailbox of a tagged address on most systems. Null without a tag. */
export function untaggedKey(key: string): string | null {
  const at = key.lastIndexOf('@')
  const plus = key.indexOf('+')
  return plus > 0 && plus < at ? key.slice(0, plus) + key.slice(at) : null
}

/** The key of a domain: lower case, non-ASCII labels as A-labels (UTS 46, as in browsers), without a trailing dot. */
export function domainKey(domain: string): string {
  const text = domain.trim().toLowerCase().replace(/\.$/, '')
  // domainToASCII removes tabs and line breaks, so text with a control character stays as it is and equals no domain.
  return /[^\x20-\x7e]/.test(text) && !/\p{Cc}/u.test(text) ? domainToASCII(text).replace(/\.$/, '') || text : text
}

/** A quoted local part without its quotes, where both mean the same (RFC 5322 §3.2.4). */
function localKey(local: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/s.test(local)) return local
  const content = local.slice(1, -1).replace(/\\(.)/gs, '$1')
  return isPlainLocal(content) ? content : `"${content.replace(/["\\]/g, '\\$&')}"`
}

/** True for a local part that needs no quotes. Dots may stand anywhere, because addresses such as `first..last@` and `first.@` exist. */
export const isPlainLocal = (text: string): boolean => /^[^\s"(),:;<>@[\\\]\p{Cc}]+$/u.test(text)

/**
 * The octets of a local part that are accepted from outside. The 64 of RFC 5321 §4.5.3.1.1 are the least that a server has to accept, and
 * forwarders and reply tokens exceed them.
 */
export const localBytesMax = 255

const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** True for a domain key with labels of letters, digits, hyphens and underscores. */
export const isDomainName = (key: string): boolean => key.length <= 253 && key.split('.').every((label) => labelPattern.test(label))

/**
 * The first character that is a control character, is invisible or changes the direction of text, as `U+202E`. Null without one. An entry of a list must be the text that it
 * looks like. The two zero-width joiners are allowed, because words of some scripts need them.
 */
export function findHiddenCharacter(text: string): string | null {
  const found = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text)?.[0].codePointAt(0)
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The key of a bare address. Null for other text. The local part has at most 255 octets, and so has the domain (RFC 5321 §4.5.3.1.2). */
export function readAddressKey(text: string): string | null {
  const key = addressKey(text)
  const at = key.lastIndexOf('@')
  const local = key.slice(0, at)
  if (at < 1 || Buffer.byteLength(local) > localBytesMax) return null
  const domain = key.slice(at + 1)
  if (!isDomainName(domain) && !/^\[(?:ipv6:[0-9a-f:.]+|[0-9.]+)\]$/.test(domain)) return null
  return isPlainLocal(local) || /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u.test(local) ? key : null
}

/** `display name <address>`, or the bare address without a name. */
export function formatAddress(name: string, address: string): string {
  if (!name) return address
  return /[^A-Za-z0-9 !#$%&'*+\-/=?^_`{|}~\u0080-\uffff]/.test(name)
    ? `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`
    : `${name} <${address}>`
}
