// Validates the ARC chain of a message (RFC 8617 §5.2): the relays on its way, and the verification results of each.
import type { Resolver } from '../../dns.ts'
import type { RawField } from '../dkim/canonical-form.ts'
import { readSignature, readSignatureTags } from '../dkim/signature-field.ts'
import { findKey, isSigned, type SignedMessage, verifySignature } from '../dkim/verification.ts'
import type { TagList } from '../tag-list.ts'

/** `length` is the number of sets, 0 without a valid structure. `domain` is that of the last seal, null unless all seals are valid. */
export type ArcResult = { result: 'none' | 'pass' | 'fail'; length: number; domain: string | null; reason: string | null }

type Kind = 'arc-seal' | 'arc-message-signature' | 'arc-authentication-results'
type Tagged = { field: RawField; list: TagList }
type ArcSet = { seal: Tagged; signature: Tagged; results: RawField }

/** Limit of sets (RFC 8617 §4.2.1). */
const setsMax = 50
const kinds: readonly Kind[] = ['arc-authentication-results', 'arc-message-signature', 'arc-seal']
const shortNames: Record<Kind, string> = { 'arc-seal': 'as', 'arc-message-signature': 'ams', 'arc-authentication-results': 'aar' }

/** The reason why a chain is invalid. Thrown within this file only. */
class BrokenChain extends Error {}

/** Validates the chain. `nowMs` is the clock. Never rejects: any error is `fail` (RFC 8617 §5.2), a temporary DNS failure too. */
export async function validateChain(message: SignedMessage, resolver: Resolver, nowMs: () => number): Promise<ArcResult> {
  let sets: ArcSet[] = []
  try {
    sets = readSets(message)
    if (sets.length === 0) return { result: 'none', length: 0, domain: null, reason: null }
    await validateSeals(message, sets, resolver)
  } catch (error) {
    if (error instanceof BrokenChain) return { result: 'fail', length: sets.length, domain: null, reason: error.message }
    throw error
  }
  const last = sets.at(-1) as ArcSet
  const domain = tagOf(last.seal, 'd')
  // Only the last signature covers the message as received. The seals cover the others.
  const { result, reason } = await verifySignature(
    message,
    readSignature(last.signature.field, 'arc', last.signature.list),
    resolver,
    nowMs,
  )
  if (result === 'pass') return { result, length: sets.length, domain, reason: null }
  return { result: 'fail', length: sets.length, domain, reason: `i=${sets.length} no valid signature: ${reason}` }
}

const tagOf = ({ list }: Tagged, name: string): string => list.tags.get(name)?.value ?? ''

/** The sets in order, after a check of their structure (RFC 8617 §5.2, steps 1 to 3). Throws BrokenChain. */
function readSets(message: SignedMessage): ArcSet[] {
  const found = new Map<number, Partial<Record<Kind, Tagged>>>()
  for (const kind of kinds) {
    for (const field of message.fieldsOf(kind)) {
      const tagged = { field, list: readSignatureTags(field) }
      const instance = instanceOf(kind, tagged)
      if (instance === null) throw new BrokenChain(`invalid ${shortNames[kind]} instance`)
      const set = found.get(instance) ?? {}
      if (set[kind]) throw new BrokenChain(`i=${instance} multiple ${kind} values`)
      set[kind] = tagged
      found.set(instance, set)
    }
  }
  const sets: ArcSet[] = []
  for (let instance = 1; instance <= found.size; instance++) {
    const set = found.get(instance)
    if (!set) throw new BrokenChain(`i=${instance} missing`)
    const missing = kinds.find((kind) => !set[kind])
    if (missing) throw new BrokenChain(`i=${instance} no ${missing} set`)
    const whole = set as Record<Kind, Tagged>
    const one = { seal: whole['arc-seal'], signature: whole['arc-message-signature'], results: whole['arc-authentication-results'].field }
    const failure = findFailure(one, instance === 1, instance === found.size)
    if (failure !== null) throw new BrokenChain(`i=${instance} ${failure}`)
    sets.push(one)
  }
  return sets
}

