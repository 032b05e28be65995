// Follows the event stream while the page is visible, and passes each event to the screens.
import type { CallsignEvent } from '@callsign/sdk'
import { signal } from '@preact/signals'
import { client, streamState } from '../session/client.ts'
import { refreshLists } from './pages.ts'
import { invalidate } from './query.ts'

/** The latest events, newest first. */
export const recentEvents = signal<CallsignEvent[]>([])
const recentMax = 200

/** A hidden page keeps its stream this long, because browsers allow six connections per server. */
const hiddenMsMax = 20_000

type Listener = (event: CallsignEvent) => void
const listeners = new Set<Listener>()

/** Calls `listener` with each event until the returned function is called. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Cache keys that each family of events makes stale. */
const staleKeys: Record<string, string[]> = {
  email: ['messages', 'thread', 'message', 'overview', 'quarantine', 'drafts', 'folders', 'usage'],
  draft: ['draft', 'folders', 'overview'],
  sms: ['phone', 'overview'],
  number: ['phone'],
  imessage: ['imessage', 'overview'],
  domain: ['domains', 'overview'],
  tunnel: ['tunnels', 'identities', 'overview'],
  test: ['webhooks'],
}

function receive(event: CallsignEvent): void {
  recentEvents.value = [event, ...recentEvents.peek()].slice(0, recentMax)
  const keys = staleKeys[event.type.split('.')[0] as string] ?? []
  invalidate(...keys)
  refreshLists(...keys)
  for (const listener of listeners) listener(event)
}

let isHistoryLoaded = false

/** Forgets the events of a session that has ended. */
export function clearEvents(): void {
  recentEvents.value = []
  isHistoryLoaded = false
}

/** Fills `recentEvents` with the latest ones, once. Resolves with their number. */
export async function loadRecentEvents(): Promise<number> {
  if (isHistoryLoaded) return recentEvents.peek().length
  const { data } = await client.events.list({ order: 'desc', limit: 100 })
  const known = new Set(recentEvents.peek().map((event) => event.id))
  isHistoryLoaded = true
  const older = data.filter((event) => !known.has(event.id))
  recentEvents.value = [...recentEvents.peek(), ...older].slice(0, recentMax)
  return recentEvents.peek().length
}

/** Loads everything visible again, because events were missed or lost. */
function reload(): void {
  invalidate('')
  refreshLists('')
}

async function follow(abort: AbortController): Promise<void> {
  try {
    for await (const event of client.events.follow({ signal: abort.signal, onReset: reload })) receive(event)
  } catch {
    // The session ended. The sign-in page takes over.
    streamState.value = 'lost'
  }
}

/** Starts following and returns the function that stops it. */
export function startLive(): () => void {
  let abort: AbortController | null = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let wasLost = false
  void follow(abort)
  const unsubscribe = streamState.subscribe((state) => {
    // Events during the outage are not replayed.
    if (state === 'live' && wasLost) reload()
    wasLost = state === 'live' ? false : wasLost || state === 'lost'
  })
  const onVisibility = () => {
    clearTimeout(timer)
    if (document.hidden) {
      timer = setTimeout(() => {
        abort?.abort()
        abort = null
      }, hiddenMsMax)
    } else if (!abort) {
      wasLost = true
      abort = new AbortController()
      void follow(abort)
    }
  }
  document.addEventListener('visibilitychange', onVisibility)
  return () => {
    clearTimeout(timer)
    unsubscribe()
    abort?.abort()
    document.removeEventListener('visibilitychange', onVisibility)
  }
}
