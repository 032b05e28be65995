// A dialog with a value that is shown once, such as a new key. Closing it asks while the value was not copied.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Notice } from './badge.tsx'
import { Button } from './button.tsx'
import { WholeValue } from './copy.tsx'
import { Dialog } from './dialog.tsx'

type OnceDialogProps = {
  title: string
  /** Name of the value in sentences, such as "key". */
  name: string
  value: string
  /** Shown below the value. */
  children?: ComponentChildren
  onClose: () => void
}

export function OnceDialog({ title, name, value, children, onClose }: OnceDialogProps) {
  const [isCopied, setCopied] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const close = () => (isCopied ? onClose() : setAsking(true))
  const footer = isAsking ? (
    <>
      <Button onClick={() => setAsking(false)}>Go back</Button>
      <Button kind="danger" onClick={onClose}>
        Close without the {name}
      </Button>
    </>
  ) : (
    <Button kind={isCopied ? 'primary' : 'default'} onClick={close}>
      Done
    </Button>
  )
  return (
    <Dialog title={title} footer={footer} isKept={!isCopied} onClose={close}>
      <div class="stack" onCopy={() => setCopied(true)}>
        {isAsking ? (
          <div role="alert">
            <Notice tone="bad">You have not copied the {name}. It is not shown again after you close this dialog.</Notice>
          </div>
        ) : (
          <Notice tone="warn">Store the {name} now. It is not shown again.</Notice>
        )}
        <WholeValue
          value={value}
          name={name}
          onCopied={() => {
            setCopied(true)
            setAsking(false)
          }}
        />
        {children}
      </div>
    </Dialog>
  )
}
