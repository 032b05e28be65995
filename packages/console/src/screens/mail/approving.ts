// Sends approved drafts after a time in which the approval can be undone.
import { ApiError, type Draft } from '@callsign/sdk'
import { computed, signal } from '@preact/signals'
import { invalidate } from '../../cache/query.ts'
import { toast, toastError } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'

/** The time to undo an approval. Closing the page within it leaves the draft in the queue. */
const undoMs = 5_000

/** A press or click within this time after a decision was meant for the draft before. */
const guardMs = 1_500

/** Timers of approved drafts that are not sent yet, by draft id. */
const pending = signal(new Map<string, ReturnType<typeof setTimeout>>())
let decidedAt = 0

export const isPending = (draftId: string) => computed(() => pending.value.has(draftId))

/** True when a decision on another draft has just opened this one. */
export const isJustOpened = (): boolean => Date.now() - decidedAt < guardMs

function take(draftId: string): void {
  const left = new Map(pending.peek())
  clearTimeout(left.get(draftId))
  left.delete(draftId)
  pending.value = left
}

export function undoApproval(draft: Draft): void {
  if (!pending.peek().has(draft.id)) return
  take(draft.id)
  toast({ text: 'Not sent. The draft still waits.' })
}

/** Approves exactly the version that is shown, and sends it when the time to undo is over. */
export function approve(handle: string, draft: Draft, onSent: () => void): void {
  if (pending.peek().has(draft.id)) return
  const timer = setTimeout(() => {
    take(draft.id)
    void send(handle, draft, onSent)
  }, undoMs)
  pending.value = new Map([...pending.peek(), [draft.id, timer]])
  toast({
    text: `Sends to ${draft.to.join(', ')} in ${undoMs / 1000} seconds`,
    action: { label: 'Undo', run: () => undoApproval(draft) },
  })
}

async function send(handle: string, draft: Draft, onSent: () => void): Promise<void> {
  try {
    await client.drafts.send(handle, draft.id, { version: draft.version })
    toast({ text: `Approved and sent to ${draft.to.join(', ')}` })
    decidedAt = Date.now()
    invalidate('drafts approvals', 'overview')
    onSent()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'draft_version_conflict') {
      toast({ text: 'The draft was changed while you read it. Review the new version.', tone: 'bad' })
      invalidate(`draft ${draft.id}`, 'drafts')
    } else toastError(error)
  }
}

/** Notes a decision, such as a rejection, so that the next draft is not decided by the same press. */
export function noteDecision(): void {
  decidedAt = Date.now()
}
