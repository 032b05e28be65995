// Builds the console, which is members, sessions and sign-in, and the pages for browsers.
import type { Config } from '../config/settings.ts'
import type { Authenticate } from '../core/caller.ts'
import type { Log } from '../core/log.ts'
import type { Sealing } from '../core/replay.ts'
import type { Database } from '../core/sql.ts'
import { firstOf } from '../edges/api/authenticate.ts'
import type { Pages } from '../edges/api/pages.ts'
import { createBuiltFiles } from '../edges/console/built-files.ts'
import { framePath, mountFrame } from '../edges/console/frame.ts'
import { memberRoutes } from '../edges/console/member-routes.ts'
import { oidcRoutes } from '../edges/console/oidc-routes.ts'
import { overviewRoutes } from '../edges/console/overview-routes.ts'
import { mountPages } from '../edges/console/pages.ts'
import { passkeyRoutes } from '../edges/console/passkey-routes.ts'
import { type ConsoleRoute, fullPath, mountConsoleApi } from '../edges/console/routes.ts'
import { mountSavedPage, openToSavedPage } from '../edges/console/saved-page.ts'
import { type ServerSettings, serverRoutes } from '../edges/console/server-routes.ts'
import { createState, sessionRoutes } from '../edges/console/session-routes.ts'
import { mountStartPage } from '../edges/docs-site/start-page.ts'
import type { Keyring } from '../edges/keyring/keyring.ts'
import { createOidcProvider } from '../edges/oidc/provider.ts'
import { createAttempts } from '../features/account/attempts/operations.ts'
import type { Keys } from '../features/account/keys/operations.ts'
import { createLinks, type Links } from '../features/account/links/operations.ts'
import { createMembers, type Members } from '../features/account/members/operations.ts'
import { createOAuth, type OAuth } from '../features/account/oauth/operations.ts'
import type { ServerFinding } from '../features/account/overview/model.ts'
import { createOverviews } from '../features/account/overview/operations.ts'
import { createPasskeys, type Passkeys } from '../features/account/passkeys/operations.ts'
import { createConsoleTokens } from '../features/account/sessions/console-token.ts'
import { createSessions, type Sessions } from '../features/account/sessions/operations.ts'
import { createSignIn, type SignIn } from '../features/account/sign-in/operations.ts'
import type { OidcProvider } from '../features/account/sign-in/provider.ts'
import { type Credentials, dayMs, hourMs, type SharedParts, sealingOf, version } from './parts.ts'

export type ConsoleAccounts = {
  /** Null without a configured issuer. */
  oidc: Oidc | null
  members: Members
  passkeys: Passkeys
  sessions: Sessions
  signIn: SignIn
  links: Links
  oauth: OAuth
  /** Signs the questions to people in connected apps. The same on every node. */
  approvalKey: Buffer
  /** The caller of an API key, a console token or a loan. */
  authenticate: Authenticate
  narrow: Keys['narrow']
  /** Those of these keys and console sessions whose access has ended. */
  findUnusable(ids: string[]): Promise<Set<string>>
  /** Deletes expired sessions, links and counts. */
  sweep(): Promise<void>
}

type Oidc = { provider: OidcProvider; sealing: Sealing }

function createOidc(config: Config, keyring: Keyring): Oidc | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcName: name } = config
  if (issuer === null || clientId === null) return null
  return { provider: createOidcProvider({ issuer, clientId, clientSecret, name }), sealing: sealingOf(keyring.subkey('console-oidc')) }
}

const sessionMaxMs = 30 * dayMs

