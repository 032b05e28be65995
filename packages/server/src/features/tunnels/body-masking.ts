// Masks values that usually hold secrets in the body of a request or response: JSON, forms, XML and other text.
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { isSecretField, isSecretName, maskCredentials, masked, plainOf } from './masking.ts'
import { capturedBytesMax, type HeaderPairs } from './model.ts'

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
