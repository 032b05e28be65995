// Parses DKIM-Signature (RFC 6376 §3.5) and ARC-Message-Signature, which has the same syntax (RFC 8617 §4.1.2).
import { isDomainName, isSelector, isWithin, normalName, toAsciiName } from '../domain-names.ts'
import { readNames, readTagList, type TagList } from '../tag-list.ts'
import type { RawField } from './canonical-form.ts'
import type { KeyKind } from './key-record.ts'

export type CanonicalForm = 'simple' | 'relaxed'

/** The claims of a signature, as evidence, even when they are invalid. */
export type SignatureClaims = { domain: string; selector: string; algorithm: string }

/** A signature that can be verified. */
export type Signature = SignatureClaims & {
  kind: KeyKind
  isSha1: boolean
  headerForm: CanonicalForm
  bodyForm: CanonicalForm
  /** Number of signed octets of the canonical body. Null for all. */
  bodyLength: number | null
  /** base64 */
  bodyHash: string
  /** Lower-case names of the signed fields, in order. */
  signedKeys: string[]
  bytes: Buffer
  /** The signature field with an empty b=, which is signed too (RFC 6376 §3.7). */
  field: RawField
  /** True when the domain of i= is a subdomain of d=. */
  isForSubdomain: boolean
  /** Unix seconds. */
  expiresAt: number | null
}

/** `refusal` is the reason why a signature is not verified. */
export type SignatureReading = Signature | (SignatureClaims & { refusal: string })

const requiredTags = { dkim: ['v', 'a', 'b', 'bh', 'd', 'h', 's'], arc: ['a', 'b', 'bh', 'd', 'h', 's'] }
const timePattern = /^[0-9]{1,12}$/
const lengthPattern = /^[0-9]{1,76}$/

/** Decodes UTF-8 in a text of octets. */
const decoded = (octets: string): string => Buffer.from(octets, 'latin1').toString('utf8')

/** Reads a field. `list` is its tag list, for callers that have parsed it. Never throws. */
export function readSignature(field: RawField, use: 'dkim' | 'arc', list = readSignatureTags(field)): SignatureReading {
  const { tags } = list
  const tagOf = (name: string): string => tags.get(name)?.value ?? ''
  const claims = { domain: decoded(tagOf('d')), selector: decoded(tagOf('s')), algorithm: tagOf('a') }
  const algorithm = claims.algorithm.toLowerCase()
  const isSha1 = algorithm === 'rsa-sha1' && use === 'dkim'
  if (!isSha1 && algorithm !== 'rsa-sha256' && algorithm !== 'ed25519-sha256') return { ...claims, refusal: 'unknown algorithm' }
  const [headerForm = '', bodyForm = 'simple', ...rest] = (tags.get('c')?.value.toLowerCase() ?? 'simple').split('/')
  if (!isForm(headerForm) || !isForm(bodyForm) || rest.length > 0) return { ...claims, refusal: 'unknown canonicalization' }
  const refusal = findRefusal(list, claims, use)
  if (refusal !== null) return { ...claims, refusal }
  const signedKeys = readNames(tagOf('h'))
  // A signature that does not cover From does not authenticate the displayed author (RFC 6376 §5.4).
  if (!signedKeys.includes('from')) return { ...claims, refusal: 'From field not signed' }
  const { start, end } = tags.get('b') as { start: number; end: number }
  const identity = use === 'dkim' ? identityDomain(list) : null
  return {
    ...claims,
    kind: algorithm.startsWith('rsa') ? 'rsa' : 'ed25519',
    isSha1,
    headerForm,
    bodyForm,
    bodyLength: tags.has('l') ? Number(tagOf('l')) : null,
    bodyHash: tagOf('bh').replaceAll(' ', ''),
    signedKeys,
    bytes: Buffer.from(tagOf('b'), 'base64'),
    field: { key: field.key, text: field.text.slice(0, start) + field.text.slice(end) },
    isForSubdomain: identity !== null && normalName(identity) !== normalName(claims.domain),
    expiresAt: tags.has('x') ? Number(tagOf('x')) : null,
  }
}

/** The tag list of a field, with offsets in the text of the field. */
export const readSignatureTags = (field: RawField): TagList => readTagList(field.text, field.text.indexOf(':') + 1)

const isForm = (text: string): text is CanonicalForm => text === 'simple' || text === 'relaxed'

/** The rules of RFC 6376 §3.5 and §6.1.1, in the order of that section. */
function findRefusal({ tags, defect }: TagList, { domain, selector }: SignatureClaims, use: 'dkim' | 'arc'): string | null {
  const tagOf = (name: string): string => tags.get(name)?.value ?? ''
  const fits = (name: string, pattern: RegExp): boolean => !tags.has(name) || pattern.test(tagOf(name))
  if (domain === '' || selector === '') return 'signature missing required tag'
  if (defect !== null) return 'signature syntax error'
  if (requiredTags[use].some((name) => !tags.has(name))) return 'signature missing required tag'
  if (use === 'dkim' && tagOf('v') !== '1') return 'incompatible version'
  if (!fits('t', timePattern) || !fits('x', timePattern) || !fits('l', lengthPattern)) return 'signature syntax error'
  if (readNames(tagOf('h')).length === 0) return 'signature syntax error'
  if (!isDomainName(toAsciiName(domain)) || !isSelector(toAsciiName(selector))) return 'signature syntax error'
  if (tags.has('q') && !readNames(tagOf('q')).includes('dns/txt')) return 'unsupported query method'
  if (use === 'dkim' && tags.has('i')) {
    const identity = identityDomain({ tags })
    if (identity === null) return 'signature syntax error'
    if (!isWithin(normalName(identity), normalName(domain))) return 'domain mismatch'
  }
  if (tags.has('t') && tags.has('x') && Number(tagOf('x')) <= Number(tagOf('t'))) return 'invalid expiration'
  return null
}

const dotAtom = /^[\w!#$%&'*+\-/=?^`{|}~\u0080-\u{10ffff}]+(?:\.[\w!#$%&'*+\-/=?^`{|}~\u0080-\u{10ffff}]+)*$/u
const quotedString = /^"(?:[^"\\\r\n]|\\.)*"$/

/** The domain of i= (quoted-printable, RFC 6376 §2.11). Null without an i= that is an address. */
function identityDomain({ tags }: Pick<TagList, 'tags'>): string | null {
  const text = tags.get('i')?.value.replaceAll(' ', '')
  if (text === undefined) return null
  const identity = decoded(text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))))
  const at = identity.lastIndexOf('@')
  if (at < 0) return null
  const local = identity.slice(0, at)
  const domain = identity.slice(at + 1)
  const isLocal = local === '' || dotAtom.test(local) || quotedString.test(local)
  return isLocal && isDomainName(toAsciiName(domain)) ? domain : null
}
