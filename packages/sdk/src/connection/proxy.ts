// The HTTP proxy that the environment names, for requests, event sockets and tunnels on Node. Deno and Bun apply the same variables to `fetch` themselves.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { nodeModule } from '../vault/crypto/bytes.ts'
import { addressOf, connectThrough, credentialsOf } from './proxy-connection.ts'

type Environment = Record<string, string | undefined>

export const processEnvironment = (): Environment => (globalThis as { process?: { env?: Environment } }).process?.env ?? {}

/**
 * The proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY set for an address, or null. Loopback addresses are reached directly.
 * A CGI program ignores HTTP_PROXY, because it receives the request's Proxy header under this name (CVE-2016-5385).
 */
export function proxyFor(url: URL, environment: Environment): URL | null {
  const value = (name: string) => environment[name.toLowerCase()] || environment[name]
  const plain = environment.http_proxy || (environment.REQUEST_METHOD === undefined ? environment.HTTP_PROXY : undefined)
  const address = (url.protocol === 'https:' ? value('HTTPS_PROXY') : plain) || value('ALL_PROXY')
  if (!address) return null
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (/^(.+\.)?localhost$|^127\.|^::1$/.test(host)) return null
  for (const part of (value('NO_PROXY') ?? '').split(',')) {
    const name = part
      .trim()
      .toLowerCase()
      .replace(/^\*?\./, '')
      .replace(/:\d+$/, '')
    if (name === '*' || (name !== '' && (host === name || host.endsWith(`.${name}`)))) return null
  }
  return readProxy(address)
}

/** Parses the address of a proxy, with or without `http://`. Throws TypeError for any other kind. */
export function readProxy(text: string): URL {
  const whole = text.includes('://') ? text : `http://${text}`
  const proxy = URL.canParse(whole) ? new URL(whole) : null
  if (proxy?.protocol !== 'http:' && proxy?.protocol !== 'https:')
    throw new TypeError('The proxy is not an HTTP proxy. Give an address that begins with http:// or https://.')
  try {
    decodeURIComponent(proxy.username + proxy.password)
  } catch {
    throw new TypeError('The user or password of the proxy contains a bare %. Write it as %25.')
  }
  return proxy
}

/**
 * `fetch` that goes through the proxy of the environment where there is one. Through a proxy it follows no redirect, and takes a body of
 * text or bytes.
 */
export const fetchByEnvironment = (input: string, init: RequestInit): Promise<Response> => {
  const node = nodeParts()
  const proxy = node && proxyFor(new URL(input), processEnvironment())
  return proxy ? fetchThrough(node, proxy, new URL(input), init) : fetch(input, init)
}

/**
 * The third option of a WebSocket that goes through the proxy of the environment: none where no proxy applies, and null where this
 * runtime's WebSocket cannot use it. Node takes a dispatcher of its own undici. Deno applies the variables itself, from 2.5 on.
 */
export function socketOptions(address: string): { dispatcher?: object } | null {
  const { Deno, process } = globalThis as { Deno?: unknown; process?: { versions?: { node?: string } } }
  if (Deno !== undefined || process?.versions?.node === undefined) return {}
  const proxy = proxyFor(new URL(address.replace(/^ws/, 'http')), processEnvironment())
  if (!proxy) return {}
  const node = nodeParts()
  const current = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')] as object | undefined
  // A dispatcher of another class is the program's own, and does not take a function that connects.
  if (!node || current?.constructor.name !== 'Agent') return null
  const Agent = current.constructor as new (options: { connect: Connect }) => object
  return {
    dispatcher: new Agent({
      connect({ protocol, hostname, port }, callback) {
        const isTls = protocol === 'https:'
        const host = hostname.replace(/^\[|\]$/g, '')
        connectThrough(node, proxy, `${hostname}:${port || (isTls ? 443 : 80)}`).then((plain) => {
          if (!isTls) return callback(null, plain)
          const secure = node.tls.connect({ socket: plain, ALPNProtocols: ['http/1.1'], ...(!node.net.isIP(host) && { servername: host }) })
          secure.once('error', callback)
          secure.once('secureConnect', () => callback(null, secure.off('error', callback)))
        }, callback)
      },
    }),
  }
}

/** The function of undici's Agent that opens a connection. */
type Connect = (
  target: { protocol: string; hostname: string; port: string },
  callback: (error: Error | null, socket?: Socket) => void,
) => void

/** Null in browsers, and in the runtimes whose own `fetch` uses proxies. */
function nodeParts() {
  const { Deno, process } = globalThis as { Deno?: unknown; process?: { versions?: { bun?: string } } }
  if (Deno !== undefined || process?.versions?.bun !== undefined) return null
  const http = nodeModule<typeof import('node:http')>('node:http')
  const https = nodeModule<typeof import('node:https')>('node:https')
  const net = nodeModule<typeof import('node:net')>('node:net')
  const tls = nodeModule<typeof import('node:tls')>('node:tls')
  const stream = nodeModule<typeof import('node:stream')>('node:stream')
  return http && https && net && tls && stream ? { http, https, net, tls, stream } : null
}

type Parts = NonNullable<ReturnType<typeof nodeParts>>

/** Connections through a proxy are kept, one agent for each proxy. */
const agents = new Map<string, InstanceType<Parts['https']['Agent']>>()

function agentFor(node: Parts, proxy: URL) {
  const known = agents.get(proxy.href)
  if (known) return known
  const agent = new node.https.Agent({ keepAlive: true })
  agent.createConnection = (options, callback) => {
    connectThrough(node, proxy, `${options.host}:${options.port}`).then(
      (socket) => callback?.(null, node.tls.connect({ ...options, socket } as object)),
      (error: Error) => callback?.(error, undefined as never),
    )
    return undefined
  }
  agents.set(proxy.href, agent)
  return agent
}

async function fetchThrough(node: Parts, proxy: URL, url: URL, init: RequestInit): Promise<Response> {
  const options = { method: init.method ?? 'GET', ...(init.signal && { signal: init.signal }) }
  const headers = Object.fromEntries(new Headers(init.headers))
  const client = proxy.protocol === 'https:' ? node.https : node.http
  const request =
    url.protocol === 'https:'
      ? node.https.request(url, { ...options, headers, agent: agentFor(node, proxy) })
      : // A proxy gets the whole URL of a plain request (RFC 9112 section 3.2.2).
        client.request({
          ...options,
          ...addressOf(proxy),
          path: url.href,
          headers: { ...headers, Host: url.host, ...credentialsOf(proxy) },
        })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', resolve)
    request.end(init.body as string | Uint8Array | undefined)
  })
  const status = response.statusCode as number
  if (init.redirect === 'error' && status >= 300 && status < 400) {
    response.destroy()
    throw new TypeError(`The answer is a redirect (${status}).`)
  }
  const isEmpty = [204, 205, 304].includes(status)
  if (isEmpty) response.resume()
  const body = isEmpty ? null : (node.stream.Readable.toWeb(response) as ReadableStream<Uint8Array>)
  return new Response(body, {
    status,
    headers: Object.entries(response.headersDistinct).flatMap(([name, values]) =>
      (values ?? []).map((value): [string, string] => [name, value]),
    ),
  })
}
