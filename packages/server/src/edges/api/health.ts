// Whether the process lives, whether it can serve, and its figures.
import type { FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'

/** What can be asked: each part of the server by name, true when it works. */
export type Readiness = () => Promise<Record<string, boolean>>

const readinessTimeoutMs = 2000

/** Adds /healthz, /readyz and /metrics. */
export function mountHealth(app: FastifyInstance, readiness: Readiness, isDraining: () => boolean, registry: Registry): void {
  let asking: Promise<Record<string, boolean>> | null = null

  // One question at a time, however many ask: the answer costs a round trip to the database.
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

  app.get('/metrics', async (request, reply) => {
    request.pattern = '/metrics'
    return reply.type(registry.contentType).send(await registry.metrics())
  })
}

const late = (): Promise<Record<string, boolean>> =>
  new Promise((resolve) => setTimeout(() => resolve({ readiness: false }), readinessTimeoutMs).unref())
