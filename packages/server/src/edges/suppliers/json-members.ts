// JSON of suppliers, from answers and callbacks, and its members, which may have any shape.

/** The JSON of a body, or null when it is malformed. */
export function readJson(body: string | Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}

/** The value at a path, or undefined. */
export function member(value: unknown, ...path: (string | number)[]): unknown {
  let at = value
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Record<string | number, unknown>)[step]
  }
  return at
}

/** The text at a path. Null when it is empty, absent or no text. */
export const textMember = (value: unknown, ...path: (string | number)[]): string | null => {
  const found = member(value, ...path)
  return typeof found === 'string' && found !== '' ? found : null
}

/** The list at a path. Empty when there is none. */
export const listMember = (value: unknown, ...path: (string | number)[]): unknown[] => {
  const found = member(value, ...path)
  return Array.isArray(found) ? found : []
}
