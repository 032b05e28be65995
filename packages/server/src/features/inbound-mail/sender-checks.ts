// SPF (RFC 7208), DKIM (RFC 6376, 8301, 8463), ARC (RFC 8617) and DMARC (RFC 9989) of one arriving message, by mailauth in its strict mode.
import type { Authentication } from '@callsign/contract/sender-checks'
import { arc as checkArc } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf as checkSpf } from 'mailauth/lib/spf/index.js'
import type { Static } from 'typebox'
import { nowMs } from '../../core/clock.ts'
import type { DnsAnswer, Resolver } from '../../core/dns.ts'
import { limitSignatures } from './trace-fields.ts'

/** Who handed a message in over SMTP, as far as the checks ask. */
export type SmtpClient = { address: string; name: string }

export type Verdicts = Static<typeof Authentication>

type Spf = NonNullable<Verdicts['spf']>
type Dkim = NonNullable<Verdicts['dkim']>
type Signature = Dkim['signatures'][number]
type Dmarc = NonNullable<Verdicts['dmarc']>
type Arc = NonNullable<Verdicts['arc']>

type Checked = { envelopeFrom: string; client: SmtpClient; raw: Buffer }
type Settings = { resolver: Resolver; hostname: string; limitMs?: number }

/** For all questions of one message together; whatever is open then is `temperror`. A sender waits for our 250 so much longer at most. */
export const checkMsMax = 8_000

/** More signatures than this are not looked at: each costs a pass over the body. */
const signaturesMax = 5
const reasonLengthMax = 300
const recordLengthMax = 1_000
const domainLengthMax = 255

/** The checks of one message. Never rejects and takes `checkMsMax` at most, plus what the arithmetic takes. Changes nothing. */
export async function checkSender(
  { envelopeFrom, client, raw }: Checked,
  { resolver, hostname, limitMs = checkMsMax }: Settings,
): Promise<Verdicts> {
  const ask = questioner(resolver, nowMs() + limitMs)
  const common = { resolver: ask, strict: true as const }
  const [spf, dkim] = await Promise.all([
    checkSpf({ ...common, sender: envelopeFrom, ip: client.address, helo: client.name, mta: hostname, maxElapsedTime: limitMs }).catch(
      toTrouble,
    ),
    dkimVerify(limitSignatures(raw, signaturesMax), { ...common, sender: envelopeFrom || '<>' }).catch(toTrouble),
  ])
  const arc = 'trouble' in dkim || !dkim.arc ? null : await checkArc(dkim.arc as Parameters<typeof checkArc>[0], common).catch(toTrouble)
  // A signature that leaves the end of the body to anybody says nothing of the message that its reader sees (RFC 6376 §8.2).
  const passed = 'trouble' in dkim ? [] : dkim.results.filter((one) => one.status.result === 'pass' && !one.status.underSized)
  const dmarc =
    'trouble' in dkim
      ? dkim
      : await evaluateDmarc({
          ...common,
          headerFrom: dkim.headerFrom,
          fromFields: dkim.fromFields,
          spfDomains: 'trouble' in spf || spf.status.result !== 'pass' ? [] : [spf.domain],
          dkimDomains: passed.map((one) => ({ id: one.id, domain: one.signingDomain, aligned: one.status.aligned })),
        } as unknown as Parameters<typeof evaluateDmarc>[0]).catch(toTrouble)
  return {
    source: 'smtp',
    spf: readSpf(spf, envelopeFrom, client),
    dkim: readDkim(dkim, 'trouble' in dmarc ? undefined : dmarc.dkimAligned),
    dmarc: readDmarc(dmarc),
    arc: readArc(arc),
  }
}

/** What is said when the checks themselves could not be made. */
export const uncheckedVerdicts = (envelopeFrom: string, client: SmtpClient): Verdicts => ({
  source: 'smtp',
  spf: readSpf(unchecked, envelopeFrom, client),
  dkim: readDkim(unchecked, undefined),
  dmarc: readDmarc(unchecked),
  arc: readArc(null),
})

type Trouble = { trouble: string }
const unchecked: Trouble = { trouble: 'the message could not be checked' }

const toTrouble = (error: unknown): Trouble => ({ trouble: error instanceof Error ? error.message : 'unknown' })

const questionsMax = 100
const codes: Record<Exclude<DnsAnswer<unknown>['kind'], 'found'>, string> = {
  'no-name': 'ENOTFOUND',
  'no-data': 'ENODATA',
  trouble: 'ETIMEOUT',
}

/** Our resolver as mailauth wants it: rejecting with c-ares codes. After the deadline, or too many questions, every answer is a temporary failure. */
function questioner(resolver: Resolver, deadlineMs: number) {
  let questions = 0
  return async (name: string, type: string): Promise<string[]> => {
    const leftMs = deadlineMs - nowMs()
    if (leftMs <= 0 || ++questions > questionsMax) throw dnsError('trouble', name)
    const answer = await within(leftMs, questionOf(resolver, name, type))
    if (answer.kind === 'found') return answer.records as string[]
    throw dnsError(answer.kind, name)
  }
}

const dnsError = (kind: Exclude<DnsAnswer<unknown>['kind'], 'found'>, name: string): Error =>
  Object.assign(new Error(`DNS: ${kind} for ${name.slice(0, domainLengthMax)}`), { code: codes[kind] })

