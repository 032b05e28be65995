// Operations on custom domains: register, verify, choose the default and delete.
import type * as contract from '@callsign/contract/domains'
import type { BodyOf, ReplyOf } from '@callsign/contract/operation'
import type { Caller } from '../../../core/caller.ts'
import { inMs, now } from '../../../core/clock.ts'
import { toDomainName } from '../../../core/domain-name.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import type { Emit } from '../../../core/event.ts'
import { newId } from '../../../core/ids.ts'
import type { CancelJob, Enqueue } from '../../../core/job.ts'
import type { Log } from '../../../core/log.ts'
import { onePage } from '../../../core/page.ts'
import { type Call, Raw } from '../../../core/route.ts'
import { type Database, isUniqueViolation, type Sql, type Tx } from '../../../core/sql.ts'
import type { Actor } from '../../account/organizations/model.ts'
import { type Accounts, actorOf } from '../../account/organizations/operations.ts'
import { createHostedDomains } from './hosted-domains.ts'
import {
  alreadyRegistered,
  boxesOf,
  type DomainRow,
  domainsMax,
  findNameProblem,
  type Inspection,
  isSame,
  type MoveMailboxes,
  nextStatus,
  toDomain,
  toListed,
  toMessage,
  tooManyDomains,
  unregisterJob,
  verifiedElsewhere,
  type WantedDomain,
} from './model.ts'
import { type DomainProvider, ProviderError } from './provider.ts'
import { createRegistrar } from './registration.ts'
import * as store from './store.ts'
import { zoneFile } from './zone-file.ts'

type DomainReply = ReplyOf<typeof contract.getDomain>

/** Custom domains of organizations. */
export interface Domains {
  /** `GET /domains`: newest first. */
  listDomains(caller: Caller): Promise<ReplyOf<typeof contract.listDomains>>
  /** `POST /domains`. */
  createDomain(call: Call, body: BodyOf<typeof contract.createDomain>): Promise<DomainReply>
  /** `GET /domains/{domain_id}`. */
  getDomain(caller: Caller, id: string): Promise<DomainReply>
  /** `POST /domains/{domain_id}/verify`. */
  verifyDomain(call: Call, id: string): Promise<ReplyOf<typeof contract.verifyDomain>>
  /** `POST /domains/{domain_id}/set-default`. */
  setDefault(call: Call, id: string): Promise<ReplyOf<typeof contract.setDefaultDomain>>
  /** `DELETE /domains/{domain_id}`. */
  deleteDomain(call: Call, id: string, isForced: boolean): Promise<ReplyOf<typeof contract.deleteDomain>>
  /** `GET /domains/{domain_id}/zone-file`. */
  getZoneFile(caller: Caller, id: string): Promise<Raw>

  /** Inspects the records of a domain. Rejects with ProviderError when its provider is not available. */
  inspect(row: DomainRow, isAsked: boolean): Promise<Inspection>
  /** Stores the result of a background check. Leaves a domain alone that has changed since `seen`. */
  commitCheck(seen: DomainRow, inspection: Inspection): Promise<void>
  /**
   * The verified domain of a new identity: by id, by name, or the default. Null for the mail domain. The domain stays as it is until the
   * transaction ends. Throws 400 with the name of the field.
   */
  chooseForIdentity(tx: Tx, organizationId: string, wanted: WantedDomain): Promise<{ id: string; domain: string } | null>
  /** True when the organization may send mail in this name: it was the last to verify it. */
  isHeldBy(organizationId: string, domain: string): Promise<boolean>
  /** The domains among these whose mailboxes are here: the mail domain and every verified domain. */
  findHosted(sql: Sql, names: string[]): Promise<ReadonlySet<string>>
  /** True when this server refuses mail for missing mailboxes at this domain, and never sends it outside. `sql` as in `isHostedRecipient`. */
  isServed(domain: string, sql?: Sql): Promise<boolean>
}

type Parts = {
  db: Database
  accounts: Accounts
  /** The configured providers. Requests that do not name one get the first. */
  providers: DomainProvider[]
  mailDomain: string
  recheckMs: number
  moveMailboxes: MoveMailboxes
  emit: Emit
  enqueue: Enqueue
  cancelJob: CancelJob
  log: Log
}

/** The registration of a deleted domain is taken back at once. A job repeats this when it fails. */
const unregisterDelayMs = 30_000
/** Inspections per verification, when the domain changes meanwhile. */
const inspectionsMax = 3

