// The current address of the console as a signal. Filters live in its query.
import { signal } from '@preact/signals'

const base = '/console'

export type Place = { path: string; parts: string[]; query: URLSearchParams }

function readPlace(): Place {
  const path = location.pathname.slice(base.length) || '/'
  const parts = path.split('/').filter(Boolean).map(decodeSegment)
  return { path, parts, query: new URLSearchParams(location.search) }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export const place = signal<Place>(readPlace())

addEventListener('popstate', () => {
  place.value = readPlace()
})

/** The address of a screen, such as `/console/inbox/thr_1?folder=sent`. Empty values are left out of the query. */
export function addressOf(path: string, query: Record<string, string | undefined> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value)
  const text = parameters.toString()
  return `${base}${path}${text ? `?${text}` : ''}`
}

/** Goes to an address of the console without loading the page again. */
export function go(address: string, { replace = false } = {}): void {
  if (address === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', address)
  place.value = readPlace()
}

/** Changes parameters of the query and keeps the others. undefined removes one. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const query = new URLSearchParams(place.peek().query)
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const text = query.toString()
  go(`${location.pathname}${text ? `?${text}` : ''}`, { replace: true })
}

/** Follows a plain click on a link of the console in this page. Other clicks stay with the browser. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element | null)?.closest('a')
  if (!link || link.target || link.origin !== location.origin || !`${link.pathname}/`.startsWith(`${base}/`)) return
  if (link.hasAttribute('download') || link.pathname.startsWith(`${base}/vault`)) return
  event.preventDefault()
  go(link.pathname + link.search)
}
