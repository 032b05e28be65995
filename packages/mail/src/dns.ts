// What a feature may ask of DNS, with the three answers kept apart that decide differently: no such name, nothing there, and cannot say now.
import ipaddr from 'ipaddr.js'

/**
 * `found` holds at least one record. `no-name`: the name does not exist (NXDOMAIN, or it cannot be a name at all). `no-data`: it exists without
 * records of that type. `failure`: nobody could say now (timeout, SERVFAIL, refused); `reason` is for logs and evidence, `isSilence` that no
 * server answered at all.
 */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  | { kind: 'no-name' }
  | { kind: 'no-data' }
  | { kind: 'failure'; reason: string; isSilence?: boolean }

export type MxRecord = { exchange: string; preference: number }

/** Asks DNS. CNAMEs are followed. Never rejects, and answers within the time that its maker gave it: at the latest with `failure`. */
export interface Resolver {
  /** One string a record: the character-strings of a record are joined (RFC 7208 §3.3). */
  txt(name: string): Promise<DnsAnswer<string>>
  mx(name: string): Promise<DnsAnswer<MxRecord>>
  a(name: string): Promise<DnsAnswer<string>>
  aaaa(name: string): Promise<DnsAnswer<string>>
  cname(name: string): Promise<DnsAnswer<string>>
  /** The names of an IPv4 or IPv6 address, without a trailing dot; the address may be given as its name below in-addr.arpa or ip6.arpa. */
  ptr(addressOrName: string): Promise<DnsAnswer<string>>
}

/** Whether the resolver's servers work at all, judged by names that no sender of mail can choose. */
export interface ResolverHealth {
  /** False when the servers answered neither the last question nor a probe. Takes as long as a probe at most. */
  isAnswering(): Promise<boolean>
}

/** How a resolver in front of another asks: the record type and the name, for a key or a report, and the question itself. */
export type AskThrough = <T>(type: string, name: string, question: () => Promise<DnsAnswer<T>>) => Promise<DnsAnswer<T>>

/** A resolver in front of another: every question goes through `ask`. */
export const resolverThrough = (resolver: Resolver, ask: AskThrough): Resolver => ({
  txt: (name) => ask('TXT', name, () => resolver.txt(name)),
  mx: (name) => ask('MX', name, () => resolver.mx(name)),
  a: (name) => ask('A', name, () => resolver.a(name)),
  aaaa: (name) => ask('AAAA', name, () => resolver.aaaa(name)),
  cname: (name) => ask('CNAME', name, () => resolver.cname(name)),
  ptr: (name) => ask('PTR', name, () => resolver.ptr(name)),
})

/** The name below in-addr.arpa or ip6.arpa that holds the PTR records of an address; null when it is no address. */
export function reverseName(address: string): string | null {
  if (!ipaddr.isValid(address)) return null
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray()
  if (parsed.kind() === 'ipv4') return `${bytes.toReversed().join('.')}.in-addr.arpa`
  const nibbles = bytes.flatMap((byte) => [byte >> 4, byte & 15])
  return `${nibbles
    .toReversed()
    .map((nibble) => nibble.toString(16))
    .join('.')}.ip6.arpa`
}