// The results start with their instance, apart from comments and white space (RFC 8617 §4.1.1).
const resultsInstance =
  /^[^:]*:(?:[ \t\r\n]|\([^()\\]*\))*i(?:[ \t\r\n]|\([^()\\]*\))*=(?:[ \t\r\n]|\([^()\\]*\))*([0-9]{1,2})(?:[ \t\r\n]|\([^()\\]*\))*;/

function instanceOf(kind: Kind, tagged: Tagged): number | null {
  const text = kind === 'arc-authentication-results' ? (resultsInstance.exec(tagged.field.text)?.[1] ?? '') : tagOf(tagged, 'i')
  if (!/^[0-9]{1,2}$/.test(text)) return null
  const instance = Number(text)
  return instance >= 1 && instance <= setsMax ? instance : null
}

const requiredOfSeal = ['a', 'b', 'cv', 'd', 's']
const requiredOfSignature = ['a', 'b', 'bh', 'd', 'h', 's']
const algorithms = /^(?:rsa|ed25519)-sha256$/i

/** The defect of a set, or null. Syntax is checked in the verified fields: every seal, and the last signature. */
function findFailure({ seal, signature }: ArcSet, isFirst: boolean, isLast: boolean): string | null {
  const sealFailure = findTagFailure(seal, requiredOfSeal)
  if (sealFailure !== null) return `as ${sealFailure}`
  const signatureFailure = isLast ? findTagFailure(signature, requiredOfSignature) : null
  if (signatureFailure !== null) return `ams ${signatureFailure}`
  if (!algorithms.test(tagOf(seal, 'a')) || !algorithms.test(tagOf(signature, 'a'))) return 'unknown algorithm'
  // A seal covers fixed fields (RFC 8617 §4.1.3), and no signature may cover seals (§4.1.2).
  if (seal.list.tags.has('h')) return 'unexpected as h'
  if (/(?:^|:)\s*arc-seal\s*(?::|$)/i.test(tagOf(signature, 'h'))) return 'invalid ams h'
  const cv = tagOf(seal, 'cv').toLowerCase()
  return cv === (isFirst ? 'none' : 'pass') ? null : `cv=${cv.slice(0, 20)}`
}

function findTagFailure({ list }: Tagged, required: readonly string[]): string | null {
  if (list.defect !== null) return list.defect
  const missing = required.find((name) => !list.tags.has(name))
  if (missing) return `missing ${missing}=`
  const wrong = ['t', 'x', 'l'].find((name) => !/^[0-9]{1,76}$/.test(list.tags.get(name)?.value ?? '0'))
  return wrong ? `invalid ${wrong}=` : null
}

/** Verifies every seal, from the last to the first (RFC 8617 §5.2, step 6). Throws BrokenChain. */
async function validateSeals(message: SignedMessage, sets: readonly ArcSet[], resolver: Resolver): Promise<void> {
  const kindOf = ({ seal }: ArcSet) => (/^rsa/i.test(tagOf(seal, 'a')) ? ('rsa' as const) : ('ed25519' as const))
  // All keys are requested in parallel.
  const keys = await Promise.all(sets.map((set) => findKey(tagOf(set.seal, 'd'), tagOf(set.seal, 's'), kindOf(set), resolver)))
  const before = ['']
  for (const { results, signature, seal } of sets) {
    const canonical = [results, signature.field, seal.field].map((field) => `${message.canonicalField(field, 'relaxed')}\r\n`)
    before.push((before.at(-1) as string) + canonical.join(''))
  }
  for (let index = sets.length - 1; index >= 0; index--) {
    const { results, signature, seal } = sets[index] as ArcSet
    const key = keys[index] as Awaited<ReturnType<typeof findKey>>
    if ('result' in key) throw new BrokenChain(`i=${index + 1} seal not verified: ${key.reason}`)
    const { start, end } = seal.list.tags.get('b') as { start: number; end: number }
    const unsigned = { key: seal.field.key, text: seal.field.text.slice(0, start) + seal.field.text.slice(end) }
    const sealed = [results, signature.field].map((field) => `${message.canonicalField(field, 'relaxed')}\r\n`).join('')
    const text = (before[index] as string) + sealed + message.canonicalField(unsigned, 'relaxed')
    const bytes = Buffer.from(tagOf(seal, 'b'), 'base64')
    if (!(await isSigned(text, bytes, key))) throw new BrokenChain(`i=${index + 1} seal signature validation failed`)
  }
}