export function createConsoleAccounts(
  { config, db, keyring, publicUrl, businessEvents, web }: SharedParts,
  { accounts, keys }: Credentials,
): ConsoleAccounts {
  const attempts = createAttempts(db)
  const members = createMembers(db, accounts, keys)
  const links = createLinks(db, accounts)
  const passkeys = createPasskeys(db, accounts, links.forget, publicUrl)
  const tokens = createConsoleTokens(keyring.subkey('console-tokens'))
  const limits = { idleMs: config.consoleIdleHours * hourMs, maxMs: sessionMaxMs }
  const sessions = createSessions({ db, accounts, keys, tokens, limits })
  const signIn = createSignIn({
    db,
    accounts,
    keys,
    members,
    sessions,
    links,
    passkeys,
    attempts,
    businessEvents,
    oidcName: config.oidcIssuer === null ? null : config.oidcName,
  })
  const oauth = createOAuth({ db, web, keys, attempts })
  return {
    oauth,
    approvalKey: keyring.subkey('mcp-approvals'),
    oidc: createOidc(config, keyring),
    members,
    passkeys,
    sessions,
    signIn,
    links,
    authenticate: firstOf(keys.authenticate, sessions.authenticate),
    narrow: keys.narrow,
    async findUnusable(ids) {
      const isSession = (id: string) => id.startsWith('cses_')
      const found = await Promise.all([keys.findUnusable(ids.filter((id) => !isSession(id))), sessions.findUnusable(ids.filter(isSession))])
      return new Set(found.flatMap((one) => [...one]))
    },
    async sweep() {
      await sessions.sweep()
      await links.sweep()
      await passkeys.sweep()
      await attempts.sweep()
      await oauth.sweep()
    },
  }
}

function describeServer({ oidcIssuer, oidcClientId, oidcName, requestLogDays }: Config, publicUrl: string): ServerSettings {
  const isOidcOn = oidcIssuer !== null && oidcClientId !== null
  const redirectUri = `${publicUrl}${fullPath('sign-in/oidc/callback')}`
  return {
    version,
    public_url: publicUrl,
    oidc: isOidcOn ? { issuer: oidcIssuer, name: oidcName, redirect_uri: redirectUri } : null,
    request_log_days: requestLogDays,
  }
}

type Needs = {
  config: Config
  console: ConsoleAccounts
  publicUrl: () => string
  db: Database
  log: Log
  findProblems: () => ServerFinding[]
}

/** The pages of a process with the api role. */
export function createPages({ config, console: consoleAccounts, publicUrl, db, log, findProblems }: Needs): Pages[] {
  const { members, passkeys, sessions, links, signIn, oidc } = consoleAccounts
  if (!config.roles.includes('api')) return []
  const files = config.isConsoleOn ? createBuiltFiles(config.consoleDir) : null
  const hasConsole = async () => files !== null && (await files.find('index.html')) !== null
  const start: Pages = { paths: [], mount: (app) => mountStartPage(app, publicUrl, hasConsole) }
  if (files === null) return [start]
  const state = createState({ signIn, version })
  const routes: ConsoleRoute[] = [
    ...sessionRoutes({ sessions, signIn, state }),
    ...passkeyRoutes({ passkeys, signIn, answer: state.answer }),
    ...(oidc ? oidcRoutes({ ...oidc, signIn, publicUrl, log }) : []),
    ...overviewRoutes(createOverviews(db, findProblems)),
    ...memberRoutes({ members, links, signIn, publicUrl }),
    ...serverRoutes(() => describeServer(config, publicUrl())),
  ]
  const options = {
    publicUrl,
    trustedProxies: config.trustedProxies,
    cookieSeconds: sessionMaxMs / 1000,
    findSession: sessions.find,
  }
  const paths = [
    { method: 'GET', path: '/console' },
    { method: 'POST', path: framePath },
    ...routes.map(({ method, path }) => ({ method, path: fullPath(path) })),
  ]
  const mount: Pages['mount'] = (app, tools) => {
    mountConsoleApi(app, routes, tools, options)
    mountFrame(app, tools, options)
    mountPages(app, files, publicUrl)
    mountSavedPage(app)
  }
  return [start, { paths, mount, onCrossOrigin: openToSavedPage }]
}
