// Custom headers of a webhook: checked, and sealed like its secret.
import { invalid } from '../../../core/errors.ts'
import { openSecret, sealSecret } from '../../../core/secret-seal.ts'

/** Headers that the delivery sets itself, or that change how the connection works. */
const forbiddenNames = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])
const forbiddenPrefixes = ['webhook-', 'svix-', 'proxy-', 'sec-', ':']
const namePattern = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Visible characters and inner blanks (RFC 9110 section 5.5), without line breaks. */
const valuePattern = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

/** The row that the headers are sealed for, apart from that of the secret. */
const rowOf = (webhookId: string): string => `${webhookId} headers`

/** Checks and seals the headers of a request. Throws 400 with the name of the first that is not allowed. */
export function sealHeaders(
  key: Buffer,
  webhookId: string,
  headers: Record<string, string> | null,
): { names: string[]; sealed: Buffer | null } {
  const checked = new Map<string, string>()
  for (const [given, value] of Object.entries(headers ?? {})) {
    const name = given.toLowerCase()
    const path = `/headers/${given}`
    if (!namePattern.test(name)) throw invalid(path, 'is not a header name: use letters, digits and hyphens')
    if (forbiddenNames.has(name) || forbiddenPrefixes.some((prefix) => name.startsWith(prefix)))
      throw invalid(path, 'is a header that the delivery sets itself: remove it')
    if (checked.has(name)) throw invalid(path, 'is given twice, in different case: give it once')
    if (!valuePattern.test(value)) throw invalid(path, 'must be visible ASCII text without line breaks')
    checked.set(name, value)
  }
  if (checked.size === 0) return { names: [], sealed: null }
  const sealed = sealSecret(key, rowOf(webhookId), Buffer.from(JSON.stringify(Object.fromEntries(checked))))
  return { names: [...checked.keys()].toSorted(), sealed }
}

/** The headers to send with a delivery. */
export const openHeaders = (key: Buffer, webhookId: string, sealed: Buffer | null): Record<string, string> =>
  sealed === null ? {} : JSON.parse(openSecret(key, rowOf(webhookId), sealed).toString())
