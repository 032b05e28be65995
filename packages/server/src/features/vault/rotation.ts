// Checks that a rotation covers the vault: every live secret at its current revision, and no other.

export type Revision = { id: string; revision: number }

/** Ids that keep a rotation from happening: live but not sent, sent at another revision, sent but not live. */
export type Mismatch = { missing: string[]; stale: string[]; unknown: string[] }

/** Null when the submitted secrets are exactly the current ones. */
export function findMismatch(live: Revision[], sent: Revision[]): Mismatch | null {
  const sentRevisions = new Map(sent.map(({ id, revision }) => [id, revision]))
  const liveIds = new Set(live.map(({ id }) => id))
  const missing = live.filter(({ id }) => !sentRevisions.has(id)).map(({ id }) => id)
  const stale = live.filter(({ id, revision }) => sentRevisions.has(id) && sentRevisions.get(id) !== revision).map(({ id }) => id)
  const unknown = [...sentRevisions.keys()].filter((id) => !liveIds.has(id))
  return missing.length + stale.length + unknown.length > 0 ? { missing, stale, unknown } : null
}

/** The first text that occurs twice, or null. */
export function findRepeated(texts: string[]): string | null {
  const seen = new Set<string>()
  for (const text of texts) {
    if (seen.has(text)) return text
    seen.add(text)
  }
  return null
}
