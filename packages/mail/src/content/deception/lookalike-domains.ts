// Which domains belong together, and which only look alike.
import { domainToASCII, domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'

/** Hosts that come up again and again, with what is registered of each: looking through the public suffixes costs more than the rest of a comparison. */
const organizations = new Map<string, string>()
const organizationsMax = 1_000
const hostCharactersMax = 255

/** What somebody registered: `shop.example.co.uk` is `example.co.uk`. A host that is no domain name is its own. */
export function organizationOf(host: string): string {
  const known = organizations.get(host)
  if (known !== undefined) return known
  const text = host.toLowerCase().replace(/\.$/, '')
  const organization = getDomain(text, { allowPrivateDomains: true }) ?? text
  if (organizations.size >= organizationsMax) organizations.clear()
  if (host.length <= hostCharactersMax) organizations.set(host, organization)
  return organization
}

/** Whether two hosts belong to one organization, as far as names tell. */
export const isSameOrganization = (one: string, other: string): boolean => organizationOf(one) === organizationOf(other)

// Letters of other scripts that are drawn like a Latin one (a selection of the confusables of Unicode TS 39).
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

const beyondAscii = /[\u0080-\u{10ffff}]/u
const isConfusable = new RegExp(`[${[...confusables.keys()].join('')}]`)

/** What each UTF-16 unit is drawn like: itself, but for those above. */
const drawn = Uint16Array.from({ length: 1 + Math.max(...[...confusables.keys()].map((letter) => letter.charCodeAt(0))) }, (_, unit) =>
  (confusables.get(String.fromCharCode(unit)) ?? String.fromCharCode(unit)).charCodeAt(0),
)

/** A text as the eye takes it: letters of other scripts as the Latin ones they are drawn like. */
export function latinLike(text: string): string {
  if (!isConfusable.test(text)) return text
  const units = new Uint16Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    units[index] = unit < drawn.length ? (drawn[unit] as number) : unit
  }
  return Buffer.from(units.buffer).toString('utf16le')
}

/** The same for names in Latin letters: digits for letters, `rn` for `m`, `vv` for `w`, hyphens left out. */
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

/** A name that is shown as it is written: letters and no `xn--`, nothing that could be a number of an address. */
const plainName = /^(?!.*xn--)[a-z][a-z-]*(?:\.[a-z][a-z-]*)*$/

/** True when two registered names differ and look the same at a glance. */
export function looksAlike(one: string, other: string): boolean {
  const [a, b] = [organizationOf(one), organizationOf(other)]
  if (a === b) return false
  const shown = (name: string) => (plainName.test(name) ? name : domainToUnicode(domainToASCII(name) || name) || name)
  const [first, second] = [shown(a), shown(b)]
  // Names of a few letters are too easily alike.
  return first.length >= 6 && skeletonOf(first) === skeletonOf(second)
}

/** What a domain with letters of other scripts is drawn like, when that is a name in plain Latin letters; else null. `münchen.de` and `пример.рф` are what they are. */
export function imitatedName(host: string): string | null {
  if (!/(^|\.)xn--/i.test(host) && !beyondAscii.test(host)) return null
  const shown = domainToUnicode(domainToASCII(host) || host) || host
  let isSuspect = false
  for (const label of shown.split('.')) {
    if (!beyondAscii.test(label)) continue
    const seen = latinLike(label)
    const isMixed = /[a-z]/.test(label) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u.test(label)
    if (isMixed || (/^[a-z0-9-]+$/.test(seen) && seen !== label)) isSuspect = true
  }
  return isSuspect ? latinLike(shown) : null
}
