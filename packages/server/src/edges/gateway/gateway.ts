// The gateway: the door for visitors of tunnels and for the clients behind them, with its start, its watch and its stop.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { tunnelProtocol } from '@callsign/contract/tunnel-frames'
import { WindowBudget } from '@callsign/contract/tunnel-window'
import type { Caller } from '../../core/caller.ts'
import type { Log } from '../../core/log.ts'
import { handleOfHost, type RepeatedRequest, type RequestRecord, type TunnelRoute } from '../../features/tunnels/model.ts'
import type { Presence, Recorder, TunnelAdmission } from '../../features/tunnels/operations.ts'
import { connectReference, createClients, wantedWrapping } from './clients.ts'
import { createDirectory } from './directory.ts'
import { type Failure, type Refusal, refusal, refusalOf, refusalText, writeRefusal } from './error-response.ts'
import type { Visitor } from './forwarding.ts'
import { UnderWayList } from './in-flight.ts'
import { createPeers } from './peers.ts'
import { Exchange } from './proxied-request.ts'
import type { ExchangeHost } from './proxied-request-host.ts'
import { createVisitors } from './public-connections.ts'
import { repeatRequest } from './repeat.ts'
import { isArriving } from './request-body.ts'
import { BadRequest, type RequestHead, readRequestHead } from './request-head.ts'
import { serveParsed } from './serve-parsed.ts'
import { UpgradeExchange } from './upgrade.ts'

export type Gateway = ReturnType<typeof createGateway>

export type GatewayOptions = {
  tunnelDomain: string
  presence: Presence
  recorder: Recorder
  admit: TunnelAdmission['admit']
  authenticate: (token: string) => Promise<Caller | null> | null
  /** Takes the right to one request of a tunnel: 0, or the milliseconds to wait. */
  takeRequest: (tunnelId: string) => number
  /** Proxies in front of us, whose word on the visitor holds: CIDRs. */
  trustedProxies: string[]
  /** False for a process that serves no visitors: it only sends requests again, over nodes that have the client. */
  isServing: boolean
  /** The secret that all nodes of an installation share. */
  peerKey: Buffer
  /** How other nodes reach this one; null when there are none. `address` is what they are told, null for host and port. */
  listener: { host: string; port: number; address: string | null } | null
  answerMsMax: number
  streamsMax: number
  pingEveryMs: number
  /** What the windows of all connections may grow by together. */
  windowBytesMax: number
  log: Log
}

