// Operations on the addresses of an identity: list, create, choose the primary one and delete.
import { randomInt } from 'node:crypto'
import { type Address, addressesMax, type createAddress } from '@callsign/contract/addresses'
import type { BodyOf } from '@callsign/contract/operation'
import type { Static } from 'typebox'
import type { Caller } from '../../../core/caller.ts'
import { now } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import { type Accounts, actorOf, clientIdTaken, createOnce } from '../organizations/operations.ts'
import * as store from './address-store.ts'
import type { CustomDomains } from './mailboxes.ts'
import {
  catchAllPart,
  domainOf,
  type IdentityRow,
  isHandleShaped,
  isLocalPart,
  isReservedLocalPart,
  localPartOf,
  normalizeAddress,
} from './model.ts'

type AddressView = Static<typeof Address>

export interface Addresses {
  /** `GET /identities/{handle}/addresses`: newest first. */
  listAddresses(caller: Caller, reference: string, query: PageQuery): Promise<Page<AddressView>>
  /** `POST /identities/{handle}/addresses`. */
  createAddress(call: Call, reference: string, body: BodyOf<typeof createAddress>): Promise<AddressView>
  /** `POST /identities/{handle}/addresses/{email_address}/set-primary`. */
  setPrimaryAddress(call: Call, reference: string, address: string): Promise<AddressView>
  /** `DELETE /identities/{handle}/addresses/{email_address}`: the address stays with the organization. */
  deleteAddress(call: Call, reference: string, address: string): Promise<{ id: string; deleted: true }>
  /** Every address of an identity, catch-all addresses too. */
  findAddresses(identityId: string): Promise<string[]>
  /**
   * Moves the mailboxes of a custom domain to the mail domain, in the transaction that deletes the domain and with it their addresses there.
   * Resolves with the number of moved mailboxes. Those with a primary address elsewhere stay.
   */
  moveToMailDomain(tx: Tx, organizationId: string, domainId: string): Promise<number>
}

/** The identity that an address is for. */
export type AddressOwner = { organizationId: string; identityId: string }

/** The domain of an address. Null for the mail domain. */
export type AddressDomain = { id: string; domain: string } | null

type Parts = {
  db: Database
  accounts: Accounts
  domains: () => CustomDomains
  mailDomain: string
  findOwn: (caller: Caller, reference: string) => Promise<IdentityRow>
}

const generatedAlphabet = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A local part that no one has chosen. The hyphen keeps it apart from handles. */
const generateLocalPart = (): string =>
  `agent-${Array.from({ length: 10 }, () => generatedAlphabet[randomInt(generatedAlphabet.length)]).join('')}`

export const addressTaken = (address: string): ApiError =>
  new ApiError('address_already_taken', `The address ${address} is taken, perhaps by a deleted identity or as a handle: choose another.`)

/** Checks a local part. Throws 400 for a malformed one, and 409 for a reserved one. `path` is the field of the request. */
export function checkLocalPart(localPart: string, domain: AddressDomain, mailDomain: string, path = '/local_part'): void {
  if (!isLocalPart(localPart))
    throw invalid(path, "must have letters, digits, dots between them, or one of -_!#$%&'*/=?^`{|}~, at most 64. A + separates a tag")
  if (localPart === catchAllPart && domain === null)
    throw invalid(path, 'must not be * on the mail domain: a catch-all needs a custom domain')
  if (isReservedLocalPart(localPart, domain === null)) throw addressTaken(`${localPart}@${domain?.domain ?? mailDomain}`)
}

/** Takes the handle that a local part on the mail domain stands for. Throws 409 when it belongs to another identity. */
export async function reserveLocalPart(tx: Tx, owner: AddressOwner, localPart: string, domain: AddressDomain, mailDomain: string) {
  if (domain !== null || !isHandleShaped(localPart)) return
  if (!(await store.reserveHandle(tx, owner.organizationId, localPart, owner.identityId, now())))
    throw addressTaken(`${localPart}@${mailDomain}`)
}

