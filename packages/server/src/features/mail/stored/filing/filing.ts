// Files new messages: chooses their threads and writes all their rows in the caller's transaction.
import { newId } from '../../../../core/ids.ts'
import type { Sql, Tx } from '../../../../core/sql.ts'
import { shareThread } from '../../../../core/turn.ts'
import { insertAttachments, type NewAttachment } from '../../attachments/operations.ts'
import { countedOf } from '../../usage/model.ts'
import { countMail } from '../../usage/operations.ts'
import type { MessageRow } from '../model.ts'
import { searchedTexts, toSearchVector } from '../search/words.ts'
import * as threadStore from '../thread-store.ts'
import { addToCounts, countsOf } from './count-store.ts'
import * as store from './filing-store.ts'
import * as referenceStore from './reference-store.ts'
import {
  type FilingThread,
  joinThreads,
  type KnownReferences,
  type KnownThreads,
  keysOf,
  lookupOrder,
  placeInThread,
  placeQuarantined,
  type Threaded,
  type ThreadKeys,
  type ThreadPlace,
} from './threading.ts'

/** A message to file. Its thread comes from its references, unless the caller already knows it. */
export type Filing = {
  message: Omit<MessageRow, 'thread_id' | 'in_reply_to_message_id'>
  /** The agent of the mailbox, whose messages are counted. */
  owner: { handle: string; address: string }
  thread: FilingThread
  attachments: Omit<NewAttachment, 'message_id' | 'draft_id' | 'organization_id' | 'created_at'>[]
  recipients: Omit<store.NewRecipient, 'message_id' | 'organizationId'>[]
  /** SHA-256 of the bytes as received. A copy with the same Message-ID and bytes within a day is not filed again. */
  sha256: Buffer | null
}

/** The filed message. `isDuplicate` when the mailbox already had it. The ids are then those of the first copy. */
export type Filed = { messageId: string; threadId: string; isDuplicate: boolean }

/**
 * Files messages in order, after their raw bytes, and returns results in the same order. `known` is the result of `findThreads` in this
 * transaction. `beside` writes further rows, given the filed messages, in the same round trip.
 */
export async function fileMessages(
  tx: Tx,
  filings: Filing[],
  known: KnownThreads,
  raws: store.NewRaw[],
  beside: (filed: Filed[]) => Promise<void> = async () => {},
): Promise<Filed[]> {
  const [duplicates, currentThreads] = await Promise.all([findDuplicates(tx, filings, known), findCurrentThreads(tx, filings)])
  // Copies within a batch are recognised by content, because none of them is in the database yet.
  const together = new Map<string, { messageId: string; threadId: string }>()
  const placed = filings.map((filing) => {
    const name = nameOfCopies(filing)
    const duplicate = duplicates.get(filing) ?? (name === null ? undefined : together.get(name))
    if (duplicate) return { filing, duplicate }
    const references = known.get(filing.message.mailbox_id) ?? new Map()
    const firstId: string | null = references.get(filing.message.rfc_message_id ?? '')?.messageId ?? null
    const placed = place(filing, references, currentThreads)
    if (name !== null) together.set(name, { messageId: filing.message.id, threadId: placed.threadId })
    return { filing, firstId, place: placed }
  })
  const threadOf = await joinThreads(
    tx,
    placed.flatMap((one) => one.place ?? []),
  )
  const fresh = placed.flatMap((one) => (one.place ? [{ ...one, place: movedTo(threadOf(one.place.threadId), one.place) }] : []))
  const filed = placed.map(
    (one): Filed =>
      one.place
        ? { messageId: one.filing.message.id, threadId: threadOf(one.place.threadId), isDuplicate: false }
        : { messageId: one.duplicate.messageId, threadId: threadOf(one.duplicate.threadId), isDuplicate: true },
  )
  await write(tx, fresh, raws, () => beside(filed))
  return filed
}

type Placed = { filing: Filing; firstId: string | null; place: ThreadPlace }

/** A place in the thread that its own has become part of, which another message starts or which is stored. */
const movedTo = (threadId: string, place: ThreadPlace): ThreadPlace => ({
  ...place,
  threadId,
  isNew: place.isNew && threadId === place.threadId,
})

/** Threads named by callers that have been joined into another one, with that one. */
async function findCurrentThreads(tx: Tx, filings: Filing[]): Promise<Map<string, string>> {
  const named = filings.flatMap(({ thread }) => ('known' in thread && !thread.known.isNew ? [thread.known.threadId] : []))
  return named.length === 0 ? new Map() : threadStore.findJoined(tx, named)
}

