// Operations on webhooks: subscriptions, the test ping, the delivery log and replays.
import { randomBytes } from 'node:crypto'
import type { WebhookFormat } from '@callsign/contract/webhook-inputs'
import { formatSecret } from '@callsign/contract/webhook-signature'
import type {
  CreatedWebhook,
  Delivery,
  DeliveryDetail,
  DeliveryStatus,
  Webhook,
  WebhookTest,
  WebhookWithSecret,
} from '@callsign/contract/webhooks'
import type { Static } from 'typebox'
import { type Caller, mayApprove } from '../../../core/caller.ts'
import { now, nowMs } from '../../../core/clock.ts'
import { ApiError, invalid, notFound } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import type { Call } from '../../../core/route.ts'
import { openSecret, sealSecret } from '../../../core/secret-seal.ts'
import type { Database, Tx } from '../../../core/sql.ts'
import type { GuardedPost } from '../../../core/web.ts'
import type { Identities } from '../../account/identities/operations.ts'
import { type Accounts, actorOf, createOnce } from '../../account/organizations/operations.ts'
import { requireReceivable } from '../log/model.ts'
import type { Events } from '../log/operations.ts'
import { sign } from './delivery.ts'
import * as deliveryStore from './delivery-store.ts'
import { findAgents, openHeaders, readEvents, sealHeaders, type WebhookFields } from './fields.ts'
import { type BodyFormats, eventTypesOf, judge, originOf, pingTimeoutMs, snippetBytesMax, toDelivery, toWebhook, untried } from './model.ts'
import { createReplays, type Replays } from './replays.ts'
import * as store from './store.ts'

export interface Webhooks extends Replays {
  /** `POST /webhooks`. */
  createWebhook(
    call: Call,
    body: WebhookFields & { url: string; events: string[]; client_id?: string; format?: WebhookFormat },
  ): Promise<Static<typeof CreatedWebhook>>
  /** `GET /webhooks`: newest first. */
  listWebhooks(caller: Caller, query: PageQuery): Promise<Page<Static<typeof Webhook>>>
  /** `GET /webhooks/{id}`. */
  getWebhook(caller: Caller, id: string): Promise<Static<typeof Webhook>>
  /** `PATCH /webhooks/{id}`. */
  updateWebhook(call: Call, id: string, body: WebhookFields): Promise<Static<typeof Webhook>>
  /** `DELETE /webhooks/{id}`: idempotent. */
  deleteWebhook(call: Call, id: string): Promise<{ id: string; deleted: true }>
  /** `POST /webhooks/{id}/rotate-secret`. */
  rotateSecret(call: Call, id: string): Promise<Static<typeof WebhookWithSecret>>
  /** `POST /webhooks/{id}/test`: one attempt, reported in the response and kept in the delivery log. */
  testWebhook(call: Call, id: string): Promise<Static<typeof WebhookTest>>
  /** `GET /webhooks/{id}/deliveries`: newest first. */
  listDeliveries(caller: Caller, id: string, query: DeliveryQuery): Promise<Page<Static<typeof Delivery>>>
  /** `GET /webhooks/deliveries/{delivery_id}`. */
  getDelivery(caller: Caller, id: string): Promise<Static<typeof DeliveryDetail>>
}

type DeliveryQuery = PageQuery & { status?: DeliveryStatus; event_type?: string }

type Parts = {
  db: Database
  accounts: Accounts
  identities: Identities
  events: Events
  web: GuardedPost
  formats: BodyFormats
  sealKey: Buffer
  /** Takes one test ping from the rate limit of a webhook. Returns 0, or the milliseconds to wait. */
  takePing: (webhookId: string) => number
  /** Announces deliveries that are due now. */
  wake: (webhookIds: string[]) => void
}

const webhooksMax = 1000
const secretBytes = 32

/** The ways to a program on a private address. */
const localRemedy =
  'To receive events on your own machine, run `callsign listen --forward-to URL`. Or the operator adds the range to `CALLSIGN_OUTBOUND_ALLOW_CIDRS`.'

