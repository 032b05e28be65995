// A `Resolver` on the DNS functions of `node:dns/promises`, which the caller passes in.
import { type DnsAnswer, type Resolver, reverseName } from './dns.ts'

/** The lookups of `node:dns/promises`, or of an instance of its `Resolver`. */
export type DnsLookups = {
  resolveTxt(name: string): Promise<string[][]>
  resolveMx(name: string): Promise<{ exchange: string; priority: number }[]>
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  resolveCname(name: string): Promise<string[]>
  resolvePtr(name: string): Promise<string[]>
}

/** Error codes of `node:dns` that concern the name. Every other code concerns the servers. */
const noName = new Set(['ENOTFOUND', 'EBADNAME', 'EBADQUERY'])
const noData = 'ENODATA'

/**
 * Makes a resolver for `verifyMessage`. Each lookup takes as long as the functions that are passed in: `verifyMessage` limits the total time.
 * Never rejects. NXDOMAIN is `no-name`, an empty answer is `no-data`, and any other error is `failure` with its code as the reason.
 */
export function dnsResolver(lookups: DnsLookups): Resolver {
  async function ask<Raw, T>(answer: Promise<Raw[]>, read: (raw: Raw) => T): Promise<DnsAnswer<T>> {
    try {
      const records = (await answer).map(read)
      return records.length > 0 ? { kind: 'found', records } : { kind: 'no-data' }
    } catch (error) {
      const code = (error as { code?: string } | null)?.code ?? 'unknown'
      if (noName.has(code)) return { kind: 'no-name' }
      return code === noData ? { kind: 'no-data' } : { kind: 'failure', reason: code }
    }
  }
  const same = (record: string): string => record
  return {
    txt: async (name) => ask(lookups.resolveTxt(name), (strings) => strings.join('')),
    mx: async (name) => ask(lookups.resolveMx(name), ({ exchange, priority }) => ({ exchange, preference: priority })),
    a: async (name) => ask(lookups.resolve4(name), same),
    aaaa: async (name) => ask(lookups.resolve6(name), same),
    cname: async (name) => ask(lookups.resolveCname(name), same),
    ptr: async (addressOrName) => {
      const name = /\.arpa\.?$/i.test(addressOrName) ? addressOrName : reverseName(addressOrName)
      return name === null ? { kind: 'no-name' } : ask(lookups.resolvePtr(name), same)
    },
  }
}
