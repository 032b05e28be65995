// A dialog with a form. It stays open while the server rejects the input, and shows why at the fields.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'

type FormDialogProps = {
  title: string
  /** The label of the button that submits. */
  action: string
  children: ComponentChildren
  isDisabled?: boolean
  isWide?: boolean
  /** The message after success. */
  done?: string
  /** As of a form. */
  conflictPath?: string
  onSubmit: () => Promise<unknown>
  onClose: () => void
}

export function FormDialog({
  title,
  action,
  children,
  isDisabled = false,
  isWide = false,
  done,
  conflictPath,
  onSubmit,
  onClose,
}: FormDialogProps) {
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" type="submit" form={id} disabled={isBusy || isDisabled}>
        {action}
      </Button>
    </>
  )
  return (
    <Dialog title={title} footer={footer} isWide={isWide} onClose={onClose}>
      <Form id={id} done={done} conflictPath={conflictPath} onSubmit={() => onSubmit().then(onClose)} onBusy={setBusy}>
        {children}
      </Form>
    </Dialog>
  )
}
