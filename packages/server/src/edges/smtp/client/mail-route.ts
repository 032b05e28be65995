// Where mail for a domain goes: its mail exchangers in their order (RFC 5321 §5), as addresses that may be dialled.
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import type { MxRecord, Resolver } from '@callsign/mail/dns'
import { nowMs } from '../../../core/clock.ts'
import type { Outcome } from '../../../core/outcome.ts'

/** One server to try. `name` is what its certificate is for and what MTA-STS policies list; null for an address literal. */
export type RouteHop = { name: string | null; address: string }

/** In the order in which they are to be tried; or the outcome when there is nowhere to go. */
export type Route = { kind: 'hops'; hops: RouteHop[] } | { kind: 'none'; outcome: Outcome }

export type RouteSettings = {
  resolver: Resolver
  /** Whether an address may be dialled. */
  allows: (address: string) => boolean
  /** Our own name: a route that leads back to us is a loop. */
  hostname: string
}

const exchangersMax = 10
const addressesMax = 4
const hopsMax = 16
/** Mail for one domain comes in bursts; each burst asks once. */
const keptMs = 30_000
const keptMax = 5_000

const failed = (answer: string, diagnosticCode: string): Route => ({
  kind: 'none',
  outcome: { kind: 'refused', answer, diagnosticCode, failed: true },
})
const later = (answer: string, diagnosticCode: string): Route => ({ kind: 'none', outcome: { kind: 'retry', answer, diagnosticCode } })

/** Finds routes, and remembers each for half a minute. Never rejects. */
export function createRoutes(settings: RouteSettings): (domain: string) => Promise<Route> {
  const kept = new Map<string, { route: Promise<Route>; untilMs: number }>()
  return (domain) => {
    const key = domain.toLowerCase()
    const known = kept.get(key)
    if (known && known.untilMs > nowMs()) return known.route
    if (kept.size >= keptMax) kept.clear()
    const route = findRoute(settings, key)
    kept.set(key, { route, untilMs: nowMs() + keptMs })
    // What DNS could not say now it may be able to say at the next attempt.
    void route.then((found) => found.kind === 'none' && found.outcome.kind === 'retry' && kept.delete(key))
    return route
  }
}

async function findRoute(settings: RouteSettings, domain: string): Promise<Route> {
  const literal = /^\[(?:ipv6:)?([0-9a-f.:]+)\]$/i.exec(domain)?.[1]
  if (literal !== undefined) {
    if (!isIP(literal)) return failed(`${domain} is no address`, '5.1.3')
    return settings.allows(literal) ? { kind: 'hops', hops: [{ name: null, address: literal }] } : refusedPrivate(domain)
  }
  // Only names beyond ASCII are converted: the converter is made for URLs and reads numbers as IPv4 addresses.
  const name = /^\p{ASCII}*$/u.test(domain) ? domain : domainToASCII(domain)
  if (!name || /(?:^|\.)\d+$/.test(name)) return failed(`${domain} is no domain name`, '5.1.2')
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

/** Without us and without what is no better than us: that would hand the mail on in circles (RFC 5321 §5.1). */
function withoutOurselves(records: MxRecord[], hostname: string): MxRecord[] {
  const real = records.filter(({ exchange }) => exchange !== '' && exchange !== '.' && !isIP(exchange))
  const own = real.filter(({ exchange }) => exchange.toLowerCase().replace(/\.$/, '') === hostname)
  const best = Math.min(...own.map((record) => record.preference))
  return real.filter((record) => record.preference < best)
}

/** By preference; those of one preference in random order, so that they share the load. */
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
  failed(`550 5.4.4 The mail servers of ${domain} have no public address; CALLSIGN_OUTBOUND_ALLOW_CIDRS can allow others`, '5.4.4')

/** IPv4 first: a machine without IPv6 notices only after the connection has failed. */
async function resolveHost({ resolver }: RouteSettings, host: string): Promise<{ addresses: string[]; failure: string | null }> {
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)])
  const addresses = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records.slice(0, addressesMax) : []))
  const failure = answers.find((answer) => answer.kind === 'failure')
  return { addresses, failure: failure?.kind === 'failure' ? failure.reason : null }
}
