// Builds the APIs of other services.
import type { Config } from '../config/settings.ts'
import type { Pages } from '../edges/api/server.ts'
import { mountResend, resendPath, resendRoutes } from '../edges/compat/resend/mount.ts'

/** The pages of a process with the api role. */
export function createCompatPages(config: Config): Pages[] {
  if (!config.roles.includes('api')) return []
  const paths = resendRoutes.map(({ method, path }) => ({ method, path: resendPath + path.replace(/:(\w+)/g, '{$1}') }))
  return [{ paths, mount: (app, { admitBody }) => mountResend(app, { admitBody }) }]
}
