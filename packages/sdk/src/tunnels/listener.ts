// The client of a tunnel keeps its connections open until it is closed, and passes their streams to the target.
import type { ReplyOf } from '@callsign/contract/operation'
import { connectMux } from '@callsign/contract/tunnel-connection'
import type { Goaway, TunnelMux } from '@callsign/contract/tunnel-mux'
import { WindowBudget } from '@callsign/contract/tunnel-window'
import type { getTunnel } from '@callsign/contract/tunnels'
import { processEnvironment, proxyFor, readProxy } from '../connection/proxy.ts'
import type { Connection } from '../connection/request.ts'
import { ApiError, ConnectionError } from '../errors.ts'
import { dial } from './dial.ts'
import type { ListenOptions, ReportedRequest, TunnelListener, TunnelTarget } from './listen-options.ts'
import { type Node, needNode } from './node.ts'
import { type Destination, openTarget } from './target.ts'
import { createDeferred, type Deferred, sleep, until } from './waiting.ts'

type Tunnel = ReplyOf<typeof getTunnel>
type Dialled = Awaited<ReturnType<typeof dial>>
/** The state of a connection while it is being opened. `hasOthers` is set by the gateway's hello if there are other nodes. */
type Opened = { greeted: Deferred; leaving: Deferred<string>; hasOthers: boolean }

const backoffMs = { first: 200, max: 30_000 }
/** A connection that lasted this long resets the backoff. */
const healthyMs = 10_000
const budgetBytes = 64 * 1024 * 1024
const helloMsMax = 10_000
const drainMsMax = 90_000
/** Gateways refresh their routing within this time. Until then they may send requests over a connection that is being replaced. */
const lingerMs = 1000
/** Dials to reach another node. A load balancer that chooses one of two at random misses the other in one of 4,000 cases. */
const twinDialsMax = 12

/** Errors that a retry would repeat. */
const isFinal = (error: unknown): boolean => error instanceof ApiError && [401, 403, 404].includes(error.status)

export async function openTunnel(
  connection: Connection,
  tunnel: Tunnel,
  target: TunnelTarget,
  options: ListenOptions,
): Promise<TunnelListener> {
  const node = needNode()
  const destination: Destination = openTarget(node, target, {
    allowRemote: options.allowRemote ?? false,
    verify: options.verifyTarget ?? true,
    onError: options.onError ?? console.error,
    onUnreachable: (reason) => options.onChange?.({ state: 'target-unreachable', target: destination.name, reason }),
  })
  const count = Math.min(8, Math.max(1, Math.floor(options.connections ?? 2)))
  const listener = new Listener(node, connection, tunnel, destination, options)
  await listener.start(count)
  return listener
}

class Listener implements TunnelListener {
  readonly publicUrl: string
  readonly localUrl: string | null
  readonly target: string
  readonly done: Promise<void>
  readonly #node: Node
  readonly #options: ListenOptions
  readonly #destination: Destination
  readonly #url: URL
  readonly #apiKey: string
  readonly #proxy: URL | null
  readonly #instance: string
  readonly #budget = new WindowBudget(budgetBytes)
  readonly #closing = new AbortController()
  /** Every connection, including those that only finish their requests. */
  readonly #muxes = new Set<TunnelMux>()
  readonly #up = new Set<TunnelMux>()
  /** The gateway node at the other end of each. */
  readonly #nodes = new WeakMap<TunnelMux, string>()
  #finish: { resolve: () => void; reject: (error: Error) => void }
  #isClosed = false

