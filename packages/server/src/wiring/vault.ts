// Builds the vault.
import { createVaults } from '../features/vault/operations.ts'
import { vaultRoutes } from '../features/vault/routes.ts'
import type { AccountArea } from './account.ts'
import type { Area, SharedParts } from './parts.ts'

export function createVaultArea({ db, businessEvents }: SharedParts, { accounts, identities }: AccountArea): Area {
  return { routes: vaultRoutes(createVaults({ db, accounts, identities, businessEvents })) }
}
