// Looks up tunnels by handle and their clients, on this node and on others. Cached, so that a request needs no query. A change takes effect
// within a second. While the database is away, a tunnel with a client here is served from the cache for up to 3 seconds.
import type { Log } from '../../../core/log.ts'
import type { RemoteSession, TunnelRoute } from '../../../features/tunnels/model.ts'
import type { Presence } from '../../../features/tunnels/operations.ts'
import type { ClientSession } from '../clients/client-session.ts'
import type { Peers } from './peers.ts'

/** Milliseconds that a looked-up entry is used. With `pollEveryMs`, a change takes effect within a second. */
const freshMs = 300
/**
 * Milliseconds that an entry is used when all its clients are gone. Limits the queries that a flood of requests to a dead node's clients
 * causes.
 */
const doubtedMs = 30
const pollEveryMs = 300
const cachedMax = 20_000

export type Directory = ReturnType<typeof createDirectory>

type Known = { route: TunnelRoute | null; readMs: number }

export function createDirectory({ presence, peers, log }: { presence: Presence; peers: Peers; log: Log }) {
  const known = new Map<string, Known>()
  const remote = new Map<string, { sessions: RemoteSession[]; readMs: number }>()
  const here = new Map<string, Set<ClientSession>>()
  const keys = new Map<ClientSession, string>()
  const bySession = new Map<string, ClientSession>()
  const handles = new Map<string, string>()
  let onEnd: (clientSession: ClientSession, code: 'disabled' | 'deleted' | 'revoked') => void = () => {}
  let timer: NodeJS.Timeout | null = null
  let polling: Promise<void> | null = null
  /** Counts the changes made by this process. A lookup that started before a change is not cached after it. */
  let changes = 0

  function remember(handle: string, route: TunnelRoute | null, readAt: number): void {
    if (readAt !== changes) return
    if (known.size >= cachedMax) known.delete(known.keys().next().value as string)
    known.set(handle, { route, readMs: performance.now() })
  }

  /** Checks the tunnels and keys of all clients connected here. One check runs at a time. */
  function poll(): Promise<void> {
    polling ??= look().finally(() => {
      polling = null
    })
    return polling
  }

  async function look(): Promise<void> {
    if (here.size === 0) return
    const readAt = changes
    try {
      const tunnelIds = [...here.keys()]
      const [routes, unusable] = await Promise.all([presence.findRoutes(tunnelIds), presence.findUnusableKeys([...new Set(keys.values())])])
      for (const tunnelId of tunnelIds) {
        const route = routes.get(tunnelId) ?? null
        const handle = handles.get(tunnelId)
        if (handle !== undefined) remember(handle, route, readAt)
        for (const clientSession of here.get(tunnelId) ?? []) {
          if (!route) onEnd(clientSession, 'deleted')
          else if (route.status === 'disabled') onEnd(clientSession, 'disabled')
          else if (unusable.has(keys.get(clientSession) as string)) onEnd(clientSession, 'revoked')
        }
      }
    } catch (err) {
      // Clients stay connected: a short database outage must not disconnect all of them.
      log.warn({ err }, 'reading the connected tunnels failed')
    }
  }

  /** The least busy of the sessions not tried yet. */
  function choose(clientSessions: Iterable<ClientSession>, tried: Set<string>, isDraining: boolean): ClientSession | null {
    let best: ClientSession | null = null
    for (const one of clientSessions) {
      if (one.isOpen && one.isDraining === isDraining && !tried.has(one.id) && (best === null || one.load < best.load)) best = one
    }
    return best
  }

  async function findRemote(tunnelId: string, believedMs: number): Promise<RemoteSession[]> {
    const found = remote.get(tunnelId)
    if (found && performance.now() - found.readMs <= believedMs) return found.sessions
    const sessions = await presence.findRemote(tunnelId)
    if (remote.size >= cachedMax) remote.delete(remote.keys().next().value as string)
    remote.set(tunnelId, { sessions, readMs: performance.now() })
    return sessions
  }

  async function chooseRemote(tunnelId: string, tried: Set<string>): Promise<ClientSession | null> {
    const sessions = await findRemote(tunnelId, freshMs)
    const chosen = await reachOneOf(sessions, tried)
    if (chosen || sessions.length === 0) return chosen
    // The known sessions are gone, and others may have connected since they were read.
    return reachOneOf(await findRemote(tunnelId, doubtedMs), tried)
  }

  async function reachOneOf(sessions: RemoteSession[], tried: Set<string>): Promise<ClientSession | null> {
    const usable = sessions.filter((one) => !tried.has(one.id) && peers.isWorthTrying(one.nodeId))
    // Clients of nodes that are not draining come first, in random order to share the load.
    const sorted = usable.map((one) => ({ one, rank: Number(one.isDraining) + Math.random() / 2 })).toSorted((a, b) => a.rank - b.rank)
    for (const { one } of sorted) {
      try {
        return await peers.reach(one)
      } catch (error) {
        log.info({ node_id: one.nodeId, reason: (error as Error).message }, 'connecting to a gateway node failed')
        tried.add(one.id)
      }
    }
    return null
  }

  return {
    /** The tunnel with this handle, from the cache where possible. Null when it does not exist. */
    find(handle: string): TunnelRoute | null | Promise<TunnelRoute | null> {
      const entry = known.get(handle)
      if (entry) {
        const isWatched = entry.route !== null && here.has(entry.route.id)
        if (performance.now() - entry.readMs < (isWatched ? 10 * pollEveryMs : freshMs)) return entry.route
      }
      const readAt = changes
      return presence.findRoute(handle).then((route) => {
        remember(handle, route, readAt)
        return route
      })
    },

    /** A client of the tunnel. Returned synchronously when one is connected here. */
    pick(tunnelId: string, tried: Set<string>): ClientSession | null | Promise<ClientSession | null> {
      const own = here.get(tunnelId)
      const best = own ? choose(own, tried, false) : null
      if (best) return best
      return chooseRemote(tunnelId, tried).then((found) => found ?? (own ? choose(own, tried, true) : null))
    },

    add(clientSession: ClientSession, handle: string, keyId: string): void {
      const set = here.get(clientSession.tunnelId) ?? new Set()
      here.set(clientSession.tunnelId, set)
      set.add(clientSession)
      keys.set(clientSession, keyId)
      bySession.set(clientSession.id, clientSession)
      handles.set(clientSession.tunnelId, handle)
      known.delete(handle)
    },

    remove(clientSession: ClientSession): void {
      const set = here.get(clientSession.tunnelId)
      set?.delete(clientSession)
      keys.delete(clientSession)
      bySession.delete(clientSession.id)
      if (set?.size !== 0) return
      here.delete(clientSession.tunnelId)
      handles.delete(clientSession.tunnelId)
    },

    /** The client with this session on this node, or null. */
    findHere(sessionId: string): ClientSession | null {
      const clientSession = bySession.get(sessionId)
      return clientSession?.isOpen ? clientSession : null
    },

    /** Drops the cached sessions of the tunnel on other nodes. */
    forgetRemote(clientSession: ClientSession): void {
      remote.delete(clientSession.tunnelId)
      peers.forget(clientSession)
    },

    /** This process changed the tunnel. */
    async changed(tunnelId: string): Promise<void> {
      changes++
      for (const [handle, entry] of known) if (entry.route?.id === tunnelId) known.delete(handle)
      // A poll in flight may have read the state before the change.
      await polling
      if (here.has(tunnelId)) await poll()
    },

    /** Starts polling. `end` is called for clients that have to be disconnected. */
    watch(end: typeof onEnd): void {
      onEnd = end
      timer = setInterval(() => void poll(), pollEveryMs)
      timer.unref()
    },

    stop(): void {
      if (timer) clearInterval(timer)
    },
  }
}
