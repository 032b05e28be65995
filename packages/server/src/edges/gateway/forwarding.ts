// Who asked, as the target is told: Forwarded (RFC 7239) and its older cousins, made anew unless a proxy of ours has begun them.
import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'

/** Who asks, as far as the gateway can know. */
export type Visitor = {
  address: string
  protocol: 'http' | 'https'
  port: number
  /** True when the peer is a proxy of ours, whose word on the visitor holds. */
  isTrusted: boolean
  /** True for the address of a proxy of ours. */
  trusts: (address: string) => boolean
}

/** The lines of headers, and the visitor's address. `askedHost` is the request's Host. */
export function forwarding(headers: IncomingHttpHeaders, visitor: Visitor, askedHost: string): { lines: string; address: string } {
  const { address, protocol, port } = visitor
  if (!visitor.isTrusted) return { lines: linesOf([address], protocol, askedHost, String(port), null), address }
  const said = (name: string): string | null => {
    const value = headers[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const chain = said('x-forwarded-for')
  const saidProtocol = said('x-forwarded-proto')
  const host = said('x-forwarded-host') ?? askedHost
  const addresses = [...(chain === null ? [] : knownOf(chain, visitor.trusts)), address]
  const lines = linesOf(
    addresses,
    saidProtocol ?? protocol,
    host,
    said('x-forwarded-port') ??
      (saidProtocol === null ? String(port) : (/:(\d+)$/.exec(host)?.[1] ?? (saidProtocol === 'https' ? '443' : '80'))),
    // Many proxies append to the one and know nothing of the other: beside a chain it may be the visitor's own.
    chain === null ? said('forwarded') : null,
  )
  return { lines, address: (addresses[0] as string).slice(0, 100) }
}

/** The end of a chain that proxies of ours have written: from the first address that is none of theirs. What is before it anybody could have said. */
function knownOf(chain: string, trusts: Visitor['trusts']): string[] {
  const addresses = chain.split(',').map((one) => one.trim())
  let first = addresses.length - 1
  while (first > 0 && trusts(addresses[first] as string)) first--
  return addresses.slice(first)
}

function linesOf(addresses: string[], protocol: string, host: string, port: string, earlier: string | null): string {
  const proto = protocol === 'https' ? 'https' : 'http'
  let element = `for=${nodeOf(addresses[0] as string)};host="${host.replace(/["\\]/g, '')}";proto=${proto}`
  for (let i = 1; i < addresses.length; i++) element += `, for=${nodeOf(addresses[i] as string)}`
  return (
    `X-Forwarded-For: ${addresses.join(', ')}\r\nX-Forwarded-Proto: ${protocol}\r\nX-Forwarded-Host: ${host}\r\nX-Forwarded-Port: ${port}\r\n` +
    `X-Real-IP: ${addresses[0]}\r\nForwarded: ${earlier === null ? '' : `${earlier}, `}${element}\r\n`
  )
}

const nodeOf = (address: string): string => (isIPv4(address) ? address : isIPv6(address) ? `"[${address}]"` : 'unknown')
