// The dialog that creates an identity.
import { useState } from 'preact/hooks'
import { invalidate } from '../../cache/query.ts'
import { TextField } from '../../elements/fields.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { client } from '../../session/client.ts'

type CreateProps = { onCreated?: (handle: string) => void; onClose: () => void }

export function CreateIdentityDialog({ onCreated, onClose }: CreateProps) {
  const [handle, setHandle] = useState('')
  const [name, setName] = useState('')
  const create = async () => {
    await client.identities.create({ agent_handle: handle.trim(), ...(name.trim() ? { display_name: name.trim() } : {}) })
    invalidate('identities', 'overview')
    onCreated?.(handle.trim())
  }
  return (
    <FormDialog
      title="New identity"
      conflictPath="/agent_handle"
      action="Create"
      done="Created"
      isDisabled={handle.trim() === ''}
      onSubmit={create}
      onClose={onClose}
    >
      <TextField
        label="Handle"
        path="/agent_handle"
        value={handle}
        onInput={setHandle}
        hint="2 to 32 of a-z, 0-9 and _. It cannot be changed later."
        required
        autoFocus
        isMono
      />
      <TextField label="Display name" path="/display_name" value={name} onInput={setName} hint="Shown in the mail of the agent." />
    </FormDialog>
  )
}
