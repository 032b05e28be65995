// The place inside the vault page, with its tab, search and secret. It is in the address too, except on a saved page.
import { signal } from '@preact/signals'
import { isSavedPage } from './vault-worker.ts'

export const tabs = ['secrets', 'access', 'audit', 'keys'] as const
export type TabName = (typeof tabs)[number]

export type View = { tab: TabName; search: string; type: string; secret: string }

const start: View = { tab: 'secrets', search: '', type: '', secret: '' }

function readView(): View {
  const query = new URLSearchParams(location.search)
  const text = (name: string) => query.get(name) ?? ''
  return { tab: tabs.find((tab) => tab === text('tab')) ?? start.tab, search: text('q'), type: text('type'), secret: text('secret') }
}

export const view = signal<View>(readView())

/** Changes the view and the address. */
export function show(change: Partial<View>): void {
  const next = { ...view.peek(), ...change }
  view.value = next
  if (isSavedPage()) return
  const query = new URLSearchParams()
  if (next.tab !== start.tab) query.set('tab', next.tab)
  if (next.search) query.set('q', next.search)
  if (next.type) query.set('type', next.type)
  if (next.secret) query.set('secret', next.secret)
  const text = query.toString()
  history.replaceState(null, '', `${location.pathname}${text ? `?${text}` : ''}`)
}
