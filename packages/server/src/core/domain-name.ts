// The stored form of domain names, by which they are compared.
import { domainToASCII, domainToUnicode } from 'node:url'

const labelPattern = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** The form in which a domain is stored and compared: lower case, other alphabets as xn--… (RFC 5891). Null for text that cannot be a domain. */
export function toDomainName(text: string): string | null {
  // The conversion would not change plain names, except those that look like an IPv4 address: 1.2 would become 1.0.0.2.
  const ascii = /^[a-z0-9.-]+$/.test(text) && !text.includes('xn--') ? text : domainToASCII(text)
  const isName = ascii.split('.').every((label) => labelPattern.test(label))
  // A label that stays xn-- in Unicode is not a valid encoding.
  const isReadable = !/(^|\.)xn--/.test(domainToUnicode(ascii))
  return isName && isReadable ? ascii : null
}
