// Modal dialogs on the browser's own <dialog>, which keeps the focus inside and closes on Escape.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

type DialogProps = {
  title: string
  children: ComponentChildren
  footer?: ComponentChildren
  isWide?: boolean
  /** Escape calls `onClose` and leaves the dialog open. */
  isKept?: boolean
  onClose: () => void
}

export function Dialog({ title, children, footer, isWide = false, isKept = false, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  // Before the screen is painted, so that keys typed right after the one that opened it are its own.
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog && !dialog.open) dialog.showModal()
    return () => dialog?.close()
  }, [])
  // Browsers close a dialog on a second Escape without asking again, so the key itself is handled.
  const keep = (event: KeyboardEvent) => {
    if (!isKept || event.key !== 'Escape') return
    event.preventDefault()
    onClose()
  }
  return (
    <dialog ref={element} class={`dialog${isWide ? ' wide' : ''}`} aria-label={title} onKeyDown={keep} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <Button kind="quiet" size="small" icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="body">{children}</div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  )
}

type ConfirmProps = { title: string; text: string; action: string; isDanger?: boolean; onConfirm: () => void; onClose: () => void }

/** Asks before an action that cannot be undone. */
export function Confirm({ title, text, action, isDanger = false, onConfirm, onClose }: ConfirmProps) {
  const confirm = () => {
    onClose()
    onConfirm()
  }
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind={isDanger ? 'danger' : 'primary'} onClick={confirm}>
        {action}
      </Button>
    </>
  )
  return (
    <Dialog title={title} footer={footer} onClose={onClose}>
      <p>{text}</p>
    </Dialog>
  )
}
