// Settings of the console and of signing in to it.
import { join } from 'node:path'
import { area, setting } from './setting.ts'
import { integer, oneOf, url } from './values.ts'

/** https, or http on this machine for trials. */
function oidcIssuerUrl(text: string): string {
  const issuer = url('http:', 'https:')(text)
  const { protocol, hostname } = new URL(issuer)
  if (protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)) throw new Error('must be an https:// URL')
  return issuer
}

export const webConsole = area({
  title: 'Console',
  settings: {
    isConsoleOn: setting({
      name: 'CALLSIGN_CONSOLE',
      fallback: 'on',
      sentence: '`on` serves the console at /console from processes with the api role. `off` answers 404 there.',
      read: (text) => oneOf('on', 'off')(text) === 'on',
    }),
    consoleDir: setting({
      name: 'CALLSIGN_CONSOLE_DIR',
      fallback: join(import.meta.dirname, '..', '..', '..', 'console', 'dist'),
      shown: 'packages/console/dist',
      sentence: 'Folder with the built console.',
      read: (text) => text,
    }),
    oidcIssuer: setting({
      name: 'CALLSIGN_OIDC_ISSUER',
      fallback: null,
      sentence: 'Issuer of OpenID Connect for signing in to the console, https://. http:// is accepted for loopback.',
      read: oidcIssuerUrl,
    }),
    oidcClientId: setting({
      name: 'CALLSIGN_OIDC_CLIENT_ID',
      fallback: null,
      sentence: 'Client id at that issuer. Its redirect URI is `<public URL>/console/api/sign-in/oidc/callback`.',
      read: (text) => text,
    }),
    oidcClientSecret: setting({
      name: 'CALLSIGN_OIDC_CLIENT_SECRET',
      fallback: null,
      sentence: 'Client secret at that issuer. Absent for a public client.',
      secret: true,
      read: (text) => text,
    }),
    oidcName: setting({
      name: 'CALLSIGN_OIDC_NAME',
      fallback: 'single sign-on',
      sentence: 'Name of the issuer on the sign-in button.',
      read: (text) => text,
    }),
    consoleIdleHours: setting({
      name: 'CALLSIGN_CONSOLE_IDLE_HOURS',
      fallback: '168',
      sentence: 'Hours without use after which a console session ends. Every session ends after 30 days.',
      read: integer(1, 720),
    }),
  },
  check({ oidcIssuer, oidcClientId }) {
    if ((oidcIssuer === null) !== (oidcClientId === null)) return 'CALLSIGN_OIDC_ISSUER and CALLSIGN_OIDC_CLIENT_ID go together'
    return null
  },
})