/** The thread that a message joins. */
function place(filing: Filing, known: KnownReferences, currentThreads: Map<string, string>): ThreadPlace {
  if ('references' in filing.thread) {
    const placeBy = filing.message.status === 'quarantined' ? placeQuarantined : placeInThread
    return placeBy(keysOf(filing), filing.message.id, known, () => newId('thread'))
  }
  const { threadId, isNew, inReplyToMessageId } = filing.thread.known
  const { rfc_message_id } = filing.message
  const unknownReferences = rfc_message_id === null ? [] : [rfc_message_id]
  return { threadId: currentThreads.get(threadId) ?? threadId, isNew, inReplyToMessageId, unknownReferences, joined: [] }
}

/** Equal for two copies of one message in one mailbox. Null for a message that cannot be a copy. */
function nameOfCopies({ message, sha256 }: Filing): string | null {
  if (message.rfc_message_id === null || sha256 === null) return null
  return JSON.stringify([message.mailbox_id, message.rfc_message_id, message.status === 'quarantined', sha256.toString('base64')])
}

async function findDuplicates(tx: Tx, filings: Filing[], known: KnownThreads) {
  const candidates = filings.flatMap((filing) => {
    const { mailbox_id, rfc_message_id, status } = filing.message
    const named = rfc_message_id === null || filing.sha256 === null ? undefined : known.get(mailbox_id)?.get(rfc_message_id)
    // A quarantined copy does not suppress the same message when it is accepted.
    const first = named?.isQuarantined && status !== 'quarantined' ? undefined : named
    return first?.messageId && filing.sha256 && rfc_message_id !== null
      ? [{ filing, firstId: first.messageId, threadId: first.threadId, rfcMessageId: rfc_message_id, sha256: filing.sha256 }]
      : []
  })
  const same = await store.findSameRaw(tx, candidates)
  return new Map(
    candidates.flatMap(({ filing, threadId }, index) => {
      const messageId = same[index]
      return messageId === undefined ? [] : [[filing, { messageId, threadId }] as const]
    }),
  )
}

async function write(tx: Tx, placed: Placed[], raws: store.NewRaw[], beside: () => Promise<void>): Promise<void> {
  const [first] = placed
  if (first === undefined) return beside()
  const started = new Set(placed.flatMap(({ place }) => (place.isNew ? [place.threadId] : [])))
  const rows: store.NewMessage[] = []
  for (const { filing, place } of placed) {
    const { threadId, inReplyToMessageId } = place
    // Messages that are filed together wait together.
    const search = await shareThread(first.filing.message.organization_id, () => toSearchVector(searchedTexts(filing.message)))
    rows.push({ ...filing.message, thread_id: threadId, in_reply_to_message_id: inReplyToMessageId, search })
  }
  const threads = threadsOf(rows)
  const used = new Set(rows.map((row) => row.raw_id))
  // In the order of the foreign keys, pipelined into one round trip.
  await Promise.all([
    store.insertThreads(
      tx,
      threads.filter(({ id }) => started.has(id)),
    ),
    store.upsertThreads(
      tx,
      threads.filter(({ id }) => !started.has(id)),
    ),
    referenceStore.insertReferences(tx, referencesOf(placed)),
    store.insertRaw(
      tx,
      raws.filter((raw) => used.has(raw.id)),
    ),
    store.insertMessages(tx, rows),
    insertAttachments(
      tx,
      placed.flatMap(({ filing }) => filing.attachments.map((attachment) => ({ ...attachment, ...ownerOf(filing.message) }))),
    ),
    store.insertRecipients(
      tx,
      placed.flatMap(({ filing }) =>
        filing.recipients.map((recipient) => ({
          ...recipient,
          message_id: filing.message.id,
          organizationId: filing.message.organization_id,
        })),
      ),
    ),
    addToCounts(tx, countsOf(rows)),
    countMail(
      tx,
      placed.map(({ filing: { message, owner } }) => countedOf(message, owner, message.status, message.created_at)),
    ),
    beside(),
  ])
}

const ownerOf = (message: Filing['message']) => ({
  message_id: message.id,
  organization_id: message.organization_id,
  created_at: message.created_at,
})

/** The addresses of a message that its thread lists as participants. */
const addressesOf = (row: MessageRow): string[] =>
  [row.from_address, ...row.to_addresses, ...row.cc_addresses].flatMap((address) => (address === '' ? [] : [address.toLowerCase()]))

