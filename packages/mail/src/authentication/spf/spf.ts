// SPF (RFC 7208): authorizes a host to send mail for the domain of its return path, or of its HELO name.
import type { DnsAnswer, Resolver } from '../../dns.ts'
import { normalName, toAsciiName } from '../domain-names.ts'
import { type IpAddress, isInNetwork, readableIp, readClientIp, readIp } from '../ip-address.ts'
import { expandMacros, isTargetName, type MacroText, type MacroValues, readMacroText, toTargetName, usesLetters } from './spf-macro.ts'
import { isSpfRecord, type Mechanism, type Qualifier, readSpfRecord, type SpfRecord } from './spf-record.ts'

/** The `reason` of a `fail` is the explanation of the domain, if it has one. */
export type SpfResult = {
  result: Qualifier | 'none' | 'temperror' | 'permerror'
  domain: string
  record: string | null
  reason: string | null
}

export type SpfQuestion = {
  /** '' for the null sender, with which the HELO name is checked (RFC 7208 §2.4). */
  envelopeFrom: string
  client: { address: string; name: string }
  /** Name of the receiving server, for explanations. */
  hostname: string
  /** The clock, in milliseconds since 1970. */
  nowMs: () => number
}

/** Limits of RFC 7208 §4.6.4: terms with DNS lookups, void lookups, and hosts of one mx or ptr term. */
const lookupsMax = 10
const voidsMax = 2
const hostsMax = 10
/** Address lookups of all mx and ptr terms together. Without this limit, ten terms with ten hosts each would cause 100. */
const addressLookupsMax = 30

/** The end of an evaluation without a match. Thrown within this file only. */
class Ending extends Error {
  readonly result: 'none' | 'temperror' | 'permerror'
  constructor(result: Ending['result'], reason: string) {
    super(reason)
    this.result = result
  }
}

type Evaluation = {
  resolver: Resolver
  values: Omit<MacroValues, 'domain' | 'validatedName'>
  address: IpAddress
  lookups: number
  voids: number
  addressLookups: number
  /** The record of the first domain, not of included or redirected ones. */
  record: string | null
}

type Match = { result: Qualifier; explanation: string | null }

/** Checks a host (RFC 7208 §4, "check_host"). Never rejects: a temporary DNS failure is `temperror`. */
export async function checkHost({ envelopeFrom, client, hostname, nowMs }: SpfQuestion, resolver: Resolver): Promise<SpfResult> {
  const from = envelopeFrom === '' ? `postmaster@${client.name}` : envelopeFrom
  const at = from.lastIndexOf('@')
  const domain = normalName(from.slice(at + 1))
  const sender = `${at > 0 ? from.slice(0, at) : 'postmaster'}@${domain}`
  const address = readClientIp(client.address)
  if (!address) return { result: 'temperror', domain, record: null, reason: 'the address of the client is none' }
  const values = { sender, address, helo: client.name, receiver: hostname, unixSeconds: Math.round(nowMs() / 1000) }
  const evaluation: Evaluation = { resolver, values, address, lookups: 0, voids: 0, addressLookups: 0, record: null }
  try {
    if (!isTargetName(domain)) throw new Ending('none', `${domain || 'the empty name'} is not a domain`)
    const { result, explanation } = await checkDomain(evaluation, domain, true)
    return { result, domain, record: evaluation.record, reason: explanation ?? sentence(result, domain, address) }
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    return { result: error.result, domain, record: evaluation.record, reason: error.message }
  }
}

const sentences: Record<Qualifier, string> = {
  pass: 'may send for',
  fail: 'may not send for',
  softfail: 'should rather not send for',
  neutral: 'is neither permitted nor denied by',
}
const sentence = (result: Qualifier, domain: string, address: IpAddress): string => `${readableIp(address)} ${sentences[result]} ${domain}`