  constructor(node: Node, connection: Connection, tunnel: Tunnel, destination: Destination, options: ListenOptions) {
    this.#node = node
    this.#options = options
    this.#destination = destination
    this.publicUrl = tunnel.public_url
    this.localUrl = tunnel.local_url
    this.target = destination.name
    this.#url = new URL(`${tunnel.connect_url ?? connection.address}/api/v1/tunnels/${tunnel.agent_handle}/connect`)
    // The key is sent over TLS if the API uses TLS.
    if (connection.address.startsWith('https:') && this.#url.protocol !== 'https:')
      throw new ConnectionError(
        'reply_unusable',
        'The server offers tunnels without TLS, so the key is not sent. Ask its operator for an https connect URL.',
      )
    this.#apiKey = connection.bearerToken
    const { proxy } = options
    this.#proxy = proxy === null ? null : proxy === undefined ? proxyFor(this.#url, processEnvironment()) : readProxy(proxy)
    this.#instance = node.crypto.randomBytes(12).toString('hex')
    const { promise, resolve, reject } = createDeferred()
    this.done = promise
    this.#finish = { resolve, reject }
    // A listener without a handler for `done` must not crash the process.
    promise.catch(() => {})
  }

  get connected(): number {
    return this.#up.size
  }

  /** Resolves when the first connection is open. Rejects if it fails. */
  start(count: number): Promise<void> {
    this.#options.signal?.addEventListener('abort', () => void this.close(), { once: true })
    return new Promise((resolve, reject) => {
      // Has no effect after the promise has resolved.
      this.#closing.signal.addEventListener('abort', () => reject(new ConnectionError('connection_failed', 'The tunnel was closed.')), {
        once: true,
      })
      for (let i = 0; i < count; i++) {
        this.#keep(i + 1, resolve, i === 0 ? reject : null).catch((error: Error) => {
          reject(error)
          this.#end(error)
        })
      }
    })
  }

  async close(graceMs = 5000): Promise<void> {
    if (this.#isClosed) return this.done.catch(() => {})
    this.#isClosed = true
    this.#closing.abort()
    // After its answer, every request sent earlier by the gateway and every report of a finished request has arrived.
    const unaware = new Set(this.#muxes)
    for (const mux of this.#muxes) {
      mux.goaway({ code: 'drain', reason: 'The client is closing.' })
      mux.sync(() => unaware.delete(mux))
    }
    const isQuiet = (mux: TunnelMux) => mux.isClosed || (!unaware.has(mux) && mux.streamCount === 0)
    const untilMs = performance.now() + graceMs
    await until(() => performance.now() > untilMs || [...this.#muxes].every(isQuiet))
    this.#end(null)
  }

  #end(error: Error | null): void {
    this.#isClosed = true
    this.#closing.abort()
    for (const mux of [...this.#muxes]) mux.close('closed')
    this.#destination.close()
    if (error) this.#finish.reject(error)
    else this.#finish.resolve()
  }

  /** Keeps one connection open. Rejects when a retry cannot succeed. `giveUp` is called if the first attempt fails. */
  async #keep(connection: number, onFirst: () => void, giveUp: ((error: Error) => void) | null): Promise<void> {
    let failures = 0
    let isFirst = true
    while (!this.#isClosed) {
      const startedMs = performance.now()
      let reason: string
      try {
        const up = await this.#connect(connection)
        onFirst()
        isFirst = false
        reason = await up.left
        // The server asked for a new connection. It is opened immediately, while the old one finishes its requests.
        if (reason === 'drain') {
          failures = 0
          continue
        }
        if (performance.now() - startedMs > healthyMs) failures = 0
      } catch (error) {
        if (this.#isClosed) return
        if (isFinal(error) || error instanceof Dismissed) throw error
        if (isFirst && giveUp && this.#up.size === 0 && !(error instanceof ApiError)) return this.#giveUp(error as Error, giveUp)
        reason = (error as Error).message
        const { retryAfterMs } = error as { retryAfterMs?: number | null }
        await this.#pause(connection, reason, failures++, retryAfterMs ?? 0)
        continue
      }
      if (!this.#isClosed) await this.#pause(connection, reason, failures++, 0)
    }
  }

  #giveUp(error: Error, giveUp: (error: Error) => void): void {
    giveUp(error)
    this.#end(error)
  }

  /** Full jitter, so that the clients of a stopped gateway do not reconnect simultaneously. */
  #pause(connection: number, reason: string, failures: number, leastMs: number): Promise<void> {
    const most = Math.min(backoffMs.max, backoffMs.first * 2 ** Math.min(failures, 10))
    const retryInMs = Math.round(Math.max(leastMs, most * Math.random()))
    this.#options.onChange?.({ state: 'reconnecting', connection, reason, retryInMs })
    return sleep(retryInMs, this.#closing.signal)
  }

  /** Connects, and resolves after the gateway's hello. `left` reports when a new connection is needed, and why. */
  async #connect(connection: number, attempt = 0): Promise<{ left: Promise<string> }> {
    const { transport = 'auto', ca, onRequest, onChange, hostHeader = 'target' } = this.#options
    const dialled = await dial(this.#node, {
      url: this.#url,
      apiKey: this.#apiKey,
      proxy: this.#proxy,
      ca,
      transport,
      signal: this.#closing.signal,
    })
    const opened: Opened = { greeted: createDeferred(), leaving: createDeferred(), hasOthers: false }
    const mux = this.#openMux(dialled, connection, opened)
    opened.leaving.promise.catch(() => {})
    this.#muxes.add(mux)
    const timer = setTimeout(() => mux.close('no hello'), helloMsMax)
    const host = hostHeader === 'target' ? this.#destination.host : hostHeader === 'preserve' ? null : hostHeader
    mux.hello({ instance: this.#instance, host, scheme: this.#destination.scheme, reports: onRequest !== undefined })
    try {
      await opened.greeted.promise
    } finally {
      clearTimeout(timer)
    }
    // Two connections to one node would fail together. A load balancer may choose another node next time.
    const isTwin = [...this.#up].some((other) => this.#nodes.get(other) === this.#nodes.get(mux))
    if (opened.hasOthers && isTwin && attempt < twinDialsMax) {
      // The gateway may have sent requests over it already.
      mux.goaway({ code: 'drain', reason: 'The client connects elsewhere.' })
      void this.#letGo(mux, () => true)
      return this.#connect(connection, attempt + 1)
    }
    this.#up.add(mux)
    onChange?.({ state: 'connected', connection, publicUrl: this.publicUrl, localUrl: this.localUrl, transport: dialled.transport })
    return { left: opened.leaving.promise }
  }

  #openMux(dialled: Dialled, connection: number, opened: Opened): TunnelMux {
    const { onRequest, onChange } = this.#options
    const { greeted, leaving } = opened
    let dismissed: Goaway | null = null
    const mux: TunnelMux = connectMux(dialled.socket, dialled.wrapping, dialled.head, {
      defer: setImmediate as (work: () => void) => void,
      allocate: Buffer.allocUnsafe as (bytes: number) => Uint8Array,
      budget: this.#budget,
      onOpen: (stream) => this.#destination.take(stream),
      onHello: ({ node: name, has_other_nodes }) => {
        if (typeof name === 'string') this.#nodes.set(mux, name)
        opened.hasOthers = has_other_nodes === true
        greeted.resolve()
      },
      onReport: (_stream, about) => onRequest?.(about as ReportedRequest),
      onGoaway: (about) => {
        if (about.code !== 'drain') {
          dismissed = about
          return
        }
        onChange?.({ state: 'draining', connection, reason: about.reason })
        void this.#leave(mux)
        leaving.resolve('drain')
      },
      onClose: (reason) => {
        this.#muxes.delete(mux)
        this.#up.delete(mux)
        const why = dismissed && dismissed.code !== 'protocol' ? new Dismissed(dismissed) : null
        if (why) {
          greeted.reject(why)
          leaving.reject(why)
        } else {
          greeted.reject(new ConnectionError('connection_failed', `The connection was lost: ${reason}`))
          leaving.resolve(reason)
        }
      },
    })
    return mux
  }

  /** Lets a connection finish its requests while another replaces it, then closes it. */
  #leave(mux: TunnelMux): Promise<void> {
    const before = this.#up.size
    this.#up.delete(mux)
    return this.#letGo(mux, () => this.#up.size >= before)
  }

  /** Closes a replaced connection after it has been idle for a moment, because not every node learns of the change immediately. */
  async #letGo(mux: TunnelMux, isReplaced: () => boolean): Promise<void> {
    const startedMs = performance.now()
    let quietSinceMs = startedMs
    let opened = mux.streamsOpened
    await until(() => {
      const nowMs = performance.now()
      if (mux.isClosed || nowMs - startedMs > drainMsMax) return true
      if (!isReplaced() || mux.streamCount > 0 || mux.streamsOpened > opened) quietSinceMs = nowMs
      opened = mux.streamsOpened
      return nowMs - quietSinceMs > lingerMs
    })
    mux.close('closed')
  }
}

/** The server permanently rejects this client. */
class Dismissed extends ApiError {
  constructor({ code, reason }: Goaway) {
    super({ status: 403, code: `tunnel_${code}`, message: reason, requestId: null, retryAfterMs: null, details: undefined })
  }
}
