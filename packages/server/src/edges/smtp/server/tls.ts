// TLS settings of a session, and the upgrade of a plain socket after STARTTLS.
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { type Certificate, generateCertificate } from '../../../core/certificate.ts'
import type { TlsFacts } from './receiver.ts'

/** The context for a server name that a client asks for, or for none. It is looked up at each handshake. */
export type ContextFor = (servername?: string) => SecureContext

/** PEM texts, a certificate made for this process, certificates that change, or no STARTTLS. */
export type SmtpTls = Certificate | 'generate' | ContextFor | null

/** Throws when the PEM texts do not match. */
export function readTls(tls: SmtpTls, hostname: string): ContextFor | null {
  if (tls === null || typeof tls === 'function') return tls
  const { cert, key } = tls === 'generate' ? generateCertificate(hostname) : tls
  // TLS below 1.2 is deprecated (RFC 8996).
  const context = createSecureContext({ cert, key, minVersion: 'TLSv1.2' })
  return () => context
}

/** Takes over the plain socket. `onSecure` is called after the handshake. A failed handshake closes the returned socket. */
export function upgradeToTls(plain: Socket, contextFor: ContextFor, onSecure: () => void): TLSSocket {
  const secure = new TLSSocket(plain, {
    isServer: true,
    secureContext: contextFor(),
    SNICallback: (servername, done) => done(null, contextFor(servername)),
  })
  secure.once('secure', onSecure)
  return secure
}

/** Protocol and IANA cipher name of an established connection. */
export const readTlsFacts = (socket: TLSSocket): TlsFacts => ({
  version: socket.getProtocol() ?? 'unknown',
  cipher: socket.getCipher().standardName,
})
