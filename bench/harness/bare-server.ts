// Peer of every figure. A bare Fastify route in its own process returns the given bytes, without key, checks or log.
import Fastify from 'fastify'
import pg from 'pg'

/** First message from the parent. The answer is text, and the route has Fastify's syntax. */
export type BareRoute = {
  method: 'GET' | 'POST'
  path: string
  status: number
  answer: string
  /** A prepared statement that each request waits for. `host` is the directory of the socket. Without `select` the database is not used. */
  select?: { host: string; text: string; values: string[] } | undefined
}

async function serve(route: BareRoute): Promise<void> {
  const { select } = route
  const pool = select && new pg.Pool({ host: select.host, user: 'callsign', database: 'callsign', max: 10 })
  const app = Fastify({ logger: false })
  const bytes = Buffer.from(route.answer)
  // For POST, Fastify's own parser reads the JSON body first.
  app.route({
    method: route.method,
    url: route.path,
    handler: async (_request, reply) => {
      if (pool && select) await pool.query({ name: 'select', text: select.text, values: select.values })
      return reply.code(route.status).type('application/json; charset=utf-8').send(bytes)
    },
  })
  app.listen({ port: 0, host: '127.0.0.1' }).then((address) => process.send?.({ url: address }))
}

if (process.send) {
  process.once('message', (route) => serve(route as BareRoute))
  process.once('disconnect', () => process.exit(0))
} else {
  // Started alone for the startup figure. It reports when it listens.
  const app = Fastify({ logger: false })
  app.get('/', () => ({ ok: true }))
  app.listen({ port: 0, host: '127.0.0.1' }).then(() => process.stdout.write('ready\n'))
}
