// A dialog with a form. It stays open while the server rejects the input, and shows why.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Notice } from './badge.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { toast } from './toasts.tsx'

type FormDialogProps = {
  title: string
  /** The label of the button that submits. */
  action: string
  children: ComponentChildren
  isDisabled?: boolean
  isWide?: boolean
  /** The message after success. */
  done?: string
  onSubmit: () => Promise<unknown>
  onClose: () => void
}

const formId = 'dialog-form'

export function FormDialog({ title, action, children, isDisabled = false, isWide = false, done, onSubmit, onClose }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await onSubmit()
      if (done) toast({ text: done })
      onClose()
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason))
      setBusy(false)
    }
  }
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" type="submit" form={formId} disabled={isBusy || isDisabled}>
        {action}
      </Button>
    </>
  )
  return (
    <Dialog title={title} footer={footer} isWide={isWide} onClose={onClose}>
      <form id={formId} class="stack" onSubmit={(event) => void submit(event)}>
        {children}
        {error && (
          <div role="alert">
            <Notice tone="bad">{error}</Notice>
          </div>
        )}
      </form>
    </Dialog>
  )
}
