// Mail transport to the recipients' own mail servers. Finds them by MX, tries them in order, and encrypts as far as they allow.
import { domainToASCII } from 'node:url'
import type { Resolver } from '@callsign/mail/dns'
import { nowMs } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import type { Outcome } from '../../../core/outcome.ts'
import { matchesPolicy, type TlsPolicy } from '../../../features/mail/outbound/mta-sts/model.ts'
import type { DeliveryResult, Envelope, MailTransport } from '../../../features/mail/outbound/provider.ts'
import { createClientPool, type PoolLimits } from './connection-pool.ts'
import { type ClientTarget, type ClientTimeouts, clientTimeouts } from './conversation.ts'
import { createRoutes, type RouteHop } from './mail-route.ts'
import { createPrepare, type PreparedData } from './outgoing-data.ts'
import { unsendable } from './transaction.ts'

export type DirectSettings = {
  /** The client's own name, sent in EHLO. */
  hostname: string
  resolver: Resolver
  /** True for an address that may be dialled, which is a public one or one that the operator allows. */
  allows: (address: string) => boolean
  /** The TLS requirements of a domain by MTA-STS, or null. */
  findTlsPolicy: (domain: string) => Promise<TlsPolicy | null>
  /** 25, except in tests. */
  port: number
  /** Milliseconds of backoff after a failed connection, so that mail for a dead server does not delay the rest. */
  restMs: number
  log: Log
  ca?: string | Buffer
  timeouts?: Partial<ClientTimeouts>
  limits?: Partial<PoolLimits>
}

/** Milliseconds after the first server within which another one may be tried. Stays below the longest run of a delivery job, with the limit of one attempt. */
const goOnMs = 240_000

const directLimits: Partial<PoolLimits> = { connectionsStart: 5, connectionsMax: 20, attemptMs: 420_000, waitMs: 5_000 }

/** A transport to the mail servers that DNS names. Its deliveries are final. */
export function createDirectTransport(settings: DirectSettings): MailTransport {
  const { hostname, port, findTlsPolicy, log } = settings
  const routeTo = createRoutes(settings)
  const pool = createClientPool({ ...directLimits, restMs: settings.restMs, ...settings.limits })
  const prepare = createPrepare()
  const timeouts = { ...clientTimeouts, ...settings.timeouts }

  /** The connection settings for one server, or null when the domain's policy does not allow it to receive mail. */
  function targetOf({ name, address }: RouteHop, policy: TlsPolicy | null): ClientTarget | null {
    const isEnforced = policy?.mode === 'enforce'
    if (isEnforced && (name === null || !matchesPolicy(policy, name))) return null
    return {
      host: address,
      label: name === null ? `[${address}]` : `${name} [${address}]`,
      port,
      tlsMode: isEnforced ? 'required' : 'opportunistic',
      tls: { serverName: name ?? address, verify: isEnforced, ...(settings.ca ? { ca: settings.ca } : {}) },
      hostname,
      auth: null,
      timeouts,
    }
  }

  async function deliverTo(domain: string, envelope: Envelope, data: PreparedData): Promise<DeliveryResult[]> {
    const all = (outcome: Outcome): DeliveryResult[] => envelope.recipients.map(() => outcome)
    const [route, policy] = await Promise.all([routeTo(domain), findTlsPolicy(domain)])
    if (route.kind === 'none') return all(route.outcome)
    let last: DeliveryResult[] = all({
      kind: 'retry',
      answer: `the MTA-STS policy of ${domain} lists none of its mail servers`,
      diagnosticCode: '4.7.5',
    })
    const startedMs = nowMs()
    for (const hop of route.hops) {
      const target = targetOf(hop, policy)
      if (!target) continue
      const { deliveryResults, isUntouched } = await pool.send(target, envelope, data, true)
      if (!isUntouched) return deliveryResults
      last = deliveryResults
      if (nowMs() - startedMs > goOnMs) break
    }
    return last
  }

  return {
    name: 'direct',
    async deliver(envelope, raw) {
      const data = prepare(raw)
      if (!data) {
        log.error('a composed message holds a bare CR, a bare LF or a NUL')
        return envelope.recipients.map(() => unsendable)
      }
      const byDomain = Map.groupBy(envelope.recipients.keys(), (index) => domainOf(envelope.recipients[index] as string))
      const deliveryResults = new Array<DeliveryResult>(envelope.recipients.length)
      await Promise.all(
        [...byDomain].map(async ([domain, indexes]) => {
          const recipients = indexes.map((index) => envelope.recipients[index] as string)
          const results = await deliverTo(domain, { ...envelope, recipients }, data)
          for (const [i, index] of indexes.entries()) deliveryResults[index] = results[i] as DeliveryResult
        }),
      )
      return deliveryResults
    },
    close: () => pool.close(),
  }
}

/** In A-labels where possible. An invalid domain is reported by the route. */
function domainOf(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return /^\p{ASCII}*$/u.test(domain) ? domain : domainToASCII(domain) || domain
}
