// Verifies SPF (RFC 7208), DKIM (RFC 6376, 8301, 8463), ARC (RFC 8617) and DMARC (RFC 9989) of a received message, with evidence.
import type { Authentication } from '@callsign/contract/sender-checks'
import type { Static } from 'typebox'
import type { Resolver } from '../dns.ts'
import { type ArcResult, validateChain } from './arc/arc-chain.ts'
import { openMessage } from './dkim/message-fields.ts'
import { prepareMessage, type SignatureResult, verifySignatures } from './dkim/verification.ts'
import { type AuthorDomain, readAuthorDomain } from './dmarc/author-domain.ts'
import { type DmarcResult, evaluateDmarc, findPolicy } from './dmarc/dmarc.ts'
import { limitQuestions } from './dns-questions.ts'
import { normalName } from './domain-names.ts'
import { checkHost, type SpfResult } from './spf/spf.ts'

/** An SMTP client: its IP address, and its name in HELO or EHLO. */
export type SmtpClient = { address: string; name: string }

export type Verdicts = Static<typeof Authentication>

type Spf = NonNullable<Verdicts['spf']>
type Dkim = NonNullable<Verdicts['dkim']>
type Signature = Dkim['signatures'][number]
type Dmarc = NonNullable<Verdicts['dmarc']>
type Arc = NonNullable<Verdicts['arc']>

type Checked = { envelopeFrom: string; client: SmtpClient; raw: Buffer }
/** `nowMs` is the clock, in milliseconds since 1970. Signatures expire, and SPF explanations may contain the time. */
type Settings = { resolver: Resolver; hostname: string; nowMs: () => number; limitMs?: number }

/** Limit of all DNS questions of one message, in milliseconds. Unanswered questions give `temperror`. Delays the reply to DATA by at most this time. */
export const checkMsMax = 8_000
const questionsMax = 100
/** A separate limit for the questions about the author's DMARC record: one walk up the tree and two about the name itself. */
const policyQuestionsMax = 20

const reasonLengthMax = 300
const recordLengthMax = 1_000
const domainLengthMax = 255

/** Verifies the sender of one message. Never rejects. Takes `limitMs` at most, plus the time of cryptography. */
export async function checkSender(
  { envelopeFrom, client, raw }: Checked,
  { resolver, hostname, nowMs, limitMs = checkMsMax }: Settings,
): Promise<Verdicts> {
  const policyQuestions = limitQuestions(resolver, { limitMs, questionsMax: policyQuestionsMax })
  const questions = limitQuestions(resolver, { limitMs, questionsMax })
  try {
    const message = prepareMessage(openMessage(raw))
    const author = readAuthorDomain(message.fieldsOf('from'))
    const [policy, spf, signatures] = await Promise.all([
      'failure' in author ? null : findPolicy(author.domain, policyQuestions),
      checkHost({ envelopeFrom, client, hostname, nowMs }, questions),
      verifySignatures(message, questions, nowMs),
    ])
    const passed = {
      spfDomain: spf.result === 'pass' ? spf.domain : null,
      // A signature that does not cover the end of the body does not authenticate the displayed message (RFC 6376 §8.2).
      signers: signatures.flatMap(({ result, unsignedBytes, domain }) => (result === 'pass' && unsignedBytes === 0 ? [domain] : [])),
      undecided: [
        ...(spf.result === 'temperror' && spf.domain !== '' ? [spf.domain] : []),
        ...signatures.flatMap(({ result, domain }) => (result === 'temperror' ? [domain] : [])),
      ],
    }
    const [dmarc, arc] = await Promise.all([
      policy === null ? null : evaluateDmarc(policy, passed, questions),
      validateChain(message, questions, nowMs),
    ])
    return {
      source: 'smtp',
      spf: readSpf(spf, envelopeFrom, client),
      dkim: readDkim(signatures, dmarc?.alignedSigners ?? new Set()),
      dmarc: dmarc === null ? noAuthor(author) : readDmarc(dmarc),
      arc: readArc(arc),
    }
  } finally {
    policyQuestions.close()
    questions.close()
  }
}

/** Verdicts for a message whose verification failed to run. */
export function uncheckedVerdicts(envelopeFrom: string, client: SmtpClient): Verdicts {
  const reason = 'the message could not be checked'
  return {
    source: 'smtp',
    spf: readSpf({ result: 'temperror', domain: '', record: null, reason }, envelopeFrom, client),
    dkim: { result: 'temperror', domain: null, signatures: [] },
    dmarc: { ...nothing, result: 'temperror', reason },
    arc: readArc({ result: 'none', length: 0, domain: null, reason: null }),
  }
}

/** Untrusted text for a database row: one line of limited length, without NUL and lone surrogates. */
const cut = (text: string | null, lengthMax: number): string | null =>
  text === null || text === ''
    ? null
    : text
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
        .replace(/[\x00-\x1f\x7f]+/g, ' ')
        .trim()
        .slice(0, lengthMax)
        .toWellFormed()
const domainOf = (text: string | null): string | null => cut(text, domainLengthMax)?.toLowerCase() ?? null

function readSpf({ result, domain, record, reason }: SpfResult, envelopeFrom: string, client: SmtpClient): Spf {
  return {
    result,
    domain: domainOf(domain),
    identity: envelopeFrom === '' ? 'helo' : 'mailfrom',
    client_ip: client.address,
    record: cut(record, recordLengthMax),
    reason: cut(reason, reasonLengthMax),
  }
}

function readDkim(found: readonly SignatureResult[], aligned: ReadonlySet<string>): Dkim {
  const signatures = found.map(
    ({ result, domain, selector, algorithm, unsignedBytes, reason }): Signature => ({
      result,
      domain: domainOf(domain),
      selector: cut(selector, domainLengthMax),
      algorithm: cut(algorithm, 50),
      is_aligned: aligned.has(normalName(domain)),
      // Octets that the l= tag leaves unsigned.
      unsigned_bytes: unsignedBytes,
      reason: cut(reason, reasonLengthMax),
    }),
  )
  // The most significant signature: an aligned pass, then any pass, then the first.
  const best =
    signatures.find((one) => one.result === 'pass' && one.is_aligned) ?? signatures.find((one) => one.result === 'pass') ?? signatures[0]
  return { result: best?.result ?? 'none', domain: best?.domain ?? null, signatures }
}

const nothing = { domain: null, policy_domain: null, policy: null, alignment: { spf: false, dkim: false }, record: null }

/** DMARC needs exactly one author domain. A forger must not pass without one (RFC 9989 §11.5). */
const noAuthor = (author: AuthorDomain): Dmarc => ({ ...nothing, result: 'permerror', reason: 'failure' in author ? author.failure : null })

function readDmarc(found: DmarcResult): Dmarc {
  return {
    result: found.result,
    domain: domainOf(found.domain),
    policy_domain: domainOf(found.policyDomain),
    policy: found.policy,
    alignment: { spf: found.isSpfAligned, dkim: found.alignedSigners.size > 0 },
    record: cut(found.record, recordLengthMax),
    reason: cut(found.reason, reasonLengthMax),
  }
}

function readArc({ result, length, domain, reason }: ArcResult): Arc {
  return { result, chain_length: length, domain: domainOf(domain), reason: cut(reason, reasonLengthMax) }
}
