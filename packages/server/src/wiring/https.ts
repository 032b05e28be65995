// Builds HTTPS for the server of the API, and the redirect to it.
import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/settings.ts'
import { isInRanges } from '../core/ip-ranges.ts'
import { type FindHttpsUrl, isEncrypted, isPlainPath } from '../edges/api/https.ts'
import type { HttpServerOptions } from '../edges/api/server.ts'
import { handleOfHost } from '../features/tunnels/model.ts'
import type { Certificates } from './certificates.ts'

export function createHttps(
  config: Config,
  { https: tls }: Certificates,
): Pick<HttpServerOptions, 'https' | 'findHttpsUrl' | 'hstsSeconds'> {
  return {
    https: tls && config.httpsPort !== null ? { host: config.host, port: config.httpsPort, tls } : null,
    findHttpsUrl: config.isHttpRedirected ? createFindHttpsUrl(config) : null,
    hstsSeconds: config.hstsSeconds,
  }
}

/** Only hosts of tunnels are taken from a request. Every other request is sent to the public URL. */
function createFindHttpsUrl({ publicUrl, tunnelDomain, trustedProxies }: Config): FindHttpsUrl {
  const origin = new URL(publicUrl as string)
  const originOf = (host: string): string => {
    if (handleOfHost(host, tunnelDomain) === null) return origin.origin
    const name = /^[a-z0-9.-]+/i.exec(host)?.[0]
    return `https://${name}${origin.port === '' ? '' : `:${origin.port}`}`
  }
  return (request) => {
    const { url = '/', headers } = request
    const path = url.startsWith('/') ? url : '/'
    if (isEncrypted(request) || isPlainPath(path) || isFromTlsProxy(request, trustedProxies)) return null
    return `${originOf(headers.host ?? '')}${path}`
  }
}

const isFromTlsProxy = ({ headers, socket }: IncomingMessage, trustedProxies: string[]): boolean =>
  headers['x-forwarded-proto'] === 'https' && isInRanges((socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, ''), trustedProxies)
