// A stand-in for Resend's domains API on loopback. It stores domains, checks their records on request, and can fail in every way. Shapes follow the
// types of the vendor's own SDK, which drives it in resend-server.test.ts.
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from './start.ts'

/** A failure of a request. It is an answer with this status, a cut before processing, or an answer lost after processing. */
export type Failure = { status: number; headers?: Record<string, string>; body?: string } | 'cut' | 'lost'

export type ResendServer = {
  url: string
  apiKey: string
  /** Its state of a domain, or undefined when it is not registered. */
  find(name: string): Json | undefined
  /** Marks records of a domain as published, by purpose and type. The next check finds them. */
  publish(name: string, ...records: string[]): void
  withdraw(name: string, ...records: string[]): void
  /** Checks now, as the vendor does in its own time. */
  look(name: string): void
  /** Number of GETs until a requested verification has ended. */
  slowness: number
  /** A name whose records are known to be there already when it is registered. */
  knowAlready(name: string): void
  /** A name that another account has. */
  takeElsewhere(name: string): void
  /** The next `times` requests that match go wrong. */
  fail(method: string, path: RegExp, failure: Failure, times?: number): void
  /** Clears all faults. */
  heal(): void
  /** Every request so far, such as "POST /domains". */
  asked(): string[]
  stop(): Promise<void>
}

type Upstream = {
  id: string
  name: string
  status: string
  created_at: string
  region: string
  capabilities: { sending: string; receiving: string }
  records: Json[]
  looksLeft: number
}

export async function startResendServer(): Promise<ResendServer> {
  const apiKey = `re_${randomBytes(16).toString('hex')}`
  const domains = new Map<string, Upstream>()
  const published = new Map<string, Set<string>>()
  const known = new Set<string>()
  const elsewhere = new Set<string>()
  const failures: { method: string; path: RegExp; failure: Failure; times: number }[] = []
  const asked: string[] = []
  const byName = (name: string) => [...domains.values()].find((domain) => domain.name === name)
  const isPublished = (domain: Upstream, record: Json) =>
    known.has(domain.name) || (published.get(domain.name)?.has(`${record.record} ${record.type}`) ?? false)

  function look(domain: Upstream): void {
    for (const record of domain.records) {
      // A record that was valid and is now missing gets a grace period.
      const missed = record.status === 'verified' || record.status === 'temporary_failure' ? 'temporary_failure' : 'failed'
      record.status = isPublished(domain, record) ? 'verified' : missed
    }
    domain.status = domain.records.every((record) => record.status === 'verified') ? 'verified' : 'failed'
  }

  function create(name: string): Upstream {
    const below = name.split('.').slice(0, -2).join('.')
    const at = (label: string) => (below ? `${label}.${below}` : label)
    const key = randomBytes(162).toString('base64')
    const record = (fields: Json): Json => ({ ttl: 'Auto', status: 'not_started', ...fields })
    const domain: Upstream = {
      id: randomUUID(),
      name,
      status: 'not_started',
      created_at: new Date().toISOString(),
      region: 'us-east-1',
      capabilities: { sending: 'enabled', receiving: 'disabled' },
      records: [
        record({ record: 'SPF', name: at('send'), type: 'MX', value: 'feedback-smtp.us-east-1.amazonses.com', priority: 10 }),
        record({ record: 'SPF', name: at('send'), type: 'TXT', value: '"v=spf1 include:amazonses.com ~all"' }),
        record({ record: 'DKIM', name: at('resend._domainkey'), type: 'TXT', value: `p=${key}` }),
      ],
      looksLeft: 0,
    }
    domains.set(domain.id, domain)
    if (known.has(name)) look(domain)
    return domain
  }

  const error = (status: number, name: string, message: string) => ({ status, body: { statusCode: status, name, message } })
  const shown = ({ looksLeft: _, ...domain }: Upstream) => domain
  const listed = ({ records: _, ...domain }: ReturnType<typeof shown>) => domain

  function answer(method: string, url: URL, body: Json): { status: number; body: Json } {
    const [, resource, id, action] = url.pathname.split('/')
    if (resource !== 'domains') return error(404, 'not_found', 'The requested endpoint does not exist.')
    if (id === undefined && method === 'POST') {
      const name = body?.name
      if (typeof name !== 'string' || !name.includes('.')) return error(422, 'validation_error', 'The name is not a valid domain.')
      if (byName(name) || elsewhere.has(name)) return error(403, 'validation_error', `The ${name} domain has been registered already.`)
      return { status: 201, body: shown(create(name)) }
    }
    if (id === undefined && method === 'GET') {
      const all = [...domains.values()].toReversed()
      const start = url.searchParams.has('after') ? all.findIndex((domain) => domain.id === url.searchParams.get('after')) + 1 : 0
      const page = all.slice(start, start + Number(url.searchParams.get('limit') ?? 20))
      return {
        status: 200,
        body: { object: 'list', has_more: start + page.length < all.length, data: page.map((one) => listed(shown(one))) },
      }
    }
    const domain = domains.get(id ?? '')
    if (!domain) return error(404, 'not_found', 'Domain not found')
    if (action === 'verify' && method === 'POST') {
      domain.status = 'pending'
      for (const record of domain.records) if (record.status !== 'verified') record.status = 'pending'
      domain.looksLeft = server.slowness
      return { status: 200, body: { object: 'domain', id: domain.id } }
    }
    if (method === 'GET') {
      if (domain.status === 'pending' && domain.looksLeft-- <= 0) look(domain)
      return { status: 200, body: { object: 'domain', ...shown(domain) } }
    }
    if (method === 'DELETE') {
      domains.delete(domain.id)
      return { status: 200, body: { object: 'domain', id: domain.id, deleted: true } }
    }
    return error(405, 'method_not_allowed', 'Method is not allowed for the requested path.')
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? '/', 'http://localhost')
    const method = request.method ?? 'GET'
    asked.push(`${method} ${url.pathname}`)
    const send = (status: number, body: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
    const failure = failures.find((one) => one.times > 0 && one.method === method && one.path.test(url.pathname))
    if (failure) failure.times--
    if (failure && typeof failure.failure === 'object')
      return void send(failure.failure.status, failure.failure.body ?? '{}', failure.failure.headers)
    if (failure?.failure === 'cut') return void request.socket.destroy()
    if (request.headers.authorization !== `Bearer ${apiKey}`) {
      const { status, body } = error(401, 'validation_error', 'API key is invalid')
      return void send(status, JSON.stringify(body))
    }
    const { status, body } = answer(method, url, chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString() || 'null') : null)
    if (failure?.failure === 'lost') return void request.socket.destroy()
    send(status, JSON.stringify(body))
  }

  const http = createServer((request, response) => void handle(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')

  const server: ResendServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    apiKey,
    slowness: 0,
    find: (name) => byName(name),
    publish(name, ...records) {
      published.set(name, new Set([...(published.get(name) ?? []), ...records]))
    },
    withdraw(name, ...records) {
      for (const record of records) published.get(name)?.delete(record)
    },
    look(name) {
      const domain = byName(name)
      if (domain) look(domain)
    },
    knowAlready: (name) => void known.add(name),
    takeElsewhere: (name) => void elsewhere.add(name),
    fail: (method, path, failure, times = 1) => void failures.push({ method, path, failure, times }),
    heal: () => void failures.splice(0),
    asked: () => [...asked],
    async stop() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
  return server
}
