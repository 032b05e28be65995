// The endpoints of the vault. Agent keys read, with the scope vault:read; everything else is the organization's business.
import * as contract from '@callsign/contract/vault'
import { invalid } from '../../core/errors.ts'
import { type Route, route } from '../../core/route.ts'
import type { Vaults } from './operations.ts'

export const vaultRoutes = (vaults: Vaults): Route[] => [
  route(contract.getVault, 'agent', (call) => vaults.getVault(call.caller)),
  route(contract.initializeVault, 'organization', (call, { body }) => vaults.initialize(call, body)),
  route(contract.unlockVaultByQuery, 'agent', (call, { query }) => vaults.unlock(call, query.auth_hash)),
  route(contract.unlockVault, 'agent', (call, { body }) => vaults.unlock(call, body.auth_hash)),
  route(contract.createVaultSecret, 'organization', (call, { body }) => vaults.createSecret(call, body)),
  route(contract.listVaultSecrets, 'agent', (call, { query }) => vaults.listSecrets(call.caller, query)),
  route(contract.getVaultSecret, 'agent', (call, { params }) => vaults.getSecret(call.caller, params.id)),
  route(contract.updateVaultSecret, 'organization', (call, { params, body }) => vaults.updateSecret(call, params.id, body)),
  route(contract.updateVaultSecretByBody, 'organization', (call, { query, body: { id, ...change } }) =>
    vaults.updateSecret(call, oneId(query.id, id), change),
  ),
  route(contract.deleteVaultSecret, 'organization', (call, { params }) => vaults.deleteSecret(call, params.id)),
  route(contract.deleteVaultSecretByBody, 'organization', (call, { query, body }) =>
    vaults.deleteSecret(call, oneId(query.id, (body as typeof body | undefined)?.id)),
  ),
  route(contract.listVaultAccess, 'organization', (call, { params, query }) => vaults.listAccess(call.caller, params.id, query)),
  route(contract.grantVaultAccess, 'organization', (call, { params, body }) => vaults.grantAccess(call, params.id, body)),
  route(contract.revokeVaultAccess, 'organization', (call, { params }) =>
    vaults.revokeAccess(call, params.id, [{ identity_id: params.identity_id }]),
  ),
  route(contract.revokeVaultAccessByQuery, 'organization', (call, { params, query, body }) =>
    vaults.revokeAccess(call, params.id, [query, (body as typeof body | undefined) ?? {}]),
  ),
  route(contract.listVaultKeys, 'organization', (call) => vaults.listKeys(call.caller)),
  route(contract.replacePrimaryKey, 'organization', (call, { body }) => vaults.replacePrimaryKey(call, body)),
  route(contract.deleteVaultKey, 'organization', (call, { params, body }) => vaults.deleteKey(call, params.id, body)),
  route(contract.rotateVault, 'organization', (call, { body }) => vaults.rotate(call, body)),
]

/** The secret that a request on the collection names, in its query or its body. */
function oneId(inQuery: string | undefined, inBody: string | undefined): string {
  const id = inQuery ?? inBody
  if (id === undefined) throw invalid('/id', 'name the secret by id, in the query or the body')
  if (inBody !== undefined && inBody !== id) throw invalid('/id', 'the query and the body name two secrets')
  return id
}
