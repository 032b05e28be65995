// Opens the vault with a recovery code, which is used up, and sets a new vault key.
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { TextField } from '../../elements/fields.tsx'
import { NewKeyFields } from './new-key.tsx'
import { useOpening } from './unlock-form.tsx'
import { change } from './vault-worker.ts'

export function RecoverVault() {
  const [code, setCode] = useState('')
  const [key, setKey] = useState<string | null>(null)
  const { submit, isBusy, notice } = useOpening((isAccepting) => change((calls) => calls.recover(code, key ?? '', isAccepting)))
  return (
    <form class="stack" onSubmit={submit}>
      {notice}
      <TextField
        label="Recovery code"
        type="password"
        value={code}
        onInput={setCode}
        hint="Eight groups of four characters. Case, spaces and hyphens do not matter."
        required
        autoFocus
        isMono
      />
      <NewKeyFields onChange={setKey} />
      <Button kind="primary" type="submit" disabled={isBusy || code === '' || key === null}>
        {isBusy ? 'Deriving the keys…' : 'Set the new key and unlock'}
      </Button>
    </form>
  )
}
