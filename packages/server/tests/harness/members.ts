// Members of an organization for tests: one of each role, signed in to the console.
import { createLinks } from '../../src/features/account/links/operations.ts'
import { memberRoles } from '../../src/features/account/roles/model.ts'
import { createCredentials } from '../../src/wiring/parts.ts'
import { openBrowser } from './console-browser.ts'
import type { Harness } from './start.ts'

/** Makes a member of each role, with the id `user_ROLE`. Resolves with their console tokens, by role. */
export async function signInMembers(harness: Harness): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  const organizationId = (await harness.expectApi(200, 'GET', '/me')).organization_id
  const links = createLinks(harness.db, createCredentials(harness.db).accounts)
  for (const role of memberRoles) {
    const userId = `user_${role}`
    await harness.db.query({
      text: 'INSERT INTO users (id, organization_id, role, created_at) VALUES ($1, $2, $3, now())',
      values: [userId, organizationId, role],
    })
    const browser = openBrowser(harness)
    const link = { organizationId, userId, actor: { type: 'host' as const }, lifetimeMs: 60_000 }
    await browser.signInByLink(`#link=${await harness.db.transact((tx) => links.create(tx, link))}`)
    tokens.set(role, await browser.token())
  }
  return tokens
}
