// Finds the route of a domain's mail: its mail exchangers in order (RFC 5321 §5), as addresses that may be dialled.
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { MxRecord, Resolver } from '@callsign/mail/dns'
import { nowMs } from '../../../core/clock.ts'
import type { Outcome } from '../../../core/outcome.ts'

/** One server to try. `name` is checked against its certificate and MTA-STS policies. It is null for an address literal. */
export type RouteHop = { name: string | null; address: string }

/** The servers in the order to try them, or the outcome when there are none. */
export type Route = { kind: 'hops'; hops: RouteHop[] } | { kind: 'none'; outcome: Outcome }

export type RouteSettings = {
  resolver: Resolver
  /** True for an address that may be dialled. */
  allows: (address: string) => boolean
  /** The server's own name. A route back to it is a loop. */
  hostname: string
}

const exchangersMax = 10
const addressesMax = 4
const hopsMax = 16
/** Mail for one domain arrives in bursts, and each burst resolves the route once. */
const keptMs = 30_000
const keptMax = 5_000

const failed = (answer: string, diagnosticCode: string): Route => ({
  kind: 'none',
  outcome: { kind: 'refused', answer, diagnosticCode, failed: true },
})
const later = (answer: string, diagnosticCode: string): Route => ({ kind: 'none', outcome: { kind: 'retry', answer, diagnosticCode } })

/** Finds routes, and caches each for half a minute. Never rejects. */
export function createRoutes(settings: RouteSettings): (domain: string) => Promise<Route> {
  const kept = new Map<string, { route: Promise<Route>; untilMs: number }>()
  return (domain) => {
    const key = domain.toLowerCase()
    const known = kept.get(key)
    if (known && known.untilMs > nowMs()) return known.route
    if (kept.size >= keptMax) kept.clear()
    const route = findRoute(settings, key)
    kept.set(key, { route, untilMs: nowMs() + keptMs })
    // A temporary DNS failure is not cached, because the next attempt may succeed.
    void route.then((found) => found.kind === 'none' && found.outcome.kind === 'retry' && kept.delete(key))
    return route
  }
}

async function findRoute(settings: RouteSettings, domain: string): Promise<Route> {
  const literal = /^\[(?:ipv6:)?([0-9a-f.:]+)\]$/i.exec(domain)?.[1]
  if (literal !== undefined) {
    if (!isIP(literal)) return failed(`${domain} is not an address`, '5.1.3')
    return settings.allows(literal) ? { kind: 'hops', hops: [{ name: null, address: literal }] } : refusedPrivate(domain)
  }
  // Only names beyond ASCII are converted, because the converter is made for URLs and reads numbers as IPv4 addresses.
  const name = /^\p{ASCII}*$/u.test(domain) ? domain : domainToASCII(domain)
  if (!name || /(?:^|\.)\d+$/.test(name)) return failed(`${domain} is not a domain name`, '5.1.2')
  const exchangers = await settings.resolver.mx(name)
  if (exchangers.kind === 'failure') return later(`DNS did not say which mail servers ${name} has: ${exchangers.reason}`, '4.4.3')
  if (exchangers.kind === 'no-name') return failed(`550 5.1.2 The domain ${name} does not exist`, '5.1.2')
  // Without MX records the domain's own addresses count (RFC 5321 §5.1).
  if (exchangers.kind === 'no-data') return resolveHosts(settings, name, [name])
  if (isNullMx(exchangers.records)) return failed(`556 5.1.10 The domain ${name} says that it takes no mail (null MX)`, '5.1.10')
  const usable = withoutOurselves(exchangers.records, settings.hostname)
  if (usable.length === 0) return failed(`554 5.4.6 The mail servers of ${name} lead back to this server`, '5.4.6')
  return resolveHosts(
    settings,
    name,
    inOrder(usable)
      .slice(0, exchangersMax)
      .map((record) => record.exchange),
  )
}

/** RFC 7505: one MX whose exchange is the root. */
const isNullMx = (records: MxRecord[]): boolean => records.length === 1 && ['', '.'].includes((records[0] as MxRecord).exchange)

/** Drops this server and those of equal or lower preference, which would create a mail loop (RFC 5321 §5.1). */
function withoutOurselves(records: MxRecord[], hostname: string): MxRecord[] {
  const real = records.filter(({ exchange }) => exchange !== '' && exchange !== '.' && !isIP(exchange))
  const own = real.filter(({ exchange }) => exchange.toLowerCase().replace(/\.$/, '') === hostname)
  const best = Math.min(...own.map((record) => record.preference))
  return real.filter((record) => record.preference < best)
}

/** Sorted by preference. Exchangers of equal preference are in random order to share the load. */
function inOrder(records: MxRecord[]): MxRecord[] {
  return records
    .map((record) => ({ record, draw: Math.random() }))
    .toSorted((a, b) => a.record.preference - b.record.preference || a.draw - b.draw)
    .map(({ record }) => record)
}

async function resolveHosts(settings: RouteSettings, domain: string, hosts: string[]): Promise<Route> {
  const found = await Promise.all(hosts.map((host) => resolveHost(settings, host)))
  const hops = found.flatMap(({ addresses }, index) =>
    addresses.filter(settings.allows).map((address) => ({ name: (hosts[index] as string).replace(/\.$/, '').toLowerCase(), address })),
  )
  if (hops.length > 0) return { kind: 'hops', hops: hops.slice(0, hopsMax) }
  const failure = found.find((host) => host.failure !== null)
  if (failure) return later(`DNS did not say where the mail servers of ${domain} are: ${failure.failure}`, '4.4.3')
  if (found.some(({ addresses }) => addresses.length > 0)) return refusedPrivate(domain)
  return failed(`550 5.4.4 No mail server of ${domain} has an address`, '5.4.4')
}

const refusedPrivate = (domain: string): Route =>
  failed(`550 5.4.4 The mail servers of ${domain} have no public address. CALLSIGN_OUTBOUND_ALLOW_CIDRS can allow others`, '5.4.4')

/** IPv4 first, because a machine without IPv6 notices only after the connection has failed. */
async function resolveHost({ resolver }: RouteSettings, host: string): Promise<{ addresses: string[]; failure: string | null }> {
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)])
  const addresses = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records.slice(0, addressesMax) : []))
  const failure = answers.find((answer) => answer.kind === 'failure')
  return { addresses, failure: failure?.kind === 'failure' ? failure.reason : null }
}
