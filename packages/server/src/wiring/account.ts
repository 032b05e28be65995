// Builds the account area: organizations, keys and identities.
import { createIdentities, type Identities } from '../features/account/identities/operations.ts'
import { identityRoutes } from '../features/account/identities/routes.ts'
import { keyRoutes } from '../features/account/keys/routes.ts'
import type { LimitDefaults } from '../features/account/organizations/model.ts'
import { accountRoutes } from '../features/account/organizations/routes.ts'
import { createOrganizationSettings, type OrganizationSettings } from '../features/account/organizations/settings.ts'
import { type ConsoleAccounts, createConsoleAccounts } from './console.ts'
import { type Area, type Credentials, createCredentials, hourMs, type SharedParts } from './parts.ts'

export type AccountArea = Area &
  Credentials &
  ConsoleAccounts & { identities: Identities; organizations: OrganizationSettings; limitDefaults: LimitDefaults }

export function createAccountArea(shared: SharedParts): AccountArea {
  const { config, db } = shared
  const credentials = createCredentials(db)
  const { accounts, keys } = credentials
  const limitDefaults = {
    identity: config.identitySendingLimits ?? {},
    key: config.keySendingLimits ?? {},
    organization: config.organizationSendingLimits ?? {},
  }
  const organizations = createOrganizationSettings({ db, accounts, hastenJobs: shared.hastenJobs, defaults: limitDefaults })
  const identities = createIdentities(db, accounts, config)
  const signedIn = createConsoleAccounts(shared, credentials)
  return {
    ...credentials,
    ...signedIn,
    // Streams and long polls of a console token end with its session.
    keys: { ...keys, findUnusable: signedIn.findUnusable },
    identities,
    organizations,
    limitDefaults,
    routes: [...accountRoutes(accounts, organizations), ...identityRoutes(identities), ...keyRoutes(keys)],
    scheduledTasks: [{ name: 'sweep console sessions', everyMs: hourMs, run: signedIn.sweep }],
  }
}
