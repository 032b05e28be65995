// Operations on agent identities and their mailboxes.
import type { createIdentity, Identity, updateIdentity } from '@callsign/contract/identities'
import type { Metadata } from '@callsign/contract/metadata'
import type { Static } from 'typebox'
import { type Caller, identityIdsOf } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, forbidden, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { changeMetadata, filterMark, metadataMarks, readMetadata } from '../../../core/metadata.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isForeignKeyViolation, isUniqueViolation, type Tx } from '../../../core/sql.ts'
import type { TunnelUrls } from '../../../core/tunnel-urls.ts'
import type { FindAgent } from '../keys/operations.ts'
import { effectiveLimits, type LimitSettings } from '../organizations/model.ts'
import { type Accounts, actorOf, createOnce } from '../organizations/operations.ts'
import { type AddressDomain, type Addresses, addressTaken, checkLocalPart, createAddresses, reserveLocalPart } from './addresses.ts'
import { changesOf } from './change-audit.ts'
import { createGuardPatterns, type GuardPatterns } from './guard-patterns.ts'
import { type CustomDomains, createMailboxes, type Mailboxes } from './mailboxes.ts'
import * as metadataStore from './metadata-store.ts'
import { catchAllPart, type IdentityRow, isReservedHandle, normalizeHandle } from './model.ts'
import * as store from './store.ts'

export { approvalRequired, needsApproval, needsApprovalWhenDue } from './approval.ts'

type NewIdentity = Static<NonNullable<typeof createIdentity.body>>
type IdentityChange = Static<NonNullable<typeof updateIdentity.body>>

export interface Identities extends Mailboxes, Addresses {
  /** `POST /identities`: identity, mailbox and tunnel in one transaction. */
  createIdentity(call: Call, body: NewIdentity): Promise<Static<typeof Identity>>
  /** `GET /identities`: newest first. An agent key sees its own identity. */
  listIdentities(caller: Caller, query: PageQuery & { metadata?: string }): Promise<Page<Static<typeof Identity>>>
  /** `GET /identities/{handle}`. */
  getIdentity(caller: Caller, reference: string): Promise<Static<typeof Identity>>
  /** `PATCH /identities/{handle}`. */
  updateIdentity(call: Call, reference: string, body: IdentityChange): Promise<Static<typeof Identity>>
  /** `DELETE /identities/{handle}`: also deletes mailbox, messages, tunnel and keys. The handle stays reserved. */
  deleteIdentity(call: Call, reference: string): Promise<undefined>
  /** The agent with this handle or identity id in an organization. */
  findAgent: FindAgent
  /** Registers a hook for deletions. Hooks run one after another, in the order of their registration. */
  onDelete(hook: DeleteHook): void
  /** Registers the custom domains, which a mailbox address may be on. */
  useDomains(domains: CustomDomains): void
  /** Registers the check of patterns on a thread. */
  usePatternCheck: GuardPatterns['use']
}

/** Deletes another feature's data of an identity, in the transaction that deletes the identity. */
export type DeleteHook = (tx: Tx, identity: { organizationId: string; identityId: string; mailboxId: string }) => Promise<void>

type Settings = { mailDomain: string; tunnelUrls: TunnelUrls; postmaster: string | null; identitySendingLimits: LimitSettings | null }

/** The constraints that a taken handle may violate: PostgreSQL chooses the order of the inserts within one statement. */
const takenConstraints = ['handles_pkey', 'handles_organization_id_handle_key', 'identities_agent_handle_key']

/** Domains of a server without custom domains: every mailbox is on the mail domain. */
const noDomains: CustomDomains = { chooseForIdentity: async () => null, isHeldBy: async () => false, isServed: async () => false }

