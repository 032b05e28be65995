// Operations on events: lists, streams, waits and payloads.

import { type createSocketToken, socketTokenSeconds } from '@callsign/contract/events'
import { firstId, isId, timeOfId } from '@callsign/contract/ids'
import type { ReplyOf } from '@callsign/contract/operation'
import { batchLoader } from '../../../core/batch.ts'
import { type Authenticate, accessIdOf, type Caller, identityIdsOf, limitIdOf, mayApprove } from '../../../core/caller.ts'
import { inMs, nowMs } from '../../../core/clock.ts'
import { ApiError, forbidden, invalid } from '../../../core/errors.ts'
import type { Log } from '../../../core/log.ts'
import { type ListOrder, type Page, type PageQuery, readPage, toPage } from '../../../core/page.ts'
import { type Call, Live, type LiveEvent } from '../../../core/route.ts'
import type { Database } from '../../../core/sql.ts'
import type { Wait } from '../../../core/wait.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { Keys } from '../../account/keys/operations.ts'
import { createFollowers, type Follower } from './followers.ts'
import { createHistory, type Mark, type Start } from './history.ts'
import {
  type Description,
  type EventRow,
  isWhole,
  keptMs,
  type Payload,
  type PlacedRow,
  readableTypes,
  readTypes,
  toPayload,
  withApprovalUrl,
} from './model.ts'
import { readSocketToken, signSocketToken } from './socket-token.ts'
import * as store from './store.ts'
import { createWait } from './wait.ts'
import { createWatch } from './watch.ts'

export interface Events {
  /** The payload of an event, with the description of its subject. `hasLinks` adds links that approve drafts, which an agent must not get. */
  payloadOf(row: EventRow, hasLinks: boolean): Promise<Payload>
  /** `GET /events`: oldest first, or newest first. */
  listEvents(caller: Caller, query: Filters & PageQuery & { since?: string; order?: ListOrder }): Promise<Page<Payload>>
  /** `GET /events/stream`: events after the reader's last one, or new events only. */
  streamEvents(call: Call, query: Filters & { after?: string }): Promise<Live>
  /** `POST /events/socket-token`: for the API key of the caller. */
  createSocketToken(caller: Caller): Promise<ReplyOf<typeof createSocketToken>>
  /** The caller of such a token, which opens event sockets only. Null at once for any other text. */
  authenticateSocket: Authenticate
  /** Events by id, as rows. */
  find(ids: string[]): Promise<Map<string, EventRow>>
  /** Registers the describer of subjects whose ids have this prefix: `msg`. Events of other subjects have facts only. */
  describe(prefix: string, describer: Describe): void
  /** Registers the URLs of approval links. */
  useApprovalLinks(urlOf: (linkId: string) => string): void
  /** Registers a hook for events that this process has committed. */
  onCommit(hook: CommitHook): void
  /** Passes a commit of this process on to the hooks and to open streams and waits. A hint: other processes poll. */
  committed(webhookIds: string[]): void
  /** Waits for an event of one agent that matches. */
  wait: Wait
  /** Assigns positions to committed events. Reads do so as well, and find less to do after a run of this. */
  place(): Promise<unknown>
  /** Deletes old events. */
  sweep(): Promise<number>
  /** Deletes events of an organization from before a time. */
  deleteBefore(organizationId: string, before: Date): Promise<number>
}

/** Describes the subjects with these ids. Deleted subjects are missing from the map. */
export type Describe = (ids: string[]) => Promise<Map<string, Description>>

/** Takes the webhooks that committed events have deliveries for. */
export type CommitHook = (webhookIds: string[]) => void

type Parts = {
  db: Database
  keys: Keys
  identities: Identities
  /** Signs the tokens of event sockets. The same on every node. */
  socketSecret: Buffer
  log: Log
}

/** `hasLinks`: the reader may approve drafts. */
type ReadScope = store.EventScope & { hasLinks: boolean }

type Filters = { agent?: string; types?: string }

/** Subjects per query. Their bodies may be large. */
const describedTogetherMax = 32
const batchMax = 50

const startBlock = ({ id, lost }: Start): LiveEvent => ({ id: id ?? firstId('event', 0), data: null, lost })

const lostCursor = (cursor: string): ApiError =>
  new ApiError(
    'cursor_lost',
    'The database has lost the event of this cursor. Read your objects again, and continue with since=' +
      `${new Date(timeOfId(cursor)).toISOString()} instead of cursor.`,
  )

