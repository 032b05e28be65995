// Builds the account area: organizations, keys and identities.
import { createIdentities, type Identities } from '../features/account/identities/operations.ts'
import { identityRoutes } from '../features/account/identities/routes.ts'
import { keyRoutes } from '../features/account/keys/routes.ts'
import type { LimitDefaults } from '../features/account/organizations/model.ts'
import { accountRoutes } from '../features/account/organizations/routes.ts'
import { createOrganizationSettings, type OrganizationSettings } from '../features/account/organizations/settings.ts'
import { createRequests, type Requests } from '../features/account/requests/operations.ts'
import { requestRoutes } from '../features/account/requests/routes.ts'
import { type ConsoleAccounts, createConsoleAccounts } from './console.ts'
import { type Area, type Credentials, createCredentials, hourMs, type SharedParts } from './parts.ts'

export type AccountArea = Area &
  Credentials &
  ConsoleAccounts & { identities: Identities; organizations: OrganizationSettings; requests: Requests; limitDefaults: LimitDefaults }

export function createAccountArea(shared: SharedParts): AccountArea {
  const { config, db } = shared
  const credentials = createCredentials(db)
  const { accounts, keys } = credentials
  const limitDefaults = {
    identity: config.identitySendingLimits ?? {},
    key: config.keySendingLimits ?? {},
    organization: config.organizationSendingLimits ?? {},
  }
  const organizations = createOrganizationSettings({
    db,
    accounts,
    hastenJobs: shared.hastenJobs,
    defaults: limitDefaults,
    storageQuotaMax: config.storageQuotaMax,
  })
  const identities = createIdentities(db, accounts, { ...config, tunnelUrls: shared.tunnelUrls })
  const requests = createRequests({
    db,
    keptDays: config.requestLogDays,
    registry: shared.businessEvents.registry,
    log: shared.log.child({ part: 'request-log' }),
  })
  const signedIn = createConsoleAccounts(shared, credentials)
  return {
    ...credentials,
    ...signedIn,
    // Streams and long polls of a console token end with its session.
    keys: { ...keys, findUnusable: signedIn.findUnusable },
    identities,
    organizations,
    requests,
    limitDefaults,
    routes: [...accountRoutes(accounts, organizations), ...identityRoutes(identities), ...keyRoutes(keys), ...requestRoutes(requests)],
    scheduledTasks: [
      { name: 'sweep console sessions', everyMs: hourMs, run: signedIn.sweep },
      { name: 'sweep API requests', everyMs: hourMs, isDueAtStart: true, run: () => requests.sweep() },
    ],
    close: async () => requests.recorder?.flush(),
  }
}
