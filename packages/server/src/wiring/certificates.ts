// Builds the certificates of every TLS listener from the settings.
import { join } from 'node:path'
import { BadSetting } from '../config/settings.ts'
import { generateCertificate } from '../core/certificate.ts'
import type { CertificateSource } from '../core/certificate-source.ts'
import type { Pages } from '../edges/api/pages.ts'
import { localCertificate } from '../edges/gateway/local-authority.ts'
import { type CertificateFiles, openCertificateFiles } from '../edges/tls/certificate-files.ts'
import { createTlsContexts, type TlsContexts } from '../edges/tls/contexts.ts'
import { handleOfHost } from '../features/tunnels/model.ts'
import { createAcme } from './acme.ts'
import type { SharedParts } from './parts.ts'

export interface Certificates {
  /** STARTTLS and submission. */
  smtp: TlsContexts
  /** The HTTPS port of the API, the console and tunnels. Null when it is off. */
  https: TlsContexts | null
  /** The separate HTTPS port for tunnels. The first call may create an authority in the data directory. */
  openForTunnels(): TlsContexts
  /** Answers to challenges of an authority. */
  pages: Pages[]
  /** Reads the certificates of an authority, before the listeners open. */
  load(): Promise<void>
  /** Orders and renews certificates, after the listeners have opened. */
  start(): void
  stop(): Promise<void>
}

/** Throws BadSetting when files of the settings cannot be used. */
export function createCertificates(shared: SharedParts): Certificates {
  const { config } = shared
  const log = shared.log.child({ part: 'certificates' })
  const acme = createAcme(shared, log)
  const opened: CertificateFiles[] = []

  const open = (cert: string, key: string, what: string): CertificateFiles => {
    const files = openCertificateFiles({ cert, key }, what, log)
    opened.push(files)
    return files
  }

  /** The certificate in the files of two settings, or null when they are not set. */
  function openSet(prefix: string, cert: string | null, key: string | null, what: string): CertificateFiles | null {
    if (!cert || !key) return null
    try {
      return open(cert, key, what)
    } catch (error) {
      throw new BadSetting(`${prefix}_CERT_FILE and ${prefix}_KEY_FILE cannot be used: ${(error as Error).message}`)
    }
  }

  const { dataDir, tunnelDomain, tunnelConnectUrl } = config
  const smtp = openSet('CALLSIGN_SMTP_TLS', config.smtpTlsCertFile, config.smtpTlsKeyFile, 'the certificate for SMTP')
  const tunnels = openSet('CALLSIGN_TUNNEL_TLS', config.tunnelTlsCertFile, config.tunnelTlsKeyFile, 'the certificate for tunnels')
  const https = openSet('CALLSIGN_HTTPS_TLS', config.httpsCertFile, config.httpsKeyFile, 'the certificate for HTTPS')

  function openLocal(): CertificateSource {
    const { cert, key } = localCertificate(join(dataDir, 'tunnel-authority'), tunnelDomain, httpsHostOf(tunnelConnectUrl))
    return open(cert, key, 'the certificate for tunnels')
  }

  const forApi = https ?? (config.httpsPort === null || !acme ? null : acme.sourceFor(new URL(config.publicUrl as string).hostname))
  const forSmtp = smtp ?? acme?.sourceFor(config.mailDomain) ?? generated(config.mailDomain)
  const issuedForTunnels = acme?.names.includes(`*.${tunnelDomain}`) ? acme.sourceFor(`*.${tunnelDomain}`) : null

  return {
    smtp: createTlsContexts(forSmtp),
    https: forApi && createTlsContexts(tunnels ? splitByHost(forApi, tunnels, tunnelDomain) : forApi),
    openForTunnels: () => createTlsContexts(tunnels ?? issuedForTunnels ?? openLocal()),
    pages: acme?.pages ?? [],
    load: async () => acme?.renewals.load(),
    start: () => acme?.renewals.start(),
    async stop() {
      for (const files of opened) files.stop()
      await acme?.renewals.stop()
    },
  }
}

/** The host of an https URL, or null. */
const httpsHostOf = (url: string | null): string | null => (url?.startsWith('https:') ? new URL(url).hostname : null)

/** A self-signed certificate for this run. Clients of opportunistic TLS do not check it (RFC 7435). */
function generated(hostname: string): CertificateSource {
  const certificate = generateCertificate(hostname)
  return { find: () => certificate, onChange: () => {} }
}

/** Hosts below the tunnel domain have a certificate of their own. */
const splitByHost = (api: CertificateSource, tunnels: CertificateSource, tunnelDomain: string): CertificateSource => ({
  find: (servername) =>
    servername !== undefined && handleOfHost(servername, tunnelDomain) !== null ? tunnels.find(servername) : api.find(servername),
  onChange(listener) {
    api.onChange(listener)
    tunnels.onChange(listener)
  },
})
