// Receives texts: verifies callbacks before parsing them, files each text once, fetches media first, and catches up on missed texts.
import { findCodes } from '@callsign/mail/content/codes/codes'
import type { BusinessEvents } from '../../core/business-events.ts'
import { inMs, now, nowMs } from '../../core/clock.ts'
import { forbidden, invalid, notFound } from '../../core/errors.ts'
import type { Emit } from '../../core/event.ts'
import { newId } from '../../core/ids.ts'
import type { Enqueue, Finish, Job, JobHandler } from '../../core/job.ts'
import type { Log } from '../../core/log.ts'
import { Raw, type RawRequest } from '../../core/route.ts'
import type { Database, Tx } from '../../core/sql.ts'
import { FetchRefused, type Web } from '../../core/web.ts'
import type { Attachments } from '../mail/attachments/operations.ts'
import type { CallbackPaths } from './callback-paths.ts'
import type { PhoneJobs, Providers } from './jobs.ts'
import * as messageStore from './message-store.ts'
import { boundText, fetchMediaJob, mediaFilename, mediaTypeOf, type PendingText, toPending } from './model.ts'
import { type InboundText, type PhoneProvider, type ProviderName, Unreadable } from './provider.ts'
import * as store from './store.ts'

export interface Arrivals {
  mediaHandler: JobHandler
  /** Handles a callback of the simulator as if it had been posted to its target. */
  receiveAt(request: RawRequest): Promise<Filed[]>
  /** `POST /hooks/phone/{provider}/{route_token}`. The response is the same for new, known and unrelated texts. */
  receiveHook(name: string, token: string, request: RawRequest): Promise<Raw>
  /** Reads each provider's list since the last run, and files texts whose callbacks were lost. */
  catchUp(): Promise<void>
  /** Deletes records of received texts after 30 days. */
  sweep(): Promise<void>
}

type Parts = {
  db: Database
  attachments: Attachments
  web: Web
  providers: Providers
  jobs: PhoneJobs
  /** The configured providers. */
  providerNames: ProviderName[]
  emit: Emit
  enqueue: Enqueue
  publicUrl: () => string
  callbackPaths: CallbackPaths
  businessEvents: BusinessEvents
  log: Log
}

/** Media of one text. `bytes` is null for a file that could not be fetched. */
type Loaded = { contentType: string; bytes: Buffer | null }[]

const leaseMs = 30_000
/** Allows for 20 files, each within `mediaTimeoutMs`. */
const runMsMax = 15 * 60_000
const concurrency = 8
/** Waits between attempts to fetch media. After the last attempt the text is filed without it. */
const mediaRetryMs = [2_000, 10_000, 30_000, 120_000]
const mediaBytesMax = 10 * 1024 * 1024
const mediaTimeoutMs = 20_000
/** Failures that are not retried. */
const lastingFailures = ['invalid_url', 'blocked_address', 'too_large']
/** Tolerated clock skew. A text that is older than its number by more was sent to the previous owner of the number. */
const clockSkewMs = 5_000
/** Overlap between catch-ups, because providers list texts late. */
const catchUpOverlapMs = 15 * 60_000
const arrivalsKeptMs = 30 * 24 * 3_600_000

const acknowledged = () => new Raw('text/xml; charset=utf-8', Buffer.from('<?xml version="1.0" encoding="UTF-8"?><Response/>'))

/** The result of a received text. `ignored` is for texts to numbers that are not ours. */
export type Filed = { kind: 'filed'; smsId: string } | { kind: 'pending' } | { kind: 'duplicate' } | { kind: 'ignored' }

