// Verifies DKIM signatures (RFC 6376, 8301, 8463), of which ARC-Message-Signature is a kind (RFC 8617).
import { createHash, hash, verify } from 'node:crypto'
import { promisify } from 'node:util'
import type { Resolver } from '../../dns.ts'
import { toAsciiName } from '../domain-names.ts'
import { type RawField, relaxedBody, relaxedField, simpleBody } from './canonical-form.ts'
import { type DkimKey, type KeyKind, readKeyRecord } from './key-record.ts'
import type { OpenedMessage } from './message-fields.ts'
import { type CanonicalForm, readSignature, type Signature, type SignatureReading } from './signature-field.ts'

export type SignatureResult = {
  result: 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror'
  reason: string | null
  domain: string
  selector: string
  algorithm: string
  /** Octets of the canonical body that l= leaves unsigned. 0 as well when the body was not hashed. */
  unsignedBytes: number
}

/** Signatures after these are ignored, because each may cost a pass over the body. */
const signaturesMax = 5
/** Key records per name that are tried. The first that fits counts (RFC 6376 §3.6.2.2 leaves the choice open). */
const keyRecordsMax = 5

const verifyApart = promisify(verify)

/** A message with the hashes and fields that its signatures share. */
export type SignedMessage = ReturnType<typeof prepareMessage>

/** Prepares a message for any number of signatures. Each canonical body and each hash is computed once, on first use. */
export function prepareMessage({ fields, body }: OpenedMessage) {
  const byKey = new Map<string, RawField[]>()
  for (const field of fields) {
    const known = byKey.get(field.key)
    if (known) known.push(field)
    else byKey.set(field.key, [field])
  }
  const bodies = new Map<CanonicalForm, Buffer>()
  const hashes = new Map<string, string>()
  const relaxedFields = new Map<RawField, string>()

  const canonicalBody = (form: CanonicalForm): Buffer =>
    keep(bodies, form, () => (form === 'relaxed' ? relaxedBody(body) : simpleBody(body)))

  return {
    fieldsOf: (key: string): readonly RawField[] => byKey.get(key) ?? [],

    /** A field in a canonical form, without its line end. */
    canonicalField: (field: RawField, form: CanonicalForm): string =>
      form === 'simple' ? field.text : keep(relaxedFields, field, () => relaxedField(field)),

    /** The SHA-256 in base64 of the first octets of the body (null for all), and the number of octets after them. */
    hashBody(form: CanonicalForm, length: number | null): { bodyHash: string; unsignedBytes: number } {
      const whole = canonicalBody(form)
      const signed = length === null || length >= whole.length ? whole : whole.subarray(0, length)
      const bodyHash = keep(hashes, `${form} ${signed.length}`, () => hash('sha256', signed, 'base64'))
      return { bodyHash, unsignedBytes: whole.length - signed.length }
    },
  }
}

function keep<Key, Value>(kept: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = kept.get(key)
  if (known !== undefined) return known
  const made = make()
  kept.set(key, made)
  return made
}

/** Verifies the first five DKIM signatures of a message. Never rejects: a DNS failure gives `temperror`. `nowMs` is the clock. */
export function verifySignatures(message: SignedMessage, resolver: Resolver, nowMs: () => number): Promise<SignatureResult[]> {
  const fields = message.fieldsOf('dkim-signature').slice(0, signaturesMax)
  return Promise.all(fields.map((field) => verifySignature(message, readSignature(field, 'dkim'), resolver, nowMs)))
}

/** Verifies one signature. Never rejects. */
export async function verifySignature(
  message: SignedMessage,
  read: SignatureReading,
  resolver: Resolver,
  nowMs: () => number,
): Promise<SignatureResult> {
  const { domain, selector, algorithm } = read
  const claims = { domain, selector, algorithm }
  if ('refusal' in read) return { result: 'neutral', reason: read.refusal, ...claims, unsignedBytes: 0 }
  // Refused before any DNS question (RFC 8301 §3.1).
  if (read.isSha1) return { result: 'policy', reason: 'weak algorithm', ...claims, unsignedBytes: 0 }
  const { bodyHash, unsignedBytes } = message.hashBody(read.bodyForm, read.bodyLength)
  const outcome = bodyHash === read.bodyHash ? await verifyHeader(message, read, resolver, nowMs) : fail('body hash did not verify')
  return { ...outcome, ...claims, unsignedBytes }
}

type Outcome = Pick<SignatureResult, 'result' | 'reason'>

const fail = (reason: string): Outcome => ({ result: 'fail', reason })
const neutral = (reason: string): Outcome => ({ result: 'neutral', reason })

async function verifyHeader(message: SignedMessage, signature: Signature, resolver: Resolver, nowMs: () => number): Promise<Outcome> {
  const key = await findKey(signature.domain, signature.selector, signature.kind, resolver)
  if ('result' in key) return key
  if (key.isStrict && signature.isForSubdomain) return neutral('domain mismatch')
  const { headerForm, field } = signature
  let text = ''
  for (const signed of selectFields(message, signature.signedKeys)) text += `${message.canonicalField(signed, headerForm)}\r\n`
  text += headerForm === 'simple' ? field.text : relaxedField(field)
  if (!(await isSigned(text, signature.bytes, key))) return fail('bad signature')
  if (signature.expiresAt !== null && signature.expiresAt * 1000 < nowMs()) return neutral('expired')
  return { result: 'pass', reason: null }
}

/** The fields that h= selects. Repeated fields are taken from the last (RFC 6376 §5.4.2). A surplus name selects none. */
function* selectFields(message: SignedMessage, keys: readonly string[]): Generator<RawField> {
  const taken = new Map<string, number>()
  for (const key of keys) {
    const fields = message.fieldsOf(key)
    const count = taken.get(key) ?? 0
    const field = fields[fields.length - 1 - count]
    if (!field) continue
    taken.set(key, count + 1)
    yield field
  }
}

/** True when the signature of a text of octets is valid. */
export async function isSigned(text: string, signature: Buffer, { kind, key, isSlow }: DkimKey): Promise<boolean> {
  const octets = Buffer.from(text, 'latin1')
  try {
    // Ed25519 signs the hash in place of the message (RFC 8463 §3).
    if (kind === 'ed25519') return verify(null, createHash('sha256').update(octets).digest(), key, signature)
    // The thread pool costs 50 % more, so only slow keys use it, which would block the event loop.
    return isSlow ? await verifyApart('sha256', octets, key, signature) : verify('sha256', octets, key, signature)
  } catch {
    return false
  }
}

/** The key of a signature, or the reason why none fits. Never rejects. */
export async function findKey(domain: string, selector: string, kind: KeyKind, resolver: Resolver): Promise<DkimKey | Outcome> {
  const answer = await resolver.txt(toAsciiName(`${selector}._domainkey.${domain}`))
  if (answer.kind === 'failure') return { result: 'temperror', reason: `DNS failure: ${answer.reason}` }
  if (answer.kind !== 'found') return neutral('no key')
  let first: Outcome | null = null
  for (const record of answer.records.slice(0, keyRecordsMax)) {
    const reading = readKeyRecord(record)
    if ('refusal' in reading) first ??= { result: reading.result, reason: reading.refusal }
    else if (reading.kind === kind) return reading
    else first ??= neutral('inappropriate key algorithm')
  }
  return first ?? neutral('no key')
}
