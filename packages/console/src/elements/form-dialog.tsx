// A dialog with a form. It stays open while the server rejects the input.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { attempt } from './toasts.tsx'

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
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    if (await attempt(onSubmit, done)) onClose()
    else setBusy(false)
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
      </form>
    </Dialog>
  )
}
