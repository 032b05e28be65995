// Common parts of supplier stand-ins. These are a loopback server with routes, faults on demand, and callbacks.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type SupplierCall = { method: string; path: string; query: URLSearchParams; headers: IncomingHttpHeaders; body: Buffer }
export type SupplierReply = { status: number; body?: unknown; type?: string }

/**
 * The fault of the next calls of a route. `lose` does the work and cuts the connection before the answer. `cut` cuts the connection and does nothing.
 * `fail` is 500, and `refuse` is 403, both without effect. `late` does the work well after the connection was cut.
 */
export type BadLuck = 'lose' | 'cut' | 'fail' | 'refuse' | 'late'

type Route = { method: string; pattern: RegExp; name: string; run: (call: SupplierCall, ...parts: string[]) => SupplierReply }

const lateMs = 150

/** Starts one. `routes` are tried in order. */
export async function startSupplierServer(routes: Route[], refuse: (call: SupplierCall) => SupplierReply | null) {
  const luck: { name: string; kind: BadLuck }[] = []
  const calls: string[] = []
  const timers = new Set<NodeJS.Timeout>()

  const answer = (call: SupplierCall): { name: string; run: () => SupplierReply } => {
    for (const { method, pattern, name, run } of routes) {
      const match = method === call.method ? pattern.exec(call.path) : null
      if (match) return { name, run: () => run(call, ...match.slice(1).map(decodeURIComponent)) }
    }
    return { name: 'unknown', run: () => ({ status: 404, body: { code: 20404, message: 'no such route', errors: [{ code: '10005' }] } }) }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const url = new URL(request.url ?? '/', 'http://supplier')
      const call: SupplierCall = {
        method: request.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks),
      }
      const refused = refuse(call)
      const { name, run } = refused ? { name: 'refused', run: () => refused } : answer(call)
      calls.push(name)
      const index = luck.findIndex((one) => one.name === name)
      const kind = index < 0 ? null : (luck.splice(index, 1)[0]?.kind ?? null)
      if (kind === 'cut') return request.socket.destroy()
      if (kind === 'late') {
        const timer = setTimeout(() => {
          timers.delete(timer)
          run()
        }, lateMs)
        timers.add(timer)
        return request.socket.destroy()
      }
      if (kind === 'refuse')
        return void response.writeHead(403, { 'content-type': 'application/json' }).end('{"code":20008,"message":"no"}')
      if (kind === 'fail') return void response.writeHead(500).end('{}')
      const reply = run()
      if (kind === 'lose') return request.socket.destroy()
      response.writeHead(reply.status, { 'content-type': reply.type ?? 'application/json' })
      const { body } = reply
      response.end(body === undefined ? '' : Buffer.isBuffer(body) ? body : JSON.stringify(body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Names of the routes that were called, in order. */
    calls,
    /** The next `times` calls of a route go wrong. */
    spoil(name: string, kind: BadLuck, times = 1) {
      for (let i = 0; i < times; i++) luck.push({ name, kind })
    },
    /** Bad luck that has not come about yet. */
    pendingLuck: () => luck.length,
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Posts a callback, and returns the status of the answer. */
export async function postCallback(url: string, headers: Record<string, string>, body: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}

/** A text from an outside number to an agent's number. */
export type OutsideText = { from: string; text: string; media?: { path: string; contentType: string; bytes: Buffer; isLocked?: boolean }[] }

/** A number that a stand-in has for sale. */
export type ForSale = { phoneNumber: string; country: string; region: string; type: 'local' | 'toll_free' }

/** Numbers for sale at every phone provider stand-in, best first. */
export const stock: ForSale[] = [
  ...Array.from({ length: 60 }, (_, i) => ({ phoneNumber: `+121255501${30 + i}`, country: 'US', region: 'NY', type: 'local' as const })),
  ...Array.from({ length: 6 }, (_, i) => ({ phoneNumber: `+141555501${30 + i}`, country: 'US', region: 'CA', type: 'local' as const })),
  ...Array.from({ length: 4 }, (_, i) => ({ phoneNumber: `+141655501${30 + i}`, country: 'CA', region: 'ON', type: 'local' as const })),
  ...Array.from({ length: 4 }, (_, i) => ({ phoneNumber: `+187755501${30 + i}`, country: 'US', region: '', type: 'toll_free' as const })),
]
