// The organization, its agents with their addresses, keys and usage, and its logs.
// Printed from the contract by npm run docs. Do not edit.
import type * as accounts from '@callsign/contract/accounts'
import type * as addresses from '@callsign/contract/addresses'
import type * as identities from '@callsign/contract/identities'
import type * as keys from '@callsign/contract/keys'
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as organization from '@callsign/contract/organization'
import type * as requests from '@callsign/contract/requests'
import type * as storage from '@callsign/contract/storage'
import type * as usage from '@callsign/contract/usage'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export type CallerInfo = ReplyOf<typeof accounts.getCaller>
export type AuditPage = ReplyOf<typeof accounts.listAudit>
export type AuditEntry = ReplyOf<typeof accounts.listAudit>['data'][number]
export type Organization = ReplyOf<typeof organization.getOrganization>
export type Identity = ReplyOf<typeof identities.getIdentity>
export type IdentityPage = ReplyOf<typeof identities.listIdentities>
export type Address = ReplyOf<typeof addresses.createAddress>
export type AddressPage = ReplyOf<typeof addresses.listAddresses>
export type CreatedKey = ReplyOf<typeof keys.createKey>
export type KeyPage = ReplyOf<typeof keys.listKeys>
export type Key = ReplyOf<typeof keys.listKeys>['data'][number]
export type UsagePage = ReplyOf<typeof usage.listUsage>
export type UsageDay = ReplyOf<typeof usage.listUsage>['data'][number]
export type StoragePage = ReplyOf<typeof storage.listStorage>
export type StorageUse = ReplyOf<typeof storage.listStorage>['data'][number]
export type RetentionPreview = ReplyOf<typeof storage.previewRetention>
export type ApiRequest = ReplyOf<typeof requests.getRequest>
export type ApiRequestPage = ReplyOf<typeof requests.listRequests>

/**
 * Returns the owner of the key. Use it to test a key, and to check if it is limited to one agent. `role` is `agent` for an agent key.
 * `key.scopes` lists its scopes, and is empty for the default of its type.
 */
export const getCaller = (connection: Connection, options?: RequestOptions): Promise<CallerInfo> =>
  connection.request({ method: 'GET', path: '/me', options })

export class OrganizationSettings {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns the organization. `sending_limits` are the limits in force for all its mail together, and `key_sending_limits` those of each
   * key. While `paused_at` is set, messages are accepted with status `queued` and held.
   */
  get(options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'GET', path: '/organization', options })
  }

  /**
   * Stops all sending of all agents, for example because one of them does damage. Messages that wait for a further attempt are held too. An
   * attempt that a server is already receiving ends normally. Further messages are accepted with status `queued`. The pause and its reason
   * are in the audit log.
   */
  pause(body: BodyOf<typeof organization.pauseOrganization> = {}, options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'POST', path: '/organization/pause', body, options })
  }

  /** Ends the pause and starts the delivery of everything that was held, each message once. */
  resume(options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'POST', path: '/organization/resume', options })
  }

  /**
   * Changes the given limits. `null` returns a limit to the default of the server. A send above a limit is `429 sending_limit_reached` with
   * `Retry-After`, and `details` names the limit and the remainder. Limits of one agent are `sending_limits` of its identity.
   * `storage_quota_bytes` limits stored mail, and `retention` sets the days after which data is deleted. Preview a retention with `GET
   * /retention/preview` first.
   */
  update(body: BodyOf<typeof organization.updateOrganization>, options?: RequestOptions): Promise<Organization> {
    return this.#connection.request({ method: 'PATCH', path: '/organization', body, options })
  }
}

export class Identities {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Creates an agent with a mailbox and a tunnel. Its address is the handle at the default domain, or `local_part` at the domain that you
   * name with `domain` or `custom_domain_id`. A handle is permanent: it cannot be changed, and it stays reserved after deletion. `409
   * handle_already_taken` means that another identity has, or had, this handle. Reserved names such as `postmaster` are rejected with 400.
   */
  create(body: BodyOf<typeof identities.createIdentity>, options?: RequestOptions): Promise<Identity> {
    return this.#connection.request({ method: 'POST', path: '/identities', body, isKeyed: true, options })
  }

  /**
   * Deletes an identity with everything that belongs to it: mailbox, messages, drafts, tunnel, keys and grants. Its keys stop working with
   * the next request. This cannot be undone, and the handle cannot be used again.
   */
  delete(handle: string, options?: RequestOptions): Promise<void> {
    return this.#connection.request({ method: 'DELETE', path: path`/identities/${handle}`, options })
  }

