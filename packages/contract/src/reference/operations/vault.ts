// The reference of the vault. The SDK and the CLI encrypt and decrypt. Call these operations yourself only with a client of your own.
import type { OperationDetails } from '../operation-details.ts'
import { sampleBlob, sampleHash, sampleId, sampleSalt } from '../samples.ts'

const kdf = { kdf_salt: sampleSalt, kdf_params: { algorithm: 'argon2id', m: 65_536, t: 3, p: 1 } }
const secret = sampleId('vaultSecret')
const openVault = 'const vault = await callsign.vault.unlock(vaultKey)\n'
const openInPython = 'vault = callsign.vault.unlock(vault_key)\n'

export const vaultDetails: Record<string, OperationDetails> = {
  getVault: {
    description:
      'Returns the parameters from which a client derives the master key. `initialized` is false until the vault exists. The server has no key and cannot decrypt a secret.',
    sdk: 'const status = await callsign.vault.status()',
    cli: 'callsign vault list',
  },
  initializeVault: {
    description:
      'Creates the vault. The client makes an organization key, encrypts it with the master key, and sends the result with a hash that proves knowledge of the master key. Of several attempts at once, exactly one succeeds, and the others get `409 vault_already_initialized`. Store the recovery codes: without the vault key and without a code, the secrets cannot be decrypted.',
    keys: 'organization',
    body: { ...kdf, auth_hash: sampleHash, wrapped_org_key: sampleBlob },
    sdk: 'const { vaultKey, recoveryCodes } = await callsign.vault.initialize({ recoveryCodes: 3 })',
    python: 'new = callsign.vault.initialize(recovery_codes=3)\nvault_key, codes = new.vault_key, new.recovery_codes',
    cli: 'callsign vault init',
  },
  unlockVault: {
    description:
      'Returns the encrypted organization key and every secret that the caller can read. The client proves that it knows the master key with `auth_hash`. An agent key needs the scope `vault:read`, and gets the secrets that are granted to its agent. After ten wrong hashes in 15 minutes, requests are rejected with 429.',
    body: { auth_hash: sampleHash },
    sdk: "const vault = await callsign.vault.unlock(vaultKey)\nconst { payload } = await vault.get('bank')",
    python: `${openInPython}payload = vault.get("bank").payload`,
    cli: 'callsign vault unlock',
  },
  unlockVaultByQuery: {
    description: 'Does the same as the POST request. Prefer that one, because URLs are often logged.',
    query: { auth_hash: sampleHash },
    sdk: 'const vault = await callsign.vault.unlock(vaultKey)',
    python: openInPython.trim(),
    cli: 'callsign vault unlock',
  },
  listVaultKeys: {
    description:
      'Returns the primary key and the unused recovery keys, with their derivation parameters and last use. No reply contains a wrapped key.',
    keys: 'organization',
    sdk: 'const keys = await callsign.vault.keys()',
    python: 'keys = callsign.vault_api.list_vault_keys()',
    cli: 'callsign vault keys',
  },
  replaceVaultPrimaryKey: {
    description:
      'Replaces the primary key: the client encrypts the same organization key with a new master key. Authorize it with `current_auth_hash`, or with `recovery_auth_hash`, which uses up that recovery key. Secrets and grants stay. It does not lock out a person with a copy of the organization key: rotate the vault for that.',
    keys: 'organization',
    body: { current_auth_hash: sampleHash, auth_hash: sampleHash.replaceAll('9', '4'), wrapped_org_key: sampleBlob, ...kdf },
    sdk: `${openVault}await vault.changeKey(newVaultKey)`,
    cli: 'callsign vault recover',
  },
  deleteVaultKey: {
    description: 'Deletes a recovery key. Any key of the vault authorizes it. The primary key can only be replaced.',
    keys: 'organization',
    params: { id: sampleId('vaultKey') },
    body: { auth_hash: sampleHash },
    reply: { id: sampleId('vaultKey') },
    sdk: `${openVault}await vault.deleteKey('${sampleId('vaultKey')}')`,
    cli: `callsign vault keys delete ${sampleId('vaultKey')}`,
  },
  rotateVault: {
    description:
      'Replaces the organization key. Send every secret, encrypted again with the new key, with its current revision. The rotation happens whole or not at all. `409 vault_rotation_conflict` lists the secrets that have changed since: read them and try again. Old recovery keys are deleted.',
    keys: 'organization',
    body: {
      auth_hash: sampleHash,
      expected_key_version: 1,
      ...kdf,
      new_auth_hash: sampleHash.replaceAll('9', '4'),
      wrapped_org_key: sampleBlob,
      secrets: [{ id: secret, revision: 3, encrypted_payload: sampleBlob }],
    },
    reply: { key_version: 2 },
    sdk: `${openVault}const { recoveryCodes } = await vault.rotate(newVaultKey, { recoveryCodes: 3 })`,
    cli: 'callsign vault rotate',
  },
  createVaultSecret: {
    description:
      'Stores a secret that the client has encrypted. Name and description are not encrypted. The client may choose the id, which is bound into the encryption. An id cannot be used again, even after deletion.',
    keys: 'organization',
    body: { type: 'login', name: 'bank', encrypted_payload: sampleBlob, key_version: 1 },
    sdk: `${openVault}await vault.create({ type: 'login', name: 'bank', payload: { username: 'ada', password: 'correct horse' } })`,
    python: `${openInPython}vault.create("login", "bank", {"username": "ada", "password": "correct horse"})`,
    cli: 'callsign vault set bank --type login --member password=prompt',
  },
  listVaultSecrets: {
    description:
      'Returns secrets as ciphertext, newest first. An agent key needs the scope `vault:read`, and lists the secrets that are granted to its agent.',
    query: { type: 'login', limit: 20 },
    sdk: `${openVault}const secrets = vault.list()`,
    python: `${openInPython}secrets = vault.list()`,
    cli: 'callsign vault list',
  },
  getVaultSecret: {
    description: 'Returns one secret as ciphertext. Organization keys also get the agents that can read it, in `access`.',
    params: { id: secret },
    sdk: `${openVault}const { payload } = await vault.get('bank')`,
    python: `${openInPython}payload = vault.get("bank").payload`,
    cli: 'callsign vault get bank',
  },
  updateVaultSecret: {
    description:
      'Changes name, description or payload. Give the `revision` that you read: `409 vault_secret_conflict` means that the secret has changed since. The type is permanent.',
    keys: 'organization',
    params: { id: secret },
    body: { encrypted_payload: sampleBlob, revision: 3, key_version: 1 },
    reply: { revision: 4 },
    sdk: `${openVault}await vault.update('bank', { payload: { username: 'ada', password: 'battery staple' } })`,
    python: `${openInPython}vault.update("bank", payload={"username": "ada", "password": "battery staple"})`,
    cli: 'callsign vault set bank --type login --member password=prompt',
  },
  updateVaultSecretByBody: {
    description: 'Does the same as the request on the path of the secret, with its id in the query or the body.',
    keys: 'organization',
    body: { id: secret, name: 'bank of Ada', revision: 3 },
    reply: { name: 'bank of Ada', revision: 4 },
    sdk: `${openVault}await vault.update('bank', { name: 'bank of Ada' })`,
    python: `${openInPython}vault.update("bank", name="bank of Ada")`,
  },
  deleteVaultSecret: {
    description: 'Deletes a secret with its grants. This cannot be undone. Deleting a secret again succeeds.',
    keys: 'organization',
    params: { id: secret },
    reply: { id: secret },
    sdk: `${openVault}await vault.delete('bank')`,
    python: `${openInPython}vault.delete("bank")`,
    cli: 'callsign vault rm bank',
  },
  deleteVaultSecretByBody: {
    description: 'Does the same as the request on the path of the secret, with its id in the query or the body.',
    keys: 'organization',
    body: { id: secret },
    reply: { id: secret },
    sdk: `${openVault}await vault.delete('bank')`,
    python: `${openInPython}vault.delete("bank")`,
    cli: 'callsign vault rm bank',
  },
  listVaultAccess: {
    description: 'Returns the agents that a secret is granted to, newest grant first.',
    keys: 'organization',
    params: { id: secret },
    query: { limit: 20 },
    sdk: `${openVault}const grants = await vault.grants('bank')`,
    cli: 'callsign vault grants bank',
  },
  grantVaultAccess: {
    description:
      'Lets an agent read a secret with its own key, if that key has the scope `vault:read`. The server enforces grants. To decrypt, the agent also needs the vault key. Repeating the request returns the first grant.',
    keys: 'organization',
    params: { id: secret },
    body: { agent_handle: 'sales' },
    sdk: `${openVault}await vault.grant('bank', { agentHandle: 'sales' })`,
    python: `${openInPython}vault.grant("bank", agent_handle="sales")`,
    cli: 'callsign vault grant bank --agent sales',
  },
  revokeVaultAccess: {
    description: 'Revokes a grant. The agent may have stored the secret already, so change the secret itself as well.',
    keys: 'organization',
    params: { id: secret, identity_id: sampleId('identity') },
    sdk: `${openVault}await vault.revoke('bank', { agentHandle: 'sales' })`,
    python: `${openInPython}vault.revoke("bank", agent_handle="sales")`,
    cli: 'callsign vault revoke bank --agent sales',
  },
  revokeVaultAccessByQuery: {
    description: 'Does the same as the request on the path of the grant, with the agent in the query or the body.',
    keys: 'organization',
    params: { id: secret },
    body: { agent_handle: 'sales' },
    sdk: `${openVault}await vault.revoke('bank', { agentHandle: 'sales' })`,
    python: `${openInPython}vault.revoke("bank", agent_handle="sales")`,
    cli: 'callsign vault revoke bank --agent sales',
  },
}
