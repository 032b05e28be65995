// Checks through the API that every answered message is there exactly once, whole, and arrived at its destination.
import { type ApiClient, mailboxPath } from './api-client.ts'
import { type Delivery, hashOf, type Ledger, type Mailbox, markerHeader, type Receipt, type Send } from './ledger.ts'
import type { Random } from './random.ts'

type Item = {
  id: string
  direction: 'inbound' | 'outbound'
  status: string
  thread_id: string
  message_id: string | null
  headers: Record<string, string>
  attachments: { filename: string; size_bytes: number; url: string }[]
}

type Thread = { id: string; message_count: number }

/** Contents of a mailbox. */
type Contents = { mailbox: Mailbox; items: Item[]; threads: Thread[]; total: number }

/** Results, beside the problems in the ledger. */
export type Verified = {
  inbound: number
  outbound: number
  hostedCopies: number
  /** Unanswered messages that were not repeated, counted as present or absent. */
  unknownPresent: number
  unknownAbsent: number
  /** Messages delivered to the relay more than once, and the number of extra copies. */
  relayRepeated: number
  relayExtraCopies: number
  relayTransactions: number
  rawsCompared: number
  attachmentsCompared: number
}

type Facts = { client: ApiClient; mailboxes: Mailbox[]; ledger: Ledger; random: Random; samples: number }

/** Lists every mailbox and checks it against the ledger, which records the problems. */
export async function verify(facts: Facts): Promise<Verified> {
  const { client, mailboxes, ledger } = facts
  const contents: Contents[] = []
  for (const mailbox of mailboxes) contents.push(await readMailbox(client, mailbox))
  const places = new Map(contents.map((one) => [one.mailbox.address, indexOf(one, ledger)]))
  for (const one of contents) checkCounters(one, ledger)
  for (const delivery of ledger.deliveries.values()) checkDelivery(delivery, places, ledger)
  for (const send of ledger.sends.values()) checkSend(send, places, ledger)
  checkStrangers(places, ledger)
  await checkDrafts(facts)
  const compared = await compareBytes(facts, places)
  const items = contents.flatMap((one) => one.items)
  const unknown = [...ledger.sends.values()].filter((send) => send.state === 'unknown')
  const isPresent = (send: Send) => copiesOf(places, send.from, 'outbound', send.marker).length > 0
  const copies = [...ledger.receipts.values()].map((receipts) => receipts.length)
  return {
    inbound: items.filter((item) => item.direction === 'inbound').length,
    outbound: items.filter((item) => item.direction === 'outbound').length,
    hostedCopies: [...ledger.sends.values()].reduce((sum, send) => sum + (isPresent(send) ? send.hosted.length : 0), 0),
    unknownPresent: unknown.filter(isPresent).length,
    unknownAbsent: unknown.filter((send) => !isPresent(send)).length,
    ...repeatsOf(ledger, copies),
    ...compared,
  }
}

