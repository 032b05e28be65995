// Actions on the selected messages.
import type { Signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { Confirm, Dialog } from '../../elements/dialog.tsx'
import { TextField } from '../../elements/fields.tsx'
import type { ListedMessage } from './mailboxes.ts'
import { changeAll, changeMessage, deleteMessage } from './message-actions.ts'

type BulkBarProps = {
  selected: Signal<ReadonlySet<string>>
  items: ListedMessage[]
  handleOf: (message: ListedMessage) => string
}

export function BulkBar({ selected, items, handleOf }: BulkBarProps) {
  const [open, setOpen] = useState<'label' | 'delete' | null>(null)
  const [label, setLabel] = useState('')
  const chosen = items.filter((message) => selected.value.has(message.id))
  const clear = () => {
    selected.value = new Set()
  }
  const change = async (body: Parameters<typeof changeMessage>[2], done: string) => {
    clear()
    await changeAll(chosen, (message) => changeMessage(handleOf(message), message, body), done)
  }
  const remove = async () => {
    clear()
    await changeAll(chosen, (message) => deleteMessage(handleOf(message), message), 'deleted')
  }
  const addLabel = (event: Event) => {
    event.preventDefault()
    if (!label.trim()) return
    setOpen(null)
    void change({ add_labels: [label.trim()] }, `labelled ${label.trim()}`)
  }
  const isUnread = chosen.some((message) => !message.is_read)
  return (
    <div class="bulk-bar" role="toolbar" aria-label="Selected messages">
      <strong>{chosen.length} selected</strong>
      <Button size="small" onClick={() => void change({ is_read: isUnread }, isUnread ? 'marked as read' : 'marked as unread')}>
        {isUnread ? 'Mark read' : 'Mark unread'}
      </Button>
      <Button size="small" icon="star" label="Star" onClick={() => void change({ is_starred: true }, 'starred')} />
      <Button size="small" onClick={() => setOpen('label')}>
        Label
      </Button>
      <Button size="small" kind="danger" icon="trash" label="Delete" onClick={() => setOpen('delete')} />
      <Button size="small" kind="quiet" icon="close" label="Clear the selection" onClick={clear} />
      {open === 'delete' && (
        <Confirm
          title={`Delete ${chosen.length} ${chosen.length === 1 ? 'message' : 'messages'}?`}
          text="The messages and their attachments are deleted permanently."
          action="Delete"
          isDanger
          onConfirm={() => void remove()}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'label' && (
        <Dialog title="Add a label" onClose={() => setOpen(null)}>
          <form class="stack" onSubmit={addLabel}>
            <TextField label="Label" value={label} onInput={setLabel} autoFocus />
            <Button kind="primary" type="submit">
              Add to {chosen.length}
            </Button>
          </form>
        </Dialog>
      )}
    </div>
  )
}
