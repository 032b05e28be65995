// The TLS listeners of a process, for checks of their certificates.
import type { Config } from '../config/settings.ts'
import type { TlsTarget } from '../edges/tls/served-certificate.ts'

export type TlsListener = TlsTarget & {
  name: 'https' | 'smtp' | 'submission' | 'submissions' | 'tunnels'
  /** True when clients check the certificate. Mail servers take any (RFC 7435). */
  isChecked: boolean
}

type Ports = { https: number | null; smtp: number | null; submission: number | null; submissions: number | null; tunnels: number | null }

/** An address that reaches the listener, also when it listens on all addresses. */
export const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host)

/** The ports that the settings name. Null for a port that is off, and for one that any free port is taken for. */
export const configuredPorts = (config: Config): Ports => {
  const hasApi = config.roles.includes('api')
  return {
    https: config.httpsPort || null,
    smtp: config.roles.includes('smtp') ? config.smtpPort || null : null,
    submission: hasApi ? config.submissionPort || null : null,
    submissions: hasApi ? config.submissionsPort || null : null,
    tunnels: config.roles.includes('gateway') ? config.tunnelHttpsPort || null : null,
  }
}

/** The listeners on these ports. */
export function tlsListeners(config: Config, ports: Ports): TlsListener[] {
  const host = reachable(config.host)
  const publicHost = new URL(config.publicUrl ?? 'https://localhost').hostname
  const listeners: (Omit<TlsListener, 'host' | 'port'> & { port: number | null })[] = [
    { name: 'https', port: ports.https, servername: publicHost, isStartTls: false, isChecked: true },
    { name: 'smtp', port: ports.smtp, servername: config.mailDomain, isStartTls: true, isChecked: false },
    { name: 'submission', port: ports.submission, servername: config.mailDomain, isStartTls: true, isChecked: true },
    { name: 'submissions', port: ports.submissions, servername: config.mailDomain, isStartTls: false, isChecked: true },
    { name: 'tunnels', port: ports.tunnels, servername: `any.${config.tunnelDomain}`, isStartTls: false, isChecked: true },
  ]
  return listeners.flatMap(({ port, ...listener }) => (port === null ? [] : [{ ...listener, host, port }]))
}