export function createWebhooks({ db, accounts, identities, events, web, formats, sealKey, takePing, wake }: Parts): Webhooks {
  function checkUrl(url: string): string {
    const problem = web.findUrlProblem(url)
    if (problem) throw invalid('/url', problem.failure === 'blocked_address' ? `${problem.message} ${localRemedy}` : problem.message)
    return url
  }

  async function requireWebhook(caller: Caller, id: string) {
    const row = await store.findWebhook(db, caller.organizationId, id)
    if (!row) throw notFound('webhook')
    return row
  }

  /** A webhook that the caller may change: it may receive every event that the webhook receives. Throws 404 and 403. */
  async function lockChangeable(tx: Tx, caller: Caller, id: string) {
    const row = await store.lockWebhook(tx, caller.organizationId, id)
    if (!row) throw notFound('webhook')
    requireReceivable(caller, row.event_types, 'webhook')
    return row
  }

  return {
    async createWebhook(call, body) {
      const { organizationId } = call.caller
      requireReceivable(call.caller, body.events, 'webhook')
      const agents = (await findAgents(identities.findAgent, organizationId, body)) ?? []
      const [id, at, secret] = [newId('webhook'), now(), randomBytes(secretBytes)]
      const headers = sealHeaders(sealKey, id, body.headers ?? null)
      const row = {
        id,
        organization_id: organizationId,
        url: checkUrl(body.url),
        event_types: eventTypesOf(body.events),
        agent_handles: agents.map(({ handle }) => handle).toSorted(),
        header_names: headers.names,
        headers: headers.sealed,
        is_url_of_approver: mayApprove(call.caller),
        format: body.format ?? ('callsign' as const),
        description: body.description ?? null,
        status: body.status ?? ('active' as const),
        client_id: body.client_id ?? null,
        created_at: at,
      }
      const create = async (tx: Tx) => {
        if (!(await store.insertWebhook(tx, { ...row, secret: sealSecret(sealKey, id, secret) }, webhooksMax)))
          throw new ApiError('conflict', `An organization has at most ${webhooksMax} webhooks. Delete one first.`)
        await store.setAgents(tx, organizationId, id, agents)
        await accounts.audit(tx, organizationId, actorOf(call), 'webhook.created', id, { url: originOf(row.url) })
        return { ...toWebhook({ ...row, ...untried, updated_at: at }), secret: formatSecret(secret) }
      }
      const find = async (tx: Tx, clientId: string) => {
        const found = await store.findWebhookByClientId(tx, organizationId, clientId)
        return found && { ...toWebhook(found), secret: null }
      }
      return call.transact((tx) =>
        createOnce<Static<typeof CreatedWebhook>>(tx, { organizationId, kind: 'webhook', clientId: body.client_id }, find, create),
      )
    },

    async listWebhooks(caller, query) {
      const page = readPage(query, 'webhook')
      return toPage(await store.listWebhooks(db.reads, caller.organizationId, page), page.limit, (row) => row.id, toWebhook)
    },

    getWebhook: async (caller, id) => toWebhook(await requireWebhook(caller, id)),

    async updateWebhook(call, id, body) {
      const { organizationId } = call.caller
      const agents = await findAgents(identities.findAgent, organizationId, body)
      const url = body.url === undefined ? null : checkUrl(body.url)
      return call.transact(async (tx) => {
        const before = await lockChangeable(tx, call.caller, id)
        const clearsHeaders = url !== null && body.headers === undefined && originOf(url) !== originOf(before.url)
        const headers = clearsHeaders ? null : body.headers
        const change = {
          url,
          isUrlOfApprover: url === null ? null : mayApprove(call.caller),
          eventTypes: body.events === undefined ? null : readEvents(call.caller, body.events, url !== null || before.is_url_of_approver),
          agents,
          headers: headers === undefined ? null : sealHeaders(sealKey, id, headers),
          hasDescription: body.description !== undefined,
          description: body.description ?? null,
          status: body.status ?? null,
          at: now(),
        }
        const row = await store.updateWebhook(tx, organizationId, id, change)
        const fields = [...Object.keys(body), ...(clearsHeaders && before.header_names.length > 0 ? ['headers'] : [])]
        await accounts.audit(tx, organizationId, actorOf(call), 'webhook.updated', id, { fields })
        if (change.status === 'active') tx.afterCommit(() => wake([id]))
        return toWebhook(row)
      })
    },

    async deleteWebhook(call, id) {
      const { organizationId } = call.caller
      return call.transact(async (tx) => {
        const deleted = await store.deleteWebhook(tx, organizationId, id, now())
        if (!deleted) throw notFound('webhook')
        if (deleted.isNew) await accounts.audit(tx, organizationId, actorOf(call), 'webhook.deleted', id)
        return { id, deleted: true as const }
      })
    },

    async rotateSecret(call, id) {
      const { organizationId } = call.caller
      const secret = randomBytes(secretBytes)
      return call.transact(async (tx) => {
        await lockChangeable(tx, call.caller, id)
        const row = await store.rotateSecret(tx, organizationId, id, sealSecret(sealKey, id, secret), now())
        if (!row) throw notFound('webhook')
        await accounts.audit(tx, organizationId, actorOf(call), 'webhook.secret_rotated', id)
        return { ...toWebhook(row), secret: formatSecret(secret) }
      })
    },

    async testWebhook(call, id) {
      const { organizationId } = call.caller
      const row = await requireWebhook(call.caller, id)
      const waitMs = takePing(id)
      if (waitMs > 0)
        throw new ApiError('rate_limited', 'Too many test pings of this webhook. Retry after the seconds in Retry-After.', {
          headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
        })
      const target = (await store.findEndpoints(db, [id])).get(id)
      if (!target) throw notFound('webhook')
      const at = now()
      const eventId = newId('event')
      const data = { webhook_id: id, message: 'This is a test event. Your endpoint has received it.' }
      const ping = {
        id: eventId,
        organization_id: organizationId,
        identity_id: null,
        agent_handle: null,
        type: 'test.ping',
        subject_id: id,
        data,
        created_at: at,
      }
      const body = Buffer.from(JSON.stringify(await formats[row.format](await events.payloadOf(ping, false), organizationId)))
      const secrets = target.secrets.map((sealed) => openSecret(sealKey, id, sealed))
      const own = openHeaders(sealKey, id, target.headers)
      const headers = { ...own, 'content-type': 'application/json', ...sign(secrets, eventId, body, nowMs()) }
      const result = await web.post(row.url, { headers, body, timeoutMs: pingTimeoutMs, snippetBytesMax })
      const verdict = judge(result, nowMs())
      await call.transact((tx) =>
        deliveryStore.insertPing(tx, {
          organizationId,
          webhookId: id,
          eventId,
          data,
          at,
          isSuccess: verdict.isSuccess,
          attempt: {
            attempt: 1,
            started_at: at.toISOString(),
            duration_ms: result.durationMs,
            status_code: verdict.statusCode,
            error_code: verdict.errorCode,
            error: verdict.error,
            response_snippet: verdict.snippet,
          },
        }),
      )
      return {
        webhook_id: id,
        url: row.url,
        event_type: 'test.ping' as const,
        status_code: verdict.statusCode ?? 0,
        latency_ms: result.durationMs,
        success: verdict.isSuccess,
        error: verdict.errorCode === null ? null : `${verdict.errorCode}: ${verdict.error}`,
      }
    },

    async listDeliveries(caller, id, query) {
      const page = readPage(query, 'delivery')
      await requireWebhook(caller, id)
      const { rows, resumeAt } = await deliveryStore.listDeliveries(db.reads, id, query, page)
      return toPage(rows, page.limit, (row) => row.id, toDelivery, resumeAt)
    },

    async getDelivery(caller, id) {
      const row = await deliveryStore.findDelivery(db, caller.organizationId, id)
      if (!row) throw notFound('delivery')
      const event = (await events.find([row.event_id])).get(row.event_id)
      if (!event) throw notFound('delivery')
      requireReceivable(caller, [event.type], 'api')
      return { ...toDelivery(row), attempts: row.attempts, event: await events.payloadOf(event, false) }
    },

    ...createReplays({ db, events, wake }),
  }
}
