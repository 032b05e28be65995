// Host names to addresses for the outbound guard: the hosts file, then DNS by Node's own resolver.

import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** All addresses of a host name; rejects or answers none when there is no such host. */
export type Lookup = (hostname: string) => Promise<string[]>

/**
 * A lookup that asks `/etc/hosts` (container runtimes put their host's name there) and then the system's DNS servers, or `servers`.
 * Not getaddrinfo: that occupies one of the process's few disk threads until the answer comes, so anybody who owns a name server that
 * never answers could stall the disk. The price: search domains and mDNS are not consulted, names must be complete.
 */
export function createHostLookup(servers: string[] = [], hostsFile = '/etc/hosts'): Lookup {
  const resolver = new Resolver({ timeout: 2000, tries: 2, maxTimeout: 4000 })
  if (servers.length > 0) resolver.setServers(servers)
  return async (hostname) => {
    const local = addressesInHosts(await readFile(hostsFile, 'utf8').catch(() => ''), hostname)
    if (local.length > 0) return local
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}

/** The addresses that a hosts file (hosts(5)) gives to a name; a trailing dot does not matter. */
export function addressesInHosts(text: string, hostname: string): string[] {
  const wanted = hostname.toLowerCase().replace(/\.$/, '')
  const found = new Set<string>()
  for (const line of text.split('\n')) {
    const [address, ...names] = (line.split('#', 1)[0] as string).trim().split(/\s+/)
    if (address && isIP(address) && names.some((name) => name.toLowerCase() === wanted)) found.add(address)
  }
  return [...found]
}
