// Who is connected where: the lease of this node, the sessions of its clients, those of other nodes, and the events that follow from them.
import { batchLoader } from '../../core/batch.ts'
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Emit } from '../../core/event.ts'
import { type Database, isForeignKeyViolation, type Tx } from '../../core/sql.ts'
import type { OpenSession, RemoteSession, TunnelRoute } from './model.ts'
import * as sessionStore from './session-store.ts'
import * as store from './store.ts'

export type Presence = ReturnType<typeof createPresence>

/** A node that has not renewed its lease for this long is dead. */
const leaseMs = 10_000

type Parts = {
  db: Database
  emit: Emit
  businessEvents: BusinessEvents
  nodeId: string
  /** Which of these keys hold no longer. */
  findUnusableKeys: (ids: string[]) => Promise<Set<string>>
}

export function createPresence({ db, emit, businessEvents, nodeId, findUnusableKeys }: Parts) {
  const loadRoute = batchLoader((handles) => store.findRoutesByHandle(db.lookups, handles))
  const loadRemote = batchLoader((ids) => sessionStore.findRemoteSessions(db.lookups, nodeId, ids))
  const sessions = new Map<string, OpenSession>()
  let address: string | null = null
  let isDraining = false
  let hasOthers = false

  async function lease(): Promise<void> {
    const wasGone = await sessionStore.leaseNode(db, { id: nodeId, address, isDraining, leaseMs })
    hasOthers = (await sessionStore.countOtherNodes(db, nodeId)) > 0
    // Others took us for dead, after a long pause maybe, and deleted what we had written.
    if (wasGone) for (const session of sessions.values()) await db.transact((tx) => enter(tx, session))
  }

  async function enter(tx: Tx, session: OpenSession): Promise<'opened' | 'gone' | 'disabled'> {
    const tunnel = await store.lockTunnel(tx, session.tunnelId)
    if (!tunnel) return 'gone'
    if (tunnel.status === 'disabled') return 'disabled'
    const before = await sessionStore.countClients(tx, session.tunnelId)
    await sessionStore.insertSession(tx, nodeId, session)
    if (before === 0) await announce(tx, 'tunnel.connected', session.organizationId, tunnel.identityId, session.tunnelId)
    return 'opened'
  }

  async function leave(tx: Tx, organizationId: string, tunnelId: string, remove: () => Promise<unknown>): Promise<void> {
    const tunnel = await store.lockTunnel(tx, tunnelId)
    const before = tunnel ? await sessionStore.countClients(tx, tunnelId) : 0
    await remove()
    if (!tunnel || before === 0 || (await sessionStore.countClients(tx, tunnelId)) > 0) return
    await announce(tx, 'tunnel.disconnected', organizationId, tunnel.identityId, tunnelId)
  }

  const announce = (
    tx: Tx,
    type: 'tunnel.connected' | 'tunnel.disconnected',
    organizationId: string,
    identityId: string,
    subjectId: string,
  ) => emit(tx, [{ type, organizationId, identityId, subjectId, data: { id: subjectId } }])

  return {
    nodeId,

    /** True when other nodes stand ready, or did a moment ago. */
    get hasOthers(): boolean {
      return hasOthers
    },

    /** The tunnel of a handle, of any organization; null when there is none. */
    findRoute: (handle: string): Promise<TunnelRoute | null> => loadRoute(handle),

    /** Tunnels by id as they are now. */
    findRoutes: (ids: string[]): Promise<Map<string, TunnelRoute>> => store.findRoutes(db, ids),

    /** Sessions of a tunnel on other nodes. */
    findRemote: async (tunnelId: string): Promise<RemoteSession[]> => (await loadRemote(tunnelId)) ?? [],

    findUnusableKeys,

    /** Begins to be a node that others reach here, or by nobody; `renew` keeps it so. */
    async join(at: string | null): Promise<void> {
      address = at
      await lease()
    },

    /** Renews the lease, and buries nodes that have not. */
    async renew(): Promise<void> {
      await lease()
      const left = await db.transact((tx) => sessionStore.removeDeadNodes(tx))
      for (const { tunnelId, organizationId } of left) {
        await db.transact(async (tx) => {
          const tunnel = await store.lockTunnel(tx, tunnelId)
          if (!tunnel || (await sessionStore.countClients(tx, tunnelId)) > 0) return
          await announce(tx, 'tunnel.disconnected', organizationId, tunnel.identityId, tunnelId)
        })
      }
    },

    /** Says that this node takes no new clients; true when others do. */
    async startDraining(): Promise<boolean> {
      isDraining = true
      await lease()
      return hasOthers
    },

    /** Stops being a node. */
    part: (): Promise<void> => sessionStore.removeNode(db, nodeId),

    /** Writes down that a client is connected here. */
    async open(session: OpenSession): Promise<'opened' | 'gone' | 'disabled'> {
      sessions.set(session.id, session)
      let result: 'opened' | 'gone' | 'disabled'
      try {
        result = await db.transact((tx) => enter(tx, session))
      } catch (error) {
        if (!isForeignKeyViolation(error)) {
          sessions.delete(session.id)
          throw error
        }
        // Our own row is gone: leasing anew writes every session.
        await lease()
        result = sessions.has(session.id) ? 'opened' : 'gone'
      }
      if (result !== 'opened') sessions.delete(session.id)
      else businessEvents.tunnelOpened({ organization_id: session.organizationId, tunnel_id: session.tunnelId, session_id: session.id })
      return result
    },

    /** The client has gone; `reason` is a word for the log. */
    async close(session: OpenSession, reason: string): Promise<void> {
      if (!sessions.delete(session.id)) return
      businessEvents.tunnelClosed({ organization_id: session.organizationId, tunnel_id: session.tunnelId, session_id: session.id, reason })
      await db.transact((tx) => leave(tx, session.organizationId, session.tunnelId, () => sessionStore.deleteSession(tx, session.id)))
    },
  }
}