export function createDomains(parts: Parts): Domains {
  const { db, accounts, providers, mailDomain, recheckMs, moveMailboxes, emit, enqueue, cancelJob, log } = parts
  const hosted = createHostedDomains({ db, providers, mailDomain })
  const registrar = createRegistrar({ db, cancelJob, log })
  const findProvider = (name: string): DomainProvider | undefined => providers.find((provider) => provider.name === name)

  async function requireDomain(caller: Caller, id: string): Promise<DomainRow> {
    const row = await store.findDomain(db, caller.organizationId, id)
    if (!row) throw notFound('domain')
    return row
  }

  /** Stores the result of an inspection, with its event. Throws 409 when another organization has verified the name. */
  async function commitInspection(
    tx: Tx,
    row: DomainRow,
    inspection: Inspection,
    by: 'asked' | 'background',
    actor: Actor,
  ): Promise<DomainRow> {
    const seenAt = now()
    const next = nextStatus(row, inspection, { by, at: seenAt, nextCheckAt: inMs(recheckMs) })
    const holdsName = row.holds_name || next.status === 'verified'
    if (holdsName && !row.holds_name) await store.releaseName(tx, row.domain, row.id)
    const after = await store.updateStatus(tx, row.id, next, holdsName, isSame(row, next) ? row.updated_at : seenAt)
    if (after.status !== row.status) await announce(tx, after, actor)
    tx.afterCommit(() => hosted.clear())
    return after
  }

  async function announce(tx: Tx, row: DomainRow, actor: Actor): Promise<void> {
    if (row.status === 'pending') return
    const type = row.status === 'verified' ? 'domain.verified' : 'domain.failed'
    await emit(tx, [{ type, organizationId: row.organization_id, identityId: null, subjectId: row.id, data: toDomain(row) }])
    await accounts.audit(tx, row.organization_id, actor, type, row.id, { domain: row.domain })
  }

  return {
    async listDomains(caller) {
      return onePage((await store.listDomains(db, caller.organizationId)).map(toListed))
    },

    async createDomain(call, body) {
      const { organizationId } = call.caller
      const { domain, client_id: clientId = null } = body
      const problem = findNameProblem(domain, mailDomain)
      if (problem) throw invalid('/domain', `domain ${problem}`)
      const provider = body.provider === undefined ? providers[0] : findProvider(body.provider)
      if (!provider)
        throw invalid('/provider', `provider must be one that this server has: ${providers.map(({ name }) => name).join(', ')}`)
      const claim = { organizationId, domain }
      const known = await store.findKnown(db, organizationId, domain, clientId)
      if (known && clientId !== null && known.client_id === clientId) return call.transact(async () => ({ data: toDomain(known) }))
      if (known) throw alreadyRegistered(domain)
      // An early check that saves the registration. The transaction repeats it.
      if ((await store.countDomains(db, organizationId)) >= domainsMax) throw tooManyDomains()
      const registration = await registrar.register(provider, claim)
      const [at, { isVerified, providerDomainId }] = [now(), registration]
      try {
        return await call.transact(async (tx) => {
          await store.lockDomains(tx, organizationId)
          const twin = clientId === null ? null : await store.findKnown(tx, organizationId, domain, clientId)
          if (twin?.client_id === clientId && twin) return { data: toDomain(twin) }
          const count = await store.countDomains(tx, organizationId)
          if (count >= domainsMax) throw tooManyDomains()
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
            client_id: clientId,
            created_at: at,
            updated_at: at,
          }
          if (isVerified) await store.releaseName(tx, domain, row.id)
          await store.insertDomain(tx, row)
          if (provider.isElsewhere) await store.endRegistration(tx, claim, provider.name)
          await accounts.audit(tx, organizationId, actorOf(call), 'domain.created', row.id, { domain, provider: provider.name })
          await announce(tx, row, actorOf(call))
          return { data: toDomain(row) }
        })
      } catch (error) {
        if (isUniqueViolation(error, 'domains_once') || isUniqueViolation(error, 'domains_one_registration'))
          throw alreadyRegistered(domain)
        // No organization here has it, so the new registration is taken back.
        const isUnwanted = isUniqueViolation(error, 'domains_one_holder') || (error instanceof ApiError && error.code === 'conflict')
        if (isUnwanted && providerDomainId !== null) await registrar.undo(provider, claim, providerDomainId)
        if (isUniqueViolation(error, 'domains_one_holder')) throw verifiedElsewhere(domain)
        throw error
      }
    },

    getDomain: async (caller, id) => ({ data: toDomain(await requireDomain(caller, id)) }),

    async verifyDomain(call, id) {
      const { organizationId } = call.caller
      for (let inspections = 1; ; inspections++) {
        const seen = await requireDomain(call.caller, id)
        const inspection = await this.inspect(seen, true).catch((error: unknown) => {
          if (error instanceof ProviderError) throw new ApiError('verification_failed', error.message)
          throw error
        })
        const verified = await call
          .transact(async (tx) => {
            const row = await store.lockDomain(tx, organizationId, id)
            if (!row) throw notFound('domain')
            // Another verification may have stored a newer result. Then this one inspects again.
            if (inspections < inspectionsMax && row.updated_at.getTime() !== seen.updated_at.getTime()) return null
            const after = await commitInspection(tx, row, inspection, 'asked', actorOf(call))
            return { data: toDomain(after), message: toMessage(after, inspection) }
          })
          .catch((error: unknown) => {
            throw isUniqueViolation(error, 'domains_one_holder') ? verifiedElsewhere(seen.domain) : error
          })
        if (verified) return verified
      }
    },

    async inspect(row, isAsked) {
      const provider = findProvider(row.provider)
      if (!provider) throw new ProviderError(`The provider ${row.provider} is no longer configured on this server: restore its settings.`)
      const { organization_id: organizationId, domain, provider_domain_id: providerDomainId, dns_records: records } = row
      return provider.inspect({ organizationId, domain, providerDomainId, records }, isAsked)
    },

    async commitCheck(seen, inspection) {
      await db.transact(async (tx) => {
        const row = await store.lockDomain(tx, seen.organization_id, seen.id)
        if (row?.updated_at.getTime() !== seen.updated_at.getTime() || row.status !== 'verified') return
        await commitInspection(tx, row, inspection, 'background', { type: 'host' })
      })
    },

    async setDefault(call, id) {
      const { organizationId } = call.caller
      return call.transact(async (tx) => {
        await store.lockDomains(tx, organizationId)
        const row = await store.lockDomain(tx, organizationId, id)
        if (!row) throw notFound('domain')
        if (row.status !== 'verified')
          throw new ApiError('domain_not_verified', `${row.domain} is not verified: publish its records and verify it first.`)
        const after = await store.setDefault(tx, organizationId, id, now())
        if (!row.is_default) await accounts.audit(tx, organizationId, actorOf(call), 'domain.default_set', id, { domain: row.domain })
        return toDomain(after)
      })
    },

    async deleteDomain(call, id, isForced) {
      const { organizationId } = call.caller
      const jobId = newId('job')
      const deleted = await call.transact(async (tx) => {
        await store.lockDomains(tx, organizationId)
        const row = await store.lockDomain(tx, organizationId, id)
        if (!row) throw notFound('domain')
        const count = await store.countMailboxes(tx, id)
        if (count > 0 && !isForced)
          throw new ApiError('domain_in_use', `${boxesOf(count)} on ${row.domain}: with ?force=true they move to ${mailDomain}.`)
        const movedCount = count > 0 ? await moveMailboxes(tx, organizationId, id) : 0
        await findProvider(row.provider)?.forget(tx, { organizationId, domain: row.domain })
        await store.deleteDomain(tx, id)
        const { provider, provider_domain_id: providerDomainId, domain } = row
        if (providerDomainId !== null)
          await enqueue(tx, [
            { id: jobId, kind: unregisterJob, organizationId, subject: `${provider} ${providerDomainId}`, delayMs: unregisterDelayMs },
          ])
        await accounts.audit(tx, organizationId, actorOf(call), 'domain.deleted', id, { domain, mailboxes_moved: movedCount })
        const moved = movedCount > 0 ? ` ${boxesOf(movedCount)} moved to ${mailDomain}.` : ''
        const next = row.is_default ? ` New identities get ${mailDomain}, unless another domain is made the default.` : ''
        return { row, message: `${domain} is deleted.${moved}${next}` }
      })
      const provider = findProvider(deleted.row.provider)
      if (provider && deleted.row.provider_domain_id !== null) await registrar.unregister(provider, deleted.row.provider_domain_id, jobId)
      return { success: true, message: deleted.message }
    },

    async getZoneFile(caller, id) {
      const row = await requireDomain(caller, id)
      const text = zoneFile(row.domain, row.dns_records)
      return new Raw('text/dns', Buffer.from(text), { 'content-disposition': `attachment; filename="${row.domain}.zone"` })
    },

    async chooseForIdentity(tx, organizationId, wanted) {
      const id = wanted.custom_domain_id ?? null
      const domain = id === null && wanted.domain ? toDomainName(wanted.domain) : null
      if (domain === mailDomain) return null
      const chosen = id === null && wanted.domain && domain === null ? null : await store.shareVerified(tx, organizationId, { id, domain })
      if (chosen || (id === null && !wanted.domain)) return chosen
      if (id !== null && !(await store.findDomain(tx, organizationId, id))) throw notFound('domain')
      throw invalid(id === null ? '/domain' : '/custom_domain_id', 'must be a verified domain of this organization: verify it first')
    },

    isHeldBy: async (organizationId, domain) => (await store.findByName(db, organizationId, domain))?.holds_name === true,

    findHosted: hosted.findHosted,
    isServed: hosted.isServed,
  }
}
