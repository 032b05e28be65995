// Which thread a message joins: by In-Reply-To, References and its own Message-ID, never by subject. Threads that share a message become one.

/** What decides a message's thread. Ids have their angle brackets. */
export type ThreadKeys = { mailboxId: string; messageId: string | null; inReplyTo: string[]; references: string[] }

/** Longest Message-ID that is indexed, in bytes (RFC 5322 §2.1.1 line limit); a longer one takes no part in threading. */
const idBytesMax = 998

/** Ids to look up, most telling first: the message answered, then the chain from its end, then the message itself (a parent that comes late). */
export function lookupOrder(keys: ThreadKeys): string[] {
  const ordered = [...keys.inReplyTo, ...keys.references.toReversed(), ...(keys.messageId ? [keys.messageId] : [])]
  return [...new Set(ordered)].filter((id) => Buffer.byteLength(id) <= idBytesMax)
}

/** `hasOutbound`: the agent has written in the thread. */
export type KnownReference = { threadId: string; messageId: string | null; hasOutbound: boolean }

/** References of one mailbox that are known, by id. */
export type KnownReferences = Map<string, KnownReference>

export type ThreadPlace = {
  threadId: string
  isNew: boolean
  /** Our message that this one answers, when it is here. */
  inReplyToMessageId: string | null
  /** Ids to record as belonging to the thread that no thread owns yet. */
  unknownReferences: string[]
  /** Other threads that the message belongs to as well. They and `threadId` become one thread. */
  joined: string[]
}

/**
 * Places one message. Adds the decision to `known`, so that the next message of a batch sees it. The threads of a mailbox are the connected
 * components of its references, so they do not depend on the order of arrival.
 */
export function placeInThread(keys: ThreadKeys, messageId: string, known: KnownReferences, newThreadId: () => string): ThreadPlace {
  const ordered = lookupOrder(keys)
  const found = ordered.flatMap((id) => known.get(id) ?? [])
  const [first, ...joined] = new Set(found.map((reference) => reference.threadId))
  const threadId = first ?? newThreadId()
  const hasOutbound = found.some((reference) => reference.hasOutbound)
  const unknownReferences = ordered.filter((id) => !known.has(id))
  for (const id of unknownReferences) known.set(id, { threadId, messageId: null, hasOutbound })
  const inReplyToMessageId = findParent(keys, known)
  recordOwnId(keys, messageId, known)
  return { threadId, isNew: first === undefined, inReplyToMessageId, unknownReferences, joined }
}

/**
 * Places a quarantined message, whose references prove nothing: it joins the thread of its own Message-ID, or is shown beside what it claims to
 * answer. Only its own id is recorded, and no threads become one.
 */
export function placeQuarantined(keys: ThreadKeys, messageId: string, known: KnownReferences, newThreadId: () => string): ThreadPlace {
  const own = keys.messageId === null ? undefined : known.get(keys.messageId)
  const found = own ?? lookupOrder(keys).flatMap((id) => known.get(id) ?? [])[0]
  const threadId = found?.threadId ?? newThreadId()
  const unknownReferences = own ? [] : lookupOrder(keys).filter((id) => id === keys.messageId)
  for (const id of unknownReferences) known.set(id, { threadId, messageId: null, hasOutbound: false })
  const inReplyToMessageId = findParent(keys, known)
  recordOwnId(keys, messageId, known)
  return { threadId, isNew: found === undefined, inReplyToMessageId, unknownReferences, joined: [] }
}

const findParent = (keys: ThreadKeys, known: KnownReferences): string | null =>
  keys.inReplyTo.map((id) => known.get(id)?.messageId).find((id) => id) ?? null

function recordOwnId(keys: ThreadKeys, messageId: string, known: KnownReferences): void {
  const own = keys.messageId === null ? undefined : known.get(keys.messageId)
  if (own && own.messageId === null) own.messageId = messageId
}

/** Threads that become one, by union-find: `find` names the same thread for all threads that have been joined. */
export class JoinedThreads {
  readonly #parents = new Map<string, string>()

  find(id: string): string {
    let root = id
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    return root
  }

  join(id: string, other: string): void {
    const [kept, dropped] = [this.find(id), this.find(other)]
    if (kept !== dropped) this.#parents.set(dropped, kept)
  }

  /** The threads that were joined, by the thread that `find` names for them, which is among them. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, string[]>()
    for (const id of this.#parents.keys()) {
      const root = this.find(id)
      groups.set(root, [...(groups.get(root) ?? [root]), id])
    }
    return groups
  }
}
