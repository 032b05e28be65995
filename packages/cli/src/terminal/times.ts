// Relative times for tables. JSON has the absolute times.

const units = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const

const relative = new Intl.RelativeTimeFormat('en', { style: 'short', numeric: 'always' })
const daysMax = 30

/** A time relative to now, such as `5 min. ago` or `in 2 hr.`. The date alone when it is more than 30 days away, and - for null. */
export function ago(time: string | null | undefined, nowMs = Date.now()): string {
  if (time === null || time === undefined) return '-'
  const seconds = (Date.parse(time) - nowMs) / 1000
  if (Number.isNaN(seconds)) return time
  if (Math.abs(seconds) > daysMax * 86_400) return time.slice(0, 10)
  // A clock that is slightly behind the server's would otherwise show the future.
  if (Math.abs(seconds) < 2) return 'just now'
  const { unit, seconds: size } = units.find((one) => Math.abs(seconds) >= one.seconds) ?? { unit: 'second', seconds: 1 }
  return relative.format(Math.trunc(seconds / size), unit)
}
