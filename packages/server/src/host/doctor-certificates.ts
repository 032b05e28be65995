// The doctor's checks of certificates, by a handshake with each TLS listener of a running server.
import type { Config } from '../config/settings.ts'
import { nowMs } from '../core/clock.ts'
import { readServedCertificate } from '../edges/tls/served-certificate.ts'
import { certificateNames } from '../wiring/acme.ts'
import { configuredPorts, type TlsListener, tlsListeners } from '../wiring/tls-listeners.ts'
import { attention, daysUntil, expirySoonDays, type Finding, note, ok, reasonOf } from './finding.ts'

const names: Record<TlsListener['name'], string> = {
  https: 'HTTPS',
  smtp: 'SMTP with STARTTLS',
  submission: 'Submission with STARTTLS',
  submissions: 'Submission over TLS',
  tunnels: 'HTTPS for tunnels',
}

/** Settings with the files of a listener's certificate. */
const fileSettings: Record<TlsListener['name'], string> = {
  https: 'CALLSIGN_HTTPS_TLS_CERT_FILE',
  smtp: 'CALLSIGN_SMTP_TLS_CERT_FILE',
  submission: 'CALLSIGN_SMTP_TLS_CERT_FILE',
  submissions: 'CALLSIGN_SMTP_TLS_CERT_FILE',
  tunnels: 'CALLSIGN_TUNNEL_TLS_CERT_FILE',
}

/** `isServing` is true when a Callsign server answers on the HTTP port. */
export async function checkCertificates(config: Config, isServing: boolean): Promise<Finding[]> {
  const listeners = tlsListeners(config, configuredPorts(config))
  if (listeners.length === 0) return []
  if (!isServing) return [note('Certificates are checked by connecting. Start the server, and run callsignd doctor again.')]
  return (await Promise.all(listeners.map((listener) => checkListener(config, listener)))).flat()
}

/** The settings that give a listener its certificate, or the command that shows why the authority has not issued one. */
function remedyOf(config: Config, { name, servername }: TlsListener): string {
  const setting = fileSettings[name]
  const { httpsCertFile: https, tunnelTlsCertFile: tunnels, smtpTlsCertFile: smtp } = config
  const file = { https, tunnels, smtp, submission: smtp, submissions: smtp }[name]
  if (config.acmeDirectory === null || file) return setting
  if (covers(certificateNames(config), servername)) return 'callsignd certificates shows the last error of CALLSIGN_ACME_DIRECTORY'
  return name === 'tunnels' ? `CALLSIGN_ACME_DNS_HOOK, or ${setting}` : setting
}

const covers = (issued: string[], servername: string): boolean =>
  issued.includes(servername) || issued.includes(`*${servername.slice(servername.indexOf('.'))}`)

async function checkListener(config: Config, listener: TlsListener): Promise<Finding[]> {
  const name = `${names[listener.name]} on port ${listener.port}`
  const files = remedyOf(config, listener)
  try {
    const { certificate, chainLength, distrust, isNamed } = await readServedCertificate(listener)
    const leftDays = daysUntil(certificate.validToDate, nowMs())
    const until = `until ${certificate.validTo}`
    if (leftDays < 0) return [attention(`${name}: the certificate expired on ${certificate.validTo}. Renew it (${files}).`)]
    if (leftDays < expirySoonDays)
      return [attention(`${name}: the certificate is valid for ${leftDays} more days, ${until}. Renew it (${files}).`)]
    if (!isNamed && listener.isChecked)
      return [attention(`${name}: the certificate is not for ${listener.servername}. Get one with that name (${files}).`)]
    if (distrust !== null && listener.isChecked)
      return [
        attention(
          `${name}: clients do not trust the certificate (${distrust}, ${chainLength} in the chain). Use one of a public authority with its whole chain (${files}).`,
        ),
      ]
    if (distrust !== null || !isNamed)
      return [
        note(
          `${name}: the certificate is valid ${until}, and not trusted (${distrust ?? `not for ${listener.servername}`}). Other mail servers accept it. MTA-STS needs a trusted one (${files}).`,
        ),
      ]
    return [ok(`${name}: the certificate for ${listener.servername} is trusted and valid ${until}.`)]
  } catch (error) {
    return [attention(`${name}: no certificate could be read: ${reasonOf(error)}. Check the server's log.`)]
  }
}
