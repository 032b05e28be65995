// The message that is being written. The composer is open while this is set.
import type { MessageItem } from '@callsign/sdk'
import { signal } from '@preact/signals'
import { areShortcutsPaused } from '../../navigation/shortcuts.ts'

/** The message that an answer or a forward is about. */
export type Original = Pick<MessageItem, 'id' | 'direction' | 'from' | 'reply_to' | 'to' | 'cc' | 'subject'>

export type Composing =
  | { kind: 'new'; mailbox: string }
  | { kind: 'reply'; mailbox: string; message: Original; isToAll: boolean; ownAddress: string }
  | { kind: 'forward'; mailbox: string; message: Original }
  | { kind: 'draft'; mailbox: string; draftId: string }

export const composing = signal<Composing | null>(null)
composing.subscribe((current) => {
  areShortcutsPaused.value = current !== null
})

export function openComposer(next: Composing): void {
  composing.value = next
}

export function closeComposer(): void {
  composing.value = null
}