async function questionOf(resolver: Resolver, name: string, type: string): Promise<DnsAnswer<unknown>> {
  switch (type) {
    case 'TXT': {
      const answer = await resolver.txt(name)
      return answer.kind === 'found' ? { kind: 'found', records: answer.records.map((text) => [text]) } : answer
    }
    case 'MX': {
      const answer = await resolver.mx(name)
      if (answer.kind !== 'found') return answer
      return { kind: 'found', records: answer.records.map(({ exchange, preference }) => ({ exchange, priority: preference })) }
    }
    case 'A':
      return resolver.a(name)
    case 'AAAA':
      return resolver.aaaa(name)
    case 'CNAME':
      return resolver.cname(name)
    case 'PTR':
      return resolver.ptr(name)
    default:
      return { kind: 'no-data' }
  }
}

async function within<T>(ms: number, answer: Promise<DnsAnswer<T>>): Promise<DnsAnswer<T>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<DnsAnswer<T>>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'trouble', reason: 'the time for this message is over' }), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What strangers wrote, fit for a row: one line, no NUL, no half characters, bounded. */
const cut = (text: unknown, lengthMax: number): string | null =>
  typeof text === 'string' && text !== ''
    ? text
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
        .replace(/[\x00-\x1f\x7f]+/g, ' ')
        .trim()
        .slice(0, lengthMax)
        .toWellFormed()
    : null
const domainOf = (text: unknown): string | null => cut(text, domainLengthMax)?.toLowerCase() ?? null
const resultOf = <Word extends string>(words: readonly Word[], found: unknown, fallback: Word): Word =>
  words.includes(found as Word) ? (found as Word) : fallback

const spfWords = ['none', 'neutral', 'pass', 'fail', 'softfail', 'temperror', 'permerror'] as const
const dkimWords = ['none', 'pass', 'fail', 'policy', 'neutral', 'temperror', 'permerror'] as const
const dmarcWords = ['none', 'pass', 'fail', 'temperror', 'permerror'] as const

function readSpf(found: Awaited<ReturnType<typeof checkSpf>> | Trouble, envelopeFrom: string, client: SmtpClient): Spf {
  const identity = envelopeFrom === '' ? 'helo' : 'mailfrom'
  const common = { identity, client_ip: client.address } as const
  if ('trouble' in found) return { ...common, result: 'temperror', domain: null, record: null, reason: cut(found.trouble, reasonLengthMax) }
  return {
    ...common,
    result: resultOf(spfWords, found.status.result, 'temperror'),
    domain: domainOf(found.domain),
    record: cut(found.rr, recordLengthMax),
    reason: cut(found.explanation ?? found.status.comment, reasonLengthMax),
  }
}

function readDkim(found: Awaited<ReturnType<typeof dkimVerify>> | Trouble, aligned: Set<string> | undefined): Dkim {
  if ('trouble' in found) return { result: 'temperror', domain: null, signatures: [] }
  const signatures = found.results
    .filter((one) => one.status.result !== 'none')
    .map((one): Signature => {
      const domain = domainOf(one.signingDomain)
      return {
        result: resultOf(dkimWords, one.status.result, 'permerror'),
        domain,
        selector: cut(one.selector, domainLengthMax),
        algorithm: cut(one.algo, 50),
        is_aligned: domain !== null && (aligned?.has(domain) ?? false),
        // The l= tag: what follows the signed part is anybody's.
        unsigned_bytes: one.status.underSized ?? 0,
        reason: cut(one.status.comment, reasonLengthMax),
      }
    })
  // The one that says most: aligned before not, pass before everything.
  const best =
    signatures.find((one) => one.result === 'pass' && one.is_aligned) ?? signatures.find((one) => one.result === 'pass') ?? signatures[0]
  return { result: best?.result ?? 'none', domain: best?.domain ?? null, signatures }
}

const weaker = { reject: 'quarantine', quarantine: 'none', none: 'none' } as const

function readDmarc(found: Awaited<ReturnType<typeof evaluateDmarc>> | Trouble): Dmarc {
  const nothing = { domain: null, policy_domain: null, policy: null, alignment: { spf: false, dkim: false }, record: null }
  if ('trouble' in found) return { ...nothing, result: 'temperror', reason: cut(found.trouble, reasonLengthMax) }
  const { response } = found
  // Without exactly one author domain there is nothing to check, which is how a forger would like it (RFC 9989 §11.5).
  if (!response) return { ...nothing, result: 'permerror', reason: (found.reason ?? 'no-author-domain').replaceAll('-', ' ') }
  const policy = resultOf(['none', 'quarantine', 'reject', ''], response.policy, '')
  const record = cut(response.rr, recordLengthMax)
  return {
    result: resultOf(dmarcWords, response.status.result, 'temperror'),
    domain: domainOf(response.status.header?.from),
    policy_domain: domainOf(response.policyDomain),
    // RFC 9989 knows no pct any more; those who wrote pct=0 meant what t=y says now.
    policy:
      policy === '' ? null : !response.testMode && record !== null && /;\s*pct\s*=\s*0\s*(;|$)/i.test(record) ? weaker[policy] : policy,
    alignment: { spf: response.alignment?.spf.result !== undefined, dkim: response.alignment?.dkim.result !== undefined },
    record,
    reason: cut(response.error, reasonLengthMax),
  }
}

function readArc(found: Awaited<ReturnType<typeof checkArc>> | Trouble | null): Arc {
  if (found === null) return { result: 'none', chain_length: 0, domain: null, reason: null }
  if ('trouble' in found) return { result: 'fail', chain_length: 0, domain: null, reason: cut(found.trouble, reasonLengthMax) }
  return {
    result: resultOf(['none', 'pass', 'fail'], found.status.result, 'fail'),
    chain_length: typeof found.i === 'number' ? found.i : 0,
    // Who sealed last: a passing chain is worth as much as the trust in it.
    domain: found.signature ? domainOf(found.signature.signingDomain) : null,
    reason: found.status.result === 'fail' ? cut(found.status.comment, reasonLengthMax) : null,
  }
}