/** One row per thread, with the additions of this batch. */
function threadsOf(rows: MessageRow[]): store.NewThread[] {
  const threads = new Map<string, store.NewThread>()
  for (const row of rows) {
    const known = threads.get(row.thread_id)
    const isQuarantined = row.status === 'quarantined'
    if (known && isQuarantined) continue
    threads.set(row.thread_id, {
      id: row.thread_id,
      organizationId: row.organization_id,
      mailboxId: row.mailbox_id,
      subject: known && known.count > 0 ? known.subject : row.subject,
      snippet: row.snippet,
      count: (known?.count ?? 0) + (isQuarantined ? 0 : 1),
      unread: (known?.unread ?? 0) + (isQuarantined || row.is_read ? 0 : 1),
      hasOutbound: known?.hasOutbound || row.direction === 'outbound',
      hasInbound: known?.hasInbound || (row.direction === 'inbound' && !isQuarantined),
      participants: [...new Set([...(known?.participants ?? []), ...(isQuarantined ? [] : addressesOf(row))])].slice(
        0,
        store.participantsMax,
      ),
      lastMessageId: row.id,
      at: row.created_at,
    })
  }
  return [...threads.values()]
}

function referencesOf(placed: Placed[]): referenceStore.NewReference[] {
  const references = new Map<string, referenceStore.NewReference>()
  for (const { filing, place, firstId: knownId } of placed) {
    const { mailbox_id: mailboxId, rfc_message_id: own, id } = filing.message
    const isQuarantined = filing.message.status === 'quarantined'
    const ids = own === null || place.unknownReferences.includes(own) ? place.unknownReferences : [...place.unknownReferences, own]
    for (const reference of ids) {
      const key = `${mailboxId} ${reference}`
      const [messageId, firstId] = reference === own ? [id, knownId] : [null, null]
      const first = references.get(key)
      if (!first || (first.isQuarantined && !isQuarantined))
        references.set(key, { mailboxId, reference, threadId: place.threadId, messageId, firstId, isQuarantined })
      else if (!isQuarantined) first.messageId ??= messageId
    }
  }
  return [...references.values()].filter((reference) => Buffer.byteLength(reference.reference) <= 998)
}

/**
 * Files a message that is released from quarantine. It becomes visible in its thread and is counted, and its references become valid.
 * The thread may then be joined into the thread that it answers. Returns its thread.
 */
export async function fileReleased(tx: Tx, row: MessageRow, owner: Filing['owner']): Promise<string> {
  const keys: ThreadKeys = {
    mailboxId: row.mailbox_id,
    messageId: row.rfc_message_id,
    inReplyTo: row.in_reply_to === null ? [] : [row.in_reply_to],
    references: row.reference_ids,
  }
  const known = (await referenceStore.findReferences(tx, [{ mailboxId: row.mailbox_id, references: lookupOrder(keys) }])).get(
    row.mailbox_id,
  )
  const place = placeInThread(keys, row.id, known ?? new Map(), () => row.thread_id)
  const threadOf = await joinThreads(tx, [{ ...place, isNew: false, joined: [...place.joined, row.thread_id] }])
  const threadId = threadOf(row.thread_id)
  const filed = { ...row, thread_id: threadId }
  await store.upsertThreads(tx, threadsOf([filed]))
  const references = place.unknownReferences.map((reference) => ({
    mailboxId: row.mailbox_id,
    reference,
    threadId,
    messageId: reference === row.rfc_message_id ? row.id : null,
    firstId: null,
    isQuarantined: false,
  }))
  await referenceStore.insertReferences(tx, references)
  const { organization_id: organizationId, mailbox_id: mailboxId } = row
  await Promise.all([
    addToCounts(tx, [{ organizationId, mailboxId, delta: 1, bytes: 0 }]),
    countMail(tx, [countedOf(row, owner, 'received', row.updated_at)]),
  ])
  return threadId
}

/** Looks up the references that decide the threads of messages. */
export const findThreads = (sql: Sql, filings: Threaded[]): Promise<KnownThreads> =>
  referenceStore.findReferences(
    sql,
    filings.map((filing) => ({
      mailboxId: filing.message.mailbox_id,
      references: 'references' in filing.thread ? lookupOrder(keysOf(filing)) : [],
    })),
  )

/** Records the ids in the answers of a relay to a sent message, so that answers to the Message-ID that recipients got join its thread. */
export async function learnRelayedIds(sql: Sql, messageId: string, answers: string[]): Promise<void> {
  const ids = [...new Set(answers.flatMap(referenceStore.relayedIdsIn))]
  if (ids.length > 0) await referenceStore.insertRelayedIds(sql, messageId, ids)
}
