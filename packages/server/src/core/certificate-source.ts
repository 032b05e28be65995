// The certificate of a listener, which may change while the process runs.
import type { Certificate } from './certificate.ts'

export interface CertificateSource {
  /** The certificate for a server name (SNI), or for a client that sends none. A changed certificate is another object. */
  find(servername?: string): Certificate
  /** Calls the function after each change. */
  onChange(listener: () => void): void
}
