// Masks values that usually hold secrets in the headers and URLs of a request.
import type { HeaderPairs } from './model.ts'

/** Placeholder for a masked value. */
export const masked = '(masked)'

type Kind = { names: string; reason: string }

/** Patterns of names that hold a secret, of headers, query parameters and fields of bodies. */
const secretKinds: Kind[] = [
  { names: '^(?:cookie|set-cookie)$', reason: 'sessions of browsers' },
  { names: '^dpop$|authorization|credential', reason: 'HTTP authentication' },
  { names: 'token|secret|session|assertion', reason: 'bearer values of OAuth, OpenID Connect and most services' },
  { names: 'passw|passphrase|passcode', reason: 'passwords' },
  { names: 'signature', reason: 'signed links and callbacks can be repeated with their signature' },
  {
    names: '(?:^|[-_.[])(?:auth|bearer|csrf|hmac|jwt|otp|pass|pin|proof|pwd?|saml|sid|sig|ticket|xsrf)(?:$|[-_.\\]])',
    reason: 'short words for the same, only as a whole word: author, keyword and passenger are none of them',
  },
  {
    names:
      '(?:access|account|admin|api|app|application|auth|client|consumer|deploy|encryption|functions|host|license|master|private|root|' +
      'server|service|shared|signing|ssh|storage|stream|subscription|webhook|write)[-_]?key',
    reason: 'keys by the word before: a key of another kind names a row or an object (foreign_key, object_key)',
  },
  {
    names: '(?:2fa|access|auth|backup|confirmation|invite|mfa|one[-_]?time|recovery|security|totp|verification)[-_]?code',
    reason: 'codes by the word before: a code of another kind is a status or a country',
  },
]

const secretName = new RegExp(secretKinds.map(({ names }) => names).join('|'), 'i')

/** Names that hold a secret in a header, a query or a form. In JSON they are common for other values. */
const secretField = /^(?:key|code)$|[-_]key$/i

/** Names that end like a key and are none, which a reader of the inspector needs. */
const plainKeys: Kind[] = [
  { names: 'sec-websocket-key', reason: 'a nonce of the opening (RFC 6455)' },
  { names: 'idempotency-key|x-idempotency-key|idempotency_key', reason: 'names a request' },
  { names: 'surrogate-key|cache-key|x-cache-key', reason: 'names entries of a cache' },
  { names: 'public[-_]key|x-public-key|publishable[-_]key', reason: 'made to be public' },
  { names: '(?:primary|foreign|partition|sort|object|row)[-_]key', reason: 'names a row or an object' },
]

const plainKey = new RegExp(`^(?:${plainKeys.map(({ names }) => names).join('|')})$`, 'i')

/** Credentials by their form: an authorization scheme with its value, a JSON Web Token (RFC 7519) and an API key of this server. */
const credential =
  /\b(?:Bearer|Basic|Digest|DPoP|Negotiate|NTLM|AWS4-HMAC-SHA256)[ \t]+[^\s"',;<>]{6,}|\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*|\bsvc_live_[\w-]{60,}/gi

export const isSecretName = (name: string): boolean => secretName.test(name)

/** True for a name that holds a secret in a header, a query or a form. */
export const isSecretField = (name: string): boolean => secretName.test(name) || (secretField.test(name) && !plainKey.test(name))

/** Text with each credential masked that its form gives away. */
export const maskCredentials = (text: string): string => text.replace(credential, masked)

/** Headers whose values are URLs. Their queries are masked as well. */
const addressName = /^(referer|location|content-location|refresh|link)$|(^|-)ur[il]$/i

/** Headers as they may be kept: values of those that usually hold secrets are masked, and such parameters of those that hold addresses. */
export const maskHeaders = (pairs: HeaderPairs): HeaderPairs =>
  pairs.map(
    ([name, value]) =>
      [name, isSecretField(name) ? masked : maskCredentials(addressName.test(name) ? maskPath(value) : value)] as [string, string],
  )

/** An address or path with the values of query parameters that usually hold secrets masked, in a fragment too. */
export function maskPath(path: string): string {
  const begin = path.search(/[?#]/)
  if (begin < 0) return path
  // Part by part: a pattern for name and value together would look at every name from each of its letters on.
  const query = path.slice(begin).replace(/[^?#&;>]+/g, (part) => {
    const equals = part.indexOf('=')
    return equals > 0 && isSecretField(plainOf(part.slice(0, equals))) ? `${part.slice(0, equals)}=${masked}` : part
  })
  return path.slice(0, begin) + query
}

/** A name of a query without its escapes, or unchanged when they are broken. */
export function plainOf(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
