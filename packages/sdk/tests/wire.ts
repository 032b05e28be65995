// A wire between the client and a real server that records every request, and on which a test can play a hostile server.
import type { Fetch } from '../src/connection/request.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests change answers into any shape
export type Json = any
export type Sent = { method: string; path: string; query: string; body: string }

/** Receives each JSON answer of the real server and returns the client's view of it, as a changed body or a whole Response. */
export type Tamper = (sent: Sent, body: Json, status: number) => unknown

/** `paths` are method and path of every request so far, below /api/v1. */
export type Wire = { sent: Sent[]; tamper: Tamper | undefined; paths: () => string[]; fetch: Fetch }

export function createWire(): Wire {
  const sent: Sent[] = []
  const wire: Wire = {
    sent,
    tamper: undefined,
    paths: () => sent.map(({ method, path }) => `${method} ${path}`),
    fetch: async (input, init) => {
      const url = new URL(input)
      const request: Sent = {
        method: init.method ?? 'GET',
        path: url.pathname.replace('/api/v1', ''),
        query: url.search,
        body: typeof init.body === 'string' ? init.body : '',
      }
      sent.push(request)
      const response = await fetch(input, init)
      if (!wire.tamper) return response
      const text = await response.text()
      const changed = await wire.tamper(request, text === '' ? undefined : JSON.parse(text), response.status)
      if (changed instanceof Response) return changed
      return Response.json(changed, { status: response.status })
    },
  }
  return wire
}
