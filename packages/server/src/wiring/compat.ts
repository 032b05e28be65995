// Builds the APIs of other services.
import type { Config } from '../config/settings.ts'
import type { Pages } from '../edges/api/pages.ts'
import { agentMailFailures, agentMailRoutes, mountAgentMail } from '../edges/compat/agentmail/mount.ts'
import { createAgentMailSockets } from '../edges/compat/agentmail/socket.ts'
import { mountResend, resendFailures, resendPath, resendRoutes } from '../edges/compat/resend/mount.ts'

/** The pages of a process with the api role. */
export function createCompatPages(config: Config): Pages[] {
  if (!config.roles.includes('api')) return []
  const paths = resendRoutes.map(({ method, path }) => ({ method, path: toPattern(resendPath + path) }))
  const agentMailPaths = agentMailRoutes.map(({ method, path }) => ({ method, path: toPattern(path) }))
  return [
    { paths, mount: mountResend, failures: resendFailures },
    { paths: agentMailPaths, mount: mountAgentMail, failures: agentMailFailures, sockets: createAgentMailSockets() },
  ]
}

const toPattern = (path: string): string => path.replace(/:(\w+)/g, '{$1}')
