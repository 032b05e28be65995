// Describes the public client to the target in forwarding headers: Forwarded (RFC 7239) and its predecessors. Values of earlier proxies are kept only from
// trusted proxies.
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIPv4, isIPv6, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** The peer of a public connection. */
export type PublicClient = {
  address: string
  protocol: 'http' | 'https'
  port: number
  /** True when the peer is a trusted proxy, whose forwarding headers are used. */
  isTrusted: boolean
  /** True for the address of a trusted proxy. */
  trusts: (address: string) => boolean
}

/** Reads the peer of a socket. `trustedProxies` are CIDRs. */
export function createPublicClientReader(trustedProxies: string[]): (socket: Socket) => PublicClient {
  const trusted = new BlockList()
  for (const range of trustedProxies) {
    const [address = '', bits = ''] = range.split('/')
    trusted.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  const trusts = (address: string): boolean => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

  return (socket) => {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    return {
      address,
      protocol: (socket as TLSSocket).encrypted ? 'https' : 'http',
      port: socket.localPort ?? 0,
      isTrusted: trustedProxies.length > 0 && trusts(address),
      trusts,
    }
  }
}

/** `sameOriginLines` leave out the public host and port, and `origin` is the address that the public client used, in lower case. */
export type Forwarding = { lines: string; sameOriginLines(): string; address: string; origin: string }

/** The header lines and the address of the public client. `askedHost` is the host that it asked for. */
export function forwarding(headers: IncomingHttpHeaders, publicClient: PublicClient, askedHost: string): Forwarding {
  const { address, protocol, port } = publicClient
  if (!publicClient.isTrusted)
    return forwardingOf({ addresses: [address], protocol, host: askedHost, port: String(port), earlier: null }, address)
  const said = (name: string): string | null => {
    const value = headers[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const chain = said('x-forwarded-for')
  const saidProtocol = said('x-forwarded-proto')
  const host = said('x-forwarded-host') ?? askedHost
  const addresses = [...(chain === null ? [] : knownOf(chain, publicClient.trusts)), address]
  const path = {
    addresses,
    protocol: saidProtocol ?? protocol,
    host,
    port:
      said('x-forwarded-port') ??
      (saidProtocol === null ? String(port) : (/:(\d+)$/.exec(host)?.[1] ?? (saidProtocol === 'https' ? '443' : '80'))),
    // Many proxies append to X-Forwarded-For and pass on Forwarded unchanged. Next to a chain it may therefore be the public client's own.
    earlier: chain === null ? said('forwarded') : null,
  }
  return forwardingOf(path, (addresses[0] as string).slice(0, 100))
}

/** The part of a chain written by trusted proxies, from the last untrusted address on. Anything before that can be forged. */
function knownOf(chain: string, trusts: PublicClient['trusts']): string[] {
  const addresses = chain.split(',').map((one) => one.trim())
  let first = addresses.length - 1
  while (first > 0 && trusts(addresses[first] as string)) first--
  return addresses.slice(first)
}

type Path = { addresses: string[]; protocol: string; host: string; port: string; earlier: string | null }

function forwardingOf(path: Path, address: string): Forwarding {
  const { protocol, host } = path
  return {
    lines: linesOf(path, true),
    sameOriginLines: () => linesOf(path, false),
    address,
    origin: `${protocol === 'https' ? 'https' : 'http'}://${host.toLowerCase()}`,
  }
}

function linesOf({ addresses, protocol, host, port, earlier }: Path, withHost: boolean): string {
  const proto = protocol === 'https' ? 'https' : 'http'
  const named = withHost ? `host="${host.replace(/["\\]/g, '')}";` : ''
  let element = `for=${nodeOf(addresses[0] as string)};${named}proto=${proto}`
  for (let i = 1; i < addresses.length; i++) element += `, for=${nodeOf(addresses[i] as string)}`
  return (
    `X-Forwarded-For: ${addresses.join(', ')}\r\nX-Forwarded-Proto: ${protocol}\r\n` +
    (withHost ? `X-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${port}\r\n` : '') +
    `X-Real-IP: ${addresses[0]}\r\nForwarded: ${earlier === null ? '' : `${earlier}, `}${element}\r\n`
  )
}

const nodeOf = (address: string): string => (isIPv4(address) ? address : isIPv6(address) ? `"[${address}]"` : 'unknown')
