// Reads the address of a public client from its socket, and decides whether the peer is a trusted proxy.
import { BlockList, isIPv6, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { PublicClient } from './forwarding.ts'

/** `trustedProxies` are CIDRs. */
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
