// Differences between two texts, by words.

export type DiffPart = { kind: 'same' | 'added' | 'removed'; text: string }

/** Above this number of compared pairs, the texts are shown as removed and added. */
const pairsMax = 4_000_000

const tokensOf = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? []

/** Parts in reading order. Removed words stand before the added ones that replace them. */
export function diffText(before: string, after: string): DiffPart[] {
  const old = tokensOf(before)
  const fresh = tokensOf(after)
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const middle = compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end))
  const head: DiffPart = { kind: 'same', text: old.slice(0, start).join('') }
  const tail: DiffPart = { kind: 'same', text: end > 0 ? old.slice(-end).join('') : '' }
  return join([head, ...middle, tail])
}

/** Longest common subsequence of words. */
function compare(old: string[], fresh: string[]): DiffPart[] {
  if (old.length * fresh.length > pairsMax) {
    return [
      { kind: 'removed', text: old.join('') },
      { kind: 'added', text: fresh.join('') },
    ]
  }
  const width = fresh.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] as number
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      lengths[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const parts: DiffPart[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    if (i < old.length && old[i] === fresh[j]) {
      parts.push({ kind: 'same', text: old[i] as string })
      i++
      j++
    } else if (i < old.length && (j >= fresh.length || at(i + 1, j) >= at(i, j + 1))) {
      parts.push({ kind: 'removed', text: old[i++] as string })
    } else parts.push({ kind: 'added', text: fresh[j++] as string })
  }
  return parts
}

/** Joins neighbours of the same kind and leaves out empty parts. */
function join(parts: DiffPart[]): DiffPart[] {
  const joined: DiffPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.text === '') continue
    if (last?.kind === part.kind) last.text += part.text
    else joined.push({ ...part })
  }
  return joined
}
