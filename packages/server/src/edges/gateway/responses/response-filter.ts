// Removes the parts of a target's response that would act beyond its tunnel, on other tunnels of the domain or on a proxy in front.

/**
 * Instructions to a proxy in front, which could make it send its own files: nginx (X-Accel-*), Apache and lighttpd (X-Sendfile,
 * X-LIGHTTPD-send-*), LiteSpeed, Perlbal. Some programs read `_` as `-`.
 */
const proxyInstruction = /^x[-_](?:accel|sendfile|lighttpd[-_]send|litespeed|reproxy)(?:[-_]|$)/

/** Directives of Clear-Site-Data that act on one origin. "cookies", and "*" with them, clear all cookies of the registrable domain. */
const clearedPerOrigin = new Set(['"cache"', '"storage"', '"executionContexts"', '"prefetchCache"', '"prerenderCache"', '"clientHints"'])

/** The value that is passed on of a header with this lower-case name, or null for none. Applies to trailers too. */
export function filterField(lower: string, value: string): string | null {
  if (lower === 'clear-site-data') {
    const kept = value.split(',').flatMap((part) => (clearedPerOrigin.has(part.trim()) ? [part.trim()] : []))
    return kept.length > 0 ? kept.join(', ') : null
  }
  return lower.startsWith('x') && proxyInstruction.test(lower) ? null : value
}

/** True for a Set-Cookie value that names a domain. */
export const namesDomain = (cookie: string): boolean => /;[\t ]*domain/i.test(cookie)

/** The request that a response answers: its Host, the address that the public client used, and the target's origin when it has its own Host. */
export type Answered = { askedHost: string; publicOrigin: string; targetOrigin: string | null }

/**
 * The headers of a response to this request. A cookie's Domain stays only when it is the tunnel's own host, because any other value would set
 * the cookie for other tunnels too. Without it the cookie belongs to the tunnel's host alone (RFC 6265 section 5.3). A Location at the
 * target's own origin leads back to the tunnel, because the target does not know the public address.
 */
export function headersFor({ headers, dependsOnRequest }: { headers: string[]; dependsOnRequest: boolean }, request: Answered): string[] {
  if (!dependsOnRequest) return headers
  const host = request.askedHost.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  return headers.map((text, index) => {
    const name = index % 2 === 1 ? (headers[index - 1] as string).toLowerCase() : ''
    if (name === 'set-cookie') return withoutForeignDomain(text, host)
    return name === 'location' ? publicLocation(text, request) : text
  })
}

function publicLocation(location: string, { targetOrigin, publicOrigin }: Answered): string {
  const authority = /^(?:https?:)?\/\/[^/?#\\]*/i.exec(location)?.[0]
  if (targetOrigin === null || authority === undefined) return location
  const url = URL.parse(authority, targetOrigin)
  const isOwn = url !== null && url.username === '' && url.password === '' && url.origin === URL.parse(targetOrigin)?.origin
  return isOwn ? publicOrigin + location.slice(authority.length) : location
}

function withoutForeignDomain(cookie: string, host: string): string {
  const [pair, ...attributes] = cookie.split(';')
  const kept = attributes.filter((attribute) => {
    const [name = '', value = ''] = attribute.split('=', 2).map((part) => part.trim().toLowerCase())
    return name !== 'domain' || value.replace(/^\./, '') === host
  })
  return [pair, ...kept].join(';')
}

/** Drops the headers named by Connection, except those that frame the message. */
export function withoutNamed(headers: string[], named: Set<string>): string[] {
  const kept: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const lower = (headers[i] as string).toLowerCase()
    if (!named.has(lower) || lower === 'content-length') kept.push(headers[i] as string, headers[i + 1] as string)
  }
  return kept
}
