// Answers that come later: a request that waits is let go when its client has gone, and answered at once when the server is about to.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Later } from '../../core/route.ts'

export type LongPolls = {
  /** Resolves with the answer once there is one. */
  answer<T>(request: FastifyRequest, reply: FastifyReply, later: Later<T>): Promise<T>
  /** Ends every wait: each is answered with what it has, and so is whoever comes now. */
  endAll(): void
}

export function createLongPolls(): LongPolls {
  const open = new Set<AbortController>()
  let isClosed = false
  return {
    async answer(request, reply, later) {
      const controller = new AbortController()
      const stop = () => controller.abort()
      // HEAD asks for the headers alone.
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
