// Captured bodies and requests as text.
import type { TunnelRequest } from '@callsign/sdk'

/** A body from base64: JSON indented, other text as it is, and the size of anything else. */
export function bodyText(base64: string, contentType: string): string {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return /json/i.test(contentType) ? JSON.stringify(JSON.parse(text), null, 2) : text
  } catch {
    // Cut or malformed JSON is shown as it is.
    const text = new TextDecoder().decode(bytes)
    return text.includes('\ufffd') ? `${bytes.length} bytes of ${contentType || 'unknown type'}` : text
  }
}

/** Headers that a client sets by itself, and those that were masked. */
const leftOut = /^(host|content-length|connection|transfer-encoding|accept-encoding|x-forwarded-.*|forwarded)$/i

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The same request to the public URL as a curl command. */
export function curlOf(protocol: string, request: TunnelRequest): string {
  const headers = request.request_headers ?? []
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? ''
  const body =
    request.request_body === null
      ? null
      : new TextDecoder().decode(Uint8Array.from(atob(request.request_body), (character) => character.charCodeAt(0)))
  const lines = [
    `curl${request.method === 'GET' ? '' : ` -X ${request.method}`} ${quoted(`${protocol}//${host}${request.path}`)}`,
    ...headers.filter(([name]) => !leftOut.test(name)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? [`--data-raw ${quoted(body)}`] : []),
  ]
  return lines.join(' \\\n  ')
}
