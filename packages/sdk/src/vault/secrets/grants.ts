// Grants of secrets to agents. The server enforces them by withholding ciphertext.
import type { ReplyOf } from '@callsign/contract/operation'
import type { grantVaultAccess } from '@callsign/contract/vault-secrets'
import { allItems } from '../../pages.ts'
import type { VaultCalls } from '../../resources/vault.ts'

/** The agent that a grant is for. */
export type Grantee = { identityId: string } | { agentHandle: string }
export type Grant = ReplyOf<typeof grantVaultAccess>
export type GrantedAgent = { identityId: string; agentHandle: string }

export const grantSecret = (calls: VaultCalls, id: string, to: Grantee): Promise<Grant> =>
  calls.grantVaultAccess(id, 'identityId' in to ? { identity_id: to.identityId } : { agent_handle: to.agentHandle })

export async function revokeSecret(calls: VaultCalls, id: string, from: Grantee): Promise<void> {
  await calls.revokeVaultAccess(id, 'identityId' in from ? from.identityId : from.agentHandle)
}

export const listGrants = (calls: VaultCalls, id: string): Promise<Grant[]> =>
  allItems((cursor) => calls.listVaultAccess(id, { cursor, limit: 100 }))

/** The agents that each secret is granted to, by the id of the secret. The server leaves `access` out for agent keys. */
export async function listAllGrants(calls: VaultCalls): Promise<Record<string, GrantedAgent[]>> {
  const secrets = await allItems((cursor) => calls.listVaultSecrets({ cursor, limit: 100 }))
  return Object.fromEntries(
    secrets.map(({ id, access = [] }) => [
      id,
      access.map(({ identity_id: identityId, agent_handle: agentHandle }) => ({ identityId, agentHandle })),
    ]),
  )
}
