// Reads message identifiers from Message-ID, In-Reply-To and References values (RFC 5322 §3.6.4).

/** Identifiers longer than a header line are left out. */
const ID_CHARACTERS_MAX = 998

/** Limit of identifiers per message: the first 50, from the start of the thread, and the last 50, from its end. */
const IDS_MAX = 100

/** All identifiers of a value in order, each once and with its brackets. White space inside is dropped. Without brackets, words with an `@` count. */
export function readMessageIds(values: readonly string[]): string[] {
  const ids = new Set<string>()
  for (const value of values) {
    let open = value.indexOf('<')
    while (open >= 0) {
      const close = value.indexOf('>', open)
      if (close < 0) break
      // Of "<a <b>" the identifier is the inner one.
      const inner = value.lastIndexOf('<', close)
      addId(ids, value.slice(inner + 1, close))
      open = value.indexOf('<', close)
    }
    if (ids.size === 0) for (const word of value.split(/[\s,;<>"]+/)) if (word.includes('@')) addId(ids, word)
  }
  const all = [...ids]
  return all.length <= IDS_MAX ? all : [...all.slice(0, IDS_MAX / 2), ...all.slice(-IDS_MAX / 2)]
}

function addId(ids: Set<string>, text: string): void {
  if (text.length > ID_CHARACTERS_MAX) return
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters have no place in an identifier
  const id = text.replace(/[\x00-\x20\x7f]+/g, '').toWellFormed()
  if (id !== '') ids.add(`<${id}>`)
}

/** The identifier of a Message-ID value, with missing brackets added. Null without one. */
export function readMessageId(value: string | null): string | null {
  if (value === null) return null
  const ids = new Set(readMessageIds([value]))
  if (ids.size === 0 && /^[^\s<>]+$/.test(value)) addId(ids, value)
  return ids.values().next().value ?? null
}
