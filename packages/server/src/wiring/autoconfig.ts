// Builds the pages where mail programs find the settings of submission.
import type { Config } from '../config/settings.ts'
import type { Pages } from '../edges/api/pages.ts'
import { mountAutoconfig, outlookPaths, thunderbirdPaths } from '../edges/autoconfig/pages.ts'
import type { ServerParts } from './server.ts'

/** Empty without a port for submission. A port that is chosen at each start is not named. */
export function createAutoconfigPages({ submissionPort, submissionsPort, mailDomain }: Config, { isServed }: ServerParts): Pages[] {
  const ports = { tls: submissionsPort || null, startTls: submissionPort || null }
  if (ports.tls === null && ports.startTls === null) return []
  const paths = [...thunderbirdPaths.map((path) => ({ method: 'GET', path })), ...outlookPaths.map((path) => ({ method: 'POST', path }))]
  const options = {
    server: { host: mailDomain, ports },
    hasDomain: async (domain: string) => domain === mailDomain || isServed(domain),
  }
  return [{ paths, mount: (app, { admitBody }) => mountAutoconfig(app, { ...options, admitBody }) }]
}
