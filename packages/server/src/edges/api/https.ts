// HTTPS on a port of its own for the server of the API.
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { createServer, type SecureContext, type TLSSocket } from 'node:tls'
import { acceptWaiting } from '../../core/accept-waiting.ts'
import type { CertificateSource } from '../../core/certificate-source.ts'

const handshakeMs = 20_000

export type HttpsOptions = {
  host: string
  /** 0 selects any free port. */
  port: number
  tls: CertificateSource & { contextFor(servername?: string): SecureContext }
}

/** The port for encrypted connections. */
export interface HttpsFront {
  /** Starts to listen and returns the port. Rejects when the port is taken. */
  listen(): Promise<number>
  /** Accepts the connections in the queue, and no more. */
  stopListening(): Promise<void>
  /** Resolves after `stopListening`, when every connection has ended. */
  closed: Promise<void>
  /** Ends the connections that are left, also those in their handshake. */
  closeAll(): void
}

/** Decrypts connections and passes them to `serve`. A changed certificate applies to handshakes from then on. */
export function createHttpsFront({ host, port, tls }: HttpsOptions, serve: (socket: Socket) => void): HttpsFront {
  const sockets = new Set<Socket>()
  const server = createServer({
    ...tls.find(),
    SNICallback: (servername, done) => done(null, tls.contextFor(servername)),
    // TLS below 1.2 is deprecated (RFC 8996).
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: handshakeMs,
    noDelay: true,
  })
  tls.onChange(() => server.setSecureContext({ ...tls.find(), minVersion: 'TLSv1.2' }))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('secureConnection', serve)
  // A failed handshake needs no log message: any client on the Internet can cause one.
  server.on('tlsClientError', (_error, socket) => socket.destroy())

  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()

  return {
    async listen() {
      await listenOn(server, port, host)
      return (server.address() as AddressInfo).port
    },

    async stopListening() {
      if (!server.listening) return onClosed()
      await acceptWaiting(server)
      NetServer.prototype.close.call(server, () => onClosed())
    },

    closed,

    closeAll() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Resolves when the server listens. Rejects when it cannot. */
export function listenOn(server: NetServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

export const isEncrypted = ({ socket }: IncomingMessage): boolean => (socket as TLSSocket).encrypted === true

/** Paths for programs on this machine, and of challenges, which authorities request over plain HTTP (RFC 8555 §8.3). */
const plainPaths = /^\/(healthz|readyz|\.well-known\/acme-challenge\/[^/?]*)$/

/** The https URL of a plain request, or null when it may be served as it is. */
export type FindHttpsUrl = (request: IncomingMessage) => string | null

export const isPlainPath = (url: string): boolean => plainPaths.test(url)
