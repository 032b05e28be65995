// Decides which mailbox a request, a sender or a recipient address names.
import type { Mailbox } from '@callsign/contract/identities'
import { isId } from '@callsign/contract/ids'
import type { Static } from 'typebox'
import { batchLoader } from '../../../core/batch.ts'
import type { Caller, CallerAgent } from '../../../core/caller.ts'
import { forbidden, notFound } from '../../../core/errors.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Database, Sql, Tx } from '../../../core/sql.ts'
import { approvalRequired, needsApproval } from './approval.ts'
import {
  catchAllPart,
  domainOf,
  isReservedLocalPart,
  localPartOf,
  type MailboxOwner,
  type MailboxRow,
  mailboxAddressOf,
  normalizeAddress,
  normalizeHandle,
} from './model.ts'
import * as store from './store.ts'

export interface Mailboxes {
  /** `GET /mailboxes`: newest first. An agent key sees its own mailbox. */
  listMailboxes(caller: Caller, query: PageQuery): Promise<Page<Static<typeof Mailbox>>>
  /** `GET /mailboxes/{email_address}`. */
  getMailbox(caller: Caller, reference: string): Promise<Static<typeof Mailbox>>
  /**
   * The mailbox with this id or handle, or any of its addresses. An agent key gets 403 for every mailbox but its own, existing or not. An organization key
   * gets 404 for a mailbox of another organization.
   */
  requireMailbox(caller: Caller, reference: string): Promise<MailboxOwner>
  /** The mailbox that a caller sends from. Throws 403 for an agent key whose mail needs approval. */
  requireSender(caller: Caller, reference: string): Promise<MailboxOwner>
  /**
   * True when the reference is the handle or the primary address of the mailbox of this row, and the caller may have it. Saves a query to
   * callers that have the row.
   */
  isMailboxNamed(caller: Caller, reference: string, owner: { organization_id: string; agent_handle: string; address: string }): boolean
  /** The current owner of a mailbox. Null when the mailbox was deleted. */
  findOwner(mailboxId: string): Promise<MailboxOwner | null>
  /** The agent with this handle in any organization: people outside know agents by their handle only. */
  findByHandle(handle: string): Promise<MailboxOwner | null>
  /**
   * The mailbox for mail to this recipient, or null without one here. Plus tags are ignored. Mail to an address that does not exist goes to
   * the catch-all address of its domain, if it has one.
   */
  findHosted(recipient: string): Promise<MailboxOwner | null>
  /**
   * The mailbox that a queued message leaves from, also after the mailbox has moved, while its organization may still use the old address.
   * Null when the mailbox was deleted or may not send from that address any more.
   */
  findSender(mailboxId: string, fromAddress: string): Promise<MailboxOwner | null>
  /**
   * The receiver of mail to postmaster and abuse at a domain, which is the agent that the settings name. At a custom domain, its organization
   * must hold the domain. Null otherwise, because such mail can prove control over the domain to a certificate authority.
   */
  findPostmaster(domain: string): Promise<MailboxOwner | null>
  /**
   * True when mail to this recipient is filed or refused here and never sent outside: its mailbox or its domain is served here. `sql` is the
   * transaction that the caller is in.
   */
  isHostedRecipient(recipient: string, sql?: Sql): Promise<boolean>
}

/** The questions that mailbox addresses have about custom domains, which register themselves with `useDomains`. */
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
  isServed(domain: string, sql?: Sql): Promise<boolean>
}

type Settings = { mailDomain: string; postmaster: string | null }

