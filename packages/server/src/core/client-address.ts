// Reads the address and the program of the client behind a request.
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
