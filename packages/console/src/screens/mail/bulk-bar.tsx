// Actions on the selected threads.
import type { Signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { attempt } from '../../elements/toasts.tsx'
import type { ListRow } from './list-rows.ts'
import { changeThreads } from './message-actions.ts'

type BulkBarProps = { selected: Signal<ReadonlySet<string>>; rows: ListRow[] }

export function BulkBar({ selected, rows }: BulkBarProps) {
  const [isLabelling, setLabelling] = useState(false)
  const [label, setLabel] = useState('')
  const chosen = rows.filter((row) => selected.value.has(row.id))
  const ids = [...new Set(chosen.flatMap((row) => row.threadId ?? []))]
  const change = (body: Parameters<typeof changeThreads>[1], done: string) => {
    selected.value = new Set()
    void attempt(() => changeThreads(ids, body, done))
  }
  const addLabel = async () => {
    await changeThreads(ids, { add_labels: [label.trim()] }, `labelled ${label.trim()}`)
    // The bar and its dialog go with the selection.
    selected.value = new Set()
  }
  const isUnread = chosen.some((row) => row.isUnread)
  return (
    <div class="bulk-bar" role="toolbar" aria-label="Selected messages">
      <strong>{chosen.length} selected</strong>
      <Button size="small" onClick={() => change({ is_read: isUnread }, isUnread ? 'marked as read' : 'marked as unread')}>
        {isUnread ? 'Mark read' : 'Mark unread'}
      </Button>
      <Button size="small" onClick={() => setLabelling(true)}>
        Label
      </Button>
      <Button size="small" icon="archive" label="Archive" onClick={() => change({ folder: 'archive' }, 'archived')} />
      <Button size="small" icon="trash" label="Move to the trash" onClick={() => change({ folder: 'trash' }, 'moved to the trash')} />
      <Button size="small" kind="quiet" icon="close" label="Clear the selection" onClick={() => (selected.value = new Set())} />
      {isLabelling && (
        <FormDialog
          title="Add a label"
          action={`Add to ${chosen.length}`}
          isDisabled={label.trim() === ''}
          onSubmit={addLabel}
          onClose={() => setLabelling(false)}
        >
          <TextField label="Label" path="/add_labels" value={label} onInput={setLabel} required autoFocus />
        </FormDialog>
      )}
    </div>
  )
}