export function createIdentities(db: Database, accounts: Accounts, settings: Settings): Identities {
  const deleteHooks: DeleteHook[] = []
  let domains = noDomains
  const guardPatterns = createGuardPatterns()

  const taken = (handle: string) =>
    new ApiError('handle_already_taken', `The handle ${handle} is taken, perhaps by a deleted identity or an address: choose another.`)

  function toIdentity(row: IdentityRow): Static<typeof Identity> {
    return {
      id: row.id,
      agent_handle: row.agent_handle,
      display_name: row.display_name,
      description: row.description,
      instructions: row.instructions,
      mailbox_address: row.address,
      addresses: row.addresses,
      status: 'active',
      mailbox: { id: row.mailbox_id, email_address: row.address },
      tunnel: { id: row.tunnel_id, ...settings.tunnelUrls(row.agent_handle), status: row.tunnel_status },
      custom_domain_id: row.domain_id,
      client_id: row.client_id,
      metadata: row.metadata ?? {},
      draft_approval: row.draft_approval,
      inbound_mode: row.inbound_mode,
      outbound_mode: row.outbound_mode,
      sending_limits: effectiveLimits(row.sending_limits, settings.identitySendingLimits ?? {}),
      outbound_guard: row.outbound_guard,
      outbound_guard_patterns: row.outbound_guard_patterns,
      wake_limit: row.wake_events === null ? null : { events: row.wake_events, window_seconds: row.wake_window_seconds as number },
      storage_quota_bytes: row.storage_quota_bytes,
      retention: { messages_days: row.retention.messages_days ?? null, attachments_days: row.retention.attachments_days ?? null },
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  }

  /** The identity with this handle or id. An agent key gets 403 for every identity but its own, existing or not. */
  async function findOwn(caller: Caller, reference: string): Promise<IdentityRow> {
    const name = normalizeHandle(reference)
    if (caller.agents && !caller.agents.some((agent) => name === agent.handle || name === agent.identityId))
      throw forbidden('This key belongs to another agent. Use a key of this agent or an organization key.')
    const row = await store.findIdentity(db, caller.organizationId, name)
    if (!row) throw notFound('identity')
    return row
  }

  const { mailDomain } = settings
  const addresses = createAddresses({ db, accounts, domains: () => domains, mailDomain, findOwn })

  function checkIdentityLocalPart(localPart: string, domain: AddressDomain): void {
    checkLocalPart(localPart, domain, mailDomain)
    if (localPart === catchAllPart) throw invalid('/local_part', 'must not be *: the primary address cannot be a catch-all')
  }

  return {
    ...createMailboxes(db, () => domains, settings),
    ...addresses.operations,
    findAgent: createFindAgent(db),

    async createIdentity(call, body) {
      if (isReservedHandle(body.agent_handle)) throw taken(body.agent_handle)
      const at = now()
      const made: IdentityRow = {
        id: newId('identity'),
        organization_id: call.caller.organizationId,
        agent_handle: body.agent_handle,
        display_name: body.display_name ?? '',
        description: body.description ?? null,
        instructions: null,
        mailbox_id: newId('mailbox'),
        address: '',
        addresses: [],
        domain_id: null,
        client_id: body.client_id ?? null,
        metadata: readMetadata(body.metadata),
        tunnel_id: newId('tunnel'),
        tunnel_status: 'active',
        draft_approval: body.draft_approval ?? 'none',
        inbound_mode: body.inbound_mode ?? 'open',
        outbound_mode: body.outbound_mode ?? 'open',
        sending_limits: {},
        outbound_guard: 'flag',
        outbound_guard_patterns: [],
        wake_events: null,
        wake_window_seconds: null,
        storage_quota_bytes: null,
        retention: {},
        created_at: at,
        updated_at: at,
      }
      let tried = ''
      try {
        const create = async (tx: Tx) => {
          const domain = await domains.chooseForIdentity(tx, made.organization_id, body)
          const localPart = body.local_part ?? made.agent_handle
          if (body.local_part !== undefined) checkIdentityLocalPart(localPart, domain)
          if (localPart !== made.agent_handle) {
            const owner = { organizationId: made.organization_id, identityId: made.id }
            await reserveLocalPart(tx, owner, localPart, domain, mailDomain)
          }
          const address = `${localPart}@${domain?.domain ?? mailDomain}`
          tried = address
          const row = { ...made, address, addresses: [address], domain_id: domain?.id ?? null }
          await store.insertIdentity(tx, {
            id: row.id,
            organizationId: row.organization_id,
            handle: row.agent_handle,
            displayName: row.display_name,
            description: row.description,
            mailboxId: row.mailbox_id,
            clientId: row.client_id,
            addressId: newId('address'),
            address,
            domainId: row.domain_id,
            tunnelId: row.tunnel_id,
            draftApproval: row.draft_approval,
            inboundMode: row.inbound_mode,
            outboundMode: row.outbound_mode,
            at,
          })
          if (row.metadata !== null) await setMetadata(tx, row, row.metadata)
          const details = { agent_handle: row.agent_handle, mailbox_address: address }
          await accounts.audit(tx, row.organization_id, actorOf(call), 'identity.created', row.id, details)
          return toIdentity(row)
        }
        const find = async (tx: Tx, clientId: string) => {
          const twin = await store.findIdentityByClientId(tx, made.organization_id, clientId)
          return twin && toIdentity(twin)
        }
        return await call.transact((tx) =>
          createOnce(tx, { organizationId: made.organization_id, kind: 'identity', clientId: made.client_id }, find, create),
        )
      } catch (error) {
        if (takenConstraints.some((constraint) => isUniqueViolation(error, constraint))) throw taken(body.agent_handle)
        throw isForeignKeyViolation(error, 'mailboxes_primary_address') ? addressTaken(tried) : error
      }
    },

    async listIdentities(caller, query) {
      const page = readPage(query, 'identity')
      const rows = await (query.metadata === undefined
        ? store.listIdentities(db.reads, caller.organizationId, identityIdsOf(caller), page)
        : metadataStore.listIdentitiesByMark(
            db.reads,
            caller.organizationId,
            identityIdsOf(caller),
            filterMark(query.metadata) as string,
            page,
          ))
      return toPage(rows, page.limit, (row) => row.id, toIdentity)
    },

    getIdentity: async (caller, reference) => toIdentity(await findOwn(caller, reference)),

    async updateIdentity(call, reference, body) {
      const row = await findOwn(call.caller, reference)
      const { inbound_mode, outbound_mode, outbound_guard, outbound_guard_patterns } = body
      await guardPatterns.check(row.organization_id, outbound_guard_patterns ?? [])
      await call.transact(async (tx) => {
        await store.updateIdentity(tx, row.id, {
          displayName: body.display_name ?? null,
          hasDescription: body.description !== undefined,
          description: body.description ?? null,
          draftApproval: body.draft_approval ?? null,
          inboundMode: inbound_mode ?? null,
          outboundMode: outbound_mode ?? null,
          sendingLimits: body.sending_limits ?? {},
          outboundGuard: outbound_guard ?? null,
          outboundGuardPatterns: outbound_guard_patterns ?? null,
          wakeLimit: body.wake_limit && { events: body.wake_limit.events, windowSeconds: body.wake_limit.window_seconds },
          storageQuotaBytes: body.storage_quota_bytes,
          retention: body.retention ?? {},
          at: now(),
        })
        if (body.instructions !== undefined) await store.setInstructions(tx, row.id, body.instructions)
        if (body.metadata !== undefined)
          await setMetadata(tx, row, changeMetadata(await metadataStore.lockMetadata(tx, row.id), body.metadata))
        if (body.custom_domain_id !== undefined) {
          const { custom_domain_id } = body
          const domain = custom_domain_id === null ? null : await domains.chooseForIdentity(tx, row.organization_id, { custom_domain_id })
          const address = await addresses.movePrimary(tx, row, domain)
          await accounts.audit(tx, row.organization_id, actorOf(call), 'identity.moved', row.id, { mailbox_address: address })
        }
        for (const { action, details } of changesOf(row, body))
          await accounts.audit(tx, row.organization_id, actorOf(call), action, row.id, details)
      })
      return toIdentity(await findOwn(call.caller, row.id))
    },

    async deleteIdentity(call, reference) {
      const row = await findOwn(call.caller, reference)
      await call.transact(async (tx) => {
        // The lock comes first, so that no mail is filed during the deletion.
        await store.lockMailbox(tx, row.mailbox_id)
        const deleted = { organizationId: row.organization_id, identityId: row.id, mailboxId: row.mailbox_id }
        for (const hook of deleteHooks) await hook(tx, deleted)
        await store.deleteIdentity(tx, row.organization_id, row.id)
        await accounts.audit(tx, row.organization_id, actorOf(call), 'identity.deleted', row.id, { agent_handle: row.agent_handle })
      })
    },

    onDelete(hook) {
      deleteHooks.push(hook)
    },

    useDomains(registered) {
      domains = registered
    },

    usePatternCheck: guardPatterns.use,
  }
}

/** Sets the metadata of an identity, with the marks that lists find it by. */
const setMetadata = (tx: Tx, { organization_id, id }: IdentityRow, metadata: Metadata | null): Promise<void> =>
  metadataStore.setMetadata(tx, organization_id, id, metadata, metadataMarks(metadata))

/** Finds the agent that a new key is limited to. */
export const createFindAgent =
  (db: Database): FindAgent =>
  async (organizationId, handle) => {
    const row = await store.findIdentity(db, organizationId, handle)
    return row && { identityId: row.id, handle: row.agent_handle }
  }
