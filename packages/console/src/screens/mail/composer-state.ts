// The message that is being written. The composer is open while this is set.
import { signal } from '@preact/signals'

export type Composing =
  | { kind: 'new'; mailbox: string }
  | { kind: 'reply'; mailbox: string; messageId: string; isToAll: boolean }
  | { kind: 'forward'; mailbox: string; messageId: string }
  | { kind: 'draft'; mailbox: string; draftId: string }

export const composing = signal<Composing | null>(null)

export function openComposer(next: Composing): void {
  composing.value = next
}

export function closeComposer(): void {
  composing.value = null
}
