// Builds OAuth for connected apps: the consent page and the endpoints.
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config/settings.ts'
import type { Pages } from '../edges/api/pages.ts'
import { cookieOf, createBrowserReader, originsOf, readCookie } from '../edges/console/client.ts'
import { mountConsent } from '../edges/oauth/consent.ts'
import { mountEndpoints } from '../edges/oauth/endpoints.ts'
import { oauthPaths, wellKnownPaths } from '../edges/oauth/metadata.ts'
import type { ConsoleAccounts } from './console.ts'

type Needs = { config: Config; console: ConsoleAccounts; publicUrl: () => string }

/** True when this process serves the console, whose sessions give access. */
export const isOAuthOn = (config: Config): boolean => config.isConsoleOn && config.roles.includes('api')

export function createOAuthPages({ config, console: accounts, publicUrl }: Needs): Pages[] {
  if (!isOAuthOn(config)) return []
  const readBrowser = createBrowserReader(config.trustedProxies)
  const { oauth, sessions } = accounts
  const paths = [
    ...[...Object.values(wellKnownPaths), oauthPaths.authorize, oauthPaths.consent].map((path) => ({ method: 'GET', path })),
    ...[oauthPaths.token, oauthPaths.register, oauthPaths.revoke, oauthPaths.consent].map((path) => ({ method: 'POST', path })),
  ]
  const mount: Pages['mount'] = (app, { admitBody, openToPages }) => {
    const addressOf = (request: FastifyRequest) => readBrowser(request.raw, request.id).address
    mountEndpoints(app, { oauth, publicUrl, admitBody, addressOf, openToPages })
    mountConsent(app, {
      oauth,
      publicUrl,
      originsOf,
      cookieOf: (request) => readCookie(request.raw, cookieOf(publicUrl()).name),
      findSession: (cookie, request) => sessions.find(cookie, readBrowser(request.raw, request.id)),
      admitBody,
    })
  }
  return [{ paths, mount }]
}
