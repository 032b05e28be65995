// Which thread a message joins: by In-Reply-To and References, then by its own Message-ID; never by subject (decisions §6).

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
}

/** Places one message. Adds what it decided to `known`, so that the next message of a batch sees it. */
export function placeInThread(keys: ThreadKeys, messageId: string, known: KnownReferences, newThreadId: () => string): ThreadPlace {
  const ordered = lookupOrder(keys)
  const found = ordered.map((id) => known.get(id)).find((reference) => reference !== undefined)
  const threadId = found?.threadId ?? newThreadId()
  const inReplyToMessageId = keys.inReplyTo.map((id) => known.get(id)?.messageId).find((id) => id) ?? null
  const unknownReferences = ordered.filter((id) => !known.has(id))
  for (const id of unknownReferences) known.set(id, { threadId, messageId: null, hasOutbound: found?.hasOutbound ?? false })
  const own = keys.messageId === null ? undefined : known.get(keys.messageId)
  if (own && own.messageId === null) own.messageId = messageId
  return { threadId, isNew: found === undefined, inReplyToMessageId, unknownReferences }
}
