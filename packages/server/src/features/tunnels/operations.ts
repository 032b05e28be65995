// Operations on tunnels: list, get, update, list the latest requests and replay one.
import type { Tunnel, TunnelCapture, TunnelRequest, TunnelStatus } from '@callsign/contract/tunnels'
import type { Static } from 'typebox'
import { type Caller, identityIdsOf, mayActFor, requireScope } from '../../core/caller.ts'
import { inMs, now } from '../../core/clock.ts'
import { ApiError, forbidden, notFound } from '../../core/errors.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../core/page.ts'
import type { Call } from '../../core/route.ts'
import type { Database } from '../../core/sql.ts'
import type { TunnelUrls } from '../../core/tunnel-urls.ts'
import { type Accounts, actorOf } from '../account/organizations/operations.ts'
import { type RepeatedRequest, type RequestRecord, type RequestRow, requestsKeptMs, type TunnelRow } from './model.ts'
import { createPresence } from './presence.ts'
import { createRecorder } from './recorder.ts'
import { type ReplayChanges, replayRefusal, toRepeated } from './repeated-request.ts'
import { createRequestSealing, type RequestSealing } from './request-sealing.ts'
import * as requestStore from './request-store.ts'
import * as store from './store.ts'

export type { Presence } from './presence.ts'
export type { Recorder } from './recorder.ts'
export { createPresence, createRecorder, createRequestSealing }

export interface Tunnels {
  /** `GET /tunnels`: newest first. An agent key sees its own tunnel. */
  listTunnels(caller: Caller, query: PageQuery & { status?: TunnelStatus }): Promise<Page<Static<typeof Tunnel>>>
  /** `GET /tunnels/{handle}`. */
  getTunnel(caller: Caller, reference: string): Promise<Static<typeof Tunnel>>
  /** `PATCH /tunnels/{handle}`. */
  updateTunnel(call: Call, reference: string, body: { status?: TunnelStatus; capture?: TunnelCapture }): Promise<Static<typeof Tunnel>>
  /** `GET /tunnels/{handle}/requests`: newest first. */
  listRequests(caller: Caller, reference: string, query: PageQuery): Promise<Page<Static<typeof TunnelRequest>>>
  /** `POST /tunnels/{handle}/requests/{tunnel_request_id}/replay`. */
  replayRequest(call: Call, reference: string, id: string, changes?: ReplayChanges): Promise<Static<typeof TunnelRequest>>
  /** Deletes requests after 24 hours. */
  sweep(): Promise<void>
}

type Parts = {
  db: Database
  accounts: Accounts
  urls: TunnelUrls
  /** The URL for clients, null for the address of the API. */
  connectUrl: string | null
  gateway: TunnelGateway
  sealing: RequestSealing
}

/** Tunnels as clients connect to them. */
export interface TunnelAdmission {
  /** The tunnel for a new client. Throws as the operations do, and 403 for a disabled tunnel. */
  admit(caller: Caller, reference: string): Promise<{ tunnelId: string; organizationId: string; handle: string; publicUrl: string }>
}

/** The gateway of this process, as operations use it. */
export interface TunnelGateway {
  /** Reloads a tunnel that has changed. Gateways of other processes poll. */
  changed(tunnelId: string): void
  /** Sends a request through the tunnel as a public request, and resolves with its record. */
  repeat(tunnel: { id: string; organizationId: string; handle: string }, request: RepeatedRequest): Promise<RequestRecord>
}

/** The tunnel with this handle or id. An agent key gets 403 for every tunnel of other agents, existing or not. */
async function findOwnTunnel(db: Database, caller: Caller, reference: string): Promise<TunnelRow> {
  const row = await store.findTunnel(db, caller.organizationId, reference.replace(/^@/, ''))
  if (caller.agents && !(row && mayActFor(caller, row.identity_id))) throw forbidden('This key is limited to another agent.')
  if (!row) throw notFound('tunnel')
  return row
}

