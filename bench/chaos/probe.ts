// Writes through one process many times a second, to find out when it serves again after a fault.
import { setTimeout as delay } from 'node:timers/promises'
import { createApiClient } from '../crash/api-client.ts'
import type { Mailbox } from '../crash/ledger.ts'

const pauseMs = 100

export type Probe = {
  /** Milliseconds from this time to the first write that succeeded after it. Rejects after `limitMs`. */
  backAfter: (sinceMs: number, limitMs: number) => Promise<number>
  /** The longest time that a write waited for its answer. */
  slowestMs: () => number
  stop: () => Promise<void>
}

/** Starts it. A write that waits does not delay the next ones. */
export function startProbe(port: number, { handle, apiKey }: Mailbox): Probe {
  const clients = new Set<ReturnType<typeof createApiClient>>()
  const inFlight = new Set<Promise<void>>()
  let isStopping = false
  let lastSuccessMs = 0
  let slowestMs = 0

  async function write(): Promise<void> {
    const startedMs = performance.now()
    // A connection of its own, because a client lets further requests wait behind those without an answer.
    const client = createApiClient(port)
    clients.add(client)
    const body = { display_name: `Agent ${handle}` }
    const answer = await client.call({ method: 'PATCH', path: `/api/v1/identities/${handle}`, apiKey, body }).catch(() => null)
    if (answer?.status === 200) lastSuccessMs = performance.now()
    slowestMs = Math.max(slowestMs, performance.now() - startedMs)
    client.close()
    clients.delete(client)
  }

  const run = (async () => {
    while (!isStopping) {
      const one: Promise<void> = write().finally(() => inFlight.delete(one))
      inFlight.add(one)
      await delay(pauseMs)
    }
    await Promise.all(inFlight)
  })()

  return {
    async backAfter(sinceMs, limitMs) {
      while (lastSuccessMs < sinceMs) {
        if (performance.now() - sinceMs > limitMs) throw new Error(`no write succeeded within ${limitMs} ms after the fault was over`)
        await delay(5)
      }
      return lastSuccessMs - sinceMs
    },
    slowestMs: () => slowestMs,
    stop: async () => {
      isStopping = true
      await run
    },
  }
}
