// Operations on agent identities and their mailboxes, and the one place that decides which mailbox a request may act on.
import type { Identity, Mailbox } from '@callsign/contract/identities'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, forbidden, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { type Database, isUniqueViolation, type Tx } from '../../../core/sql.ts'
import { type Accounts, actorOf } from '../organizations/operations.ts'
import {
  type DraftApproval,
  type IdentityRow,
  isReservedHandle,
  type MailboxOwner,
  type MailboxRow,
  type MailMode,
  mailboxAddressOf,
  normalizeAddress,
  normalizeHandle,
} from './model.ts'
import * as store from './store.ts'

export type Identities = ReturnType<typeof createIdentities>

/** Deletes what another feature keeps for an identity, in the transaction that deletes the identity. */
export type DeleteHook = (tx: Tx, identity: { organizationId: string; identityId: string; mailboxId: string }) => Promise<void>

/** What mailbox addresses need of custom domains, which register themselves with `useDomains`. */
export interface CustomDomains {
  /** The verified domain for a new identity, by id, by name or the default; null for the mail domain. Locked until the transaction ends. */
  chooseForIdentity(
    tx: Tx,
    organizationId: string,
    wanted: { custom_domain_id?: string | null; domain?: string | null },
  ): Promise<{ id: string; domain: string } | null>
  /** True when the organization holds the verified name. */
  isHeldBy(organizationId: string, domain: string): Promise<boolean>
  /** True when mail to missing mailboxes at the domain is refused here and never sent outside. */
  isServed(domain: string): Promise<boolean>
}

type Settings = { mailDomain: string; tunnelDomain: string; postmaster: string | null }

/** PostgreSQL decides which of the inserts of one statement comes first, so a taken handle may be told by any of these. */
const takenConstraints = ['handles_pkey', 'identities_agent_handle_key', 'mailboxes_address_key']

/** Domains of a server without custom domains: every mailbox is on the mail domain. */
const noDomains: CustomDomains = { chooseForIdentity: async () => null, isHeldBy: async () => false, isServed: async () => false }

