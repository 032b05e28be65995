// Settings of HTTPS for the API, the console and tunnels.
import { resolve } from 'node:path'
import { type Area, setting } from './setting.ts'
import { integer, oneOf, optionalPort } from './values.ts'

const settings = {
  httpsPort: setting({
    name: 'CALLSIGN_HTTPS_PORT',
    fallback: 'off',
    sentence:
      'HTTPS port for all that CALLSIGN_PORT serves, 443 in production. 0 picks a free port and prints it. `off` opens none, for servers behind a TLS proxy.',
    read: optionalPort,
  }),
  httpsCertFile: setting({
    name: 'CALLSIGN_HTTPS_TLS_CERT_FILE',
    fallback: null,
    sentence: 'PEM certificate chain of that port. The file is read again when it changes. Without it, the certificate comes over ACME.',
    read: (text) => resolve(text),
  }),
  httpsKeyFile: setting({
    name: 'CALLSIGN_HTTPS_TLS_KEY_FILE',
    fallback: null,
    sentence: 'PEM private key of that certificate.',
    read: (text) => resolve(text),
  }),
  isHttpRedirected: setting({
    name: 'CALLSIGN_HTTP_REDIRECT',
    fallback: 'off',
    sentence:
      '`on` redirects requests on CALLSIGN_PORT to HTTPS, and refuses those with an API key. Health checks and ACME challenges are answered on both ports.',
    read: (text) => oneOf('on', 'off')(text) === 'on',
  }),
  hstsSeconds: setting({
    name: 'CALLSIGN_HSTS_SECONDS',
    fallback: '0',
    sentence: 'Seconds for which browsers insist on HTTPS after a visit over it (Strict-Transport-Security). 0 sends no such header.',
    read: integer(0, 63_072_000),
  }),
}

export const https: Area<typeof settings, { publicUrl: string | null; acmeDirectory: string | null }> = {
  title: 'HTTPS',
  settings,
  check({ httpsPort, httpsCertFile, httpsKeyFile, isHttpRedirected, publicUrl, acmeDirectory }) {
    if (!httpsCertFile !== !httpsKeyFile) return 'CALLSIGN_HTTPS_TLS_CERT_FILE and CALLSIGN_HTTPS_TLS_KEY_FILE go together'
    if (httpsPort !== null && !httpsCertFile && acmeDirectory === null)
      return 'CALLSIGN_HTTPS_PORT needs CALLSIGN_ACME_DIRECTORY, or CALLSIGN_HTTPS_TLS_CERT_FILE and CALLSIGN_HTTPS_TLS_KEY_FILE'
    if ((httpsPort !== null || isHttpRedirected) && !publicUrl?.startsWith('https:'))
      return `${httpsPort === null ? 'CALLSIGN_HTTP_REDIRECT' : 'CALLSIGN_HTTPS_PORT'} needs CALLSIGN_PUBLIC_URL=https://…`
    return null
  },
}