export function createAddresses({ db, accounts, domains, mailDomain, findOwn }: Parts) {
  const toView = (row: store.AddressRow, handle: string, primary: string): AddressView => ({
    id: row.id,
    email_address: row.address,
    local_part: localPartOf(row.address),
    domain: domainOf(row.address),
    custom_domain_id: row.domain_id,
    agent_handle: handle,
    is_primary: row.address === primary,
    is_catch_all: localPartOf(row.address) === catchAllPart,
    client_id: row.client_id,
    created_at: row.created_at.toISOString(),
  })

  async function requireLocked(tx: Tx, identityId: string): Promise<string> {
    const primary = await store.lockAddresses(tx, identityId)
    if (primary === null) throw notFound('identity')
    return primary
  }

  /** Adds an address to an identity whose addresses are locked. Throws 409 when another identity has it, or another organization had it. */
  async function addAddress(
    tx: Tx,
    owner: AddressOwner,
    localPart: string,
    domain: AddressDomain,
    clientId: string | null = null,
  ): Promise<store.AddressRow> {
    await reserveLocalPart(tx, owner, localPart, domain, mailDomain)
    const address = `${localPart}@${domain?.domain ?? mailDomain}`
    const row = {
      id: newId('address'),
      organization_id: owner.organizationId,
      identity_id: owner.identityId,
      address,
      domain_id: domain?.id ?? null,
      client_id: clientId,
      created_at: now(),
    }
    const [made] = await store.insertAddresses(tx, [row])
    if (!made) throw addressTaken(address)
    return made
  }

  /** An address of the identity. Throws 404 for every other one. */
  async function requireAddress(tx: Tx, row: IdentityRow, name: string): Promise<store.AddressRow> {
    const found = await store.findAddress(tx, row.organization_id, normalizeAddress(name) ?? name)
    if (found?.identity_id !== row.id) throw notFound('address')
    return found
  }

  const operations: Addresses = {
    async listAddresses(caller, reference, query) {
      const page = readPage(query, 'address')
      const identity = await findOwn(caller, reference)
      const rows = await store.listAddresses(db.reads, identity.id, page)
      return toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => toView(row, identity.agent_handle, identity.address),
      )
    },

    async createAddress(call, reference, body) {
      const identity = await findOwn(call.caller, reference)
      const owner = { organizationId: identity.organization_id, identityId: identity.id }
      const create = async (tx: Tx) => {
        const domain = await domains().chooseForIdentity(tx, owner.organizationId, body)
        const localPart = body.local_part ?? generateLocalPart()
        checkLocalPart(localPart, domain, mailDomain)
        if (body.is_primary && localPart === catchAllPart) throw invalid('/is_primary', 'must not be true for a catch-all address')
        const primary = await requireLocked(tx, owner.identityId)
        if ((await store.countAddresses(tx, owner.identityId)) >= addressesMax)
          throw new ApiError('conflict', `An identity has at most ${addressesMax} addresses. Delete one first.`)
        const row = await addAddress(tx, owner, localPart, domain, body.client_id)
        if (body.is_primary) await store.setPrimary(tx, [{ identityId: owner.identityId, address: row.address }], now())
        const details = { agent_handle: identity.agent_handle, email_address: row.address, is_primary: body.is_primary ?? false }
        await accounts.audit(tx, owner.organizationId, actorOf(call), 'address.created', row.id, details)
        return toView(row, identity.agent_handle, body.is_primary ? row.address : primary)
      }
      const find = async (tx: Tx, clientId: string) => {
        const row = await store.findAddressByClientId(tx, owner.organizationId, clientId)
        if (row && row.identity_id !== owner.identityId) throw clientIdTaken()
        return row && toView(row, identity.agent_handle, await requireLocked(tx, owner.identityId))
      }
      return call.transact((tx) =>
        createOnce(tx, { organizationId: owner.organizationId, kind: 'address', clientId: body.client_id }, find, create),
      )
    },

    async setPrimaryAddress(call, reference, name) {
      const identity = await findOwn(call.caller, reference)
      return call.transact(async (tx) => {
        const before = await requireLocked(tx, identity.id)
        const row = await requireAddress(tx, identity, name)
        if (localPartOf(row.address) === catchAllPart)
          throw new ApiError('conflict', 'A catch-all address cannot be the primary address. Choose another address.')
        if (row.address !== before) {
          await store.setPrimary(tx, [{ identityId: identity.id, address: row.address }], now())
          const details = { agent_handle: identity.agent_handle, email_address: row.address, before }
          await accounts.audit(tx, identity.organization_id, actorOf(call), 'address.primary_set', row.id, details)
        }
        return toView(row, identity.agent_handle, row.address)
      })
    },

    async deleteAddress(call, reference, name) {
      const identity = await findOwn(call.caller, reference)
      return call.transact(async (tx) => {
        const primary = await requireLocked(tx, identity.id)
        const row = await store.findAddress(tx, identity.organization_id, normalizeAddress(name) ?? name)
        if (!row || (row.identity_id !== null && row.identity_id !== identity.id)) throw notFound('address')
        if (row.address === primary && row.identity_id !== null)
          throw new ApiError('conflict', `${primary} is the primary address. Make another address the primary one first.`)
        if (row.identity_id !== null) {
          await store.releaseAddress(tx, identity.id, row.address)
          const details = { agent_handle: identity.agent_handle, email_address: row.address }
          await accounts.audit(tx, identity.organization_id, actorOf(call), 'address.deleted', row.id, details)
        }
        return { id: row.id, deleted: true as const }
      })
    },

    async findAddresses(identityId) {
      const rows = await store.listAddresses(db, identityId, { limit: addressesMax, cursor: null })
      return rows.map((row) => row.address)
    },

    async moveToMailDomain(tx, organizationId, domainId) {
      const moved = (await store.lockOfDomain(tx, domainId)).filter(({ isPrimary }) => isPrimary)
      const primaries = moved.map(({ identityId, handle }) => ({ identityId, address: `${handle}@${mailDomain}` }))
      const rows = primaries.map(({ identityId, address }) => ({
        id: newId('address'),
        organization_id: organizationId,
        identity_id: identityId,
        address,
        domain_id: null,
        client_id: null,
        created_at: now(),
      }))
      // An identity that already has its address on the mail domain keeps it.
      await store.insertAddresses(tx, rows)
      await store.setPrimary(tx, primaries, now())
      return moved.length
    },
  }

  /** Moves the primary address of an identity to another domain, and deletes the one before. Resolves with the new address. */
  async function movePrimary(tx: Tx, identity: IdentityRow, domain: AddressDomain): Promise<string> {
    const before = await requireLocked(tx, identity.id)
    const localPart = localPartOf(before)
    const address = `${localPart}@${domain?.domain ?? mailDomain}`
    if (address === before) return address
    checkLocalPart(localPart, domain, mailDomain, '/custom_domain_id')
    const present = await store.findAddress(tx, identity.organization_id, address)
    if (present?.identity_id !== identity.id)
      await addAddress(tx, { organizationId: identity.organization_id, identityId: identity.id }, localPart, domain)
    await store.setPrimary(tx, [{ identityId: identity.id, address }], now())
    await store.releaseAddress(tx, identity.id, before)
    return address
  }

  return { operations, movePrimary }
}
