// Builds the HTTP server with the API, the console and the pages of the other edges.

import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/settings.ts'
import type { BusinessEvents } from '../core/business-events.ts'
import { isInRanges } from '../core/ip-ranges.ts'
import type { Log } from '../core/log.ts'
import type { Replays } from '../core/replay.ts'
import type { Route } from '../core/route.ts'
import type { Database } from '../core/sql.ts'
import { type FindHttpsUrl, isEncrypted, isPlainPath } from '../edges/api/https.ts'
import type { Pages } from '../edges/api/pages.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../edges/api/server.ts'
import { docPaths, mountDocs } from '../edges/docs-site/pages.ts'
import { createUnavailableHandler } from '../edges/gateway/unavailable-handler.ts'
import type { ServerFinding } from '../features/account/overview/model.ts'
import { handleOfHost } from '../features/tunnels/model.ts'
import { createApprovalPages } from './approvals.ts'
import type { Certificates } from './certificates.ts'
import { createCompatPages } from './compat.ts'
import { createPages } from './console.ts'
import { createMcpPages } from './mcp.ts'
import { createOAuthPages } from './oauth.ts'
import { type Running, version } from './parts.ts'
import type { ServerParts } from './server.ts'

/** The parts of the HTTP server. */
export type Serving = {
  config: Config
  db: Database
  log: Log
  parts: ServerParts
  replays: Replays
  running: Running
  businessEvents: BusinessEvents
  worker: { isClaiming: () => boolean } | null
  /** Problems of this server, for the console. */
  findProblems: () => ServerFinding[]
}

/** The HTTP server, not listening yet. `submissionPages` lend submission the API. */
export function createHttp(
  { config, db, log, parts, replays, businessEvents, worker, running, findProblems }: Serving,
  submissionPages: Pages[],
): HttpServer {
  const routes = config.roles.includes('api') ? parts.routes : []
  return createHttpServer({
    host: config.host,
    port: config.port,
    publicUrl: config.publicUrl,
    routes,
    innerRoutes: config.roles.includes('api') ? parts.innerRoutes : [],
    authenticate: parts.console.authenticate,
    authenticateSocket: parts.authenticateSocket,
    trustedProxies: config.trustedProxies,
    requestRecorder: parts.requestRecorder,
    accessLog: parts.accessLog,
    transact: db.transact,
    replays,
    limits: {
      organizationKeyPerSecond: config.organizationKeyPerSecond,
      organizationKeyBurst: 2 * config.organizationKeyPerSecond,
      agentKeyPerSecond: config.agentKeyPerSecond,
      agentKeyBurst: 2 * config.agentKeyPerSecond,
    },
    readiness: async () => ({
      database: await db.query({ text: 'SELECT 1' }).then(
        () => true,
        () => false,
      ),
      ...(worker ? { worker: worker.isClaiming() && parts.deliverer.isDelivering() } : {}),
    }),
    pages: [
      ...createPages({
        config,
        db,
        log,
        console: parts.console,
        publicUrl: () => running.publicUrl,
        findProblems,
      }),
      ...createOAuthPages({ config, console: parts.console, publicUrl: () => running.publicUrl }),
      ...createMcpPages({ config, console: parts.console, publicUrl: () => running.publicUrl }),
      ...createCompatPages(config),
      ...submissionPages,
      ...createApprovalPages({ config, decisions: parts.linkDecisions }),
      ...parts.certificates.pages,
      docsPages(routes, () => running.publicUrl),
    ],
    ...createHttps(config, parts.certificates),
    tunnels: config.roles.includes('gateway') ? parts.gateway : createUnavailableHandler(config.tunnelDomain),
    businessEvents,
    log: log.child({ part: 'http' }),
  })
}

/** The documentation of these routes, which every process serves. */
function docsPages(routes: Route[], serverUrl: () => string): Pages {
  const operations = routes.map(({ shape }) => shape)
  return {
    paths: docPaths.map((path) => ({ method: 'GET', path })),
    mount: (app) => mountDocs(app, { serverUrl, version }, operations),
  }
}

/** HTTPS for the server of the API, and the redirect to it. */
function createHttps(config: Config, { https: tls }: Certificates): Pick<HttpServerOptions, 'https' | 'findHttpsUrl' | 'hstsSeconds'> {
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
