// Masks values that usually hold secrets in the headers and URLs of a request.
import type { HeaderPairs } from './model.ts'

/** Placeholder for a masked value. */
export const masked = '(masked)'

/** Names that usually hold secrets, of headers, query parameters and fields of bodies. */
const secretName =
  /^(cookie|set-cookie|dpop)$|(^|[-_.[])(auth|bearer|jwt|otp|hmac|pin|proof|pwd?|saml|sig|sid|ticket)($|[-_.\]])|authorization|token|secret|passw|passphrase|credential|session|signature|assertion|(api|auth|access|private|account|functions|subscription|signing|encryption)[-_]?key/i

/** Names that hold a secret in a header, a query or a form. In JSON they are common for other values. */
const shortSecretName = /^(key|code)$/i

/** Credentials by their form: an authorization scheme with its value, a JSON Web Token (RFC 7519) and an API key of this server. */
const credential =
  /\b(?:Bearer|Basic|Digest|DPoP|Negotiate|NTLM|AWS4-HMAC-SHA256)[ \t]+[^\s"',;<>]{6,}|\beyJ[\w-]{6,}\.[\w-]+\.[\w-]*|\bsvc_live_[\w-]{60,}/gi

export const isSecretName = (name: string): boolean => secretName.test(name)

/** True for a name that holds a secret in a header, a query or a form. */
export const isSecretField = (name: string): boolean => secretName.test(name) || shortSecretName.test(name)

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