export function createIdentities(db: Database, accounts: Accounts, settings: Settings) {
  const deleteHooks: DeleteHook[] = []
  let domains = noDomains
  const loadByAddress = batchLoader((addresses) => store.findOwnersByAddress(db.lookups, addresses))
  const loadByHandle = batchLoader((handles) => store.findOwnersByHandle(db.lookups, handles))

  const taken = (handle: string) =>
    new ApiError('handle_already_taken', `The handle ${handle} is taken; handles stay reserved even after deletion.`)

  function toIdentity(row: IdentityRow): Static<typeof Identity> {
    return {
      id: row.id,
      agent_handle: row.agent_handle,
      display_name: row.display_name,
      description: row.description,
      mailbox_address: row.address,
      status: 'active',
      mailbox: { id: row.mailbox_id, email_address: row.address },
      tunnel: { id: row.tunnel_id, public_url: `https://${row.agent_handle}.${settings.tunnelDomain}`, status: row.tunnel_status },
      custom_domain_id: row.domain_id,
      draft_approval: row.draft_approval,
      inbound_mode: row.inbound_mode,
      outbound_mode: row.outbound_mode,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  }

  /** The identity named by handle or id. An agent key gets 403 for any other than its own, whether or not it exists. */
  async function findOwn(caller: Caller, reference: string): Promise<IdentityRow> {
    const name = normalizeHandle(reference)
    if (caller.agent && name !== caller.agent.handle && name !== caller.agent.identityId)
      throw forbidden('This key is limited to another agent.')
    const row = await store.findIdentity(db, caller.organizationId, name)
    if (!row) throw notFound('identity')
    return row
  }

  return {
    /** `POST /identities`: identity, mailbox and tunnel in one transaction. */
    async createIdentity(
      call: Call,
      body: {
        agent_handle: string
        display_name?: string
        description?: string | null
        custom_domain_id?: string | null
        domain?: string | null
        draft_approval?: DraftApproval
        inbound_mode?: MailMode
        outbound_mode?: MailMode
      },
    ): Promise<Static<typeof Identity>> {
      if (isReservedHandle(body.agent_handle)) throw taken(body.agent_handle)
      const at = now()
      const made: IdentityRow = {
        id: newId('identity'),
        organization_id: call.caller.organizationId,
        agent_handle: body.agent_handle,
        display_name: body.display_name ?? '',
        description: body.description ?? null,
        mailbox_id: newId('mailbox'),
        address: '',
        domain_id: null,
        tunnel_id: newId('tunnel'),
        tunnel_status: 'active',
        draft_approval: body.draft_approval ?? 'none',
        inbound_mode: body.inbound_mode ?? 'open',
        outbound_mode: body.outbound_mode ?? 'open',
        created_at: at,
        updated_at: at,
      }
      try {
        return await call.transact(async (tx) => {
          const domain = await domains.chooseForIdentity(tx, made.organization_id, body)
          const row = { ...made, address: `${made.agent_handle}@${domain?.domain ?? settings.mailDomain}`, domain_id: domain?.id ?? null }
          await store.insertIdentity(tx, {
            id: row.id,
            organizationId: row.organization_id,
            handle: row.agent_handle,
            displayName: row.display_name,
            description: row.description,
            mailboxId: row.mailbox_id,
            address: row.address,
            domainId: row.domain_id,
            tunnelId: row.tunnel_id,
            draftApproval: row.draft_approval,
            inboundMode: row.inbound_mode,
            outboundMode: row.outbound_mode,
            at,
          })
          return toIdentity(row)
        })
      } catch (error) {
        if (takenConstraints.some((constraint) => isUniqueViolation(error, constraint))) throw taken(body.agent_handle)
        throw error
      }
    },

    /** `GET /identities`: newest first; an agent key sees its own. */
    async listIdentities(caller: Caller, query: { limit?: number; cursor?: string }) {
      const page = readPage(query, 'identity')
      const rows = await store.listIdentities(db, caller.organizationId, caller.agent?.identityId ?? null, page)
      return toPage(rows, page.limit, (row) => row.id, toIdentity)
    },

    /** `GET /identities/{handle}`. */
    getIdentity: async (caller: Caller, reference: string) => toIdentity(await findOwn(caller, reference)),

    /** `PATCH /identities/{handle}`. */
    async updateIdentity(
      call: Call,
      reference: string,
      body: {
        display_name?: string
        description?: string | null
        custom_domain_id?: string | null
        draft_approval?: DraftApproval
        inbound_mode?: MailMode
        outbound_mode?: MailMode
      },
    ) {
      const row = await findOwn(call.caller, reference)
      const { inbound_mode, outbound_mode } = body
      await call.transact(async (tx) => {
        await store.updateIdentity(tx, row.id, {
          displayName: body.display_name ?? null,
          hasDescription: body.description !== undefined,
          description: body.description ?? null,
          draftApproval: body.draft_approval ?? null,
          inboundMode: inbound_mode ?? null,
          outboundMode: outbound_mode ?? null,
          at: now(),
        })
        if (body.custom_domain_id !== undefined) {
          const { custom_domain_id } = body
          const domain = custom_domain_id === null ? null : await domains.chooseForIdentity(tx, row.organization_id, { custom_domain_id })
          const address = `${row.agent_handle}@${domain?.domain ?? settings.mailDomain}`
          await store.moveMailbox(tx, row.mailbox_id, { address, domainId: domain?.id ?? null, at: now() })
          await accounts.audit(tx, row.organization_id, actorOf(call), 'identity.moved', row.id, { mailbox_address: address })
        }
        if (inbound_mode !== undefined || outbound_mode !== undefined)
          await accounts.audit(tx, row.organization_id, actorOf(call), 'identity.modes_changed', row.id, { inbound_mode, outbound_mode })
      })
      return toIdentity(await findOwn(call.caller, row.id))
    },

    /** `DELETE /identities/{handle}`: mailbox, messages, tunnel and keys go with it; the handle stays reserved. */
    async deleteIdentity(call: Call, reference: string): Promise<undefined> {
      const row = await findOwn(call.caller, reference)
      await call.transact(async (tx) => {
        // First, so that nothing is filed any more behind what is being deleted.
        await store.lockMailbox(tx, row.mailbox_id)
        const deleted = { organizationId: row.organization_id, identityId: row.id, mailboxId: row.mailbox_id }
        for (const hook of deleteHooks) await hook(tx, deleted)
        await store.deleteIdentity(tx, row.organization_id, row.id)
        await accounts.audit(tx, row.organization_id, actorOf(call), 'identity.deleted', row.id, { agent_handle: row.agent_handle })
      })
    },

    /** `GET /mailboxes`: newest first; an agent key sees its own. */
    async listMailboxes(caller: Caller, query: { limit?: number; cursor?: string }) {
      const page = readPage(query, 'mailbox')
      const rows = await store.listMailboxes(db, caller.organizationId, caller.agent?.mailboxId ?? null, page)
      return toPage(rows, page.limit, (row) => row.id, toMailbox)
    },

    /** `GET /mailboxes/{email_address}`. */
    async getMailbox(caller: Caller, reference: string) {
      const owner = await this.requireMailbox(caller, reference)
      const row = await store.getMailbox(db, owner.mailboxId)
      if (!row) throw notFound('mailbox')
      return toMailbox(row)
    },

    /**
     * The mailbox that `{email_address}` or `agent` names: a full address or a handle. An agent key gets 403 for any other than its own,
     * whether or not it exists; an organization key gets 404 for what is not its organization's.
     */
    async requireMailbox(caller: Caller, reference: string): Promise<MailboxOwner> {
      const name = toMailboxName(reference)
      const { agent } = caller
      if (agent && name !== agent.handle && name !== agent.address) throw forbidden('This key is limited to another agent.')
      const owner = await (name.includes('@') ? loadByAddress(name) : loadByHandle(name))
      if (!owner || owner.organizationId !== caller.organizationId) throw notFound('mailbox')
      return owner
    },

    /** The same for a caller that is about to send: 403 for an agent key whose mail needs approval. */
    async requireSender(caller: Caller, reference: string): Promise<MailboxOwner> {
      const owner = await this.requireMailbox(caller, reference)
      if (needsApproval(caller, owner)) throw approvalRequired()
      return owner
    },

    /** The owner of a mailbox, read fresh; null when it is gone. */
    findOwner: (mailboxId: string): Promise<MailboxOwner | null> => store.findOwner(db, mailboxId),

    /** True when `requireMailbox` would give this caller the mailbox with this handle and address: for who has read them along with a row. */
    isMailboxNamed(caller: Caller, reference: string, owner: { organization_id: string; agent_handle: string; address: string }): boolean {
      const { agent } = caller
      if (owner.organization_id !== caller.organizationId || (agent && agent.handle !== owner.agent_handle)) return false
      const name = toMailboxName(reference)
      return name === owner.agent_handle || name === owner.address
    },

    /** Whose handle this is, in whatever organization: for people outside, who know agents by nothing else. */
    findByHandle: (handle: string): Promise<MailboxOwner | null> => loadByHandle(handle),

    /** The mailbox that mail for this recipient is filed in, or null when we host no such mailbox. Plus tags are ignored. */
    async findHosted(recipient: string): Promise<MailboxOwner | null> {
      const address = mailboxAddressOf(recipient)
      const owner = address === null ? null : await loadByAddress(address)
      return owner?.isReachable ? owner : null
    },

    /**
     * The mailbox that a queued message leaves from: also when it has moved since, as long as the old address is on the mail domain or on one that its
     * organization still has. Null when it is gone or may not write in that name any more.
     */
    async findSender(mailboxId: string, fromAddress: string): Promise<MailboxOwner | null> {
      const owner = await this.findHosted(fromAddress)
      if (owner?.mailboxId === mailboxId) return owner
      const moved = await store.findOwner(db, mailboxId)
      const domain = fromAddress.slice(fromAddress.lastIndexOf('@') + 1)
      if (!moved || moved.address === fromAddress) return null
      return domain === settings.mailDomain || (await domains.isHeldBy(moved.organizationId, domain)) ? moved : null
    },

    /** Who gets mail for the role addresses: the agent that the settings name, or the first one there is. Null while there is none. */
    async findPostmaster(): Promise<MailboxOwner | null> {
      const named = settings.postmaster === null ? null : await loadByHandle(settings.postmaster)
      return named ?? store.findFirstOwner(db)
    },

    /** Who gets mail for the role addresses of a custom domain that we serve: the first agent on it, or else the first of its organization. */
    findDomainPostmaster: (domain: string): Promise<MailboxOwner | null> => store.findDomainPostmaster(db, domain),

    /**
     * True when mail for this recipient is ours to file or to refuse, and never sent outside: its mailbox is here, or its domain is the mail
     * domain or one that we serve.
     */
    async isHostedRecipient(recipient: string): Promise<boolean> {
      const address = mailboxAddressOf(recipient)
      if (address === null) return false
      const domain = address.slice(address.lastIndexOf('@') + 1)
      if (domain === settings.mailDomain) return true
      const [isServed, owner] = await Promise.all([domains.isServed(domain), this.findHosted(recipient)])
      return isServed || owner !== null
    },

    /** Moves the mailboxes of a domain that is about to go to the mail domain. */
    moveToMailDomain: (tx: Tx, organizationId: string, domainId: string): Promise<void> =>
      store.moveMailboxes(tx, organizationId, domainId, settings.mailDomain, now()),

    findAgent: createFindAgent(db),

    /** Registers a hook for deletions. Hooks run one after another, in the order of their registration. */
    onDelete(hook: DeleteHook): void {
      deleteHooks.push(hook)
    },

    /** Registers the custom domains, which a mailbox address may be on. */
    useDomains(registered: CustomDomains): void {
      domains = registered
    },
  }
}

/** Finds the agent that a new key is limited to. */
export const createFindAgent = (db: Database) => async (organizationId: string, handle: string) => {
  const row = await store.findIdentity(db, organizationId, handle)
  return row && { identityId: row.id, handle: row.agent_handle }
}

/** True when what this caller writes has to be sent by somebody else. */
export const needsApproval = (caller: Caller, owner: MailboxOwner): boolean => caller.agent !== null && owner.draftApproval === 'required'

export const approvalRequired = (): ApiError =>
  new ApiError(
    'approval_required',
    'Mail of this agent needs approval: its own key writes drafts, and an organization key sends or schedules them.',
  )

const toMailboxName = (reference: string): string =>
  reference.includes('@') && !reference.startsWith('@') ? (normalizeAddress(reference) ?? reference) : normalizeHandle(reference)

function toMailbox(row: MailboxRow): Static<typeof Mailbox> {
  return {
    id: row.id,
    email_address: row.address,
    agent_handle: row.agent_handle,
    agent_identity_id: row.identity_id,
    display_name: row.display_name,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