  /** Returns one identity with the address of its mailbox and the URL of its tunnel. Name it by its handle or its id. */
  get(handle: string, options?: RequestOptions): Promise<Identity> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}`, options })
  }

  /**
   * Returns one page of identities, newest first. An agent key gets a list with its own identity. `metadata=key:value` selects by a key of
   * the metadata.
   */
  list(query?: QueryOf<typeof identities.listIdentities>, options?: RequestOptions): Promise<IdentityPage> {
    return this.#connection.request({ method: 'GET', path: '/identities', query, options })
  }

  /**
   * Changes the given fields and keeps the others. With `draft_approval: required`, the key of the agent can only write drafts, which a
   * person or a program with an organization key sends. With `inbound_mode` or `outbound_mode` set to `allowlist`, the agent exchanges mail
   * only with addresses that a mail rule allows. `outbound_guard` searches outgoing mail for secrets and flags the message or holds it for
   * approval. `sending_limits` limit the mail that the agent sends. `storage_quota_bytes` limits the mail that it stores, and `retention`
   * sets the days after which its mail is deleted. `metadata` sets the keys that you give and deletes those with `null`. Moving a mailbox
   * with `custom_domain_id` changes its address, and mail to the old address is refused.
   */
  update(handle: string, body: BodyOf<typeof identities.updateIdentity>, options?: RequestOptions): Promise<Identity> {
    return this.#connection.request({ method: 'PATCH', path: path`/identities/${handle}`, body, options })
  }
}

export class Addresses {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Adds an address to an agent, on a verified domain of the organization or on the mail domain. Mail to it arrives in the mailbox of the
   * agent, which can also send from it. The same local part can exist on several domains. On the mail domain, a local part of the form of a
   * handle belongs to the identity with that handle. With `local_part: *`, the agent receives all mail to addresses that do not exist on a
   * custom domain, and can send from any of them. `409 address_already_taken` means that another identity has the address, or another
   * organization had it. An identity has at most 100 addresses.
   */
  create(handle: string, body: BodyOf<typeof addresses.createAddress> = {}, options?: RequestOptions): Promise<Address> {
    return this.#connection.request({ method: 'POST', path: path`/identities/${handle}/addresses`, body, isKeyed: true, options })
  }

  /**
   * Deletes an address. Mail to it is refused with `550 5.1.1`, and messages stay in the mailbox. Only the same organization can create it
   * again, for any of its agents. The primary address is rejected with 409: make another one primary first.
   */
  delete(handle: string, address: string, options?: RequestOptions): Promise<ReplyOf<typeof addresses.deleteAddress>> {
    return this.#connection.request({ method: 'DELETE', path: path`/identities/${handle}/addresses/${address}`, options })
  }

  /** Returns one page of the addresses of an agent, newest first. An agent key can read the addresses of its own agent. */
  list(handle: string, query?: QueryOf<typeof addresses.listAddresses>, options?: RequestOptions): Promise<AddressPage> {
    return this.#connection.request({ method: 'GET', path: path`/identities/${handle}/addresses`, query, options })
  }

  /**
   * Makes an address of the agent its primary one. Mail that names no other `from` is sent from it, and `mailbox_address` shows it. The
   * address before it stays with the agent. A catch-all address cannot be the primary one.
   */
  setPrimary(handle: string, address: string, options?: RequestOptions): Promise<Address> {
    return this.#connection.request({ method: 'POST', path: path`/identities/${handle}/addresses/${address}/set-primary`, options })
  }
}

export class Keys {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Creates an API key. An `agent` key is limited to the agents in `agent_handle` or `agent_handles`. `scopes` lists the rights of the key,
   * and a request without the scope is answered with 403 `forbidden`. Without scopes, an organization key may do everything, and an agent
   * key has the preset `agent`, which does not read the vault. `allowed_ips` limits the addresses from which the key is accepted. A key
   * cannot create a key with more access than its own. Without `expires_at`, a key is valid until you revoke it. The server stores a salted
   * hash, so the plaintext in `key` cannot be shown again.
   */
  create(body: BodyOf<typeof keys.createKey>, options?: RequestOptions): Promise<CreatedKey> {
    return this.#connection.request({ method: 'POST', path: '/keys', body, isKeyed: true, options })
  }

  /** Returns one page of keys, newest first, with the time of their last use. Revoked and expired keys are included. */
  list(query?: QueryOf<typeof keys.listKeys>, options?: RequestOptions): Promise<KeyPage> {
    return this.#connection.request({ method: 'GET', path: '/keys', query, options })
  }

  /**
   * Revokes a key. The next request with it is rejected with 401, and its open tunnels and event streams are closed within a second.
   * Revoking a key again returns the time of the first revocation.
   */
  revoke(id: string, options?: RequestOptions): Promise<ReplyOf<typeof keys.revokeKey>> {
    return this.#connection.request({ method: 'DELETE', path: path`/keys/${id}`, options })
  }

  /** Changes the name of a key, which lists and the audit log show. Revoked keys and connected apps can be renamed too. */
  update(id: string, body: BodyOf<typeof keys.updateKey>, options?: RequestOptions): Promise<Key> {
    return this.#connection.request({ method: 'PATCH', path: path`/keys/${id}`, body, options })
  }
}

export class Audit {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns audit entries. Every change to identities, keys, domains, webhooks, rules and the vault is an entry, with the key that made it
   * and the request id. Entries never contain secrets or the text of messages.
   */
  list(query?: QueryOf<typeof accounts.listAudit>, options?: RequestOptions): Promise<AuditPage> {
    return this.#connection.request({ method: 'GET', path: '/audit', query, options })
  }
}

export class Usage {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Returns one item per day with mail, newest day first. Days without mail are left out. Without `by`, an item counts the whole
   * organization. `by=agent` returns one item per day and agent, and `by=domain` one per day and domain. `agent_handle` and `domain` return
   * the items of that agent or domain. `start_date` and `end_date` are days in UTC, and are both included. The default is the last 30 days.
   * A message is counted on the day on which it reaches a status, and stays counted when it is deleted. A message to several recipients
   * counts once, with the status of the message. Counts are kept for 400 days.
   */
  list(query?: QueryOf<typeof usage.listUsage>, options?: RequestOptions): Promise<UsagePage> {
    return this.#connection.request({ method: 'GET', path: '/usage', query, options })
  }

  /**
   * Returns the bytes of stored mail: all messages, also those in the trash and in quarantine, and the attachments of drafts. A message to
   * two agents counts for both. `quota_bytes` is the quota in force, or `null` without one. Incoming mail that does not fit is answered
   * with `452 4.2.2`, and a send or draft with 409 `storage_quota_exceeded`. At 80 % of a quota the event `storage.nearly_full` is emitted
   * once, and `storage.full` when mail was refused or the quota is used up.
   */
  listStorage(query?: QueryOf<typeof storage.listStorage>, options?: RequestOptions): Promise<StoragePage> {
    return this.#connection.request({ method: 'GET', path: '/usage/storage', query, options })
  }

  /**
   * Counts the data that a retention with these days would delete now, before you set it with `retention` of the organization or of an
   * identity. Without `agent_handle`, agents with a day of their own are left out, because a retention of the organization does not apply
   * to them. Messages that wait for their delivery, and those that a scheduled draft or one that waits for approval answers or forwards,
   * are held and not deleted.
   */
  previewRetention(query: QueryOf<typeof storage.previewRetention>, options?: RequestOptions): Promise<RetentionPreview> {
    return this.#connection.request({ method: 'GET', path: '/retention/preview', query, options })
  }
}

export class Requests {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns one request by the id in its `X-Request-Id` header, which error responses also contain as `error.request_id`. */
  get(id: string, options?: RequestOptions): Promise<ApiRequest> {
    return this.#connection.request({ method: 'GET', path: path`/requests/${id}`, options })
  }

  /**
   * Returns one page of API requests, newest first. A request appears within a second after its response. Requests without a valid key, and
   * requests of people signed in to the console, are not in the log. The server stores neither bodies nor headers nor the values of query
   * parameters, and it shows a parameter of the path only if it is an id. `status_class` is the first digit of the status, such as `4xx`.
   * Requests are kept for `CALLSIGN_REQUEST_LOG_DAYS`, 30 by default. With 0, the log is off and the list is empty.
   */
  list(query?: QueryOf<typeof requests.listRequests>, options?: RequestOptions): Promise<ApiRequestPage> {
    return this.#connection.request({ method: 'GET', path: '/requests', query, options })
  }
}
