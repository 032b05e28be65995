// Short messages after an action, with an optional undo.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { PlainText } from './plain-text.tsx'

type Toast = { id: number; text: string; tone: 'good' | 'bad'; action?: { label: string; run: () => void } }

const shownMs = { good: 5_000, bad: 10_000 }
const toasts = signal<Toast[]>([])
let lastId = 0

const dismiss = (id: number) => {
  toasts.value = toasts.peek().filter((one) => one.id !== id)
}

export function toast({ text, tone = 'good', action }: { text: string; tone?: Toast['tone']; action?: Toast['action'] }): void {
  const id = ++lastId
  toasts.value = [...toasts.peek().slice(-3), { id, text, tone, ...(action ? { action } : {}) }]
  setTimeout(() => dismiss(id), shownMs[tone])
}

/** Shows an error as a toast. */
export function toastError(error: unknown): void {
  toast({ text: error instanceof Error ? error.message : String(error), tone: 'bad' })
}

/** Runs a change and shows its failure. Resolves with true on success. */
export async function attempt(work: () => Promise<unknown>, success?: string): Promise<boolean> {
  try {
    await work()
    if (success) toast({ text: success })
    return true
  } catch (error) {
    toastError(error)
    return false
  }
}

/** A popover, so that a message is not behind a dialog that is open. The last popover or dialog to be shown is on top. */
export function Toasts() {
  const element = useRef<HTMLDivElement>(null)
  const newest = toasts.value.at(-1)?.id
  useEffect(() => {
    const box = element.current
    if (!box?.showPopover || (box.matches(':popover-open') && !document.querySelector('dialog[open]'))) return
    if (box.matches(':popover-open')) box.hidePopover()
    box.showPopover()
  }, [newest])
  return (
    <div ref={element} class="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, action }) => (
        <div class={`toast ${tone}`} key={id}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <span class="grow">
            <PlainText text={text} />
          </span>
          {action && (
            <Button
              size="small"
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.label}
            </Button>
          )}
          <Button kind="quiet" size="small" icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