async function readMailbox(client: ApiClient, mailbox: Mailbox): Promise<Contents> {
  const readAll = async <T>(path: string, more = ''): Promise<T[]> => {
    const all: T[] = []
    for (let cursor: string | null = null; ; ) {
      const query: string = `limit=100${more}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      const page: { data: T[]; next_cursor: string | null } = await client.get(`${path}?${query}`, mailbox.apiKey)
      all.push(...page.data)
      if (page.next_cursor === null) return all
      cursor = page.next_cursor
    }
  }
  const path = mailboxPath(mailbox.address)
  const { total } = await client.get<{ total: number }>(`/api/v1/mail/messages?agent=${mailbox.handle}&limit=1`, mailbox.apiKey)
  return { mailbox, items: await readAll<Item>(`${path}/messages`, '&view=full'), threads: await readAll<Thread>(`${path}/threads`), total }
}

type Place = { inbound: Map<string, Item[]>; outbound: Map<string, Item[]> }
type Places = Map<string, Place>

function indexOf({ mailbox, items }: Contents, ledger: Ledger): Place {
  const place: Place = { inbound: new Map(), outbound: new Map() }
  for (const item of items) {
    const marker = Object.entries(item.headers).find(([name]) => name.toLowerCase() === markerHeader.toLowerCase())?.[1]
    if (marker === undefined) {
      ledger.report(`${mailbox.address} holds ${item.id} (${item.direction}) without a marker`)
      continue
    }
    const known = place[item.direction].get(marker)
    if (known) known.push(item)
    else place[item.direction].set(marker, [item])
  }
  return place
}

const copiesOf = (places: Places, mailbox: Mailbox, direction: Item['direction'], marker: string): Item[] =>
  places.get(mailbox.address)?.[direction].get(marker) ?? []

/** Checks that `total`, the threads and their counts agree with the listed messages. */
function checkCounters({ mailbox, items, threads, total }: Contents, ledger: Ledger): void {
  if (total !== items.length) ledger.report(`${mailbox.address} has total ${total} and lists ${items.length}`)
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item.thread_id, (counts.get(item.thread_id) ?? 0) + 1)
  for (const thread of threads) {
    const listed = counts.get(thread.id) ?? 0
    if (listed !== thread.message_count)
      ledger.report(`${mailbox.address} thread ${thread.id} has message_count ${thread.message_count} and ${listed} messages`)
    counts.delete(thread.id)
  }
  for (const [thread, listed] of counts) ledger.report(`${mailbox.address} has ${listed} messages in thread ${thread}, which is not there`)
}

function checkDelivery(delivery: Delivery, places: Places, ledger: Ledger): void {
  const { marker, state, recipients, attempts } = delivery
  for (const mailbox of recipients) {
    const copies = copiesOf(places, mailbox, 'inbound', marker)
    const isWrong = state === 'accepted' ? copies.length !== 1 : copies.length > 1
    if (isWrong)
      ledger.report(`SMTP ${marker} (${state}, sent ${attempts} times) is ${copies.length} times in ${mailbox.address}: ${idsOf(copies)}`)
    for (const copy of copies)
      if (copy.message_id !== delivery.messageId) ledger.report(`${copy.id} has Message-ID ${copy.message_id}, not ${delivery.messageId}`)
  }
  const present = recipients.filter((mailbox) => copiesOf(places, mailbox, 'inbound', marker).length > 0)
  if (present.length !== 0 && present.length !== recipients.length)
    ledger.report(`SMTP ${marker} is in ${present.length} of its ${recipients.length} mailboxes`)
  const [first] = recipients
  const parent = delivery.parent === null ? undefined : ledger.sends.get(delivery.parent)
  if (!first || !parent) return
  const [copy] = copiesOf(places, first, 'inbound', marker)
  const [answered] = copiesOf(places, parent.from, 'outbound', parent.marker)
  if (copy && copy.thread_id !== answered?.thread_id)
    ledger.report(`SMTP ${marker} answers ${parent.marker} and is in thread ${copy.thread_id}, not ${answered?.thread_id}`)
}

function checkSend(send: Send, places: Places, ledger: Ledger): void {
  const { marker, state, from } = send
  const kept = copiesOf(places, from, 'outbound', marker)
  const how = `API ${marker} (${state}, sent ${send.attempts} times${send.idempotencyKey ? ' with a key' : ''})`
  if (state === 'accepted' ? kept.length !== 1 : kept.length > 1)
    ledger.report(`${how} is ${kept.length} times in ${from.address}: ${idsOf(kept)}`)
  const [item] = kept
  if (item && state === 'accepted') {
    if (send.id !== null && item.id !== send.id) ledger.report(`${how} was answered with ${send.id} and is ${item.id}`)
    if (send.threadId !== null && item.thread_id !== send.threadId)
      ledger.report(`${how} was answered with thread ${send.threadId} and is in ${item.thread_id}`)
  }
  if (item && send.parentThread !== null && item.thread_id !== send.parentThread)
    ledger.report(`${how} is a reply in thread ${send.parentThread} and is in ${item.thread_id}`)
  if (item) {
    const wanted = send.outside.length > 0 ? 'sent' : 'delivered'
    if (item.status !== wanted) ledger.report(`${how} has status ${item.status}, not ${wanted}`)
    const sizes = item.attachments.map((attachment) => `${attachment.filename} ${attachment.size_bytes}`)
    const given = send.attachments.map((attachment) => `${attachment.filename} ${attachment.sizeBytes}`)
    if (sizes.join() !== given.join()) ledger.report(`${how} was given ${given.join()} and has ${sizes.join() || 'nothing'}`)
  }
  const wanted = item ? 1 : 0
  for (const mailbox of send.hosted) {
    const copies = copiesOf(places, mailbox, 'inbound', marker)
    if (copies.length !== wanted) ledger.report(`${how} is ${copies.length} times, not ${wanted}, in ${mailbox.address}: ${idsOf(copies)}`)
    if (copies[0] && copies[0].message_id !== item?.message_id) ledger.report(`${how} arrived with another Message-ID`)
  }
  checkReceipts(send, item, how, ledger)
}

/** Checks that the mailboxes contain no drafts, because all of them were sent. */
async function checkDrafts({ client, mailboxes, ledger }: Facts): Promise<void> {
  for (const mailbox of mailboxes) {
    const { drafts, count } = await client.get<{ drafts: { id: string }[]; count: number }>(
      `${mailboxPath(mailbox.address)}/drafts?limit=100`,
      mailbox.apiKey,
    )
    if (count > 0) ledger.report(`${mailbox.address} still has ${count} drafts, such as ${drafts[0]?.id}`)
  }
}

/** Checks that the relay got a message at least once per outside recipient. All copies have the same bytes and the same Message-ID. */
function checkReceipts(send: Send, item: Item | undefined, how: string, ledger: Ledger): void {
  const receipts = ledger.receipts.get(send.marker) ?? []
  const reached = new Set(receipts.flatMap((receipt) => receipt.recipients))
  if (!item && receipts.length > 0) ledger.report(`${how} reached the relay and is not in its mailbox`)
  for (const address of item ? send.outside : []) if (!reached.has(address)) ledger.report(`${how} never reached the relay for ${address}`)
  for (const address of reached)
    if (!send.outside.includes(address)) ledger.report(`${how} reached the relay for ${address}, who is no recipient`)
  checkRepeats(receipts, how, ledger)
  const distinct = (of: (receipt: Receipt) => string) => new Set(receipts.map(of)).size
  if (distinct((receipt) => receipt.messageId) > 1) ledger.report(`${how} reached the relay under several Message-IDs`)
  if (distinct((receipt) => receipt.sha256) > 1) ledger.report(`${how} reached the relay with different bytes`)
  if (item && receipts.some((receipt) => receipt.messageId !== item.message_id))
    ledger.report(`${how} reached the relay under a Message-ID that is not its own`)
}

/** An address gets the same message again only after a kill in between, or when the 250 was not answered. */
function checkRepeats(receipts: Receipt[], how: string, ledger: Ledger): void {
  const copies = Map.groupBy(
    receipts
      .filter(({ isAnswered }) => isAnswered)
      .flatMap(({ recipients, life, atMs }) => recipients.map((address) => ({ key: `${life} ${address}`, atMs }))),
    ({ key }) => key,
  )
  for (const [key, all] of copies) {
    const [life, address] = key.split(' ')
    if (all.length > ledger.copiesMaxOf(Number(life)))
      ledger.report(
        `${how} was given to the relay for ${address} ${all.length} times within one life (${life}) of the server, at ` +
          all.map(({ atMs }) => new Date(atMs).toISOString()).join(' and '),
      )
  }
}

/** Checks that every message in a mailbox or at the relay was sent by a client of this run. */
function checkStrangers(places: Places, ledger: Ledger): void {
  for (const [address, place] of places) {
    for (const marker of place.inbound.keys()) {
      const wanted = ledger.deliveries.get(marker)?.recipients ?? ledger.sends.get(marker)?.hosted ?? []
      if (!wanted.some((mailbox) => mailbox.address === address)) ledger.report(`${address} received ${marker}, which nobody sent there`)
    }
    for (const marker of place.outbound.keys())
      if (ledger.sends.get(marker)?.from.address !== address) ledger.report(`${address} sent ${marker}, which nobody asked for`)
  }
  for (const marker of ledger.receipts.keys()) if (!ledger.sends.has(marker)) ledger.report(`the relay got ${marker}, which nobody sent`)
}

function repeatsOf(ledger: Ledger, copies: number[]) {
  // A message delivered in several transactions counts as repeated only if an address occurs twice.
  let relayRepeated = 0
  let relayExtraCopies = 0
  for (const receipts of ledger.receipts.values()) {
    const addresses = receipts.flatMap((receipt) => receipt.recipients)
    const extra = addresses.length - new Set(addresses).size
    if (extra > 0) relayRepeated++
    relayExtraCopies += extra
  }
  return { relayRepeated, relayExtraCopies, relayTransactions: copies.reduce((sum, count) => sum + count, 0) }
}

/** Downloads a sample, large ones first, and compares every byte with the original. */
async function compareBytes({ client, ledger, random, samples }: Facts, places: Places) {
  const sample = <T>(list: T[], sizeOf: (one: T) => number): T[] => {
    const large = list.filter((one) => sizeOf(one) > 64 * 1024)
    const small = list.filter((one) => sizeOf(one) <= 64 * 1024)
    return [...random.pickSome(large, samples), ...random.pickSome(small, samples)]
  }
  const deliveries = sample([...ledger.deliveries.values()], (delivery) => delivery.sizeBytes)
  let rawsCompared = 0
  for (const delivery of deliveries) {
    for (const mailbox of delivery.recipients) {
      for (const copy of copiesOf(places, mailbox, 'inbound', delivery.marker)) {
        const raw = await client.getBytes(`${mailboxPath(mailbox.address)}/messages/${copy.id}/raw`, mailbox.apiKey)
        // The server's trace fields come before the client's bytes.
        if (hashOf(raw.subarray(-delivery.sizeBytes)) !== delivery.sha256)
          ledger.report(`the raw bytes of ${copy.id} (${delivery.marker}) are not those that were sent`)
        rawsCompared++
      }
    }
  }
  let attachmentsCompared = 0
  const sends = sample(
    [...ledger.sends.values()].filter((send) => send.attachments.length > 0),
    (send) => send.attachments.reduce((sum, attachment) => sum + attachment.sizeBytes, 0),
  )
  for (const send of sends) {
    const items = [
      ...copiesOf(places, send.from, 'outbound', send.marker),
      ...send.hosted.flatMap((mailbox) => copiesOf(places, mailbox, 'inbound', send.marker)),
    ]
    for (const item of items) {
      for (const [index, attachment] of send.attachments.entries()) {
        const url = item.attachments[index]?.url
        const bytes = url === undefined ? Buffer.alloc(0) : await client.getBytes(new URL(url).pathname + new URL(url).search, '')
        if (hashOf(bytes) !== attachment.sha256)
          ledger.report(`attachment ${attachment.filename} of ${item.id} (${send.marker}) is not what was sent`)
        attachmentsCompared++
      }
    }
  }
  return { rawsCompared, attachmentsCompared }
}

const idsOf = (items: Item[]): string => items.map((item) => item.id).join(' ') || 'none'
