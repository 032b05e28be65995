// The gateway: accepts public requests and tunnel clients, and starts, sweeps and drains its parts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { tunnelProtocol } from '@callsign/contract/tunnel-frames'
import { WindowBudget } from '@callsign/contract/tunnel-window'
import { createClientReader } from '../../core/client-address.ts'
import { handleOfHost, type RepeatedRequest, type RequestRecord, type TunnelRoute } from '../../features/tunnels/model.ts'
import { connectReference, createClients, wantedWrapping } from './clients/clients.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { createAccessNotes } from './inspector/public-access.ts'
import { repeatRequest } from './inspector/repeat.ts'
import { createDirectory } from './nodes/directory.ts'
import { createPeers } from './nodes/peers.ts'
import { createPublicClientReader } from './requests/forwarding.ts'
import { InFlightList } from './requests/in-flight.ts'
import { waitForTurn } from './requests/pipeline.ts'
import { isArriving } from './requests/request-body.ts'
import { BadRequest, hostOf, type RequestHead, readRequestHead } from './requests/request-head.ts'
import { serveTunnelRequest, type TunnelRequestHost } from './requests/serve-tunnel-request.ts'
import { createUnregisteredMethods } from './requests/unregistered-method.ts'
import { ProxiedUpgrade } from './requests/upgrade.ts'
import { type Failure, type Refusal, refusal, refusalOf, refusalText, takesPages, writeRefusal } from './responses/error-response.ts'

export type Gateway = ReturnType<typeof createGateway>

const sweepEveryMs = 1000
const leaseEveryMs = 2500
/** Minimum duration of a drain. A request may still arrive on a connection that was open when the drain started. */
const drainMsMin = 400
/** Milliseconds that clients get to connect to another node, when there is one. */
const moveMsMax = 5000
const drainLookMs = 25