export function createTunnelAdmission(db: Database, urls: TunnelUrls): TunnelAdmission {
  return {
    async admit(caller, reference) {
      requireScope(caller, 'tunnels:write')
      const row = await findOwnTunnel(db, caller, reference)
      if (row.status === 'disabled') throw new ApiError('tunnel_disabled', 'This tunnel is disabled. Set its status to active first.')
      return {
        tunnelId: row.id,
        organizationId: row.organization_id,
        handle: row.agent_handle,
        publicUrl: urls(row.agent_handle).public_url,
      }
    },
  }
}

export function createTunnels({ db, accounts, urls, connectUrl, gateway, sealing }: Parts): Tunnels {
  const toTunnel = (row: TunnelRow): Static<typeof Tunnel> => ({
    id: row.id,
    agent_id: row.identity_id,
    agent_handle: row.agent_handle,
    ...urls(row.agent_handle),
    status: row.status,
    is_connected: row.connected_clients > 0,
    connected_clients: row.connected_clients,
    last_request_at: row.last_request_at?.toISOString() ?? null,
    capture: row.capture,
    connect_url: connectUrl,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  })

  const findOwn = (caller: Caller, reference: string) => findOwnTunnel(db, caller, reference)

  return {
    async listTunnels(caller, query) {
      const page = readPage(query, 'tunnel', 20)
      const filter = { identityIds: identityIdsOf(caller), status: query.status ?? null }
      const rows = await store.listTunnels(db.reads, caller.organizationId, filter, page)
      return toPage(rows, page.limit, (row) => row.id, toTunnel)
    },

    getTunnel: async (caller, reference) => toTunnel(await findOwn(caller, reference)),

    async updateTunnel(call, reference, body) {
      const row = await findOwn(call.caller, reference)
      await call.transact(async (tx) => {
        const change = { status: body.status ?? null, capture: body.capture ?? null, at: now() }
        if (!(await store.updateTunnel(tx, row.id, change))) throw notFound('tunnel')
        await accounts.audit(tx, row.organization_id, actorOf(call), 'tunnel.updated', row.id, { ...body })
        tx.afterCommit(() => gateway.changed(row.id))
      })
      return toTunnel(await findOwn(call.caller, row.id))
    },

    async listRequests(caller, reference, query) {
      const page = readPage(query, 'tunnelRequest')
      const tunnel = await findOwn(caller, reference)
      return toPage(
        await requestStore.listRequests(db.reads, tunnel.id, page),
        page.limit,
        (row) => row.id,
        (row) => toRequest(sealing.open(row)),
      )
    },

    async replayRequest(call, reference, id, changes = {}) {
      const tunnel = await findOwn(call.caller, reference)
      const sealed = await requestStore.findRequest(db, tunnel.id, id)
      if (!sealed) throw notFound('request')
      const row = sealing.open(sealed)
      if (tunnel.status !== 'active')
        throw new ApiError('conflict', `This tunnel is ${tunnel.status}: nothing goes through it, replays included.`)
      const record = await gateway.repeat(
        { id: tunnel.id, organizationId: tunnel.organization_id, handle: tunnel.agent_handle },
        toRepeated(row, changes),
      )
      await call.transact((tx) => requestStore.insertRequests(tx, [sealing.seal(record)]))
      const stored = await requestStore.findRequest(db, tunnel.id, record.id)
      if (!stored) throw notFound('tunnel')
      return toRequest(sealing.open(stored))
    },

    sweep: () => requestStore.sweepRequests(db, inMs(-requestsKeptMs)),
  }
}

function toRequest(row: RequestRow): Static<typeof TunnelRequest> {
  return {
    id: row.id,
    tunnel_id: row.tunnel_id,
    method: row.method,
    path: row.path,
    status: row.status,
    error: row.error,
    remote_address: row.remote_address,
    request_bytes: Number(row.request_bytes),
    response_bytes: Number(row.response_bytes),
    duration_ms: row.duration_ms,
    replay_of: row.replay_of,
    request_headers: row.request_headers,
    response_headers: row.response_headers,
    request_body: row.request_body?.toString('base64') ?? null,
    response_body: row.response_body?.toString('base64') ?? null,
    request_body_truncated: row.is_captured && !row.is_request_body_whole,
    response_body_truncated: row.is_captured && !row.is_response_body_whole,
    replay_refusal: replayRefusal(row),
    created_at: row.created_at.toISOString(),
  }
}