const sweepEveryMs = 1000
const leaseEveryMs = 2500
/** A request may be on its way on a connection that is still open when the stop begins, and somebody to answer it. */
const drainMsMin = 400
/** With other nodes there, clients get this long to connect to one of them. */
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
  const clients = createClients({
    presence,
    directory,
    authenticate: options.authenticate,
    admit: options.admit,
    processBudget,
    pingEveryMs: options.pingEveryMs,
    log,
  })
  const trusted = new BlockList()
  for (const range of options.trustedProxies) {
    const [address = '', bits = ''] = range.split('/')
    trusted.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  const exchanges = new UnderWayList()
  /** What visitors have upgraded, or wanted to: no HTTP server closes these. */
  const upgraded = new Set<Socket>()
  const host: ExchangeHost = {
    exchanges,
    pick: directory.pick,
    forget: directory.forgetRemote,
    record: (record) => {
      recorder.touch(record.tunnelId, record.at)
      recorder.note(record)
    },
    answerMsMax: options.answerMsMax,
    streamsMax: options.streamsMax,
    log,
  }
  let isDraining = false
  let timers: NodeJS.Timeout[] = []
  let renewing: Promise<void> = Promise.resolve()

  const trusts = (address: string): boolean => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

  function visitorOf(socket: Socket): Visitor {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    return {
      address,
      protocol: (socket as TLSSocket).encrypted ? 'https' : 'http',
      port: socket.localPort ?? 0,
      isTrusted: options.trustedProxies.length > 0 && trusts(address),
      trusts,
    }
  }

  /** What keeps a request from going on, or null. */
  function problemOf(route: TunnelRoute | null): Failure | null {
    if (!route || route.status === 'disabled') return 'tunnel_not_found'
    if (route.status === 'suspended') return 'tunnel_suspended'
    return options.takeRequest(route.id) > 0 ? 'too_many_requests' : null
  }

  /** Finds the tunnel; then one of the two is called, at once where that is possible. */
  function admit(handle: string, proceed: (route: TunnelRoute) => void, turnAway: (answer: Refusal) => void): void {
    const found = directory.find(handle)
    const go = (route: TunnelRoute | null) => {
      const problem = problemOf(route)
      if (problem) turnAway(refusalOf(problem))
      else proceed(route as TunnelRoute)
    }
    if (!(found instanceof Promise)) {
      go(found)
      return
    }
    found.then(go, (err) => {
      log.warn({ err }, 'a tunnel could not be looked up')
      turnAway(refusalOf('unavailable'))
    })
  }

  /** Reads the head of a request that Node has parsed; null when it was turned away. */
  function readHead(request: IncomingMessage, isUpgrade: boolean, turnAway: (answer: Refusal) => void): RequestHead | null {
    try {
      return readRequestHead(request, visitorOf(request.socket), isUpgrade)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      turnAway(refusal(error.status, error.code, error.message))
      return null
    }
  }

  const visitors = createVisitors({
    visitorOf,
    findHandle: (name) => handleOfHost(name, tunnelDomain),
    mayStay: () => !isDraining,
    serve(handle, head, response) {
      admit(
        handle,
        (route) => {
          if (response.isGone) return
          const exchange = new Exchange(host, route, head, null, response)
          response.events = exchange
          exchange.start()
        },
        (answer) => {
          if (!response.isGone) writeRefusal(response, head.method, answer)
        },
      )
    },
  })

  /** The handle of the tunnel that a request is for, or null. */
  const handleOf = ({ headers: { host: name } }: IncomingMessage): string | null =>
    name === undefined ? null : handleOfHost(name, tunnelDomain)

  function refuse(request: IncomingMessage, response: ServerResponse, answer: Refusal): void {
    if (isArriving(request)) response.shouldKeepAlive = false
    writeRefusal(response, request.method as string, answer)
  }

  /** Renews the lease; a failure is no reason to stop serving, the next one may succeed. */
  const renew = (): Promise<void> => presence.renew().catch((err) => log.warn({ err }, 'the lease of this node could not be renewed'))

  return {
    /** The connections of visitors; each is seen here before anybody reads from it. */
    connections: visitors,

    /** True for what is none of the API's: visitors of tunnels, and clients that connect. */
    claims: (request: IncomingMessage): boolean => handleOf(request) !== null || connectReference(request.url ?? '') !== null,

    /** True for a request to upgrade that is served; any other is answered as if it had not asked. */
    claimsUpgrade: (request: IncomingMessage): boolean =>
      handleOf(request) !== null
        ? request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET'
        : connectReference(request.url ?? '') !== null && wantedWrapping(request) !== null,

    handle(request: IncomingMessage, response: ServerResponse): void {
      if (isDraining) response.shouldKeepAlive = false
      const handle = handleOf(request)
      if (handle === null) {
        const answer = refusal(426, 'upgrade_required', `Clients of tunnels connect here with Upgrade: ${tunnelProtocol}, as the SDK does.`)
        answer.headers.push('Upgrade', tunnelProtocol, 'Connection', 'Upgrade')
        refuse(request, response, answer)
        return
      }
      const turnAway = (answer: Refusal) => refuse(request, response, answer)
      const head = readHead(request, false, turnAway)
      if (head) admit(handle, (route) => serveParsed(host, route, head, request, response), turnAway)
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
      const turnAway = (answer: Refusal) => void socket.end(refusalText(answer), () => socket.destroy())
      const head = readHead(request, true, turnAway)
      if (head) admit(handle, (route) => new UpgradeExchange(host, route, head, request, socket, early).start(), turnAway)
    },

    /** Becomes a node; the port for other nodes, or null. */
    async start(): Promise<number | null> {
      const own = options.isServing ? options.listener : null
      const port = own ? await peers.listen(own.host, own.port) : null
      if (options.isServing) {
        await presence.join(own ? (own.address ?? `${isIPv6(own.host) ? `[${own.host}]` : own.host}:${port}`) : null)
        directory.watch(clients.end)
      }
      const sweep = () => {
        const nowMs = performance.now()
        for (const one of exchanges.all()) one.check(nowMs)
        visitors.sweep(nowMs)
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

    /** The tunnel was changed by this process. */
    changed: (tunnelId: string): void => {
      void directory.changed(tunnelId)
    },

    /** Sends a request through a tunnel again, from nobody's browser. */
    async repeat(tunnel: { id: string; organizationId: string; handle: string }, request: RepeatedRequest): Promise<RequestRecord> {
      const route: TunnelRoute = { ...tunnel, status: 'active', capture: 'bodies' }
      const record = await repeatRequest(host, route, request)
      recorder.touch(tunnel.id, record.at)
      return record
    },

    /** Requests under way. */
    get inFlight(): number {
      return exchanges.size
    },

    /**
     * Stops without dropping a request: clients are asked to connect elsewhere and get the time for it, what is under way ends, and after `graceMs` it
     * is ended.
     */
    async drain(graceMs: number): Promise<void> {
      if (isDraining) return
      isDraining = true
      const startMs = performance.now()
      for (const one of exchanges.all()) one.closeAfter()
      const hasOthers = options.isServing && (await presence.startDraining().catch(() => false))
      const leastMs = hasOthers || clients.count > 0 ? drainMsMin : 0
      clients.startDraining()
      peers.startDraining()
      await new Promise<void>((resolve) => {
        const look = setInterval(() => {
          const ms = performance.now() - startMs
          const isMoving = hasOthers && clients.count > 0 && ms < moveMsMax
          const isBusy = exchanges.size > 0 || peers.passing > 0
          if (ms < graceMs && (ms < leastMs || isMoving || isBusy)) return
          clearInterval(look)
          resolve()
        }, drainLookMs)
      })
      for (const one of exchanges.all()) one.abort()
      for (const socket of upgraded) socket.destroySoon()
      for (const timer of timers) clearInterval(timer)
      directory.stop()
      await renewing
      await clients.closeAll()
      await peers.close()
      await recorder.flush()
      if (options.isServing) await presence.part().catch((err) => log.warn({ err }, 'this node could not be taken off the list'))
    },
  }
}
