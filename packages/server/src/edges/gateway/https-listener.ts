// HTTPS listener for tunnels alone, for installations without a proxy that terminates TLS.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { acceptWaiting } from '../../core/accept-waiting.ts'
import type { CertificateSource } from '../../core/certificate-source.ts'
import { dropUpgradeOutOfTurn, isLateUnread, openResponse } from '../../core/open-response.ts'
import type { Gateway } from './gateway.ts'
import { refusal, refusalText, takesPages, writeRefusal } from './responses/error-response.ts'

export type HttpsListenerOptions = {
  host: string
  /** 0 selects any free port. */
  port: number
  tls: CertificateSource & { contextFor(servername?: string): SecureContext }
  gateway: Gateway
}

const idleLingerMs = 250
const headersTimeoutMs = 20_000
const keepAliveTimeoutMs = 65_000
const headerBytesMax = 16 * 1024

export function createHttpsListener({ host, port, tls, gateway }: HttpsListenerOptions) {
  const server = createServer({
    ...tls.find(),
    SNICallback: (servername, done) => done(null, tls.contextFor(servername)),
    // TLS below 1.2 is deprecated (RFC 8996).
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    maxHeaderSize: headerBytesMax,
    requestTimeout: 0,
    headersTimeout: headersTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) => {
      dropUpgradeOutOfTurn(request)
      return gateway.claimsUpgrade(request)
    },
  })
  server.maxHeadersCount = 0
  const sockets = new Set<Socket>()
  server.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A failed handshake needs no log message: any client on the Internet can cause one.
  server.on('tlsClientError', (_error, socket) => socket.destroy())

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    if (gateway.claims(request)) {
      gateway.handle(request, response)
      return
    }
    writeRefusal(
      response,
      { method: request.method as string, wantsPage: takesPages(request.headers.accept) },
      refusal(421, 'misdirected_request', 'Only tunnels are served on this port.'),
    )
  }
  server.on('request', handle)
  server.on('checkContinue', handle)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, early: Buffer) => gateway.upgrade(request, socket, early))
  server.on('clientError', (error, socket: Socket) => {
    if (isLateUnread(error, socket)) return
    // Behind the head of a response, a refusal would be read as its continuation.
    if (socket.writable && !openResponse(socket)?.headersSent)
      socket.end(refusalText(refusal(400, 'bad_request', 'This is not a well-formed HTTP/1.1 request.')))
    else socket.destroy()
  })

  tls.onChange(() => server.setSecureContext({ ...tls.find(), minVersion: 'TLSv1.2' }))

  return {
    /** Starts to listen and returns the port. */
    async listen(): Promise<number> {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve()
        })
      })
      return (server.address() as AddressInfo).port
    },

    /** Accepts no more connections and closes idle ones. The gateway ends the requests in flight, and with them their connections. */
    async drain(): Promise<void> {
      if (!server.listening) return
      await acceptWaiting(server)
      // The HTTP server's own close() ends idle connections at once, although a request may be arriving on one of them.
      NetServer.prototype.close.call(server)
      await new Promise((resolve) => setTimeout(resolve, idleLingerMs))
      server.closeIdleConnections()
    },

    /** Closes all remaining connections. */
    close(): void {
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