export function createMailboxes(db: Database, domains: () => CustomDomains, settings: Settings): Mailboxes {
  const loadByAddress = batchLoader((addresses) => store.findOwnersByAddress(db, addresses))
  const loadByHandle = batchLoader((handles) => store.findOwnersByHandle(db, handles))

  async function requireMailbox(caller: Caller, reference: string): Promise<MailboxOwner> {
    const name = toMailboxName(reference)
    const { agents } = caller
    const foreign = () => forbidden('This key belongs to another agent. Use a key of this agent or an organization key.')
    const isNamed = ({ handle, mailboxId, address }: CallerAgent): boolean => [handle, mailboxId, address].includes(name)
    if (agents && !name.includes('@') && !agents.some(isNamed)) throw foreign()
    const owner = name.includes('@')
      ? (await loadByAddress(name))?.find(({ organizationId }) => organizationId === caller.organizationId)
      : isId('mailbox', name)
        ? await store.findOwner(db, name)
        : await loadByHandle(name)
    const isOwn = (agent: CallerAgent): boolean => owner?.mailboxId === agent.mailboxId || isNamed(agent)
    if (agents && !agents.some(isOwn)) throw foreign()
    if (!owner || owner.organizationId !== caller.organizationId) throw notFound('mailbox')
    return owner
  }

  async function findByAddress(sql: Sql, address: string): Promise<MailboxOwner[] | null> {
    return (await store.findOwnersByAddress(sql, [address])).get(address) ?? null
  }

  async function findHosted(recipient: string, sql?: Sql): Promise<MailboxOwner | null> {
    const address = mailboxAddressOf(recipient)
    if (address === null) return null
    const domain = domainOf(address)
    const hasCatchAll = domain !== settings.mailDomain && !isReservedLocalPart(localPartOf(address), false)
    // Loaded together in one statement.
    const load = sql ? (one: string) => findByAddress(sql, one) : loadByAddress
    const [exact, catchAll] = await Promise.all([load(address), hasCatchAll ? load(`${catchAllPart}@${domain}`) : null])
    return exact?.find(isReachable) ?? catchAll?.find(isReachable) ?? null
  }

  return {
    requireMailbox,
    findHosted: (recipient) => findHosted(recipient),

    async listMailboxes(caller, query) {
      const page = readPage(query, 'mailbox')
      const rows = await store.listMailboxes(db.reads, caller.organizationId, caller.agents?.map((agent) => agent.mailboxId) ?? null, page)
      return toPage(rows, page.limit, (row) => row.id, toMailbox)
    },

    async getMailbox(caller, reference) {
      const owner = await requireMailbox(caller, reference)
      const row = await store.getMailbox(db, owner.mailboxId)
      if (!row) throw notFound('mailbox')
      return toMailbox(row)
    },

    async requireSender(caller, reference) {
      const owner = await requireMailbox(caller, reference)
      if (needsApproval(caller, owner)) throw approvalRequired()
      return owner
    },

    findOwner: (mailboxId) => store.findOwner(db, mailboxId),

    isMailboxNamed(caller, reference, owner) {
      if (owner.organization_id !== caller.organizationId) return false
      if (caller.agents && !caller.agents.some((agent) => agent.handle === owner.agent_handle)) return false
      if (reference === owner.agent_handle || reference === owner.address) return true
      const name = toMailboxName(reference)
      return name === owner.agent_handle || name === owner.address
    },

    findByHandle: (handle) => loadByHandle(handle),

    async findSender(mailboxId, fromAddress) {
      const owner = await findHosted(fromAddress)
      if (owner?.mailboxId === mailboxId) return owner
      const moved = await store.findOwner(db, mailboxId)
      const domain = domainOf(fromAddress)
      if (!moved || moved.address === fromAddress) return null
      return domain === settings.mailDomain || (await domains().isHeldBy(moved.organizationId, domain)) ? moved : null
    },

    async findPostmaster(domain) {
      const named = settings.postmaster === null ? null : await loadByHandle(settings.postmaster)
      if (!named || domain === settings.mailDomain) return named
      return (await domains().isHeldBy(named.organizationId, domain)) ? named : null
    },

    async isHostedRecipient(recipient, sql) {
      const address = mailboxAddressOf(recipient)
      if (address === null) return false
      const domain = domainOf(address)
      if (domain === settings.mailDomain) return true
      const [isServed, owner] = await Promise.all([domains().isServed(domain, sql), findHosted(recipient, sql)])
      return isServed || owner !== null
    },
  }
}

const isReachable = (owner: MailboxOwner): boolean => owner.isReachable

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
