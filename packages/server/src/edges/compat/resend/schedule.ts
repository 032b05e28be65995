// Times in ISO 8601 and in the English that Resend documents, such as "in 1 min", "tomorrow at 9am" and "Friday at 3pm ET".

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const unitsMs: [pattern: RegExp, ms: number][] = [
  [/^s(ec(ond)?s?)?$/, 1000],
  [/^m(in(ute)?s?)?$/, minuteMs],
  [/^h((ou)?rs?)?$/, hourMs],
  [/^d(ays?)?$/, dayMs],
  [/^w(eeks?)?$/, 7 * dayMs],
]

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Offsets of named zones in hours, and the zones whose offset changes over the year. */
const zones: Record<string, number | string> = {
  ...{ utc: 0, gmt: 0, z: 0, est: -5, edt: -4, cst: -6, cdt: -5, mst: -7, mdt: -6, pst: -8, pdt: -7, cet: 1, cest: 2, bst: 1 },
  ...{ et: 'America/New_York', ct: 'America/Chicago', mt: 'America/Denver', pt: 'America/Los_Angeles' },
}

const amount = /^(?:in )?(\d{1,5}|an?) ?([a-z]+)(?: from now)?$/
const iso = /^\d{4}-\d\d-\d\dt\d\d:\d\d(:\d\d(\.\d{1,9})?)?(z|[+-]\d\d:?\d\d)?$/
const wall =
  /^(?:(today|tomorrow|next day|(?:(?:on|next|this) )?(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*))?(?: ?(?:at )?([^a-z ][^ ]*(?: [ap]m)?|noon|midnight))?(?: ([a-z]{1,4}|[+-]\d\d:?\d\d))?$/

/** The time that a text names, or null for a text that is not understood. Times without a zone are in UTC. */
export function readTime(text: string, nowMs: number): Date | null {
  const words = text.trim().replace(/\s+/g, ' ').toLowerCase()
  if (iso.test(words)) return dateOf(Date.parse(/(z|[+-]\d\d:?\d\d)$/.test(words) ? words : `${words}z`))
  const relative = amount.exec(words)
  if (relative) return readAmount(relative[1] as string, relative[2] as string, nowMs)
  const named = wall.exec(words)
  return named && words !== '' ? readWallTime(named[1], named[2], named[3], nowMs) : null
}

const dateOf = (ms: number): Date | null => (Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms) : null)

function readAmount(count: string, unit: string, nowMs: number): Date | null {
  const ms = unitsMs.find(([pattern]) => pattern.test(unit))?.[1]
  return ms === undefined ? null : dateOf(nowMs + (/^an?$/.test(count) ? 1 : Number(count)) * ms)
}

function readWallTime(day: string | undefined, time: string | undefined, zone: string | undefined, nowMs: number): Date | null {
  const offsetAt = offsetOf(zone)
  const minutes = time === undefined ? null : readMinutes(time)
  if (offsetAt === null || (time !== undefined && minutes === null)) return null
  // A time whose UTC fields are the wall clock of the zone.
  const local = new Date(nowMs + offsetAt(nowMs))
  const nowMinutes = local.getUTCHours() * 60 + local.getUTCMinutes()
  const days = daysUntil(day, local.getUTCDay(), (minutes ?? nowMinutes) <= nowMinutes)
  if (days === null || (day === undefined && minutes === null)) return null
  const start = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() + days)
  const wallMs = start + (minutes ?? nowMinutes) * minuteMs
  // The second step corrects the offset of a day on which the clocks change.
  return dateOf(wallMs - offsetAt(wallMs - offsetAt(wallMs)))
}

/** Days from today. `isOver` means that the time of day has passed. */
function daysUntil(day: string | undefined, today: number, isOver: boolean): number | null {
  if (day === undefined) return isOver ? 1 : 0
  if (day === 'today') return 0
  if (day === 'tomorrow' || day === 'next day') return 1
  const name = day.replace(/^(on|next|this) /, '')
  const weekday = weekdays.indexOf(name.slice(0, 3))
  if (!/^(sun|mon|tues?|wed(nes)?|thu(rs?)?|fri|sat(ur)?)(day)?$/.test(name)) return null
  const days = (weekday - today + 7) % 7
  return days === 0 && (isOver || day.startsWith('next ')) ? 7 : days
}

/** Minutes after midnight. */
function readMinutes(time: string): number | null {
  if (time === 'noon') return 12 * 60
  if (time === 'midnight') return 0
  const [, hourText, minuteText = '0', half] = /^(\d{1,2})(?::(\d\d))? ?(am|pm)?$/.exec(time) ?? []
  const [hour, minute] = [Number(hourText), Number(minuteText)]
  if (hourText === undefined || minute > 59 || hour > (half ? 12 : 23) || (half && hour === 0)) return null
  return (half ? (hour % 12) + (half === 'pm' ? 12 : 0) : hour) * 60 + minute
}

/** Milliseconds by which a zone is ahead of UTC at a time. Null for an unknown zone. */
function offsetOf(zone = 'utc'): ((ms: number) => number) | null {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? []
  if (sign !== undefined) return () => (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs)
  const known = Object.hasOwn(zones, zone) ? zones[zone] : undefined
  if (known === undefined) return null
  if (typeof known === 'number') return () => known * hourMs
  const format = new Intl.DateTimeFormat('en-US', { timeZone: known, timeZoneName: 'longOffset' })
  return (ms) => {
    const text = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    return offsetOf(text.replace('GMT', '') || 'utc')?.(ms) ?? 0
  }
}
