// An ACME server (RFC 8555) with renewal information (RFC 9773), over HTTPS on loopback. It keeps its state in memory and validates for real.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCertificate } from '../certificate.ts'
import { createHandlers, type Faults, problemBody, type RenewalWindow, type Reply, type Settings, terms } from './handlers.ts'
import { createIssuer } from './issuer.ts'
import { keyOf, Problem, readJws } from './jws.ts'
import { createState } from './state.ts'
import { createValidator } from './validation.ts'

export type AcmeServerOptions = {
  /** Address and port of the DNS that names are looked up in. */
  dns: string
  /** The port in place of 80 for HTTP-01. */
  httpPort: () => number
  lifetimeMs?: number
  mayIssue?: (name: string) => boolean
  reusesAuthorizations?: boolean
  requiresTerms?: boolean
  /** Address and name of the server, in place of a free port of localhost. */
  listener?: { name: string; host: string; port: number }
}

const bodyBytesMax = 64 * 1024
const defaultLifetimeMs = 90 * 86_400_000

export async function startAcmeServer(options: AcmeServerOptions) {
  const { lifetimeMs = defaultLifetimeMs, listener = { name: 'localhost', host: '127.0.0.1', port: 0 } } = options
  const issuer = await createIssuer()
  const state = createState({ mayIssue: options.mayIssue ?? (() => true), reusesAuthorizations: options.reusesAuthorizations ?? false })
  const faults: Faults = { badNonces: 0, rateLimitSeconds: null, outages: 0, processingReads: 0 }
  const settings: Settings = { lifetimeMs, externalKeys: null }
  const nonces = new Set<string>()
  const seen: string[] = []
  const tls = createCertificate({ commonName: listener.name, dnsNames: [listener.name] })
  const server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => void serve(request, response))
  server.listen(listener.port, listener.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const base = `https://${listener.name}${port === 443 ? '' : `:${port}`}`

  const newNonce = (): string => {
    const nonce = randomBytes(16).toString('base64url')
    nonces.add(nonce)
    return nonce
  }
  const windows = new Map<string, RenewalWindow>()
  const { routes, newAccount, revoke, readRenewalInfo, findAccount } = createHandlers({
    base,
    state,
    issuer,
    validator: createValidator(options.dns, options.httpPort),
    faults,
    settings,
    windows,
    requiresTerms: options.requiresTerms ?? true,
  })

  const directory = () => ({
    newNonce: `${base}/nonce`,
    newAccount: `${base}/new-account`,
    newOrder: `${base}/new-order`,
    revokeCert: `${base}/revoke`,
    keyChange: `${base}/key-change`,
    renewalInfo: `${base}/renewal-info`,
    meta: { termsOfService: terms, website: 'https://authority.test', externalAccountRequired: settings.externalKeys !== null },
  })

  async function post(path: string, contentType: string | undefined, body: string): Promise<Reply> {
    if (contentType !== 'application/jose+json') throw new Problem(415, 'malformed', 'the content type must be application/jose+json')
    const request = readJws(body)
    const { nonce, url, jwk } = request.header
    // Each nonce is accepted once (RFC 8555 §6.5).
    if (!nonce || !nonces.delete(nonce)) throw new Problem(400, 'badNonce', 'the nonce is unknown or was used already')
    if (faults.badNonces > 0) {
      faults.badNonces--
      throw new Problem(400, 'badNonce', 'the nonce has expired')
    }
    if (faults.outages > 0) {
      faults.outages--
      throw new Problem(503, 'serverInternal', 'down for maintenance')
    }
    if (url !== `${base}${path}`) throw new Problem(403, 'unauthorized', 'url is not the address of this request')
    if (path === '/new-account') {
      if (!jwk || !request.isSignedBy(keyOf(jwk))) throw new Problem(400, 'malformed', 'a new account is signed by the key in jwk')
      return newAccount(request)
    }
    if (path === '/revoke') return revoke(request, jwk ? null : findAccount(request))
    if (jwk) throw new Problem(400, 'malformed', 'kid is required here')
    for (const [pattern, handler] of routes) {
      const ids = pattern.exec(path)?.slice(1)
      if (ids) return handler(request, findAccount(request), ids)
    }
    throw new Problem(404, 'malformed', 'no such resource')
  }

  async function answer(request: IncomingMessage): Promise<Reply> {
    const path = request.url as string
    if (request.method === 'POST') return post(path, request.headers['content-type'], await readBody(request))
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new Problem(405, 'malformed', 'the method is not allowed')
    if (path === '/directory') return { status: 200, body: directory() }
    if (path === '/nonce') return { status: request.method === 'HEAD' ? 200 : 204, headers: { 'replay-nonce': newNonce() } }
    if (path.startsWith('/renewal-info/')) return readRenewalInfo(path.slice('/renewal-info/'.length))
    throw new Problem(405, 'malformed', 'resources are read by POST-as-GET')
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    seen.push(`${request.method} ${(request.url as string).replace(/\/[A-Za-z0-9_.-]{16,}/g, '/…')}`)
    const reply = await answer(request).catch((error: unknown): Reply => {
      const problem = error instanceof Problem ? error : new Problem(500, 'serverInternal', String(error))
      return {
        status: problem.status,
        body: problemBody(problem),
        headers: { 'content-type': 'application/problem+json', ...problem.headers },
      }
    })
    const text = reply.body === undefined ? '' : typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    response.writeHead(reply.status, {
      'cache-control': 'no-store',
      'content-type': 'application/json',
      link: `<${base}/directory>;rel="index"`,
      ...(request.method === 'POST' ? { 'replay-nonce': newNonce() } : {}),
      ...reply.headers,
    })
    response.end(request.method === 'HEAD' || text === '' ? undefined : text)
  }

  return {
    directoryUrl: `${base}/directory`,
    /** PEM to trust for the connection to this server. */
    ca: tls.cert,
    /** PEM root of the certificates that it issues. */
    root: issuer.root,
    faults,
    settings,
    state,
    /** "POST /new-order" for each request so far. */
    seen: () => [...seen],
    /** Suggests a time for renewals of certificates whose first name this is. */
    suggest: (name: string, window: { startMs: number; endMs: number }) => void windows.set(name, window),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type AcmeServer = Awaited<ReturnType<typeof startAcmeServer>>

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk
    if (body.length > bodyBytesMax) throw new Problem(413, 'malformed', 'the body is too long')
  }
  return body
}
