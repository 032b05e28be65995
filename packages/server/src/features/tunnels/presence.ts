// Registry of nodes and client sessions: this node's lease, its sessions, those of other nodes, and the events that follow from them.
import { batchLoader } from '../../core/batch.ts'
import type { BusinessEvents } from '../../core/business-events.ts'
import type { Emit } from '../../core/event.ts'
import { type Database, isForeignKeyViolation, type Tx } from '../../core/sql.ts'
import type { OpenSession, RemoteSession, TunnelRoute } from './model.ts'
import * as sessionStore from './session-store.ts'
import * as store from './store.ts'

export interface Presence {
  nodeId: string
  /** True when the last look found other nodes in service. */
  readonly hasOthers: boolean
  /** The tunnel of a handle in any organization. Null for an unknown handle. */
  findRoute(handle: string): Promise<TunnelRoute | null>
  /** The current state of tunnels by id. */
  findRoutes(ids: string[]): Promise<Map<string, TunnelRoute>>
  /** Sessions of a tunnel on other nodes. */
  findRemote(tunnelId: string): Promise<RemoteSession[]>
  findUnusableKeys(ids: string[]): Promise<Set<string>>
  /** Registers this node under an address, null for one that other nodes cannot reach. `renew` keeps it registered. */
  join(at: string | null): Promise<void>
  /** Renews the lease, and removes nodes whose lease has ended. */
  renew(): Promise<void>
  /** Announces that this node takes no new clients. True when other nodes do. */
  startDraining(): Promise<boolean>
  /** Unregisters this node. */
  part(): Promise<void>
  /** Records a client's connection to this node. */
  open(session: OpenSession): Promise<'opened' | 'gone' | 'disabled'>
  /** Records the end of a client's connection. `reason` is a word for the log. */
  close(session: OpenSession, reason: string): Promise<void>
}

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

export function createPresence({ db, emit, businessEvents, nodeId, findUnusableKeys }: Parts): Presence {
  const loadRoute = batchLoader((handles) => store.findRoutesByHandle(db, handles))
  const loadRemote = batchLoader((ids) => sessionStore.findRemoteSessions(db, nodeId, ids))
  const sessions = new Map<string, OpenSession>()
  let address: string | null = null
  let isDraining = false
  let hasOthers = false

  async function lease(): Promise<void> {
    const wasGone = await sessionStore.leaseNode(db, { id: nodeId, address, isDraining, leaseMs })
    hasOthers = (await sessionStore.countOtherNodes(db, nodeId)) > 0
    // Another node considered this one dead, perhaps after a long pause, and deleted its rows.
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

    get hasOthers(): boolean {
      return hasOthers
    },

    findRoute: (handle) => loadRoute(handle),

    findRoutes: (ids) => store.findRoutes(db, ids),

    findRemote: async (tunnelId) => (await loadRemote(tunnelId)) ?? [],

    findUnusableKeys,

    async join(at) {
      address = at
      await lease()
    },

    async renew() {
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

    async startDraining() {
      isDraining = true
      await lease()
      return hasOthers
    },

    part: () => sessionStore.removeNode(db, nodeId),

    async open(session) {
      sessions.set(session.id, session)
      let result: 'opened' | 'gone' | 'disabled'
      try {
        result = await db.transact((tx) => enter(tx, session))
      } catch (error) {
        if (!isForeignKeyViolation(error)) {
          sessions.delete(session.id)
          throw error
        }
        // Our own row was deleted. Renewing the lease writes every session again.
        await lease()
        result = sessions.has(session.id) ? 'opened' : 'gone'
      }
      if (result !== 'opened') sessions.delete(session.id)
      else businessEvents.tunnelOpened({ organization_id: session.organizationId, tunnel_id: session.tunnelId, session_id: session.id })
      return result
    },

    async close(session, reason) {
      if (!sessions.delete(session.id)) return
      businessEvents.tunnelClosed({ organization_id: session.organizationId, tunnel_id: session.tunnelId, session_id: session.id, reason })
      await db.transact((tx) => leave(tx, session.organizationId, session.tunnelId, () => sessionStore.deleteSession(tx, session.id)))
    },
  }
}
