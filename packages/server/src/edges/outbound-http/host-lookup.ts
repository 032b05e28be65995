// Resolves host names for the outbound guard, from the hosts file and then from DNS by Node's own resolver.

import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** All addresses of a host name. Rejects or returns an empty list when the host does not exist. */
export type Lookup = (hostname: string) => Promise<string[]>

/**
 * A lookup in `/etc/hosts` (container runtimes put their host's name there) and then at the system's DNS servers, or `servers`.
 * Unlike getaddrinfo, it does not occupy one of the process's few disk threads until the answer arrives. With getaddrinfo, any owner of a
 * silent name server could stall the disk. In exchange, search domains and mDNS are not used, and names must be complete.
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

/** The addresses of a name in a hosts file (hosts(5)). A trailing dot is ignored. */
export function addressesInHosts(text: string, hostname: string): string[] {
  const wanted = hostname.toLowerCase().replace(/\.$/, '')
  const found = new Set<string>()
  for (const line of text.split('\n')) {
    const [address, ...names] = (line.split('#', 1)[0] as string).trim().split(/\s+/)
    if (address && isIP(address) && names.some((name) => name.toLowerCase() === wanted)) found.add(address)
  }
  return [...found]
}
