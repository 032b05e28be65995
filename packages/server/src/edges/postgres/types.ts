// Converts database values to JavaScript values.
import pg from 'pg'

const oids = { int8: 20, timestamptz: 1184 }

/** Counts, sizes and sums fit a number. A larger value is an error and never rounded. */
function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`The integer ${text} is too large for a JavaScript number.`)
  return value
}

/** `2026-11-20 12:00:00.123456+00`, as printed in these sessions. Read as ISO 8601 and truncated to milliseconds. */
const timestampPattern = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(\.\d{1,3})?\d*\+00$/

const parseTimestampDefault = pg.types.getTypeParser(oids.timestamptz) as unknown as (text: string) => Date

function parseTimestamp(text: string): Date {
  const parts = timestampPattern.exec(text)
  return parts ? new Date(`${parts[1]}T${parts[2]}${parts[3] ?? ''}Z`) : parseTimestampDefault(text)
}

/** int8 becomes a number (an error beyond 2^53), timestamptz a Date and bytea a Buffer. json and jsonb are parsed. numeric stays text. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary') {
      if (oid === oids.int8) return parseInt8
      if (oid === oids.timestamptz) return parseTimestamp
    }
    return pg.types.getTypeParser(oid, format as 'text')
  }) as typeof pg.types.getTypeParser,
}
