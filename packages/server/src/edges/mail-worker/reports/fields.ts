// Fields of reports, within bounds.
import { cutText, storableLine } from '@callsign/mail/mime/storable-text'

const lineCharactersMax = 200
/** The sum of all counts of a report stays an exact number. */
const countMax = 100_000_000_000
/** Reports cover a day, and some cover a week. */
const periodMsMax = 40 * 86_400_000
const latestMs = Date.UTC(2200, 0, 1)

/** One line of text. Empty for anything else. */
export const lineOf = (value: unknown): string => (typeof value === 'string' ? cutText(storableLine(value), lineCharactersMax) : '')

/** A whole number, or 0. */
export function countOf(value: unknown): number {
  const count = Number(value)
  return Number.isSafeInteger(count) && count > 0 ? Math.min(count, countMax) : 0
}

/** The period of a report. Null for times that are not one. */
export function periodOf(startMs: number, endMs: number): { startsAt: Date; endsAt: Date } | null {
  const isPeriod = startMs > 0 && endMs >= startMs && endMs - startMs <= periodMsMax && endMs < latestMs
  return isPeriod ? { startsAt: new Date(startMs), endsAt: new Date(endMs) } : null
}
