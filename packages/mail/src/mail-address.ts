// One spelling for every address and domain, so that lists and rules compare what is meant and not how it was written.
import { domainToASCII } from 'node:url'

/**
 * The key of an address: lower case, composed (NFC), its local part without quotes that it does not need, its domain as `domainKey` has it. Two
 * spellings of one mailbox have one key; nothing is said about whether mail can be sent there. Local parts are lowered too: no system
 * in use tells `Ann@` from `ann@`, and a rule that could be passed by a capital letter would be none.
 */
export function addressKey(address: string): string {
  const text = address.trim().normalize('NFC')
  const at = text.lastIndexOf('@')
  if (at < 0) return text.toLowerCase()
  return `${localKey(text.slice(0, at)).toLowerCase()}@${domainKey(text.slice(at + 1))}`
}

/** The key without its `+tag`, or null when it has none: the mailbox that most systems file the tagged address in. */
export function untaggedKey(key: string): string | null {
  const at = key.lastIndexOf('@')
  const plus = key.indexOf('+')
  return plus > 0 && plus < at ? key.slice(0, plus) + key.slice(at) : null
}

/** The key of a domain: lower case, A-labels for what is not ASCII (UTS 46, as browsers do it), no dot at its end. */
export function domainKey(domain: string): string {
  const text = domain.trim().toLowerCase().replace(/\.$/, '')
  return /[^\x20-\x7e]/.test(text) ? domainToASCII(text).replace(/\.$/, '') || text : text
}

/** A quoted local part means the same as the bare one where both may be written (RFC 5322 §3.2.4). */
function localKey(local: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/s.test(local)) return local
  const content = local.slice(1, -1).replace(/\\(.)/gs, '$1')
  return isDotAtom(content) ? content : `"${content.replace(/["\\]/g, '\\$&')}"`
}

const isDotAtom = (text: string): boolean => /^[^\s"(),:;<>@[\\\]\p{Cc}.]+(?:\.[^\s"(),:;<>@[\\\]\p{Cc}.]+)*$/u.test(text)

const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** True when a domain's key is a name: labels of letters, digits, hyphens and underscores. */
export const isDomainName = (key: string): boolean => key.length <= 253 && key.split('.').every((label) => labelPattern.test(label))

/**
 * The first character that turns text around or does not show, as U+202E; null when there is none. What a person puts on a list has to be what it
 * looks like. The two joiners stay: words of some scripts are written with them.
 */
export function findHiddenCharacter(text: string): string | null {
  const found = /(?![\u200c\u200d])[\p{Cf}\p{Zl}\p{Zp}]/u.exec(text)?.[0].codePointAt(0)
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The key of what has to be a bare address, or null when it is none (RFC 5321 §4.5.3.1: 64 octets before the @, 254 in all). */
export function readAddressKey(text: string): string | null {
  const key = addressKey(text)
  const at = key.lastIndexOf('@')
  const local = key.slice(0, at)
  if (at < 1 || Buffer.byteLength(local) > 64 || Buffer.byteLength(key) > 254) return null
  const domain = key.slice(at + 1)
  if (!isDomainName(domain) && !/^\[(?:ipv6:[0-9a-f:.]+|[0-9.]+)\]$/.test(domain)) return null
  return isDotAtom(local) || /^"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"$/u.test(local) ? key : null
}
