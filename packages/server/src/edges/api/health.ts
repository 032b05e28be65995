// Liveness and readiness of the process.
import type { FastifyInstance } from 'fastify'

/** Checks each part of the server, by name, and returns true for those that work. */
export type Readiness = () => Promise<Record<string, boolean>>

const readinessTimeoutMs = 2000

/** Adds /healthz and /readyz. */
export function mountHealth(app: FastifyInstance, readiness: Readiness, isDraining: () => boolean): void {
  let asking: Promise<Record<string, boolean>> | null = null

  // Concurrent requests share one check, because it costs a round trip to the database.
  const ask = (): Promise<Record<string, boolean>> => {
    asking ??= Promise.race([readiness(), late()])
      .catch(() => ({ readiness: false }))
      .finally(() => {
        asking = null
      })
    return asking
  }

  app.get('/healthz', async (request) => {
    request.pattern = '/healthz'
    return { status: 'ok' }
  })

  app.get('/readyz', async (request, reply) => {
    request.pattern = '/readyz'
    const checks = await ask()
    const isReady = Object.values(checks).every(Boolean)
    const status = isDraining() ? 'draining' : isReady ? 'ready' : 'unavailable'
    return reply.code(status === 'ready' ? 200 : 503).send({ status, checks })
  })
}

const late = (): Promise<Record<string, boolean>> =>
  new Promise((resolve) => setTimeout(() => resolve({ readiness: false }), readinessTimeoutMs).unref())
