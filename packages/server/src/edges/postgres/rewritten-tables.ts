// Finds the tables whose rows a migration reads or writes as a whole.

const rewrites = /\b(?:TYPE|ADD (?:CONSTRAINT|CHECK|FOREIGN KEY|UNIQUE|PRIMARY KEY)|SET NOT NULL|GENERATED|REFERENCES)\b/i
/** A constraint that does not read the existing rows. */
const notValid = /\bNOT VALID\b/i

/**
 * The existing tables that a migration rewrites, indexes or updates as a whole. Everything else, such as new tables and new columns with a
 * constant default, takes no time that depends on the data.
 */
export function tablesToRewrite(sql: string): string[] {
  const text = sql.replace(/--[^\n]*/g, '')
  const own = new Set([...text.matchAll(/\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)/gi)].map(([, table]) => table as string))
  const touched = [
    ...text.matchAll(/\bCREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(?:IF NOT EXISTS )?\w+ ON (\w+)/gi),
    ...[...text.matchAll(/\bALTER TABLE (?:ONLY )?(\w+)([^;]*)/gi)].filter(
      ([, , change = '']) => rewrites.test(change) && !notValid.test(change),
    ),
    ...text.matchAll(/^\s*UPDATE (\w+)/gim),
    ...text.matchAll(/^\s*DELETE FROM (\w+)/gim),
  ].map(([, table]) => table as string)
  return [...new Set(touched)].filter((table) => !own.has(table))
}