/** `isOwn` is false for included records, whose explanations are ignored (RFC 7208 §6.2). Throws Ending. */
async function checkDomain(evaluation: Evaluation, domain: string, isOwn: boolean): Promise<Match> {
  const answer = await evaluation.resolver.txt(domain)
  const texts = recordsOf(evaluation, answer, domain).filter(isSpfRecord)
  const text = texts[0]
  if (text === undefined) throw new Ending('none', `${domain} has no SPF record`)
  evaluation.record ??= text
  if (texts.length > 1) throw new Ending('permerror', `${domain} has more than one SPF record`)
  const record = readSpfRecord(text)
  if ('failure' in record) throw new Ending('permerror', `the SPF record of ${domain}: ${record.failure}`)
  for (const mechanism of record.mechanisms) {
    if (!(await matches(evaluation, domain, mechanism))) continue
    const result = mechanism.qualifier
    const explanation = result === 'fail' && isOwn && record.explanation ? await explain(evaluation, domain, record.explanation) : null
    return { result, explanation }
  }
  return record.redirect ? redirect(evaluation, domain, record, isOwn) : { result: 'neutral', explanation: null }
}

async function redirect(evaluation: Evaluation, domain: string, record: SpfRecord, isOwn: boolean): Promise<Match> {
  const target = await expandTarget(evaluation, domain, record.redirect as MacroText)
  if (target === null || !isTargetName(target)) throw new Ending('permerror', `${domain} redirects to an invalid domain name`)
  countLookup(evaluation)
  return checkDomain(evaluation, target, isOwn).catch(noneIsPermerror)
}

/** The target of an include or a redirect must have a record (RFC 7208 §5.2, §6.1). */
const noneIsPermerror = (error: unknown): never => {
  throw error instanceof Ending && error.result === 'none' ? new Ending('permerror', error.message) : error
}

function countLookup(evaluation: Evaluation): void {
  if (++evaluation.lookups > lookupsMax) throw new Ending('permerror', 'the SPF record takes too many DNS questions')
}

function countAddressLookups(evaluation: Evaluation, count: number): void {
  evaluation.addressLookups += count
  if (evaluation.addressLookups > addressLookupsMax) throw new Ending('permerror', 'the SPF record takes too many look-ups of addresses')
}

/** The records of an answer. Counts void lookups. Throws Ending. */
function recordsOf<T>(evaluation: Evaluation, answer: DnsAnswer<T>, name: string): T[] {
  if (answer.kind === 'failure') throw new Ending('temperror', `DNS failure: ${answer.reason} for ${name}`)
  if (answer.kind === 'found') return answer.records
  if (++evaluation.voids > voidsMax) throw new Ending('permerror', 'too many DNS questions of the SPF record have no answer')
  return []
}

async function matches(evaluation: Evaluation, domain: string, mechanism: Mechanism): Promise<boolean> {
  if (mechanism.kind === 'all') return true
  if (mechanism.kind === 'ip') return isInNetwork(evaluation.address, mechanism.network, mechanism.bits)
  const target = mechanism.target ? await expandTarget(evaluation, domain, mechanism.target) : domain
  // A target that contains a non-ASCII local part matches nothing (RFC 8616 §4).
  if (target === null) return false
  if (!isTargetName(target)) {
    if (mechanism.kind === 'include') throw new Ending('permerror', `${domain} includes an invalid domain name`)
    return false
  }
  countLookup(evaluation)
  switch (mechanism.kind) {
    case 'include':
      return (await checkDomain(evaluation, target, false).catch(noneIsPermerror)).result === 'pass'
    case 'exists':
      return recordsOf(evaluation, await evaluation.resolver.a(target), target).length > 0
    case 'a':
      return isAmong(evaluation, mechanism, recordsOf(evaluation, await addressesOf(evaluation, target), target))
    case 'mx':
      return isMailHost(evaluation, mechanism, target)
    case 'ptr':
      return (await validatedNames(evaluation)).some((name) => name === normalName(target) || name.endsWith(`.${normalName(target)}`))
  }
}

const addressesOf = ({ resolver, address }: Evaluation, name: string): Promise<DnsAnswer<string>> =>
  address.length === 4 ? resolver.a(name) : resolver.aaaa(name)

