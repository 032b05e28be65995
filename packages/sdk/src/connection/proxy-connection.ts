// Connections through an HTTP proxy. Kept apart from `proxy.ts`, whose types are for every runtime.
import type { Socket } from 'node:net'
import { ConnectionError } from '../errors.ts'

type Sockets = { http: typeof import('node:http'); net: typeof import('node:net'); tls: typeof import('node:tls') }

const connectMsMax = 15_000

/** Host and port of a proxy. */
export const addressOf = (proxy: URL) => ({
  host: proxy.hostname.replace(/^\[|\]$/g, ''),
  port: Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80)),
})

/** The header field with the credentials of a proxy, or none. */
export const credentialsOf = ({ username, password }: URL): Record<string, string> =>
  username === '' ? {} : { 'Proxy-Authorization': `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}` }

/** Opens a connection to `authority`, a host with its port, through a proxy (RFC 9110 section 9.3.6). Rejects with ConnectionError. */
export function connectThrough({ http, tls, net }: Sockets, proxy: URL, authority: string, signal?: AbortSignal): Promise<Socket> {
  const isTls = proxy.protocol === 'https:'
  const { host, port } = addressOf(proxy)
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: { Host: authority, ...credentialsOf(proxy) },
      createConnection: () => (isTls ? tls.connect({ host, port, servername: host }) : net.connect({ host, port })),
      ...(signal && { signal }),
      timeout: connectMsMax,
    })
    const fail = (reason: string, cause?: Error) => {
      request.destroy()
      reject(
        new ConnectionError(
          'connection_failed',
          `The proxy ${proxy.host} did not connect (${reason}). Check the proxy.`,
          cause ? { cause } : undefined,
        ),
      )
    }
    request.on('error', (error) => fail(error.message, error))
    request.on('timeout', () => fail('it did not answer in time'))
    request.on('response', (response) => fail(`it answered ${response.statusCode}`))
    request.on('connect', (response, socket) => {
      if (response.statusCode === 200) resolve(socket as Socket)
      else fail(`it answered ${response.statusCode}`)
    })
    request.end()
  })
}