export function createEvents({ db, keys, identities, socketSecret, log }: Parts): Events {
  const loaders = new Map<string, (id: string) => Promise<Description | null>>()
  const commitHooks: CommitHook[] = []
  let approvalUrlOf: ((linkId: string) => string) | null = null
  const followers = createFollowers((organizationIds, after) => store.findChanged(db, organizationIds, after))
  const history = createHistory(db)
  const waits = createWait(db, history, () => watch.begin())
  const watch = createWatch({ place: () => store.placeEvents(db), history, findUnusable: (ids) => keys.findUnusable(ids), log }, [
    followers.watchers,
    waits.watchers,
  ])

  async function payloadOf(row: EventRow, hasLinks: boolean): Promise<Payload> {
    const load = isWhole(row.type) ? undefined : loaders.get(row.subject_id.slice(0, row.subject_id.indexOf('_')))
    return toPayload(withApprovalUrl(row, hasLinks ? approvalUrlOf : null), load ? await load(row.subject_id) : undefined)
  }

  async function scopeOf(caller: Caller, filters: Filters): Promise<ReadScope> {
    const identityIds =
      filters.agent === undefined ? identityIdsOf(caller) : [(await identities.requireMailbox(caller, filters.agent)).identityId]
    const types = readableTypes(caller, readTypes(filters.types))
    return { organizationId: caller.organizationId, identityIds, types, hasLinks: mayApprove(caller) }
  }

  /** The last event of the reader up to a position. */
  async function lastOf({ organizationId, identityIds }: store.EventScope, upTo: number): Promise<Start> {
    const found = identityIds ? await store.findLastOf(db, identityIds, upTo) : await store.findLastOfOrganization(db, organizationId, upTo)
    return { ...(found ?? { id: null, position: 0 }), lost: null }
  }

  /** Yields batches of events after a start. A new reader, and one whose last event was lost, first gets the id of its starting point. */
  async function* follow(scope: ReadScope, start: Start, isNew: boolean, follower: Follower, signal: AbortSignal) {
    const leave = () => follower.leave()
    signal.addEventListener('abort', leave, { once: true })
    try {
      let mark: Mark = start
      // A client that reconnects before its first event continues from this id and misses none.
      if ((isNew || start.lost !== null) && !signal.aborted) yield [startBlock(start)]
      while (!signal.aborted) {
        const rows: PlacedRow[] = await store.listAfter(db, scope, mark.position, batchMax)
        if (!(await history.has(mark))) {
          const next = await history.startAfter(scope.organizationId, mark.id ?? firstId('event', 0))
          if (next.lost !== null) yield [startBlock(next)]
          mark = next
          continue
        }
        const last = rows.at(-1)
        if (last) {
          yield await Promise.all(rows.map(async (row) => ({ id: row.id, data: JSON.stringify(await payloadOf(row, scope.hasLinks)) })))
          mark = last
        }
        if (rows.length < batchMax && !(await follower.changed())) return
      }
    } finally {
      signal.removeEventListener('abort', leave)
      follower.leave()
    }
  }

  /** The position of a cursor. Null without one. */
  async function placeOf(organizationId: string, cursor: string | null): Promise<number | null> {
    if (cursor === null) return null
    const place = await history.findPlace(organizationId, cursor, '/cursor')
    if (place === null) throw lostCursor(cursor)
    return place
  }

  const startOf = async (organizationId: string, since: string | undefined): Promise<number> =>
    since === undefined ? 0 : store.findPositionBefore(db, organizationId, new Date(since))

  return {
    payloadOf,

    async listEvents(caller, query) {
      const page = readPage(query, 'event')
      const scope = await scopeOf(caller, query)
      await store.placeEvents(db)
      const place = await placeOf(caller.organizationId, page.cursor)
      const rows =
        query.order === 'desc'
          ? await store.listBefore(db.reads, scope, place, await startOf(caller.organizationId, query.since), page.limit + 1)
          : await store.listAfter(db.reads, scope, place ?? (await startOf(caller.organizationId, query.since)), page.limit + 1)
      const { data, ...envelope } = toPage(
        rows,
        page.limit,
        (row) => row.id,
        (row) => row,
      )
      return { ...envelope, data: await Promise.all(data.map((row) => payloadOf(row, scope.hasLinks))) }
    },

    async streamEvents(call, query) {
      const { caller } = call
      const scope = await scopeOf(caller, query)
      // The header has precedence: a client that reconnects repeats its first URL, `after` included.
      const lastId = call.lastEventId ?? query.after ?? null
      if (lastId !== null && !isId('event', lastId)) throw invalid('/after', 'Last-Event-ID and after must be the id of an event')
      // Joined before the position is read, so that no event is missed in between.
      const follower = followers.join(caller.organizationId, { accessId: accessIdOf(caller), limitId: limitIdOf(caller) })
      watch.begin()
      try {
        const isNew = lastId === null
        const start = isNew
          ? await lastOf(scope, (await store.placeEvents(db)).position)
          : await history.startAfter(caller.organizationId, lastId)
        return new Live((signal) => follow(scope, start, isNew, follower, signal))
      } catch (error) {
        follower.leave()
        throw error
      }
    },

    async createSocketToken(caller) {
      if (caller.session) throw forbidden('A console token opens a socket by itself. Offer it as the subprotocol bearer.TOKEN.')
      const expires = Math.ceil(nowMs() / 1000) + socketTokenSeconds
      return {
        token: signSocketToken({ keyId: caller.keyId, expires }, socketSecret),
        expires_at: new Date(expires * 1000).toISOString(),
      }
    },

    authenticateSocket(token, client) {
      const keyId = readSocketToken(token, socketSecret, nowMs())
      return keyId === null ? null : keys.findCaller(keyId, client)
    },

    find: (ids) => store.findEvents(db, ids),

    describe(prefix, describer) {
      loaders.set(prefix, batchLoader(describer, { batchMax: describedTogetherMax, inFlightMax: 2 }))
    },

    useApprovalLinks(urlOf) {
      approvalUrlOf = urlOf
    },

    onCommit(hook) {
      commitHooks.push(hook)
    },

    committed(webhookIds) {
      for (const hook of commitHooks) hook(webhookIds)
      watch.pollSoon()
    },

    wait: waits.wait,

    place: () => store.placeEvents(db),

    deleteBefore: (organizationId, before) => store.deleteEventsOf(db, organizationId, before),

    sweep: () => store.sweepEvents(db, inMs(-keptMs)),
  }
}
