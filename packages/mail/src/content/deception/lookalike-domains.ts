// Compares domains: the same organization, or a lookalike.
import { domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'

/** A cache of registered domains by host. The search in the public suffix list costs more than the rest of a comparison. */
const organizations = new Map<string, string>()
const organizationsMax = 1_000
const hostCharactersMax = 255

/** The registered domain of a host: `example.co.uk` for `shop.example.co.uk`. A host that is not a domain name is unchanged. */
export function organizationOf(host: string): string {
  const known = organizations.get(host)
  if (known !== undefined) return known
  const text = host.toLowerCase().replace(/\.$/, '')
  const organization = getDomain(text, { allowPrivateDomains: true }) ?? text
  // Stryker disable next-line all: a cache only saves time
  if (organizations.size >= organizationsMax) organizations.clear()
  // Stryker disable next-line all: a cache only saves time
  if (host.length <= hostCharactersMax) organizations.set(host, organization)
  return organization
}

/** True when two hosts have the same registered domain. */
export const isSameOrganization = (one: string, other: string): boolean => organizationOf(one) === organizationOf(other)

// Homoglyphs of Latin letters in other scripts, a selection of the confusables of Unicode TS 39.
const confusables = new Map<string, string>(
  [
    'аa әə еe ёe ѐe іi їi јj оo рp сc уy хx ѕs ԁd һh ԛq ԝw ӏl кk мm нh тt вb гr пn ьb',
    'αa βb εe ηn ιi κk νv οo ρp τt υu χx ωw γy σo ϲc ϳj',
    'ıi ɩi ɑa ɡg ɪi ʏy ʀr ʟl ᴀa ᴄc ᴅd ᴇe ᴏo ᴘp ᴠv ᴡw ᴢz օo ոn սu հh ցg',
  ]
    .join(' ')
    .split(' ')
    .map((pair): [string, string] => [[...pair][0] as string, [...pair][1] as string]),
)

const isConfusable = new RegExp(`[${[...confusables.keys()].join('')}]`)

/** The Latin homoglyph of each UTF-16 unit, or the unit itself. */
const homoglyphs = Uint16Array.from({ length: 1 + Math.max(...[...confusables.keys()].map((letter) => letter.charCodeAt(0))) }, (_, unit) =>
  (confusables.get(String.fromCharCode(unit)) ?? String.fromCharCode(unit)).charCodeAt(0),
)

/** A text with homoglyphs of other scripts replaced by Latin letters. */
export function latinLike(text: string): string {
  if (!isConfusable.test(text)) return text
  const units = new Uint16Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    units[index] = unit < homoglyphs.length ? (homoglyphs[unit] as number) : unit
  }
  return Buffer.from(units.buffer).toString('utf16le')
}

/** Normalizes lookalikes within Latin letters too: digits for letters, `rn` for `m`, `vv` for `w`, without hyphens. */
const skeletonOf = (name: string): string =>
  latinLike(name)
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('cl', 'd')
    .replace(
      /[013578|!$-]/g,
      (character) =>
        ({ '0': 'o', '1': 'l', '3': 'e', '5': 's', '7': 't', '8': 'b', '|': 'l', '!': 'l', $: 's', '-': '' })[character] as string,
    )
    .replaceAll('i', 'l')

/** A name in plain Latin letters, without `xn--`, that is not a numeric address. */
const plainName = /^(?!.*xn--)[a-z][a-z-]*(?:\.[a-z][a-z-]*)*$/

/** True when two registered domains differ but look alike. */
export function looksAlike(one: string, other: string): boolean {
  const [a, b] = [organizationOf(one), organizationOf(other)]
  if (a === b) return false
  const shown = (name: string) => (plainName.test(name) ? name : domainToUnicode(name) || name)
  const [first, second] = [shown(a), shown(b)]
  // Short names are alike by chance.
  return Math.min(first.length, second.length) >= 6 && skeletonOf(first) === skeletonOf(second)
}

/** The plain Latin name that a domain with homoglyphs imitates, or null. `münchen.de` and `пример.рф` imitate none. */
export function imitatedName(host: string): string | null {
  const shown = domainToUnicode(host) || host
  let isSuspect = false
  for (const label of shown.split('.')) {
    const seen = latinLike(label)
    const isMixed = /[a-z]/.test(label) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u.test(label)
    if (isMixed || (/^[a-z0-9-]+$/.test(seen) && seen !== label)) isSuspect = true
  }
  return isSuspect ? latinLike(shown) : null
}
