// DMARC (RFC 9989): checks if the domain in From authorized a message, and finds its policy for messages that it did not authorize.
import type { Resolver } from '../../dns.ts'
import { normalName } from '../domain-names.ts'
import {
  type DmarcPolicy,
  type DmarcRecord,
  DnsError,
  findRecord,
  inheritedRecord,
  nameExists,
  organizationOf,
  walkTree,
} from './dmarc-record.ts'

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
 * Results of SPF and DKIM. `spfDomain` is the domain that passed SPF, or null. `signers` are the domains with a valid signature of the
 * whole body. `undecided` are domains with a temporary DNS failure.
 */
export type Identifiers = { spfDomain: string | null; signers: readonly string[]; undecided: readonly string[] }

/** The record that applies to an author domain or null, or the reason of a temporary DNS failure. */
export type FoundPolicy = { author: string; resolver: Resolver; applied: Applied | null } | { author: string; failure: string }

/**
 * Finds the record that applies to an author domain, in normal form. It asks about that domain only, through a resolver with limits of its own, so
 * that nothing else in a message can keep the record from being found. Never rejects.
 */
export async function findPolicy(author: string, resolver: Resolver): Promise<FoundPolicy> {
  try {
    return { author, resolver, applied: await findApplied(author, resolver) }
  } catch (error) {
    if (error instanceof DnsError) return { author, failure: error.message }
    throw error
  }
}

/** Evaluates DMARC for one author domain. `resolver` asks about the domains that the message names beside it. Never rejects. */
export async function evaluateDmarc(policy: FoundPolicy, identifiers: Identifiers, resolver: Resolver): Promise<DmarcResult> {
  const { author } = policy
  const { spfDomain, signers } = identifiers
  const nothing = { domain: author, policyDomain: null, policy: null, isSpfAligned: false, alignedSigners: new Set<string>() }
  if ('failure' in policy) return { ...nothing, result: 'temperror', record: null, reason: policy.failure }
  if (!policy.applied?.record.policies) {
    // Without a record no walk finds an organization: only the same name is aligned.
    const alignedSigners = new Set(signers.map(normalName).filter((signer) => signer === author))
    const isSpfAligned = spfDomain !== null && normalName(spfDomain) === author
    return { ...nothing, result: 'none', isSpfAligned, alignedSigners, record: null, reason: null }
  }
  return evaluateRecord(author, policy.applied, identifiers, { own: policy.resolver, others: resolver })
}

type Applied = { domain: string; record: DmarcRecord }

/** The resolver for the author domain, and that for every other one. */
type Resolvers = { own: Resolver; others: Resolver }

/** The record that applies: the author domain's own, whatever stands above it, or the one that it inherits. An address has none. */
async function findApplied(author: string, resolver: Resolver): Promise<Applied | null> {
  if (/^[\d.]+$|[:[]/.test(author)) return null
  const own = await findRecord(author, resolver)
  return own ? { domain: author, record: own } : inheritedRecord(author, await walkTree(author, resolver))
}

async function evaluateRecord(
  author: string,
  { domain, record }: Applied,
  { spfDomain, signers, undecided }: Identifiers,
  resolvers: Resolvers,
): Promise<DmarcResult> {
  const { policy, failure: policyFailure } = await choosePolicy(author, domain, record, resolvers.own)
  const alignment = createAlignment(author, resolvers)
  // SPF first, so that a flood of signatures cannot use up the walks that it needs.
  const isSpfAligned = spfDomain !== null && (await alignment.aligns(normalName(spfDomain), record.isStrictSpf))
  const alignedSigners = new Set<string>()
  for (const signer of new Set(signers.map(normalName))) {
    if (await alignment.aligns(signer, record.isStrictDkim)) alignedSigners.add(signer)
  }
  const isAligned = isSpfAligned || alignedSigners.size > 0
  const asked = record.isTest ? weaker[policy] : policy
  let open: string | null = null
  if (!isAligned)
    for (const name of new Set(undecided.map(normalName)))
      if (await alignment.aligns(name, false)) open = `DNS could not say whether ${name} has sent it`
  const failure = policyFailure ?? alignment.failure() ?? open
  return {
    // Not aligned, but a temporary DNS failure leaves an identifier or the policy unknown.
    result: isAligned ? 'pass' : failure !== null ? 'temperror' : 'fail',
    domain: author,
    policyDomain: domain,
    policy: asked,
    isSpfAligned,
    alignedSigners,
    record: record.text,
    reason: isAligned ? null : failure,
  }
}

const strength = { none: 0, quarantine: 1, reject: 2 }

/** RFC 9989 §4.10.1: p for the domain itself, sp below it, np for a name that does not exist. While DNS cannot say which, the weaker one. */
async function choosePolicy(
  author: string,
  domain: string,
  { policies }: DmarcRecord,
  resolver: Resolver,
): Promise<{ policy: DmarcPolicy; failure: string | null }> {
  const { p, sp, np } = policies as NonNullable<DmarcRecord['policies']>
  if (domain === author) return { policy: p, failure: null }
  const existing = sp ?? p
  if (np === null || np === existing) return { policy: existing, failure: null }
  try {
    return { policy: (await nameExists(author, resolver)) ? existing : np, failure: null }
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return { policy: strength[np] < strength[existing] ? np : existing, failure: error.message }
  }
}

/** Identifier alignment (RFC 9989 §4.10.2). Walks only when names differ, which in most mail they do not. */
function createAlignment(author: string, { own, others }: Resolvers) {
  const organizations = new Map<string, Promise<string>>()
  let failure: string | null = null

  function organization(name: string): Promise<string> {
    const known = organizations.get(name)
    if (known) return known
    if (organizations.size > walksMax) return Promise.reject(new DnsError('too many domains to compare with'))
    const found = walkTree(name, name === author ? own : others).then((records) => organizationOf(name, records))
    organizations.set(name, found)
    return found
  }

  async function aligns(name: string, isStrict: boolean): Promise<boolean> {
    if (name === author) return true
    // Without a label in common no walk could bring them together.
    if (isStrict || name.split('.').at(-1) !== author.split('.').at(-1)) return false
    try {
      const home = await organization(author)
      // An organizational domain is the name itself or above it.
      if (name !== home && !name.endsWith(`.${home}`)) return false
      return (await organization(name)) === home
    } catch (error) {
      if (!(error instanceof DnsError)) throw error
      failure ??= error.message
      return false
    }
  }

  return { aligns, failure: (): string | null => failure }
}
