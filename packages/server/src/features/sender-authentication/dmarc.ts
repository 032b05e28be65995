// DMARC (RFC 9989): whether somebody whom the domain in From answers for has sent this, and what that domain wants done if not.
import type { Resolver } from '../../core/dns.ts'
import {
  type DmarcPolicy,
  type DmarcRecord,
  DnsTrouble,
  findRecord,
  inheritedRecord,
  nameExists,
  organizationOf,
  walkTree,
} from './dmarc-record.ts'
import { normalName } from './domain-names.ts'

/** `alignedSigners`: those of the given signing domains, in normal form, that belong to the author's. */
export type DmarcResult = {
  result: 'none' | 'pass' | 'fail' | 'temperror'
  domain: string
  policyDomain: string | null
  policy: DmarcPolicy | null
  isSpfAligned: boolean
  alignedSigners: ReadonlySet<string>
  record: string | null
  reason: string | null
}

/** Each walk takes eight questions at most, and a message can name many domains. */
const walksMax = 10

const weaker = { reject: 'quarantine', quarantine: 'none', none: 'none' } as const

/**
 * Evaluates DMARC for one author domain, in normal form. `spfDomain`: what SPF passed for, or null; `signers`: the domains whose signatures pass and
 * cover the whole body. Never rejects.
 */
export async function evaluateDmarc(
  author: string,
  { spfDomain, signers }: { spfDomain: string | null; signers: readonly string[] },
  resolver: Resolver,
): Promise<DmarcResult> {
  const nothing = { domain: author, policyDomain: null, policy: null, isSpfAligned: false, alignedSigners: new Set<string>() }
  try {
    const applied = await findApplied(author, resolver)
    if (!applied?.record.policies) return { ...nothing, result: 'none', record: null, reason: null }
    return await evaluateRecord(author, applied, { spfDomain, signers }, resolver)
  } catch (error) {
    if (error instanceof DnsTrouble) return { ...nothing, result: 'temperror', record: null, reason: error.message }
    throw error
  }
}

type Applied = { domain: string; record: DmarcRecord }

/** The record that applies: the author domain's own, whatever stands above it, or the one that it inherits. An address has none. */
async function findApplied(author: string, resolver: Resolver): Promise<Applied | null> {
  if (/^[\d.]+$|[:[]/.test(author)) return null
  const own = await findRecord(author, resolver)
  return own ? { domain: author, record: own } : inheritedRecord(author, await walkTree(author, resolver))
}

async function evaluateRecord(
  author: string,
  { domain, record }: Applied,
  { spfDomain, signers }: { spfDomain: string | null; signers: readonly string[] },
  resolver: Resolver,
): Promise<DmarcResult> {
  const { policy, trouble: policyTrouble } = await choosePolicy(author, domain, record, resolver)
  const alignment = createAlignment(author, resolver)
  // SPF first, so that a flood of signatures cannot use up the walks that it needs.
  const isSpfAligned = spfDomain !== null && (await alignment.aligns(normalName(spfDomain), record.isStrictSpf))
  const alignedSigners = new Set<string>()
  for (const signer of new Set(signers.map(normalName))) {
    if (await alignment.aligns(signer, record.isStrictDkim)) alignedSigners.add(signer)
  }
  const trouble = alignment.trouble() ?? policyTrouble
  const isAligned = isSpfAligned || alignedSigners.size > 0
  return {
    // Nobody has aligned, but somebody might have, or what to do about it cannot be known.
    result: isAligned ? 'pass' : trouble !== null ? 'temperror' : 'fail',
    domain: author,
    policyDomain: domain,
    policy: record.isTest ? weaker[policy] : policy,
    isSpfAligned,
    alignedSigners,
    record: record.text,
    reason: isAligned ? null : trouble,
  }
}

const strength = { none: 0, quarantine: 1, reject: 2 }

/** RFC 9989 §4.10.1: p for the domain itself, sp below it, np for a name that does not exist. While DNS cannot say which, the weaker one. */
async function choosePolicy(
  author: string,
  domain: string,
  { policies }: DmarcRecord,
  resolver: Resolver,
): Promise<{ policy: DmarcPolicy; trouble: string | null }> {
  const { p, sp, np } = policies as NonNullable<DmarcRecord['policies']>
  if (domain === author) return { policy: p, trouble: null }
  const existing = sp ?? p
  if (np === null || np === existing) return { policy: existing, trouble: null }
  try {
    return { policy: (await nameExists(author, resolver)) ? existing : np, trouble: null }
  } catch (error) {
    if (!(error instanceof DnsTrouble)) throw error
    return { policy: strength[np] < strength[existing] ? np : existing, trouble: error.message }
  }
}

/** Identifier alignment (RFC 9989 §4.10.2). Walks only when names differ, which in most mail they do not. */
function createAlignment(author: string, resolver: Resolver) {
  const organizations = new Map<string, Promise<string>>()
  let trouble: string | null = null

  function organization(name: string): Promise<string> {
    const known = organizations.get(name)
    if (known) return known
    if (organizations.size > walksMax) return Promise.reject(new DnsTrouble('too many domains to compare with'))
    const found = walkTree(name, resolver).then((records) => organizationOf(name, records))
    organizations.set(name, found)
    return found
  }

  async function aligns(name: string, isStrict: boolean): Promise<boolean> {
    if (name === author) return true
    // Without a label in common no walk could bring them together.
    if (isStrict || name === '' || name.split('.').at(-1) !== author.split('.').at(-1)) return false
    try {
      const home = await organization(author)
      // An organizational domain is the name itself or above it.
      if (name !== home && !name.endsWith(`.${home}`)) return false
      return (await organization(name)) === home
    } catch (error) {
      if (!(error instanceof DnsTrouble)) throw error
      trouble ??= error.message
      return false
    }
  }

  return { aligns, trouble: (): string | null => trouble }
}
