// Operations on custom domains: register, verify, choose the default, delete; and what other features ask about a name.
import type { Domain } from '@callsign/contract/domains'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Caller } from '../../../core/caller.ts'
import { inMs, now, nowMs } from '../../../core/clock.ts'
import { toDomainName } from '../../../core/domain-name.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import { newId } from '../../../core/ids.ts'
import type { CancelJob, Enqueue } from '../../../core/job.ts'
import type { Log } from '../../../core/log.ts'
import { type Call, Raw } from '../../../core/route.ts'
import { type Database, isUniqueViolation, type Sql, type Tx } from '../../../core/sql.ts'
import type { Actor } from '../../account/organizations/model.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import {
  type DomainRow,
  domainsMax,
  findNameProblem,
  type Inspection,
  isSame,
  standingAfter,
  toDomain,
  toMessage,
  unregisterJob,
} from './model.ts'
import { type DomainProvider, NameTaken, ProviderError, type Registration } from './provider.ts'
import * as store from './store.ts'
import { UnhostedNames } from './unhosted-names.ts'
import { zoneFile } from './zone-file.ts'

export type Domains = ReturnType<typeof createDomains>

/** Moves the mailboxes of a domain to the mail domain; identities come after domains in the feature order, so app.ts hands this in. */
export type MoveMailboxes = (tx: Tx, organizationId: string, domainId: string) => Promise<void>

type Parts = {
  db: Database
  accounts: Accounts
  /** Those that are configured, the one for requests that name none first. */
  providers: DomainProvider[]
  mailDomain: string
  recheckMs: number
  moveMailboxes: MoveMailboxes
  emit: Emit
  enqueue: Enqueue
  cancelJob: CancelJob
  log: Log
}

/** What a deleted domain leaves at its provider is taken back at once, and by a job when that fails. */
const unregisterDelayMs = 30_000
/** How often one verification looks, when others change the domain meanwhile. */
const looksMax = 3
/** An attempt to register whose answer was lost is taken up by the next one within a day. */
const lostMs = 24 * 3_600_000

