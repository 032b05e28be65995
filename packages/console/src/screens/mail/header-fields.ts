// The header of a raw message as a list of fields, and the delays between the servers that it passed.

export type HeaderField = { name: string; value: string }
/** One `Received` field, the oldest first. `delayMs` is the time since the one before. */
export type RouteStep = { by: string; from: string; protocol: string; at: number | null; delayMs: number | null }

/** Splits the header of a raw message. Folded lines are joined, and repeated fields are kept in order. */
export function parseHeader(raw: string): HeaderField[] {
  const header = raw.split(/\r?\n\r?\n/, 1)[0] ?? ''
  return header
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .flatMap((line) => {
      const colon = line.indexOf(':')
      return colon > 0 ? [{ name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() }] : []
    })
}

const word = (value: string, keyword: string): string => new RegExp(`\\b${keyword}\\s+([^\\s;()]+)`, 'i').exec(value)?.[1] ?? ''

/** Reads the `Received` fields, which servers put in front of the message one after the other. */
export function readRoute(fields: HeaderField[]): RouteStep[] {
  const steps = fields
    .filter((field) => field.name.toLowerCase() === 'received')
    .toReversed()
    .map(({ value }): RouteStep => {
      const at = Date.parse(value.slice(value.lastIndexOf(';') + 1))
      return {
        by: word(value, 'by'),
        from: word(value, 'from'),
        protocol: word(value, 'with'),
        at: Number.isNaN(at) ? null : at,
        delayMs: null,
      }
    })
  return steps.map((step, index) => {
    const before = steps[index - 1]?.at ?? null
    return { ...step, delayMs: step.at !== null && before !== null ? step.at - before : null }
  })
}
