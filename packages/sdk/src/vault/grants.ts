// Grants of secrets to agents. The server enforces them by withholding ciphertext.
import type { ReplyOf } from '@callsign/contract/operation'
import type { grantVaultAccess, listVaultAccess, listVaultSecrets } from '@callsign/contract/vault-secrets'
import { allItems } from '../pages.ts'
import { type Connection, path } from '../request.ts'

/** The agent that a grant is for. */
export type Grantee = { identityId: string } | { agentHandle: string }
export type Grant = ReplyOf<typeof grantVaultAccess>
export type GrantedAgent = { identityId: string; agentHandle: string }

export function grantSecret(connection: Connection, id: string, to: Grantee): Promise<Grant> {
  const body = 'identityId' in to ? { identity_id: to.identityId } : { agent_handle: to.agentHandle }
  return connection.request({ method: 'POST', path: path`/vault/secrets/${id}/access`, body, isKeyed: true })
}

export async function revokeSecret(connection: Connection, id: string, from: Grantee): Promise<void> {
  const identity = 'identityId' in from ? from.identityId : from.agentHandle
  await connection.request({ method: 'DELETE', path: path`/vault/secrets/${id}/access/${identity}` })
}

export function listGrants(connection: Connection, id: string): Promise<Grant[]> {
  const list = (cursor: string | undefined): Promise<ReplyOf<typeof listVaultAccess>> =>
    connection.request({ method: 'GET', path: path`/vault/secrets/${id}/access`, query: { cursor, limit: 100 } })
  return allItems(list)
}

/** The agents that each secret is granted to, by the id of the secret. The server leaves `access` out for agent keys. */
export async function listAllGrants(connection: Connection): Promise<Record<string, GrantedAgent[]>> {
  const list = (cursor: string | undefined): Promise<ReplyOf<typeof listVaultSecrets>> =>
    connection.request({ method: 'GET', path: '/vault/secrets', query: { cursor, limit: 100 } })
  return Object.fromEntries(
    (await allItems(list)).map(({ id, access = [] }) => [
      id,
      access.map(({ identity_id: identityId, agent_handle: agentHandle }) => ({ identityId, agentHandle })),
    ]),
  )
}
