// Records every request and its answer. The verification checks the server against these promises.
import { createHash } from 'node:crypto'

/** An agent of one of the organizations, with its organization's key. */
export type Mailbox = { handle: string; address: string; apiKey: string }

/** The header field that identifies every message of a run. */
export const markerHeader = 'X-Crash-Marker'

/**
 * `open` is not answered yet. `accepted` is answered 250, 200 or 201. `unknown` means that the answer was lost and the client could not repeat the
 * request, so the message may be there once or not at all. `refused` is an unexpected error, reported as a problem.
 */
type State = 'open' | 'accepted' | 'unknown' | 'refused'

type Entry = {
  marker: string
  state: State
  /** Times that the whole request went out. */
  attempts: number
  /** The whole request is out and its answer is not here. */
  isAwaiting: boolean
}

/** A message that an SMTP client delivers. */
export type Delivery = Entry & {
  messageId: string
  recipients: Mailbox[]
  /** The marker of the sent message that it answers, which must be in the same thread. */
  parent: string | null
  sizeBytes: number
  sha256: string
}

export type SentAttachment = { filename: string; sizeBytes: number; sha256: string }

/** A message that an API client sends. */
export type Send = Entry & {
  from: Mailbox
  hosted: Mailbox[]
  outside: string[]
  /** With an Idempotency-Key the client asks again until it is answered. */
  idempotencyKey: string | null
  attachments: SentAttachment[]
  /** The thread that a reply must join. */
  parentThread: string | null
  /** The draft that it was written as. Sending deletes the draft. */
  draftId: string | null
  id: string | null
  threadId: string | null
  /** Replayed from the first answer, because the previous request had committed and its answer was lost. */
  isReplayed: boolean
}

/**
 * One message that the relay took. `isAnswered` means that its 250 went out on an open connection. `life` counts the server's lives at that
 * moment.
 */
export type Receipt = {
  marker: string
  messageId: string
  recipients: string[]
  sha256: string
  atMs: number
  life: number
  isAnswered: boolean
}

/** Work that a kill met, counted from outside. */
export type InFlight = { requests: number; transactions: number; relayTransactions: number; undelivered: number }

export type Ledger = ReturnType<typeof createLedger>

const problemsMax = 200

export function createLedger() {
  const deliveries = new Map<string, Delivery>()
  const sends = new Map<string, Send>()
  const receipts = new Map<string, Receipt[]>()
  const replies = new Map<string, number>()
  const problems: string[] = []
  const lives: { copiesMax: number }[] = [{ copiesMax: 1 }]
  let relayTransactions = 0
  let problemCount = 0

  return {
    deliveries,
    sends,
    receipts,
    /** Number of each answer, such as `api 201` or `smtp 451`. */
    replies,
    problems,
    problemCount: () => problemCount,

    countReply(name: string): void {
      replies.set(name, (replies.get(name) ?? 0) + 1)
    },

    /** A promise that was broken, with its evidence. */
    report(problem: string): void {
      problemCount++
      if (problems.length < problemsMax) problems.push(problem)
    },

    addReceipt(given: Omit<Receipt, 'atMs' | 'life' | 'isAnswered'>): Receipt {
      const receipt: Receipt = { ...given, atMs: Date.now(), life: lives.length - 1, isAnswered: false }
      const known = receipts.get(receipt.marker)
      if (known) known.push(receipt)
      else receipts.set(receipt.marker, [receipt])
      return receipt
    },

    /** Begins a new life of the server or its database. Messages repeated to the relay are accepted, up to `copiesMax` copies each. */
    beginLife: (copiesMax: number) => void lives.push({ copiesMax }),
    copiesMaxOf: (life: number): number => lives[life]?.copiesMax ?? 0,

    beginRelay: () => void relayTransactions++,
    endRelay: () => void relayTransactions--,

    /** Counts in-flight work at this moment. */
    inFlight(): InFlight {
      let undelivered = 0
      for (const send of sends.values()) {
        if (send.state !== 'accepted' || send.outside.length === 0) continue
        const reached = new Set(receipts.get(send.marker)?.flatMap((receipt) => receipt.recipients))
        if (send.outside.some((address) => !reached.has(address))) undelivered++
      }
      return { requests: countAwaiting(sends), transactions: countAwaiting(deliveries), relayTransactions, undelivered }
    },

    /** Counts good answers so far. It rises while the server makes progress. */
    acceptedCount: () => countAccepted(sends) + countAccepted(deliveries),
  }
}

export const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const count = <E extends Entry>(entries: Map<string, E>, isCounted: (entry: E) => boolean): number => {
  let counted = 0
  for (const entry of entries.values()) if (isCounted(entry)) counted++
  return counted
}
const countAwaiting = (entries: Map<string, Send> | Map<string, Delivery>) => count<Entry>(entries, (entry) => entry.isAwaiting)
const countAccepted = (entries: Map<string, Send> | Map<string, Delivery>) => count<Entry>(entries, (entry) => entry.state === 'accepted')