export function createGateway(options: GatewayOptions) {
  const { presence, recorder, tunnelDomain, log } = options
  const processBudget = new WindowBudget(options.windowBytesMax)
  const peers = createPeers({
    key: options.peerKey,
    processBudget,
    findHere: (id) => directory.findHere(id),
    log,
  })
  const directory = createDirectory({ presence, peers, log })
  const readClient = createClientReader(options.trustedProxies)
  const access = createAccessNotes({ tunnelDomain, readClient, note: options.noteAccess })
  const clients = createClients({
    presence,
    directory,
    authenticate: options.authenticate,
    readClient,
    admit: options.admit,
    processBudget,
    pingEveryMs: options.pingEveryMs,
    log,
  })
  const publicClientOf = createPublicClientReader(options.trustedProxies)
  const proxiedRequests = new InFlightList()
  /** Upgraded public connections and pending upgrades, which no HTTP server closes. */
  const upgraded = new Set<Socket>()
  const host: TunnelRequestHost = {
    readHead: (request) => readHead(request, false),
    waitForTurn: async (request, response) => {
      await waitForTurn(request, response)
      if (isDraining) response.shouldKeepAlive = false
    },
    findTunnel,
    problemOf,
    refuse: (handle, request, response, answer) => {
      access.refused(handle, request, answer.status)
      refuse(request, response, answer)
    },
    proxiedRequests,
    pick: directory.pick,
    forget: directory.forgetRemote,
    record: (record, route, head) => {
      recorder.touch(record.tunnelId, record.at)
      recorder.note(record)
      access.ended(record, route, head)
    },
    replayOf: null,
    answerMsMax: options.answerMsMax,
    streamsMax: options.streamsMax,
    log,
  }
  let isDraining = false
  let timers: NodeJS.Timeout[] = []
  let renewing: Promise<void> = Promise.resolve()

  /** The reason to refuse a request, or null. */
  function problemOf(route: TunnelRoute | null): Failure | null {
    if (!route || route.status === 'disabled') return 'tunnel_not_found'
    if (route.status === 'suspended') return 'tunnel_suspended'
    return options.takeRequest(route.id) > 0 ? 'too_many_requests' : null
  }

  async function findTunnel(handle: string): Promise<TunnelRoute | null> {
    try {
      return await directory.find(handle)
    } catch (err) {
      log.warn({ err }, 'looking up a tunnel failed')
      throw err
    }
  }

  /** Reads the head of a request parsed by Node. */
  function readHead(request: IncomingMessage, isUpgrade: boolean): RequestHead | Refusal {
    try {
      return readRequestHead(request, publicClientOf(request.socket), isUpgrade)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      return refusal(error.status, error.code, error.message)
    }
  }

  async function serveUpgrade(handle: string, request: IncomingMessage, socket: Socket, early: Buffer): Promise<void> {
    const turnAway = (answer: Refusal) => {
      access.refused(handle, request, answer.status)
      socket.end(refusalText(answer), () => socket.destroy())
    }
    const head = readHead(request, true)
    if ('code' in head) return turnAway(head)
    try {
      const route = await findTunnel(handle)
      const problem = problemOf(route)
      if (problem) turnAway(refusalOf(problem))
      else new ProxiedUpgrade(host, route as TunnelRoute, head, request, socket, early).start()
    } catch {
      turnAway(refusalOf('unavailable'))
    }
  }

  const unregisteredMethods = createUnregisteredMethods((name) => handleOfHost(name, tunnelDomain) !== null)

  /** The handle of the tunnel that a request is for, or null. */
  const handleOf = (request: IncomingMessage): string | null => {
    const name = hostOf(request)
    return name === undefined ? null : handleOfHost(name, tunnelDomain)
  }

  function refuse(request: IncomingMessage, response: ServerResponse, answer: Refusal): void {
    if (isArriving(request)) response.shouldKeepAlive = false
    writeRefusal(response, { method: request.method as string, wantsPage: takesPages(request.headers.accept) }, answer)
  }

  /** Renews the lease. After a failure the node keeps serving, because the next renewal may succeed. */
  const renew = (): Promise<void> => presence.renew().catch((err) => log.warn({ err }, 'renewing the lease of this node failed'))

  return {
    /** Each connection is passed here before any other listener reads from it. */
    connections: unregisteredMethods,

    /** True for public requests and for connecting clients, false for requests to the API. */
    claims: (request: IncomingMessage): boolean => handleOf(request) !== null || connectReference(request.url ?? '') !== null,

    /** True for an upgrade that is supported. Any other request is served as if it had not asked for one. */
    claimsUpgrade: (request: IncomingMessage): boolean =>
      handleOf(request) !== null
        ? request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET'
        : connectReference(request.url ?? '') !== null && wantedWrapping(request) !== null,

    handle(request: IncomingMessage, response: ServerResponse): void {
      // Node would refuse the next request with such a method on the same connection.
      if (unregisteredMethods.restore(request) || isDraining) response.shouldKeepAlive = false
      const handle = handleOf(request)
      if (handle === null) {
        const answer = refusal(
          426,
          'upgrade_required',
          `Tunnel clients connect here with the header Upgrade: ${tunnelProtocol}. The SDK sends it.`,
        )
        answer.headers.push('Upgrade', tunnelProtocol, 'Connection', 'Upgrade')
        refuse(request, response, answer)
        return
      }
      void serveTunnelRequest(host, handle, request, response)
    },

    upgrade(request: IncomingMessage, socket: Socket, early: Buffer): void {
      socket.on('error', () => {})
      const handle = handleOf(request)
      if (handle === null) {
        void clients.accept(request, socket, early, connectReference(request.url as string) as string)
        return
      }
      upgraded.add(socket)
      socket.once('close', () => upgraded.delete(socket))
      void serveUpgrade(handle, request, socket, early)
    },

    /** Registers this node. Returns the port for other nodes, or null. */
    async start(): Promise<number | null> {
      const own = options.isServing ? options.listener : null
      const port = own ? await peers.listen(own.host, own.port) : null
      if (options.isServing) {
        await presence.join(own ? (own.address ?? `${isIPv6(own.host) ? `[${own.host}]` : own.host}:${port}`) : null)
        directory.watch(clients.end)
      }
      const sweep = () => {
        const nowMs = performance.now()
        for (const one of proxiedRequests.all()) one.check(nowMs)
        clients.sweep(nowMs)
        peers.sweep(nowMs)
      }
      timers = [
        setInterval(sweep, sweepEveryMs),
        setInterval(() => {
          if (options.isServing) renewing = renewing.then(renew)
        }, leaseEveryMs),
      ]
      for (const timer of timers) timer.unref()
      return port
    },

    /** This process changed the tunnel. */
    changed: (tunnelId: string): void => {
      void directory.changed(tunnelId)
    },

    /** Repeats a captured request through a tunnel. */
    async repeat(tunnel: { id: string; organizationId: string; handle: string }, request: RepeatedRequest): Promise<RequestRecord> {
      const route: TunnelRoute = { ...tunnel, status: 'active', capture: 'bodies' }
      const record = await repeatRequest(host, route, request)
      recorder.touch(tunnel.id, record.at)
      return record
    },

    /** Number of public requests in flight. */
    get inFlight(): number {
      return proxiedRequests.size
    },

    /**
     * Stops without dropping requests. Clients are asked to connect elsewhere and get time to do so. Requests in flight may finish, and are
     * aborted after `graceMs`.
     */
    async drain(graceMs: number): Promise<void> {
      if (isDraining) return
      isDraining = true
      const startMs = performance.now()
      for (const one of proxiedRequests.all()) one.closeAfter()
      const hasOthers = options.isServing && (await presence.startDraining().catch(() => false))
      const leastMs = hasOthers || clients.count > 0 ? drainMsMin : 0
      clients.startDraining()
      peers.startDraining()
      await new Promise<void>((resolve) => {
        const look = setInterval(() => {
          const ms = performance.now() - startMs
          const isMoving = hasOthers && clients.count > 0 && ms < moveMsMax
          const isBusy = proxiedRequests.size > 0 || peers.passing > 0
          if (ms < graceMs && (ms < leastMs || isMoving || isBusy)) return
          clearInterval(look)
          resolve()
        }, drainLookMs)
      })
      for (const one of proxiedRequests.all()) one.abort()
      for (const socket of upgraded) socket.destroySoon()
      for (const timer of timers) clearInterval(timer)
      directory.stop()
      await renewing
      await clients.closeAll()
      await peers.close()
      await recorder.flush()
      if (options.isServing) await presence.part().catch((err) => log.warn({ err }, 'removing this node from the list failed'))
    },
  }
}
