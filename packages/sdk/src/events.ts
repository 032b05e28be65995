// The stream of events, which needs no public address and resumes after a lost connection.
import type { streamEvents } from '@callsign/contract/events'
import type { QueryOf } from '@callsign/contract/operation'
import { socketOptions } from './connection/proxy.ts'
import type { Connection } from './connection/request.ts'
import { ApiError } from './errors.ts'
import { type Block, readBlock, readSocket } from './event-socket.ts'
import { type CallsignEvent, EventCalls, eventStreamPath } from './resources/events.ts'

/**
 * `after` is the id of the event to continue after. Without it the stream starts with new events, and `onStart` gets the id to use as `after` for
 * the same starting point. `onReset` is called when the server has lost events in a failover or a restore. `lost` is the last event that you had.
 * The stream continues at `after` with everything since then, so that some events may come again. Read your objects again, because those of
 * lost events do not exist any more. A promise that it returns is awaited.
 */
export type FollowOptions = QueryOf<typeof streamEvents> & {
  signal?: AbortSignal
  onStart?: (after: string) => void
  onReset?: (lost: string, after: string) => void | Promise<void>
  /**
   * The protocol of the stream. Server-sent events by default. A WebSocket requires a runtime with the global `WebSocket`. On Node it goes
   * through the proxy that HTTPS_PROXY or HTTP_PROXY names. Server-sent events are used in its place where the runtime's WebSocket cannot
   * use this proxy, such as in Bun.
   */
  transport?: 'sse' | 'websocket'
}

const reconnectMs = { first: 250, max: 10_000 }
/** The idle timeout of a stream. The server sends at least one line every 15 seconds. */
const silenceMsMax = 45_000
/** The maximum size of one event, with room for its text and html. Larger data is rejected. */
const eventCharactersMax = 8 * 1024 * 1024

export class Events extends EventCalls {
  readonly #connection: Connection
  constructor(connection: Connection) {
    super(connection)
    this.#connection = connection
  }

  /**
   * Yields events as they arrive, each once and in order except after a reset, and reconnects after the last one. Ends when `signal` fires. Throws on permanent
   * rejections, such as a revoked key. An event is acknowledged when you request the next one.
   */
  async *follow({
    signal,
    onStart,
    onReset,
    transport = 'sse',
    ...query
  }: FollowOptions = {}): AsyncGenerator<CallsignEvent, void, undefined> {
    if (transport === 'websocket' && typeof WebSocket === 'undefined')
      throw new TypeError('This runtime has no WebSocket. Follow events with the transport "sse".')
    let after = query.after
    let failures = 0
    while (!signal?.aborted) {
      try {
        for await (const { id, event, lost } of this.#read(transport, { ...query, after }, signal)) {
          if (lost !== undefined) {
            await onReset?.(lost, id)
            after = id
            continue
          }
          if (!event) {
            if (after === undefined) onStart?.(id)
            after ??= id
            continue
          }
          // Events that have arrived already are not yielded after the caller has stopped.
          if (signal?.aborted) return
          failures = 0
          yield event
          after = event.id
        }
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error
        failures++
      }
      await pause(Math.min(reconnectMs.max, reconnectMs.first * 2 ** failures) * (0.5 + Math.random() / 2), signal)
    }
  }

  /** One connection of a stream. */
  async *#read(
    transport: 'sse' | 'websocket',
    query: QueryOf<typeof streamEvents>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Block> {
    const address = this.#connection.streamAddress(eventStreamPath, query)
    const options = transport === 'sse' ? null : socketOptions(address)
    if (!options) return yield* readEvents(await this.#connection.open(eventStreamPath, query, signal), signal)
    const { keyId, bearerToken } = this.#connection
    // A token of the console opens a socket by itself.
    const token = keyId === null ? bearerToken : (await this.createSocketToken(signal && { signal })).token
    try {
      yield* readSocket(address, token, options, signal)
    } catch (error) {
      // A WebSocket does not tell why it was refused. The list refuses the same filters with the reason.
      const { after, ...filters } = query
      await this.list({ ...filters, ...(after !== undefined && { cursor: after }), limit: 1 }, signal && { signal })
      throw error
    }
  }
}

/** Yields the blocks of a server-sent stream until it ends or times out. */
async function* readEvents(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<Block> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const cancel = () => void reader.cancel().catch(() => {})
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    for (;;) {
      const timer = setTimeout(cancel, silenceMsMax)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return
      text += decoder.decode(value, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const lines = text.slice(0, end).split('\n')
        const fieldOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const [id, data] = [fieldOf('id'), fieldOf('data')]
        text = text.slice(end + 2)
        if (data) yield readBlock(data)
        else if (id) yield { id, event: null }
      }
      if (text.length > eventCharactersMax) return
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(over, ms)
    function over() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', over)
      resolve()
    }
    signal?.addEventListener('abort', over, { once: true })
    if (signal?.aborted) over()
  })
}
