// The browser behind a request: its address, its cookie, and whether a page of this server sent the request.
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { createClientReader } from '../../core/client-address.ts'
import type { Client } from '../../features/account/sessions/model.ts'

/** Reads the browser of a request. */
export function createBrowserReader(trustedProxies: string[]): (request: IncomingMessage, requestId: string) => Client {
  const readClient = createClientReader(trustedProxies)
  return (request, requestId) => {
    const { address, userAgent } = readClient(request)
    return { address: networkOf(address), exactAddress: address, userAgent, requestId }
  }
}

/** One name for all clients behind an address. An IPv6 client has a /64. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] as string).split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return `${groups.slice(0, 4).join(':')}::/64`
}

/**
 * The name, path and flags of the session cookie. Over https the name has the prefix `__Host-`, so that a page of a sibling host, such as
 * one behind a tunnel, cannot set it (RFC 6265bis §4.1.3.2).
 */
export const cookieOf = (publicUrl: string): { name: string; attributes: string } =>
  publicUrl.startsWith('https:')
    ? { name: '__Host-callsign_session', attributes: 'Path=/; HttpOnly; SameSite=Strict; Secure' }
    : { name: 'callsign_session', attributes: 'Path=/console; HttpOnly; SameSite=Strict' }

/** The cookie of this name, or null. Null too when it is there twice, because one of them may be from another host. */
export function readCookie(request: IncomingMessage, name: string): string | null {
  const values = String(request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 ? (values[0] as string) : null
}

/** The origins of this server's pages: that of its public URL, and on a machine of its own every name of loopback. */
export function originsOf(publicUrl: string): string[] {
  const { origin, protocol, hostname, port } = new URL(publicUrl)
  const names = ['localhost', '127.0.0.1', '[::1]']
  if (!names.includes(hostname)) return [origin]
  return names.map((name) => `${protocol}//${name}${port === '' ? '' : `:${port}`}`)
}
