// Finds indicators of deception in the content of a message: hidden text, instructions to models and misleading links.
import { type ScannedHtml, scanHtml } from '../../html/scan.ts'
import type { ParsedMessage } from '../../mime/parse.ts'
import { imitatedName, isSameOrganization } from './lookalike-domains.ts'
import { findModelInstructions } from './model-instructions.ts'
import { asciiHost, decode, hostOf, shownHost } from './shown-hosts.ts'

/** A link whose text names one host and that leads to another. */
type Misdirection = { shown: string; host: string; href: string }

/** Indicators in the content alone. Small, because worker threads pass them on. */
export type Indicators = {
  hiddenText: string | null
  instructions: string | null
  misdirections: Misdirection[]
  /** Hosts of links that imitate another name. */
  imitations: { host: string; imitated: string }[]
}

export const evidenceCharactersMax = 300
const kept = 10
const hiddenLettersMin = 15
const previewMax = 300

const noHtml: ScannedHtml = { visible: '', hidden: [], links: [], comments: '' }

const letterCount = (text: string): number => text.replace(/[^\p{L}\p{N}]+/gu, '').length

/** Finds the indicators of a parsed message. Never throws. Its cost is linear in the message. */
export function findIndicators(parsed: Pick<ParsedMessage, 'from' | 'subject' | 'text' | 'html' | 'attachments'>): Indicators {
  const { visible, hidden, links, comments } = parsed.html === null ? noHtml : scanHtml(parsed.html)
  const text = parsed.text ?? ''
  const smuggled = findSmuggled([parsed.subject, text, visible])
  const names = [parsed.from[0]?.name, parsed.subject, ...parsed.attachments.map((one) => one.filename)]
  const texts = [hidden.map((one) => one.text).join('\n'), smuggled ?? '', names.join('\n'), text, visible, comments]
  const instructions = texts.map(findModelInstructions).find((found) => found !== null) ?? null
  return {
    hiddenText: smuggled ?? findHidden(hidden, visible),
    instructions,
    misdirections: links.flatMap((link) => misdirectionOf(link) ?? []).slice(0, kept),
    imitations: imitationsOf(links).slice(0, kept),
  }
}

/** Hidden text that matters. The preview of a newsletter and a repetition of visible text do not. */
function findHidden(texts: ScannedHtml['hidden'], visible: string): string | null {
  let seen: Set<string> | null = null
  for (const { text: hidden, isFirst } of texts) {
    if (findModelInstructions(hidden) !== null) return hidden
    if (letterCount(hidden.slice(0, 4000)) < hiddenLettersMin) continue
    if (isFirst && hidden.length <= previewMax) continue
    const own = [...shinglesOf(hidden)]
    // Built on first use, because most newsletters hide only their preview.
    const shown: Set<string> = seen ?? shinglesOf(visible)
    seen = shown
    if (own.filter((one) => shown.has(one)).length >= own.length * 0.6) continue
    return hidden
  }
  return null
}

/** Runs of three words, for comparing texts. A shorter text is one run. */
function shinglesOf(text: string): Set<string> {
  const words =
    text
      .slice(0, 300_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{1,60}/gu) ?? []
  const shingles = new Set([words.slice(0, 3).join(' ')])
  for (let at = 1; at + 2 < words.length && shingles.size < 30_000; at++) shingles.add(words.slice(at, at + 3).join(' '))
  return shingles
}

// Variation selectors, and the high surrogate of the tags and of the rest of them.
const mayBeSmuggled = /[\ufe00-\ufe0f\udb40]/

/** Text in invisible characters: Unicode tags, except in flags of regions, and long runs of variation selectors. */
function findSmuggled(texts: string[]): string | null {
  if (!texts.some((one) => mayBeSmuggled.test(one))) return null
  const text = texts.join('\n')
  const tags = /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0020}-\u{e007e}]{4,}/u.exec(text)?.[0]
  if (tags) return [...tags].map((character) => String.fromCharCode((character.codePointAt(0) as number) - 0xe0000)).join('')
  return /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{8,}/u.test(text) ? 'bytes in variation selectors, which are never shown' : null
}

function misdirectionOf({ href, text }: { href: string; text: string }): Misdirection | null {
  const target = hostOf(href)
  if (!target) return null
  // https://bank.example@elsewhere.test leads to elsewhere.test.
  const pretended = target.url.username.includes('.') ? target.url.username : null
  const shown = shownHost(text) ?? (pretended === null ? null : shownHost(decode(pretended)))
  if (shown === null || isSameOrganization(asciiHost(shown), target.host)) return null
  // Link checkers of mail gateways carry the target in their URL.
  if (pretended === null && redirectsTo(target.url, shown)) return null
  return { shown, host: target.host, href: href.slice(0, evidenceCharactersMax) }
}

/** Hosts of redirecting links that carry their target in the URL. */
const openRedirects = [
  'safelinks.protection.outlook.com',
  'urldefense.proofpoint.com',
  'urldefense.com',
  'google.com',
  'protect-us.mimecast.com',
]

/** True when a redirecting link leads to the shown host. */
function redirectsTo(url: URL, shown: string): boolean {
  if (!openRedirects.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`))) return false
  const text = decode(`${url.pathname}${url.search}`)
    .replace(/-([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/_/g, '/')
  const target = /https?:\/{1,3}([^/?#&\s]+)/i.exec(text)?.[1]
  return target !== undefined && isSameOrganization(target, asciiHost(shown))
}

function imitationsOf(links: { href: string }[]): { host: string; imitated: string }[] {
  const hosts = new Set(links.flatMap(({ href }) => hostOf(href)?.host ?? []))
  return [...hosts].flatMap((host) => {
    const imitated = imitatedName(host)
    return imitated === null ? [] : [{ host, imitated }]
  })
}
