// The TLS context of each certificate, made once. New handshakes use the certificate in force, and connections keep theirs.
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Certificate } from '../../core/certificate.ts'
import type { CertificateSource } from '../../core/certificate-source.ts'

/** The certificates of one listener, with the context for a server name. */
export type TlsContexts = CertificateSource & { contextFor(servername?: string): SecureContext }

export function createTlsContexts(source: CertificateSource): TlsContexts {
  const contexts = new WeakMap<Certificate, SecureContext>()
  return {
    find: source.find,
    onChange: source.onChange,
    contextFor(servername) {
      const certificate = source.find(servername)
      const known = contexts.get(certificate)
      if (known) return known
      // TLS below 1.2 is deprecated (RFC 8996).
      const made = createSecureContext({ ...certificate, minVersion: 'TLSv1.2' })
      contexts.set(certificate, made)
      return made
    },
  }
}
