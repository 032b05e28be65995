// Long polls. A waiting request is dropped when its client disconnects, and answered at once when the server stops.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Later } from '../../core/route.ts'

/** Watches a client. Calls `stop` when it has gone. The returned function ends the watch. */
export type ClientWatch = (stop: () => void) => () => void

export type LongPolls = {
  /** Resolves with the answer when it is available. */
  answer<T>(later: Later<T>, watch: ClientWatch): Promise<T>
  /** Ends every wait with the answer so far. Later calls end at once too. */
  endAll(): void
}

export function createLongPolls(): LongPolls {
  const open = new Set<AbortController>()
  let isClosed = false
  return {
    async answer(later, watch) {
      const controller = new AbortController()
      const stop = () => controller.abort()
      if (isClosed) stop()
      open.add(controller)
      const unwatch = watch(stop)
      try {
        return await later.answer(controller.signal)
      } finally {
        open.delete(controller)
        unwatch()
      }
    },
    endAll() {
      isClosed = true
      for (const controller of open) controller.abort()
    },
  }
}

/** The client of an HTTP request. HEAD asks for the headers only. */
export const watchConnection =
  (request: FastifyRequest, reply: FastifyReply): ClientWatch =>
  (stop) => {
    if (request.method === 'HEAD' || reply.raw.destroyed) stop()
    reply.raw.once('close', stop)
    return () => reply.raw.off('close', stop)
  }

/** The client of an inner call, which the signal ends. */
export const watchSignal =
  (signal: AbortSignal | undefined): ClientWatch =>
  (stop) => {
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    return () => signal?.removeEventListener('abort', stop)
  }
