// Long polls. A waiting request is dropped when its client disconnects, and answered at once when the server stops.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Later } from '../../core/route.ts'

export type LongPolls = {
  /** Resolves with the answer when it is available. */
  answer<T>(request: FastifyRequest, reply: FastifyReply, later: Later<T>): Promise<T>
  /** Ends every wait with the answer so far. Later calls end at once too. */
  endAll(): void
}

export function createLongPolls(): LongPolls {
  const open = new Set<AbortController>()
  let isClosed = false
  return {
    async answer(request, reply, later) {
      const controller = new AbortController()
      const stop = () => controller.abort()
      // HEAD asks for the headers only.
      if (isClosed || request.method === 'HEAD' || reply.raw.destroyed) stop()
      open.add(controller)
      reply.raw.once('close', stop)
      try {
        return await later.answer(controller.signal)
      } finally {
        open.delete(controller)
        reply.raw.off('close', stop)
      }
    },
    endAll() {
      isClosed = true
      for (const controller of open) controller.abort()
    },
  }
}
