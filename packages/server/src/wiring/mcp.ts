// Builds the MCP endpoint.
import type { Config } from '../config/settings.ts'
import type { RequestClient } from '../core/caller.ts'
import type { Pages } from '../edges/api/pages.ts'
import { type McpAccess, mcpPath, mountMcp } from '../edges/mcp/pages.ts'
import { challengeOf, resourceOf } from '../edges/oauth/metadata.ts'
import type { ConsoleAccounts } from './console.ts'
import { isOAuthOn } from './oauth.ts'
import { version } from './parts.ts'

type Needs = { config: Config; console: ConsoleAccounts; publicUrl: () => string }

/** The endpoint of a process with the api role. */
export function createMcpPages({ config, console: accounts, publicUrl }: Needs): Pages[] {
  if (!config.roles.includes('api')) return []
  const { approvalKey, authenticate, narrow, oauth } = accounts
  const paths = ['GET', 'POST', 'DELETE'].flatMap((method) => [mcpPath, `${mcpPath}/`].map((path) => ({ method, path })))
  const options = {
    version,
    publicUrl,
    hostNames: config.hostNames,
    narrow,
    authenticate: (token: string, client: RequestClient) =>
      oauth.authenticate(token, resourceOf(publicUrl()), client) ?? withoutGrant(authenticate(token, client)),
    challenge: (hasToken: boolean) => (isOAuthOn(config) ? challengeOf(publicUrl(), hasToken) : 'Bearer'),
    approvalKey,
  }
  return [{ paths, mount: (app, tools) => mountMcp(app, { ...options, tools }) }]
}

/** Keys and console tokens have every tool. */
const withoutGrant = (asked: ReturnType<ConsoleAccounts['authenticate']>): Promise<McpAccess | null> | null =>
  asked?.then((caller) => caller && { caller, grant: null }) ?? null
