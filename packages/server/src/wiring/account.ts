// Builds the account area: organizations, keys and identities.
import { createIdentities, type Identities } from '../features/account/identities/operations.ts'
import { identityRoutes } from '../features/account/identities/routes.ts'
import { keyRoutes } from '../features/account/keys/routes.ts'
import { accountRoutes } from '../features/account/organizations/routes.ts'
import { type Area, type Credentials, createCredentials, type SharedParts } from './parts.ts'

export type AccountArea = Area & Credentials & { identities: Identities }

export function createAccountArea({ config, db }: SharedParts): AccountArea {
  const credentials = createCredentials(db)
  const { accounts, keys } = credentials
  const identities = createIdentities(db, accounts, config)
  return { ...credentials, identities, routes: [...accountRoutes(accounts), ...identityRoutes(identities), ...keyRoutes(keys)] }
}
