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

/**
 * The headers of a response for this Host. A cookie's Domain stays only when it is the tunnel's own host, because any other value would set
 * the cookie for other tunnels too. Without it the cookie belongs to the tunnel's host alone (RFC 6265 section 5.3).
 */
export function headersFor({ headers, hasCookieDomain }: { headers: string[]; hasCookieDomain: boolean }, askedHost: string): string[] {
  if (!hasCookieDomain) return headers
  const host = askedHost.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  return headers.map((text, index) =>
    index % 2 === 1 && (headers[index - 1] as string).toLowerCase() === 'set-cookie' ? withoutForeignDomain(text, host) : text,
  )
}

function withoutForeignDomain(cookie: string, host: string): string {
  const [pair, ...attributes] = cookie.split(';')
  const kept = attributes.filter((attribute) => {
    const [name = '', value = ''] = attribute.split('=', 2).map((part) => part.trim().toLowerCase())
    return name !== 'domain' || value.replace(/^\./, '') === host
  })
  return [pair, ...kept].join(';')
}
