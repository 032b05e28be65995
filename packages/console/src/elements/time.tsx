// Times as people read them. The exact time is in the title.
import { signal } from '@preact/signals'

const tickMs = 30_000
const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, tickMs)

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayMonthYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Short form for lists, in minutes, then as the time of day, then as the date. */
export function shortTime(at: number, from: number): string {
  const age = from - at
  if (age >= 0 && age < minute) return 'now'
  if (age >= 0 && age < hour) return `${Math.floor(age / minute)} min ago`
  if (new Date(at).toDateString() === new Date(from).toDateString()) return clock.format(at)
  return new Date(at).getFullYear() === new Date(from).getFullYear() ? dayAndMonth.format(at) : dayMonthYear.format(at)
}

/** Age or remaining time in words, such as "3 h". */
export function duration(ms: number): string {
  const value = Math.abs(ms)
  if (value < 1000) return `${Math.round(value)} ms`
  if (value < minute) return `${Math.round(value / 1000)} s`
  if (value < hour) return `${Math.round(value / minute)} min`
  if (value < 2 * day) return `${Math.round(value / hour)} h`
  return `${Math.round(value / day)} days`
}

export const exactTime = (at: string): string => exact.format(Date.parse(at))

/** `date` is the day alone, `age` the time since then, and `left` the time until then. */
type TimeProps = { at: string; form?: 'short' | 'exact' | 'date' | 'age' | 'left' }

export function Time({ at, form = 'short' }: TimeProps) {
  const time = Date.parse(at)
  const texts = {
    short: () => shortTime(time, now.value),
    exact: () => exact.format(time),
    date: () => dayMonthYear.format(time),
    age: () => duration(now.value - time),
    left: () => (time > now.value ? `in ${duration(time - now.value)}` : 'now'),
  }
  return (
    <time dateTime={at} title={exact.format(time)}>
      {texts[form]()}
    </time>
  )
}

/** The current time, updated every 30 seconds. */
export const currentTime = now
