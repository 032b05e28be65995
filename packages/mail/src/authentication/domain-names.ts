// Domain names as the checks compare and ask for them: A-labels, lower case, without the root's dot.
import { domainToASCII } from 'node:url'

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const domainPattern = new RegExp(`^${label}(?:\\.${label})+$`)
const selectorPattern = new RegExp(`^${label}(?:\\.${label})*$`)
const nameLengthMax = 253
/** RFC 1035 §2.3.4. */
export const labelLengthMax = 63

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters above ASCII are what is looked for
const beyondAscii = /[^\x00-\x7f]/

/** U-labels as A-labels (RFC 8616 §3); ASCII labels, and those that are no name at all or too long for one, stay as they are. */
export function toAsciiName(name: string): string {
  if (!beyondAscii.test(name)) return name
  return name
    .split('.')
    .map((one) => (one.length <= labelLengthMax && beyondAscii.test(one) ? domainToASCII(one) || one : one))
    .join('.')
}

/** What two names are compared by. */
export const normalName = (name: string): string => toAsciiName(name.trim()).toLowerCase().replace(/\.$/, '')

/** At least two labels of letters, digits and hyphens (RFC 6376 §3.5 "domain-name"). */
export const isDomainName = (name: string): boolean => domainPattern.test(name)

/** The same with one label or more (RFC 6376 §3.1 "selector"). */
export const isSelector = (name: string): boolean => selectorPattern.test(name)

/** Both in normal form: the same name, or one below it. */
export const isWithin = (name: string, parent: string): boolean => name !== '' && (name === parent || name.endsWith(`.${parent}`))

/** What can be asked for in DNS at all (RFC 1035 §2.3.4). */
export const canBeAsked = (name: string): boolean =>
  name.length <= nameLengthMax && name.split('.').every((one) => one !== '' && one.length <= labelLengthMax)
