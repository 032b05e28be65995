// Masks values that usually hold secrets in the headers, URLs and bodies of a request.
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { capturedBytesMax, type HeaderPairs } from './model.ts'

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

/** Maximum size of a decompressed body. */
const decodedBytesMax = 16 * capturedBytesMax

/**
 * A captured body as it may be stored. It is unchanged when nothing in it is masked. A compressed body with a masked value is returned
 * decompressed, and null when it cannot be decompressed. Names and masks are ASCII, so the text is handled byte by byte.
 */
export function maskBody(body: Buffer | null, headers: HeaderPairs | null): Buffer | null {
  if (body === null || body.length === 0) return body
  const header = (name: string) => headers?.find(([one]) => one.toLowerCase() === name)?.[1].toLowerCase() ?? ''
  const decoded = decode(body, header('content-encoding'))
  if (decoded === null) return null
  const text = decoded.toString('latin1')
  const shown = maskText(text, header('content-type'))
  return shown === text ? body : Buffer.from(shown, 'latin1')
}

/** The body without its content coding (RFC 9110 §8.4.1). A truncated one is decoded as far as it goes. Null when that fails. */
function decode(body: Buffer, coding: string): Buffer | null {
  const maxOutputLength = decodedBytesMax
  try {
    switch (coding.trim()) {
      case '':
      case 'identity':
        return body
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(body, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH })
      case 'deflate':
        return inflateSync(body, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH })
      case 'br':
        return brotliDecompressSync(body, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH })
      case 'zstd':
        return zstdDecompressSync(body, { maxOutputLength, finishFlush: constants.ZSTD_e_flush })
      default:
        return null
    }
  } catch {
    return null
  }
}

function maskText(text: string, type: string): string {
  if (type.includes('multipart/')) return maskCredentials(maskMultipart(text))
  if (type.includes('json') || /^\s*[[{]/.test(text)) return maskCredentials(maskJson(text))
  if (type.includes('x-www-form-urlencoded') || /^[\w.%[\]-]+=[^\s<>]*$/.test(text)) return maskForm(text)
  if (type.includes('xml') || type.includes('html')) return maskCredentials(maskXml(text))
  return maskCredentials(text)
}

const maskForm = (text: string): string =>
  text.replace(/[^&]+/g, (part) => {
    const equals = part.indexOf('=')
    const isSecret = equals > 0 && isSecretField(plainOf(part.slice(0, equals)))
    return isSecret ? `${part.slice(0, equals)}=${masked}` : maskCredentials(part)
  })

/** Values of form fields by their name (RFC 7578 §4.2). */
const maskMultipart = (text: string): string =>
  text.replace(
    /(\bname="([^"\r\n]*)"(?:[^\r\n]*\r?\n)(?:[^\r\n]+\r?\n)*\r?\n)([\s\S]*?)(?=\r?\n--|$)/g,
    (whole, head: string, name: string) => (isSecretField(name) ? head + masked : whole),
  )

const maskXml = (text: string): string =>
  text.replace(/<([\w:.-]+)([^<>]*)>([^<]+)/g, (whole, name: string, rest: string) =>
    isSecretName(name.replace(/^.*:/, '')) ? `<${name}${rest}>${masked}` : whole,
  )

const jsonToken = /\s+|[{}[\],:]|"(?:[^"\\]|\\[\s\S])*"?|[^\s{}[\],:"]+/g

/** Values of members with a secret name, with everything inside them. The text may end anywhere, as truncated bodies do. */
function maskJson(text: string): string {
  const levels: { isObject: boolean; isSecret: boolean }[] = [{ isObject: false, isSecret: false }]
  let name = ''
  let isName = false
  return text.replace(jsonToken, (token) => {
    const level = levels.at(-1) as (typeof levels)[number]
    const isSecret = level.isSecret || (level.isObject && isSecretName(name))
    switch (token) {
      case '{':
      case '[':
        levels.push({ isObject: token === '{', isSecret })
        isName = token === '{'
        return token
      case '}':
      case ']':
        if (levels.length > 1) levels.pop()
        isName = false
        return token
      case ',':
        isName = level.isObject
        return token
      case ':':
        isName = false
        return token
      default:
        if (isName && token.startsWith('"')) {
          name = stringOf(token)
          return token
        }
        return isSecret && isMaskable(token, name) ? JSON.stringify(masked) : token
    }
  })
}

/** Counts such as `max_tokens`, true, false, null and white space say nothing. */
const isMaskable = (token: string, name: string): boolean =>
  token.startsWith('"') || (/^[\d-]/.test(token) && !/tokens$|count$/i.test(name))

function stringOf(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return token
  }
}
