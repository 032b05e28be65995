// The findings of `callsignd doctor` that cost little, and those about settings, for the console's overview.

import type { Config } from '../config/settings.ts'
import { isPrivateHost } from '../config/values.ts'
import type { ServerFinding } from '../features/account/overview/model.ts'
import { checkMachine } from './doctor-machine.ts'

const fix = 'Run callsignd doctor on the server for every check.'

/** The problems of this server. Findings without a need for action are left out. */
export function findProblems(config: Config, publicUrl: string): ServerFinding[] {
  const { hostname, protocol } = new URL(publicUrl)
  const isLocal = isPrivateHost(hostname)
  return [
    ...checkMachine(config).flatMap(({ state, text }): ServerFinding[] =>
      state === 'ok' ? [] : [{ level: state === 'attention' ? 'warning' : 'info', code: 'machine', message: text, fix }],
    ),
    ...(protocol === 'http:' && !isLocal
      ? [
          {
            level: 'error' as const,
            code: 'public_url_http',
            message: 'The console and the API are reached without TLS. Cookies and keys can be read on the way.',
            fix: 'Put a TLS proxy in front and set CALLSIGN_PUBLIC_URL to its https address.',
          },
        ]
      : []),
    ...(config.mailTransport === 'simulator'
      ? [
          {
            level: 'info' as const,
            code: 'mail_simulator',
            message: 'Mail to other hosts is recorded and not sent.',
            fix: 'Set CALLSIGN_MAIL_TRANSPORT to relay or direct.',
          },
        ]
      : []),
  ]
}
