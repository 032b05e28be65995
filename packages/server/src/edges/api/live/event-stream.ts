// Server-sent events (WHATWG HTML, section 9.2). The response is a stream that buffers only as much as the reader takes next.
import { Readable } from 'node:stream'
import { cursorMessage } from '@callsign/contract/events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../../core/log.ts'
import type { Live, LiveEvent } from '../../../core/route.ts'

/** Proxies close connections that are silent for a minute, and many after 30 seconds. */
const heartbeatMs = 15_000
/** A reader that takes nothing for this long while events are pending is disconnected. */
const stallMsMax = 10_000
/** Bytes that may wait for one reader, in addition to the kernel's buffer. */
const waitingBytesMax = 64 * 1024
/** Milliseconds that a browser waits before it reconnects. */
const reconnectMs = 1_000

export type EventStreams = {
  /** Streams the live answer until the reader disconnects or is too slow, or all streams are closed. */
  send(request: FastifyRequest, reply: FastifyReply, live: Live): FastifyReply
  /** Ends every stream. Readers reconnect elsewhere and continue from their position. */
  closeAll(): void
}

export function createEventStreams(log: Log): EventStreams {
  const open = new Set<EventReadable>()
  let isClosed = false
  return {
    send(request, reply, live) {
      reply.type('text/event-stream; charset=utf-8').header('x-accel-buffering', 'no')
      // HEAD asks for the headers only, and would wait for the end.
      if (request.method === 'HEAD') {
        void live.follow(AbortSignal.abort())[Symbol.asyncIterator]().next()
        return reply.send('')
      }
      const stream = new EventReadable(live, log.child({ request_id: request.id }), () => reply.raw.destroy())
      open.add(stream)
      stream.once('close', () => open.delete(stream))
      if (isClosed) stream.finish()
      return reply.send(stream)
    },
    closeAll() {
      isClosed = true
      for (const stream of open) stream.finish()
    },
  }
}

class EventReadable extends Readable {
  readonly #abort = new AbortController()
  readonly #cut: () => void
  readonly #log: Log
  #isWanted = true
  #onWanted = () => {}
  #heartbeat: NodeJS.Timeout | undefined

  constructor(live: Live, log: Log, cut: () => void) {
    super({ highWaterMark: waitingBytesMax })
    this.#cut = cut
    this.#log = log
    this.on('error', () => {})
    // The first bytes make Node send the headers.
    this.push(`retry: ${reconnectMs}\n\n`)
    this.#heartbeat = setInterval(() => {
      if (this.#isWanted && !this.readableEnded) this.#isWanted = this.push(': still here\n\n')
    }, heartbeatMs).unref()
    void this.#run(live)
  }

  override _read(): void {
    this.#isWanted = true
    this.#onWanted()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearInterval(this.#heartbeat)
    this.#abort.abort()
    this.#onWanted()
    callback(error)
  }

  /** Ends the response regularly. */
  finish(): void {
    this.#abort.abort()
    this.#onWanted()
  }

  async #run(live: Live): Promise<void> {
    const { signal } = this.#abort
    try {
      for await (const batch of live.follow(signal)) {
        for (const event of batch) {
          if (signal.aborted || !(await this.#wanted())) break
          this.#isWanted = this.push(blockOf(event))
        }
        if (signal.aborted) break
      }
    } catch (err) {
      // The reader reconnects and continues from its position.
      if (!signal.aborted) this.#log.warn({ err }, 'an event stream ended early')
    }
    if (!this.destroyed) this.push(null)
  }

  /** True when the reader has taken its data. Disconnects it when it does not in time. */
  async #wanted(): Promise<boolean> {
    if (this.#isWanted) return true
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#onWanted = resolve
      timer = setTimeout(resolve, stallMsMax)
    })
    clearTimeout(timer)
    this.#onWanted = () => {}
    if (this.#isWanted || this.#abort.signal.aborted) return this.#isWanted
    this.#log.info('an event stream was closed because its client read too slowly')
    this.destroy()
    this.#cut()
    return false
  }
}

function blockOf({ id, data, lost }: LiveEvent): string {
  if (data !== null) return `id: ${id}\ndata: ${data}\n\n`
  return lost ? `event: reset\nid: ${id}\ndata: ${JSON.stringify(cursorMessage(id, lost))}\n\n` : `id: ${id}\n\n`
}
