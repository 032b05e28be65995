// Finds the domains whose mailboxes are on this server.
import { batchLoader } from '../../../core/batch.ts'
import { nowMs } from '../../../core/clock.ts'
import type { Database, Sql } from '../../../core/sql.ts'
import type { DomainProvider } from './provider.ts'
import * as store from './store.ts'
import { UnhostedNames } from './unhosted-names.ts'

export function createHostedDomains({ db, providers, mailDomain }: { db: Database; providers: DomainProvider[]; mailDomain: string }) {
  const unhosted = new UnhostedNames()
  /** Providers for whose domains this server refuses mail to missing mailboxes. A domain of another provider may be served elsewhere. */
  const ownMail = providers.filter((provider) => !provider.isElsewhere).map((provider) => provider.name)
  const loadServed = batchLoader(async (domains: string[]) => {
    const served = await store.findServed(db, domains, ownMail)
    return new Map(domains.map((domain) => [domain, served.has(domain)]))
  })

  return {
    async findHosted(sql: Sql, names: string[]): Promise<ReadonlySet<string>> {
      const unknown = names.filter((name) => name !== mailDomain && !unhosted.has(name))
      const askedAtMs = nowMs()
      const verified = new Set(unknown.length > 0 ? await store.findVerified(sql, unknown) : [])
      unhosted.note(
        unknown.filter((name) => !verified.has(name)),
        askedAtMs,
      )
      return names.includes(mailDomain) ? verified.add(mailDomain) : verified
    },

    isServed: async (domain: string, sql?: Sql): Promise<boolean> =>
      sql ? (await store.findServed(sql, [domain], ownMail)).has(domain) : ((await loadServed(domain)) ?? false),

    /** Forgets the names that were not found, since a domain has changed. */
    clear: () => unhosted.clear(),
  }
}
