// MTA-STS policies: fetched when a domain's record names a new one, and stored in the database until they expire.
import type { Resolver } from '@callsign/mail/dns'
import { now, nowMs } from '../../../../core/clock.ts'
import type { Log } from '../../../../core/log.ts'
import type { Database } from '../../../../core/sql.ts'
import { type FetchedFile, FetchRefused } from '../../../../core/web.ts'
import { policyBytesMax, readPolicy, readRecord, type TlsPolicy } from './model.ts'
import * as store from './store.ts'

/** MTA-STS policies of recipient domains. */
export interface MtaSts {
  /** The TLS policy of a domain, or null. Rejects only when the database is unavailable. */
  findPolicy(domain: string): Promise<TlsPolicy | null>
  /** Deletes expired policies. */
  sweep(): Promise<void>
}

type Parts = {
  db: Database
  resolver: Resolver
  /** Fetches through the outbound guard, with a verified certificate, following no redirect (RFC 8461 §3.3). */
  fetchFile: (url: string, limits: { bytesMax: number; timeoutMs: number; redirectsMax: number }) => Promise<FetchedFile>
  log: Log
}

const fetchMs = 10_000
/** The least time between two lookups for one domain, in DNS and at its policy host (RFC 8461 §3.3). */
const askedAgainMs = 300_000
/** A policy is fetched again after a day or half its lifetime, so that an attacker would have to block it for the whole remainder. */
const freshMsMax = 86_400_000
const keptMax = 5_000

export function createMtaSts({ db, resolver, fetchFile, log }: Parts): MtaSts {
  const kept = new Map<string, { policy: Promise<TlsPolicy | null>; untilMs: number }>()

  async function fetchPolicy(domain: string): Promise<TlsPolicy | null> {
    try {
      const url = `https://mta-sts.${domain}/.well-known/mta-sts.txt`
      const { bytes, contentType } = await fetchFile(url, { bytesMax: policyBytesMax, timeoutMs: fetchMs, redirectsMax: 0 })
      if (!/^text\/plain(;|$)/.test(contentType)) return null
      return readPolicy(bytes.toString('utf8'))
    } catch (error) {
      if (!(error instanceof FetchRefused)) throw error
      return null
    }
  }

  const isFresh = (row: store.PolicyRow): boolean => {
    const fetchedMs = row.fetched_at.getTime()
    return nowMs() < fetchedMs + Math.min(freshMsMax, (row.expires_at.getTime() - fetchedMs) / 2)
  }

  const toPolicy = (row: store.PolicyRow): TlsPolicy => ({
    mode: row.mode,
    mx: row.mx,
    maxAgeSeconds: Math.round((row.expires_at.getTime() - row.fetched_at.getTime()) / 1000),
  })

  async function find(domain: string): Promise<TlsPolicy | null> {
    const [known, record] = await Promise.all([store.findPolicy(db, domain, now()), resolver.txt(`_mta-sts.${domain}`)])
    const id = record.kind === 'found' ? readRecord(record.records) : null
    // A stored policy stays valid without a record (RFC 8461 §3.3), so that an attacker cannot end it by hiding the record.
    if (id === null || (known?.policy_id === id && isFresh(known))) return known && toPolicy(known)
    const policy = await fetchPolicy(domain)
    if (!policy) {
      log.warn({ domain }, 'fetching or parsing an MTA-STS policy failed')
      return known && toPolicy(known)
    }
    const fetched = now()
    const expires = new Date(fetched.getTime() + policy.maxAgeSeconds * 1000)
    await store.upsertPolicy(db, { domain, policy_id: id, mode: policy.mode, mx: policy.mx, fetched_at: fetched, expires_at: expires })
    return policy
  }

  return {
    findPolicy(domain) {
      // Address literals and single labels have no policy host.
      if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) return Promise.resolve(null)
      const cached = kept.get(domain)
      if (cached && cached.untilMs > nowMs()) return cached.policy
      if (kept.size >= keptMax) kept.clear()
      const policy = find(domain)
      kept.set(domain, { policy, untilMs: nowMs() + askedAgainMs })
      policy.catch(() => kept.delete(domain))
      return policy
    },

    sweep: () => store.deleteExpired(db, now()),
  }
}
