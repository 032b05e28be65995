// Writes every secret of an open vault as plain text.
import type { Secret, SecretSummary } from './secret.ts'

export type VaultExport = {
  vault_id: string
  organization_id: string
  key_version: number
  secrets: {
    id: string
    type: string
    name: string
    name_verified: boolean
    description: string | null
    payload: Record<string, unknown>
  }[]
}

type Source = { id: string; keyVersion: number; list: () => SecretSummary[]; get: (id: string) => Promise<Secret> }

export async function exportSecrets(vault: Source, organization: string): Promise<VaultExport> {
  const secrets = await Promise.all(
    vault.list().map(async ({ id }) => {
      const { type, name, nameVerified, description, payload } = await vault.get(id)
      return { id, type, name, name_verified: nameVerified, description, payload }
    }),
  )
  return { vault_id: vault.id, organization_id: organization, key_version: vault.keyVersion, secrets }
}
