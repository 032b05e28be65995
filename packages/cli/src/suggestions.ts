// Suggests the closest known word for a mistyped one.

/** Words that other programs use for the same action. */
const synonyms: Record<string, string[]> = {
  add: ['create'],
  create: ['add', 'provision'],
  del: ['delete', 'rm'],
  delete: ['rm', 'revoke', 'release'],
  edit: ['update', 'set'],
  get: ['show', 'read'],
  ls: ['list'],
  new: ['create', 'add'],
  remove: ['delete', 'rm'],
  rm: ['delete', 'revoke', 'release'],
  show: ['read', 'get'],
  tag: ['label'],
  update: ['set', 'edit'],
  view: ['show', 'read'],
}

/** Words for a topic that other programs and our own texts use. */
const topicSynonyms: Record<string, string> = {
  agent: 'identities',
  agents: 'identities',
  email: 'mail',
  emails: 'mail',
  inbox: 'mail',
  me: 'whoami',
  messages: 'mail',
  secrets: 'vault',
  sms: 'phone',
}

/** The known word that `typed` is probably meant to be, or undefined. */
export function closest(typed: string, known: readonly string[]): string | undefined {
  const nearMax = Math.max(1, Math.floor(typed.length / 3))
  const near = known
    .map((word) => ({ word, distance: editDistance(typed, word) }))
    .filter(({ distance }) => distance <= nearMax)
    .toSorted((a, b) => a.distance - b.distance)
  return near[0]?.word
}

/** The known command for mistyped words, such as `mail list` for `mail lst` and `domains rm` for `domains remove`. */
export function closestCommand(typed: readonly string[], known: readonly string[]): string | undefined {
  const [written = '', action] = typed
  const topic = topicSynonyms[written] ?? written
  if (action !== undefined) {
    const inTopic = known.filter((words) => words.startsWith(`${topic} `))
    const synonym = [action, ...(synonyms[action] ?? [])].map((word) => `${topic} ${word}`).find((words) => inTopic.includes(words))
    const both = synonym ?? closest(`${topic} ${action}`, inTopic.length > 0 ? inTopic : known)
    if (both !== undefined) return both
  }
  return closest(topic, [...new Set(known.map((words) => words.split(' ', 1)[0] as string))])
}

/** The number of insertions, deletions, substitutions and swaps of neighbours between two words. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    before = last
    last = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY
      row[j] = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced, swapped)
    }
  }
  return row[b.length] as number
}
