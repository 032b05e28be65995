// Reads the address and the program of the client behind a request.
import ipaddr from 'ipaddr.js'
import type { RequestClient } from './caller.ts'
import { isAddress, isInRanges } from './ip-ranges.ts'

type Received = { headers: Record<string, string | string[] | undefined>; socket: { remoteAddress?: string | undefined } }

const userAgentCharactersMax = 300

/** X-Forwarded-For counts only from trusted proxies, which are CIDR ranges, from the last address that is not one of them. */
export function createClientReader(trustedProxies: string[]): (request: Received) => RequestClient {
  return ({ headers, socket }) => {
    let address = plain(socket.remoteAddress ?? '')
    const forwarded = headers['x-forwarded-for']
    const chain = forwarded === undefined ? [] : String(forwarded).split(',')
    while (chain.length > 0 && isInRanges(address, trustedProxies)) {
      const before = plain((chain.pop() as string).trim())
      if (!isAddress(before)) break
      address = before
    }
    return { address, userAgent: String(headers['user-agent'] ?? '').slice(0, userAgentCharactersMax) }
  }
}

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '')

const networkGroups = 4

/** The unit that counts as one client: an IPv4 address, or the /64 of one IPv6 customer. Empty for a client that has disconnected. */
export function clientGroup(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? ''
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return parsed.parts
    .slice(0, networkGroups)
    .map((group) => group.toString(16))
    .join(':')
}