export function createDomains(parts: Parts) {
  const { db, accounts, providers, mailDomain, recheckMs, moveMailboxes, emit, enqueue, cancelJob, log } = parts
  const noDomain = () => notFound('domain')
  const exists = (domain: string) => new ApiError('domain_exists', `${domain} is registered already.`)
  const heldByOther = (domain: string) =>
    new ApiError('domain_exists', `Another organization of this server has verified ${domain}; it has to delete it first.`)
  const unhosted = new UnhostedNames()
  const loadServed = batchLoader(async (domains: string[]) => {
    const served = await store.findServed(db.lookups, domains, ownMail)
    return new Map(domains.map((domain) => [domain, served.has(domain)]))
  })
  /** Of these providers' domains we refuse mail for mailboxes that are not there; others may be served elsewhere. */
  const ownMail = providers.filter((provider) => !provider.isElsewhere).map((provider) => provider.name)

  const findProvider = (name: string): DomainProvider | undefined => providers.find((provider) => provider.name === name)

  async function requireDomain(caller: Caller, id: string): Promise<DomainRow> {
    const row = await store.findDomain(db, caller.organizationId, id)
    if (!row) throw noDomain()
    return row
  }

  /** Registers at the provider, noting it beforehand, so that an answer that is lost leaves a trace. */
  async function register(provider: DomainProvider, claim: { organizationId: string; domain: string }): Promise<Registration> {
    const triedAt = provider.isElsewhere ? await store.beginRegistration(db, claim, provider.name, now(), inMs(-lostMs)) : null
    try {
      return await provider.register(claim, triedAt)
    } catch (error) {
      const isOpen = error instanceof ProviderError && error.isOutcomeUnknown
      if (provider.isElsewhere && !isOpen && triedAt === null) await store.endRegistration(db, claim, provider.name)
      if (error instanceof NameTaken) throw new ApiError('domain_exists', error.message)
      if (error instanceof ProviderError) throw new ApiError('upstream_provider_error', error.message)
      throw error
    }
  }

  async function undo(
    provider: DomainProvider,
    claim: { organizationId: string; domain: string },
    providerDomainId: string,
  ): Promise<void> {
    try {
      await provider.unregister(providerDomainId)
      await store.endRegistration(db, claim, provider.name)
    } catch (err) {
      log.warn({ err, provider: provider.name, registration: providerDomainId }, 'a registration that nobody has could not be taken back')
    }
  }

  /** Writes what an inspection came to, with its event. Throws 409 when the name is verified by another organization. */
  async function settle(tx: Tx, row: DomainRow, inspection: Inspection, by: 'asked' | 'background', actor: Actor): Promise<DomainRow> {
    const seenAt = now()
    const standing = standingAfter(row, inspection, { by, at: seenAt, nextCheckAt: inMs(recheckMs) })
    const at = isSame(row, standing) ? row.updated_at : seenAt
    const holdsName = row.holds_name || standing.status === 'verified'
    if (holdsName && !row.holds_name) await store.releaseName(tx, row.domain, row.id)
    const after = await store.updateStanding(tx, row.id, standing, holdsName, at)
    if (after.status !== row.status) await tell(tx, after, actor)
    tx.afterCommit(() => unhosted.clear())
    return after
  }

  async function tell(tx: Tx, row: DomainRow, actor: Actor): Promise<void> {
    if (row.status === 'pending') return
    const type = row.status === 'verified' ? 'domain.verified' : 'domain.failed'
    await emit(tx, [{ type, organizationId: row.organization_id, identityId: null, subjectId: row.id, data: toDomain(row) }])
    await accounts.audit(tx, row.organization_id, actor, type, row.id, { domain: row.domain })
  }

  /** Takes a registration back now; the job that was made for it does it otherwise. */
  async function unregister(provider: DomainProvider, providerDomainId: string, jobId: string): Promise<void> {
    try {
      await provider.unregister(providerDomainId)
      await db.transact((tx) => cancelJob(tx, jobId))
    } catch (err) {
      log.warn({ err, provider: provider.name }, 'a registration could not be taken back; a job tries again')
    }
  }

  return {
    /** `GET /domains`: newest first. */
    async listDomains(caller: Caller) {
      const rows = await store.listDomains(db, caller.organizationId)
      return { data: rows.map((row) => ({ ...toDomain(row), mailboxes_count: row.mailboxes_count })) }
    },

    /** `POST /domains`. */
    async createDomain(call: Call, body: { domain: string; provider?: string }): Promise<{ data: Static<typeof Domain> }> {
      const { organizationId } = call.caller
      const { domain } = body
      const problem = findNameProblem(domain, mailDomain)
      if (problem) throw invalid('/domain', `domain ${problem}`)
      const provider = body.provider === undefined ? providers[0] : findProvider(body.provider)
      if (!provider)
        throw invalid('/provider', `provider is not set up on this server; there is ${providers.map(({ name }) => name).join(', ')}`)
      const claim = { organizationId, domain }
      const tooMany = new ApiError('conflict', `An organization has at most ${domainsMax} domains.`)
      if (await store.findByName(db, organizationId, domain)) throw exists(domain)
      // Asked again inside the transaction; here it saves the registration.
      if ((await store.countDomains(db, organizationId)) >= domainsMax) throw tooMany
      const registration = await register(provider, claim)
      const at = now()
      const { isVerified, providerDomainId } = registration
      try {
        return await call.transact(async (tx) => {
          await store.lockDomains(tx, organizationId)
          const count = await store.countDomains(tx, organizationId)
          if (count >= domainsMax) throw tooMany
          const row: DomainRow = {
            id: newId('domain'),
            organization_id: organizationId,
            domain,
            status: isVerified ? 'verified' : 'pending',
            is_default: count === 0,
            holds_name: isVerified,
            provider: provider.name,
            provider_domain_id: providerDomainId,
            dns_records: await registration.keep(tx),
            verified_at: isVerified ? at : null,
            failing_since: null,
            check_at: isVerified ? inMs(recheckMs) : null,
            created_at: at,
            updated_at: at,
          }
          if (isVerified) await store.releaseName(tx, domain, row.id)
          await store.insertDomain(tx, row)
          if (provider.isElsewhere) await store.endRegistration(tx, claim, provider.name)
          await accounts.audit(tx, organizationId, actorOf(call), 'domain.created', row.id, { domain, provider: provider.name })
          await tell(tx, row, actorOf(call))
          return { data: toDomain(row) }
        })
      } catch (error) {
        if (isUniqueViolation(error, 'domains_once') || isUniqueViolation(error, 'domains_one_registration')) throw exists(domain)
        // It is nobody's here: what has just been registered goes again.
        const isUnwanted = isUniqueViolation(error, 'domains_one_holder') || (error instanceof ApiError && error.code === 'conflict')
        if (isUnwanted && providerDomainId !== null) await undo(provider, claim, providerDomainId)
        if (isUniqueViolation(error, 'domains_one_holder')) throw heldByOther(domain)
        throw error
      }
    },

    /** `GET /domains/{domain_id}`. */
    getDomain: async (caller: Caller, id: string) => ({ data: toDomain(await requireDomain(caller, id)) }),

    /** `POST /domains/{domain_id}/verify`. */
    async verifyDomain(call: Call, id: string) {
      const { organizationId } = call.caller
      for (let looks = 1; ; looks++) {
        const seen = await requireDomain(call.caller, id)
        const inspection = await this.inspect(seen, true).catch((error: unknown) => {
          if (error instanceof ProviderError) throw new ApiError('verification_failed', error.message)
          throw error
        })
        const verified = await call
          .transact(async (tx) => {
            const row = await store.lockDomain(tx, organizationId, id)
            if (!row) throw noDomain()
            // What was seen may be older than what another verification has written since: then it is looked at again.
            if (looks < looksMax && row.updated_at.getTime() !== seen.updated_at.getTime()) return null
            const after = await settle(tx, row, inspection, 'asked', actorOf(call))
            return { data: toDomain(after), message: toMessage(after, inspection) }
          })
          .catch((error: unknown) => {
            throw isUniqueViolation(error, 'domains_one_holder') ? heldByOther(seen.domain) : error
          })
        if (verified) return verified
      }
    },

    /** Looks at the records of a domain. Rejects with ProviderError when that cannot be done now. */
    async inspect(row: DomainRow, isAsked: boolean): Promise<Inspection> {
      const provider = findProvider(row.provider)
      if (!provider) throw new ProviderError(`The provider ${row.provider} is not set up on this server any more.`)
      const { organization_id: organizationId, domain, provider_domain_id: providerDomainId, dns_records: records } = row
      return provider.inspect({ organizationId, domain, providerDomainId, records }, isAsked)
    },

    /** What a background check came to. A domain that has changed meanwhile is left alone. */
    async settleCheck(seen: DomainRow, inspection: Inspection): Promise<void> {
      await db.transact(async (tx) => {
        const row = await store.lockDomain(tx, seen.organization_id, seen.id)
        if (row?.updated_at.getTime() !== seen.updated_at.getTime() || row.status !== 'verified') return
        await settle(tx, row, inspection, 'background', { type: 'host' })
      })
    },

    /** `POST /domains/{domain_id}/set-default`. */
    async setDefault(call: Call, id: string): Promise<Static<typeof Domain>> {
      const { organizationId } = call.caller
      return call.transact(async (tx) => {
        await store.lockDomains(tx, organizationId)
        const row = await store.lockDomain(tx, organizationId, id)
        if (!row) throw noDomain()
        if (row.status !== 'verified')
          throw new ApiError('domain_not_verified', `${row.domain} is not verified: publish its records and verify it first.`)
        const after = await store.setDefault(tx, organizationId, id, now())
        if (!row.is_default) await accounts.audit(tx, organizationId, actorOf(call), 'domain.default_set', id, { domain: row.domain })
        return toDomain(after)
      })
    },

    /** `DELETE /domains/{domain_id}`. */
    async deleteDomain(call: Call, id: string, isForced: boolean): Promise<{ success: true; message: string }> {
      const { organizationId } = call.caller
      const jobId = newId('job')
      const deleted = await call.transact(async (tx) => {
        await store.lockDomains(tx, organizationId)
        const row = await store.lockDomain(tx, organizationId, id)
        if (!row) throw noDomain()
        const count = await store.countMailboxes(tx, id)
        const boxes = count === 1 ? '1 mailbox' : `${count} mailboxes`
        if (count > 0 && !isForced)
          throw new ApiError('domain_in_use', `${boxes} on ${row.domain}: with ?force=true they move to ${mailDomain}.`)
        if (count > 0) await moveMailboxes(tx, organizationId, id)
        await findProvider(row.provider)?.forget(tx, { organizationId, domain: row.domain })
        await store.deleteDomain(tx, id)
        const { provider, provider_domain_id: providerDomainId, domain } = row
        if (providerDomainId !== null)
          await enqueue(tx, [
            { id: jobId, kind: unregisterJob, organizationId, subject: `${provider} ${providerDomainId}`, delayMs: unregisterDelayMs },
          ])
        await accounts.audit(tx, organizationId, actorOf(call), 'domain.deleted', id, { domain, mailboxes_moved: count })
        const moved = count > 0 ? ` ${boxes} moved to ${mailDomain}.` : ''
        const next = row.is_default ? ` New identities get ${mailDomain}, unless another domain is made the default.` : ''
        return { row, message: `${domain} is deleted.${moved}${next}` }
      })
      const provider = findProvider(deleted.row.provider)
      if (provider && deleted.row.provider_domain_id !== null) await unregister(provider, deleted.row.provider_domain_id, jobId)
      return { success: true, message: deleted.message }
    },

    /** `GET /domains/{domain_id}/zone-file`. */
    async getZoneFile(caller: Caller, id: string): Promise<Raw> {
      const row = await requireDomain(caller, id)
      const text = zoneFile(row.domain, row.dns_records)
      return new Raw('text/dns', Buffer.from(text), { 'content-disposition': `attachment; filename="${row.domain}.zone"` })
    },

    /**
     * The verified domain that a new identity is on, by id or by name, else the default; null for the mail domain. It stays as it is until the
     * transaction ends. Throws 400 naming the field.
     */
    async chooseForIdentity(
      tx: Tx,
      organizationId: string,
      wanted: { custom_domain_id?: string | null; domain?: string | null },
    ): Promise<{ id: string; domain: string } | null> {
      const id = wanted.custom_domain_id ?? null
      const domain = id === null && wanted.domain ? toDomainName(wanted.domain) : null
      if (domain === mailDomain) return null
      const chosen = id === null && wanted.domain && domain === null ? null : await store.shareVerified(tx, organizationId, { id, domain })
      if (!chosen && id !== null) throw invalid('/custom_domain_id', 'no verified domain of this organization has that id')
      if (!chosen && wanted.domain) throw invalid('/domain', 'that is no verified domain of this organization')
      return chosen
    },

    /** True when mail in this name is the organization's to send: it has verified it, and nobody else since. */
    isHeldBy: async (organizationId: string, domain: string): Promise<boolean> =>
      (await store.findByName(db, organizationId, domain))?.holds_name === true,

    /** Of these domains those whose mailboxes are here: the mail domain, and what an organization has verified. */
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

    /** True when mail for mailboxes that are not there is refused at this domain, and never sent outside. */
    isServed: async (domain: string): Promise<boolean> => (await loadServed(domain)) ?? false,
  }
}