function isAmong({ address }: Evaluation, { bits4, bits6 }: { bits4: number; bits6: number }, records: readonly string[]): boolean {
  return records.some((record) => {
    const found = readIp(record)
    return found !== null && isInNetwork(address, found, address.length === 4 ? bits4 : bits6)
  })
}

async function isMailHost(evaluation: Evaluation, bits: { bits4: number; bits6: number }, target: string): Promise<boolean> {
  const found = recordsOf(evaluation, await evaluation.resolver.mx(target), target)
  const hosts = found.toSorted((a, b) => a.preference - b.preference).map(({ exchange }) => exchange.replace(/\.$/, ''))
  let asked = 0
  for (const host of hosts) {
    // Skips the null MX (RFC 7505) and invalid host names.
    if (!isTargetName(host)) continue
    if (++asked > hostsMax) throw new Ending('permerror', `${target} has too many mail hosts`)
    countAddressLookups(evaluation, 1)
    const answer = await addressesOf(evaluation, host)
    if (answer.kind === 'failure') throw new Ending('temperror', `DNS failure: ${answer.reason} for ${host}`)
    if (answer.kind === 'found' && isAmong(evaluation, bits, answer.records)) return true
  }
  return false
}

/** The PTR names of the client that resolve to its address, in normal form (RFC 7208 §5.5). Empty after a DNS failure. */
async function validatedNames(evaluation: Evaluation): Promise<string[]> {
  const answer = await evaluation.resolver.ptr(readableIp(evaluation.address))
  const names = answer.kind === 'failure' ? [] : recordsOf(evaluation, answer, 'the address of the client').slice(0, hostsMax)
  countAddressLookups(evaluation, names.length)
  const whole = { bits4: 32, bits6: 128 }
  const isValidated = await Promise.all(
    names.map(async (name) => {
      const addresses = isTargetName(name.replace(/\.$/, '')) ? await addressesOf(evaluation, name) : null
      return addresses?.kind === 'found' && isAmong(evaluation, whole, addresses.records)
    }),
  )
  return names.filter((_, index) => isValidated[index]).map(normalName)
}

/** Expands a domain-spec to a name. Null when it contains a non-ASCII local part. */
async function expandTarget(evaluation: Evaluation, domain: string, spec: MacroText): Promise<string | null> {
  if (usesLetters(spec, 'sl') && !isAsciiSender(evaluation)) return null
  if (usesLetters(spec, 'p')) countLookup(evaluation)
  return toTargetName(expandMacros(spec, await valuesFor(evaluation, domain, spec)))
}

const isAsciiSender = ({ values }: Evaluation): boolean => /^\p{ASCII}*$/u.test(values.sender)

async function valuesFor(evaluation: Evaluation, domain: string, text: MacroText): Promise<MacroValues> {
  const names = usesLetters(text, 'p') ? await validatedNames(evaluation) : []
  const own = names.find((name) => name === domain) ?? names.find((name) => name.endsWith(`.${domain}`))
  return { ...evaluation.values, domain, validatedName: own ?? names[0] ?? 'unknown' }
}

/** The explanation of a fail (RFC 7208 §6.2). Null after any error. Its lookups have limits of their own. */
async function explain(evaluation: Evaluation, domain: string, spec: MacroText): Promise<string | null> {
  try {
    const uncounted = { ...evaluation, lookups: 0, voids: 0, addressLookups: 0 }
    const target = await expandTarget(uncounted, domain, spec)
    if (target === null || !isTargetName(target)) return null
    const answer = await evaluation.resolver.txt(toAsciiName(target))
    const text = answer.kind === 'found' && answer.records.length === 1 ? (answer.records[0] as string) : ''
    const read = readMacroText(text, { isText: true, hasSpaces: true })
    if (!read || text === '' || (usesLetters(read, 'sl') && !isAsciiSender(evaluation))) return null
    return expandMacros(read, await valuesFor(uncounted, domain, read))
  } catch (error) {
    if (error instanceof Ending) return null
    throw error
  }
}
