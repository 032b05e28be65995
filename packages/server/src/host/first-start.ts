// The first start on an empty database, which creates one organization, its owner, and a key that is shown once.
import { BadSetting } from '../config/settings.ts'
import type { Database } from '../core/sql.ts'
import { generateKey, parseKey } from '../features/account/keys/model.ts'
import type { Keys } from '../features/account/keys/operations.ts'
import type { Accounts } from '../features/account/organizations/operations.ts'

export const organizationName = 'Default organization'

/** Throws BadSetting when the bootstrap key is malformed. Runs before anything is created. */
export function checkBootstrapKey(bootstrapKey: string | null): void {
  if (bootstrapKey !== null && !parseKey(bootstrapKey)) {
    throw new BadSetting('CALLSIGN_BOOTSTRAP_API_KEY is not a well-formed key: svc_live_, 16 characters of id, 43 of secret, 6 of checksum')
  }
}

/** `organizationId` is null unless this start created it. `key` is set if it was generated here and must be shown. */
export type FirstStart = { organizationId: string | null; key: string | null }

const notFirstStart: FirstStart = { organizationId: null, key: null }

/**
 * Creates the first organization with its key, unless this database already has one. Throws BadSetting when the bootstrap key is malformed.
 */
export async function ensureFirstKey(db: Database, accounts: Accounts, keys: Keys, bootstrapKey: string | null): Promise<FirstStart> {
  checkBootstrapKey(bootstrapKey)
  if ((await accounts.findInstallation()) !== null) return notFirstStart
  const plaintext = bootstrapKey ?? generateKey()
  const notFirst = new Error('another start was first')
  try {
    const created = await db.transact(async (tx) => {
      const { organizationId, userId } = await accounts.createOrganization(tx, organizationName)
      // Waits for the transaction of a concurrent start. The second of two starts rolls its own organization back.
      if (!(await accounts.claimInstallation(tx, organizationId))) throw notFirst
      await keys.insertFromHost(
        tx,
        { organizationId, userId, name: 'First key', agents: null, scopes: [], allowedIps: [], expiresAt: null },
        plaintext,
      )
      return organizationId
    })
    return { organizationId: created, key: bootstrapKey === null ? plaintext : null }
  } catch (error) {
    if (error === notFirst) return notFirstStart
    throw error
  }
}
