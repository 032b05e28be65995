// TLS settings of a session, and the upgrade of a plain socket after STARTTLS.
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { type Certificate, generateCertificate } from '../../../core/certificate.ts'
import type { TlsFacts } from './receiver.ts'

/** `generate` makes a self-signed certificate for this process. Null does not offer STARTTLS. Throws when the PEM texts do not match. */
export function createTlsContext(tls: Certificate | 'generate' | null, hostname: string): SecureContext | null {
  if (tls === null) return null
  const { cert, key } = tls === 'generate' ? generateCertificate(hostname) : tls
  // TLS below 1.2 is deprecated (RFC 8996).
  return createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
}

/** Takes over the plain socket. `onSecure` is called after the handshake. A failed handshake closes the returned socket. */
export function upgradeToTls(plain: Socket, secureContext: SecureContext, onSecure: () => void): TLSSocket {
  const secure = new TLSSocket(plain, { isServer: true, secureContext })
  secure.once('secure', onSecure)
  return secure
}

/** Protocol and IANA cipher name of an established connection. */
export const readTlsFacts = (socket: TLSSocket): TlsFacts => ({
  version: socket.getProtocol() ?? 'unknown',
  cipher: socket.getCipher().standardName,
})
