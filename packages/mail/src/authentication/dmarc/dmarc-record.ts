// DMARC policy records and where they are found: the walk up the DNS tree (RFC 9989 §4.7, §4.10).
import type { Resolver } from '../../dns.ts'
import { canBeAsked } from '../domain-names.ts'
import { readTagList } from '../tag-list.ts'

export type DmarcPolicy = 'none' | 'quarantine' | 'reject'

export type DmarcRecord = {
  text: string
  /** Null: the record asks for nothing at all, and is none. */
  policies: { p: DmarcPolicy; sp: DmarcPolicy | null; np: DmarcPolicy | null } | null
  /** t=y, and the pct=0 that it replaced: one step weaker than it says. */
  isTest: boolean
  isStrictDkim: boolean
  isStrictSpf: boolean
  psd: string | null
}

export type FoundRecord = { domain: string; record: DmarcRecord }

/** A temporary DNS failure with its reason. Thrown within this feature only. */
export class DnsError extends Error {}

const versionPattern = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/

/** Parses a TXT record. Null when it is not a DMARC record or repeats a tag. */
export function readDmarcRecord(txt: string): DmarcRecord | null {
  const text = txt.trim()
  if (!versionPattern.test(text)) return null
  // Text that is not a tag is ignored (RFC 9989 §4.7). A repeated tag is ambiguous.
  if (isRepeated(text)) return null
  const { tags } = readTagList(text)
  const wordOf = (name: string): string | null => tags.get(name)?.value.toLowerCase() ?? null
  const [p, sp, np] = [wordOf('p'), wordOf('sp'), wordOf('np')]
  const isWhole = isPolicy(p) && (sp === null || isPolicy(sp)) && (np === null || isPolicy(np))
  const fallback = asksForReports(tags.get('rua')?.value ?? '') ? { p: 'none' as const, sp: null, np: null } : null
  return {
    text,
    policies: isWhole ? { p, sp, np } : fallback,
    isTest: wordOf('t') === 'y' || (tags.has('pct') && /^0+$/.test(wordOf('pct') ?? '')),
    isStrictDkim: wordOf('adkim') === 's',
    isStrictSpf: wordOf('aspf') === 's',
    psd: wordOf('psd'),
  }
}

const isPolicy = (word: string | null): word is DmarcPolicy => word === 'none' || word === 'quarantine' || word === 'reject'

function isRepeated(text: string): boolean {
  const names = text.split(';').flatMap((tag) => (tag.includes('=') ? [tag.slice(0, tag.indexOf('=')).trim()] : []))
  return new Set(names).size < names.length
}

/** True when `rua=` has at least one valid URI. The size limit after `!` is obsolete and ignored. */
const asksForReports = (rua: string): boolean =>
  rua
    .split(',')
    .some((uri) => /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@$&'()*+;=]|%[0-9a-f]{2})*$/i.test(uri.trim().replace(/![0-9]+[kmgt]?$/i, '')))

/** Names of more labels are cut to the last seven in one step (RFC 9989 §4.10), so that a walk takes eight questions at most. */
const walkLabelsMax = 7

/**
 * Walks from a name up the tree. Returns the records found, the longest name first. Ends at a record with psd=y or psd=n. Throws DnsError.
 */
export async function walkTree(domain: string, resolver: Resolver): Promise<FoundRecord[]> {
  const found: FoundRecord[] = []
  for (let labels = domain.split('.'); labels.length > 0; labels = labels.slice(Math.max(1, labels.length - walkLabelsMax))) {
    const name = labels.join('.')
    const record = await findRecord(name, resolver)
    if (!record) continue
    found.push({ domain: name, record })
    if (record.psd === 'y' || record.psd === 'n') break
  }
  return found
}

/** The record at `_dmarc` below a name. Null for several (RFC 9989 §4.10). Throws DnsError. */
export async function findRecord(name: string, resolver: Resolver): Promise<DmarcRecord | null> {
  const asked = `_dmarc.${name}`
  if (!canBeAsked(asked)) return null
  const answer = await resolver.txt(asked)
  if (answer.kind === 'failure') throw new DnsError(`DNS failure: ${answer.reason}`)
  if (answer.kind !== 'found') return null
  const texts = answer.records.filter((text) => versionPattern.test(text.trim()))
  return texts.length === 1 ? readDmarcRecord(texts[0] as string) : null
}

/** The organizational domain of a name, from its own walk (RFC 9989 §4.10.2). A walk ends at the only record that can have psd=y or psd=n. */
export function organizationOf(domain: string, found: readonly FoundRecord[]): string {
  const last = found.at(-1)
  if (last?.record.psd !== 'y') return last?.domain ?? domain
  const labels = last.domain.split('.').length + 1
  return domain.split('.').slice(-labels).join('.')
}

/** The record that speaks for a name that has none: its organization's, or that of the public suffix above it (RFC 9989 §4.10.1). */
export function inheritedRecord(domain: string, found: readonly FoundRecord[]): FoundRecord | null {
  const organization = organizationOf(domain, found)
  return found.find((one) => one.domain === organization) ?? found.at(-1) ?? null
}

/** True when a name exists, including empty non-terminals and dangling aliases (RFC 9989 appendix A.4). Throws DnsError. */
export async function nameExists(domain: string, resolver: Resolver): Promise<boolean> {
  if (!canBeAsked(domain)) return false
  for (const answer of [await resolver.a(domain), await resolver.cname(domain)]) {
    if (answer.kind === 'failure') throw new DnsError(`DNS failure: ${answer.reason}`)
    if (answer.kind !== 'no-name') return true
  }
  return false
}
