// Normalized domain names for comparisons and DNS questions: A-labels in lower case, without a trailing dot.
import { domainToASCII } from 'node:url'

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const domainPattern = new RegExp(`^${label}(?:\\.${label})+$`)
const selectorPattern = new RegExp(`^${label}(?:\\.${label})*$`)
/** RFC 1035 §2.3.4, without the root's dot. */
export const nameLengthMax = 253
/** Octets of a label (RFC 1035 §2.3.4). */
export const labelLengthMax = 63

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds characters above ASCII
const beyondAscii = /[^\x00-\x7f]/

/** U-labels as A-labels (RFC 8616 §3). ASCII labels, invalid labels and labels above the length limit stay unchanged. */
export function toAsciiName(name: string): string {
  if (!beyondAscii.test(name)) return name
  return name
    .split('.')
    .map((one) => (one.length <= labelLengthMax && beyondAscii.test(one) ? domainToASCII(one) || one : one))
    .join('.')
}

/** The form in which names are compared. */
export const normalName = (name: string): string => toAsciiName(name.trim()).toLowerCase().replace(/\.$/, '')

/** At least two labels of letters, digits and hyphens (RFC 6376 §3.5 "domain-name"). */
export const isDomainName = (name: string): boolean => domainPattern.test(name)

/** At least one label of letters, digits and hyphens (RFC 6376 §3.1 "selector"). */
export const isSelector = (name: string): boolean => selectorPattern.test(name)

/** True for the same name or a subdomain. Both names are in normal form. */
export const isWithin = (name: string, parent: string): boolean => name !== '' && (name === parent || name.endsWith(`.${parent}`))

/** True for a name within the length limits of DNS (RFC 1035 §2.3.4). */
export const canBeAsked = (name: string): boolean =>
  name.length <= nameLengthMax && name.split('.').every((one) => one !== '' && one.length <= labelLengthMax)