export function createArrivals(parts: Parts): Arrivals {
  const { db, attachments, web, providers, jobs, providerNames, emit, enqueue, publicUrl, callbackPaths, businessEvents, log } = parts

  function findRoute(name: string, token: string): PhoneProvider | null {
    const provider = providers.get(name as ProviderName)
    return provider && callbackPaths.isRight(name, token) ? provider : null
  }

  /** Builds rows for media. Large files are durable in the blob store before any transaction names them. */
  const keep = (organizationId: string, loaded: Loaded): Promise<messageStore.MediaRow[]> =>
    Promise.all(
      loaded.map(async ({ contentType, bytes }, position) => {
        const id = newId('attachment')
        const kept = bytes === null ? { bytes: null, blob_key: null } : await attachments.keepBytes(organizationId, id, bytes)
        const filename = mediaFilename(position, contentType)
        return { id, position, filename, content_type: contentType, size_bytes: bytes?.length ?? 0, ...kept }
      }),
    )

  /** Files a text in the caller's transaction: row, media, event. Null when the number is released meanwhile. */
  async function file(
    tx: Tx,
    to: { organizationId: string; numberId: string },
    text: PendingText | InboundText,
    media: messageStore.MediaRow[],
  ): Promise<string | null> {
    const held = await messageStore.holdNumber(tx, to.numberId)
    if (!held) return null
    const id = newId('sms')
    const at = now()
    const { type, from, text: words } = text
    await messageStore.insertSms(tx, { id, ...to, type, from, to: text.to, text: words, codes: findCodes({ text: words }), at })
    await messageStore.insertMedia(tx, { id, organizationId: to.organizationId }, media)
    await emit(tx, [{ type: 'sms.received', organizationId: to.organizationId, identityId: held.identity_id, subjectId: id }])
    return id
  }

  /** Files a text from a callback or a list, exactly once. */
  async function take(name: ProviderName, given: InboundText): Promise<Filed> {
    const text = boundText(given)
    const receivers = await store.findReceivers(db, name, text.to)
    const number = text.to.map((one) => receivers.get(one)).find((row) => row !== undefined)
    const isTooOld = number?.activated_at && text.sentAt !== null && text.sentAt.getTime() < number.activated_at.getTime() - clockSkewMs
    if (!number || isTooOld || given.providerMessageId === '' || given.providerMessageId.length > 200) {
      businessEvents.textTaken({ provider: name, outcome: 'ignored', organization_id: null, phone_number_id: null })
      return { kind: 'ignored' }
    }
    const to = { organizationId: number.organization_id, numberId: number.id }
    const pending = toPending(text)
    const brought = pending
      ? []
      : text.media.flatMap((media) => ('bytes' in media ? { contentType: mediaTypeOf(media.contentType), bytes: media.bytes } : []))
    const kept = await keep(to.organizationId, brought)
    const outcome = await db.transact(async (tx): Promise<Filed> => {
      const id = newId('job')
      const arrival = { id, provider: name, providerMessageId: given.providerMessageId, ...to, pending, at: now() }
      if (!(await messageStore.insertArrival(tx, arrival))) return { kind: 'duplicate' }
      if (pending !== null) {
        await enqueue(tx, [{ id, kind: fetchMediaJob, organizationId: to.organizationId, subject: id }])
        return { kind: 'pending' }
      }
      const smsId = await file(tx, to, text, kept)
      return smsId === null ? { kind: 'ignored' } : { kind: 'filed', smsId }
    })
    businessEvents.textTaken({ provider: name, outcome: outcome.kind, organization_id: to.organizationId, phone_number_id: to.numberId })
    return outcome
  }

  /** Fetches the media of one text, then files the text. After the last attempt it is filed without the missing media. */
  async function fetchMedia(job: Job, finish: Finish): Promise<void> {
    const arrival = await messageStore.findPending(db, job.subject)
    if (!arrival) return db.transact((tx) => finish(tx, { done: true }))
    const access = providers.get(arrival.provider)?.mediaAccess
    const retryInMs = mediaRetryMs[job.attempts - 1]
    const loaded: Loaded = []
    for (const { url, content, contentType } of arrival.pending.media) {
      if (url === undefined) {
        loaded.push({ contentType: mediaTypeOf(contentType), bytes: Buffer.from(content ?? '', 'base64') })
        continue
      }
      try {
        const file = await web.fetchFile(url, { bytesMax: mediaBytesMax, timeoutMs: mediaTimeoutMs, access: access?.(url) ?? null })
        const fetchedType = mediaTypeOf(file.contentType)
        loaded.push({
          contentType: fetchedType === 'application/octet-stream' ? mediaTypeOf(contentType) : fetchedType,
          bytes: file.bytes,
        })
      } catch (error) {
        if (!(error instanceof FetchRefused)) throw error
        log.warn({ arrival: arrival.id, failure: error.failure, attempt: job.attempts }, 'fetching the media of a text failed')
        if (retryInMs !== undefined && !lastingFailures.includes(error.failure))
          return db.transact((tx) => finish(tx, { done: false, retryInMs }))
        loaded.push({ contentType: mediaTypeOf(contentType), bytes: null })
      }
    }
    const to = { organizationId: arrival.organization_id, numberId: arrival.phone_number_id }
    const kept = await keep(to.organizationId, loaded)
    await db.transact(async (tx) => {
      await finish(tx, { done: true })
      if (await messageStore.endPending(tx, arrival.id)) await file(tx, to, arrival.pending, kept)
    })
  }

  const mediaHandler: JobHandler = { kind: fetchMediaJob, leaseMs, runMsMax, concurrency, run: fetchMedia }

  async function receive(name: string, token: string, request: RawRequest): Promise<Filed[]> {
    const provider = findRoute(name, token)
    if (!provider) throw notFound('callback address')
    const verdict = provider.verifyWebhook(request, `${publicUrl()}${request.target}`, nowMs())
    if (verdict !== 'ok') {
      businessEvents.callbackRefused({ provider: provider.name, reason: verdict })
      throw forbidden(
        verdict === 'too_old'
          ? "The signature of this callback is too old: check this server's clock."
          : 'The signature of this callback is wrong: check the key of the provider and CALLSIGN_PUBLIC_URL.',
      )
    }
    let events: ReturnType<PhoneProvider['parseWebhook']>
    try {
      events = provider.parseWebhook(request)
    } catch (error) {
      if (error instanceof Unreadable) throw invalid('/', error.message)
      throw error
    }
    const filed: Filed[] = []
    for (const event of events) {
      if (event.kind === 'text') filed.push(await take(provider.name, event.text))
      else {
        const row = (await store.findReceivers(db, provider.name, [event.phoneNumber])).get(event.phoneNumber)
        if (row) await jobs.pollNow(row.id)
      }
    }
    return filed
  }

  return {
    mediaHandler,

    async receiveAt(request) {
      const [, , , name = '', token = ''] = request.target.split('/')
      return receive(name, token, request)
    },

    async receiveHook(name, token, request) {
      await receive(name, token, request)
      return acknowledged()
    },

    async catchUp() {
      for (const name of providerNames) {
        const provider = providers.get(name)
        if (!provider) continue
        const startedAt = now()
        const last = await messageStore.findCatchUp(db, name)
        if (last === null || !(await store.hasNumbers(db, name))) {
          await messageStore.setCatchUp(db, name, startedAt)
          continue
        }
        const since = new Date(last.getTime() - catchUpOverlapMs)
        let caught = 0
        for await (const text of provider.listInbound(since, (id) => messageStore.isKnown(db, name, id))) {
          const { kind } = await take(name, text)
          if (kind === 'filed' || kind === 'pending') caught++
        }
        await messageStore.setCatchUp(db, name, startedAt)
        if (caught > 0) log.info({ provider: name, texts: caught }, 'filed texts whose callbacks were lost')
      }
    },

    sweep: () => messageStore.sweepArrivals(db, inMs(-arrivalsKeptMs)),
  }
}
