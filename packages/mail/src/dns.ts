// The DNS resolver interface. A missing name, a missing record type and a temporary failure are different answers.
import ipaddr from 'ipaddr.js'

/**
 * - `found`: at least one record.
 * - `no-name`: the name does not exist (NXDOMAIN), or is not a valid name.
 * - `no-data`: the name exists without records of the type.
 * - `failure`: a timeout, SERVFAIL or REFUSED. `reason` is for logs and evidence. `isSilence` is true when no server answered.
 */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  | { kind: 'no-name' }
  | { kind: 'no-data' }
  | { kind: 'failure'; reason: string; isSilence?: boolean }

export type MxRecord = { exchange: string; preference: number }

/** A DNS resolver. It follows CNAMEs, never rejects, and answers within a time limit of its own, at the latest with `failure`. */
export interface Resolver {
  /** One string per record: the character-strings of a record are joined (RFC 7208 §3.3). */
  txt(name: string): Promise<DnsAnswer<string>>
  mx(name: string): Promise<DnsAnswer<MxRecord>>
  a(name: string): Promise<DnsAnswer<string>>
  aaaa(name: string): Promise<DnsAnswer<string>>
  cname(name: string): Promise<DnsAnswer<string>>
  /** The names of an IPv4 or IPv6 address, without a trailing dot. The argument is the address, or its name below in-addr.arpa or ip6.arpa. */
  ptr(addressOrName: string): Promise<DnsAnswer<string>>
}

/** Health of the DNS servers, judged by names that a sender of mail cannot choose. */
export interface ResolverHealth {
  /** False when the servers answered neither the last question nor a probe. Takes the time of one probe at most. */
  isAnswering(): Promise<boolean>
}

/** A wrapper of DNS questions. It gets the record type and the name, and `question` asks the wrapped resolver. */
export type AskThrough = <T>(type: string, name: string, question: () => Promise<DnsAnswer<T>>) => Promise<DnsAnswer<T>>

/** Wraps a resolver: every question goes through `ask`. */
export const resolverThrough = (resolver: Resolver, ask: AskThrough): Resolver => ({
  txt: (name) => ask('TXT', name, () => resolver.txt(name)),
  mx: (name) => ask('MX', name, () => resolver.mx(name)),
  a: (name) => ask('A', name, () => resolver.a(name)),
  aaaa: (name) => ask('AAAA', name, () => resolver.aaaa(name)),
  cname: (name) => ask('CNAME', name, () => resolver.cname(name)),
  ptr: (name) => ask('PTR', name, () => resolver.ptr(name)),
})

/** The name below in-addr.arpa or ip6.arpa with the PTR records of an address. Null for a text that is not an address. */
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
