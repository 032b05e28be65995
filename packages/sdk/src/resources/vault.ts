// Requests of the vault, which carry ciphertext.
// Printed from the contract by npm run docs. Do not edit.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as vault from '@callsign/contract/vault'
import { type Connection, path, type RequestOptions } from '../connection/request.ts'

export class VaultCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Stores a secret that the client has encrypted. Name and description are not encrypted. The client may choose the id, which is bound
   * into the encryption. An id cannot be used again, even after deletion.
   */
  createVaultSecret(
    body: BodyOf<typeof vault.createVaultSecret>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.createVaultSecret>> {
    return this.#connection.request({ method: 'POST', path: '/vault/secrets', body, isKeyed: true, options })
  }

  /** Deletes a recovery key. Any key of the vault authorizes it. The primary key can only be replaced. */
  deleteVaultKey(
    id: string,
    body: BodyOf<typeof vault.deleteVaultKey>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.deleteVaultKey>> {
    return this.#connection.request({ method: 'DELETE', path: path`/vault/keys/${id}`, body, options })
  }

  /** Deletes a secret with its grants. This cannot be undone. Deleting a secret again succeeds. */
  deleteVaultSecret(id: string, options?: RequestOptions): Promise<ReplyOf<typeof vault.deleteVaultSecret>> {
    return this.#connection.request({ method: 'DELETE', path: path`/vault/secrets/${id}`, options })
  }

  /**
   * Returns the parameters from which a client derives the master key. `initialized` is false until the vault exists. The server has no key
   * and cannot decrypt a secret.
   */
  getVault(options?: RequestOptions): Promise<ReplyOf<typeof vault.getVault>> {
    return this.#connection.request({ method: 'GET', path: '/vault', options })
  }

  /** Returns one secret as ciphertext. Organization keys also get the agents that can read it, in `access`. */
  getVaultSecret(id: string, options?: RequestOptions): Promise<ReplyOf<typeof vault.getVaultSecret>> {
    return this.#connection.request({ method: 'GET', path: path`/vault/secrets/${id}`, options })
  }

  /**
   * Lets an agent read a secret with its own key, if that key has the scope `vault:read`. The server enforces grants. To decrypt, the agent
   * also needs the vault key. Repeating the request returns the first grant.
   */
  grantVaultAccess(
    id: string,
    body: BodyOf<typeof vault.grantVaultAccess>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.grantVaultAccess>> {
    return this.#connection.request({ method: 'POST', path: path`/vault/secrets/${id}/access`, body, isKeyed: true, options })
  }

  /**
   * Creates the vault. The client makes an organization key, encrypts it with the master key, and sends the result with a hash that proves
   * knowledge of the master key. Of several attempts at once, exactly one succeeds, and the others get `409 vault_already_initialized`.
   * Store the recovery codes: without the vault key and without a code, the secrets cannot be decrypted.
   */
  initializeVault(body: BodyOf<typeof vault.initializeVault>, options?: RequestOptions): Promise<ReplyOf<typeof vault.initializeVault>> {
    return this.#connection.request({ method: 'POST', path: '/vault/initialize', body, isKeyed: true, options })
  }

  /** Returns the agents that a secret is granted to, newest grant first. */
  listVaultAccess(
    id: string,
    query?: QueryOf<typeof vault.listVaultAccess>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.listVaultAccess>> {
    return this.#connection.request({ method: 'GET', path: path`/vault/secrets/${id}/access`, query, options })
  }

  /**
   * Returns the primary key and the unused recovery keys, with their derivation parameters and last use. No reply contains a wrapped key.
   */
  listVaultKeys(options?: RequestOptions): Promise<ReplyOf<typeof vault.listVaultKeys>> {
    return this.#connection.request({ method: 'GET', path: '/vault/keys', options })
  }

  /**
   * Returns secrets as ciphertext, newest first. An agent key needs the scope `vault:read`, and lists the secrets that are granted to its
   * agent.
   */
  listVaultSecrets(
    query?: QueryOf<typeof vault.listVaultSecrets>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.listVaultSecrets>> {
    return this.#connection.request({ method: 'GET', path: '/vault/secrets', query, options })
  }

  /**
   * Replaces the primary key: the client encrypts the same organization key with a new master key. Authorize it with `current_auth_hash`,
   * or with `recovery_auth_hash`, which uses up that recovery key. Secrets and grants stay. It does not lock out a person with a copy of
   * the organization key: rotate the vault for that.
   */
  replaceVaultPrimaryKey(
    body: BodyOf<typeof vault.replacePrimaryKey>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.replacePrimaryKey>> {
    return this.#connection.request({ method: 'PUT', path: '/vault/keys/primary', body, options })
  }

  /** Revokes a grant. The agent may have stored the secret already, so change the secret itself as well. */
  revokeVaultAccess(id: string, identityId: string, options?: RequestOptions): Promise<ReplyOf<typeof vault.revokeVaultAccess>> {
    return this.#connection.request({ method: 'DELETE', path: path`/vault/secrets/${id}/access/${identityId}`, options })
  }

  /**
   * Replaces the organization key. Send every secret, encrypted again with the new key, with its current revision. The rotation happens
   * whole or not at all. `409 vault_rotation_conflict` lists the secrets that have changed since: read them and try again. Old recovery
   * keys are deleted.
   */
  rotateVault(body: BodyOf<typeof vault.rotateVault>, options?: RequestOptions): Promise<ReplyOf<typeof vault.rotateVault>> {
    return this.#connection.request({ method: 'POST', path: '/vault/rotate', body, options })
  }

  /**
   * Returns the encrypted organization key and every secret that the caller can read. The client proves that it knows the master key with
   * `auth_hash`. An agent key needs the scope `vault:read`, and gets the secrets that are granted to its agent. After ten wrong hashes in
   * 15 minutes, requests are rejected with 429.
   */
  unlockVault(body: BodyOf<typeof vault.unlockVault>, options?: RequestOptions): Promise<ReplyOf<typeof vault.unlockVault>> {
    return this.#connection.request({ method: 'POST', path: '/vault/unlock', body, options })
  }

  /**
   * Changes name, description or payload. Give the `revision` that you read: `409 vault_secret_conflict` means that the secret has changed
   * since. The type is permanent.
   */
  updateVaultSecret(
    id: string,
    body: BodyOf<typeof vault.updateVaultSecret>,
    options?: RequestOptions,
  ): Promise<ReplyOf<typeof vault.updateVaultSecret>> {
    return this.#connection.request({ method: 'PATCH', path: path`/vault/secrets/${id}`, body, options })
  }
}
