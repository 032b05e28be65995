// Which tunnel a name stands for and which clients it has, here and on other nodes: fresh to within half a second, without a query for each request.
import type { Log } from '../../core/log.ts'
import type { RemoteSession, TunnelRoute } from '../../features/tunnels/model.ts'
import type { Presence } from '../../features/tunnels/operations.ts'
import type { Carrier } from './client-session.ts'
import type { Peers } from './peers.ts'

/** What was read is believed for so long: with `pollEveryMs` it keeps the promise that a change acts within a second. */
const freshMs = 300
/** And for so long when all whom it names are gone: a flood of requests to a dead node's clients asks no more often than this. */
const doubtedMs = 30
const pollEveryMs = 300
const cachedMax = 20_000

export type Directory = ReturnType<typeof createDirectory>

type Known = { route: TunnelRoute | null; readMs: number }

export function createDirectory({ presence, peers, log }: { presence: Presence; peers: Peers; log: Log }) {
  const known = new Map<string, Known>()
  const remote = new Map<string, { sessions: RemoteSession[]; readMs: number }>()
  const here = new Map<string, Set<Carrier>>()
  const keys = new Map<Carrier, string>()
  const bySession = new Map<string, Carrier>()
  const handles = new Map<string, string>()
  let onEnd: (carrier: Carrier, code: 'disabled' | 'deleted' | 'revoked') => void = () => {}
  let timer: NodeJS.Timeout | null = null
  let polling: Promise<void> | null = null
  /** Counts the changes that this process has made: what was read before one does not hold after it. */
  let changes = 0

  function remember(handle: string, route: TunnelRoute | null, readAt: number): void {
    if (readAt !== changes) return
    if (known.size >= cachedMax) known.delete(known.keys().next().value as string)
    known.set(handle, { route, readMs: performance.now() })
  }

  /** Looks at the tunnels and keys of everyone who is connected here; one look at a time. */
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
        for (const carrier of here.get(tunnelId) ?? []) {
          if (!route) onEnd(carrier, 'deleted')
          else if (route.status === 'disabled') onEnd(carrier, 'disabled')
          else if (unusable.has(keys.get(carrier) as string)) onEnd(carrier, 'revoked')
        }
      }
    } catch (err) {
      // Whoever is connected stays so: a database that is away for a moment is no reason to cut everybody off.
      log.warn({ err }, 'tunnels could not be looked at')
    }
  }

  /** The least busy of those not tried. */
  function choose(carriers: Iterable<Carrier>, tried: Set<string>, isDraining: boolean): Carrier | null {
    let best: Carrier | null = null
    for (const one of carriers) {
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

  async function chooseRemote(tunnelId: string, tried: Set<string>): Promise<Carrier | null> {
    const sessions = await findRemote(tunnelId, freshMs)
    const chosen = await reachOneOf(sessions, tried)
    if (chosen || sessions.length === 0) return chosen
    // Those that were known are gone, and others may have come since they were read.
    return reachOneOf(await findRemote(tunnelId, doubtedMs), tried)
  }

  async function reachOneOf(sessions: RemoteSession[], tried: Set<string>): Promise<Carrier | null> {
    const usable = sessions.filter((one) => !tried.has(one.id) && peers.isWorthTrying(one.nodeId))
    // Clients of nodes that stay first; among them in no order, so that they share the load.
    const sorted = usable.map((one) => ({ one, rank: Number(one.isDraining) + Math.random() / 2 })).toSorted((a, b) => a.rank - b.rank)
    for (const { one } of sorted) {
      try {
        return await peers.reach(one)
      } catch (error) {
        log.info({ node_id: one.nodeId, reason: (error as Error).message }, 'a gateway node could not be reached')
        tried.add(one.id)
      }
    }
    return null
  }

  return {
    /** The tunnel of a handle as it is, or was a moment ago; null when there is none. */
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

    /** A client of the tunnel: at once when there is one here. */
    pick(tunnelId: string, tried: Set<string>): Carrier | null | Promise<Carrier | null> {
      const own = here.get(tunnelId)
      const best = own ? choose(own, tried, false) : null
      if (best) return best
      return chooseRemote(tunnelId, tried).then((found) => found ?? (own ? choose(own, tried, true) : null))
    },

    add(carrier: Carrier, handle: string, keyId: string): void {
      const set = here.get(carrier.tunnelId) ?? new Set()
      here.set(carrier.tunnelId, set)
      set.add(carrier)
      keys.set(carrier, keyId)
      bySession.set(carrier.id, carrier)
      handles.set(carrier.tunnelId, handle)
      known.delete(handle)
    },

    remove(carrier: Carrier): void {
      const set = here.get(carrier.tunnelId)
      set?.delete(carrier)
      keys.delete(carrier)
      bySession.delete(carrier.id)
      if (set?.size !== 0) return
      here.delete(carrier.tunnelId)
      handles.delete(carrier.tunnelId)
    },

    /** The client with this session here, or null. */
    findHere(sessionId: string): Carrier | null {
      const carrier = bySession.get(sessionId)
      return carrier?.isOpen ? carrier : null
    },

    /** What was read of the tunnel's other nodes holds no longer. */
    forgetRemote(carrier: Carrier): void {
      remote.delete(carrier.tunnelId)
      peers.forget(carrier)
    },

    /** The tunnel was changed by this process. */
    async changed(tunnelId: string): Promise<void> {
      changes++
      for (const [handle, entry] of known) if (entry.route?.id === tunnelId) known.delete(handle)
      // A look that is under way may have read what was before.
      await polling
      if (here.has(tunnelId)) await poll()
    },

    /** Watches from now on; `end` is told of clients that may not stay. */
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
