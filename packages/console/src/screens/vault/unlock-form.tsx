// Unlocks the vault with the vault key. A changed vault has to be accepted explicitly.
import { ApiError } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Checkbox, TextField } from '../../elements/fields.tsx'
import { duration } from '../../elements/time.tsx'
import { codeOf } from './calls.ts'
import { change } from './vault-worker.ts'

/** Errors of a vault that differs from the pinned one. */
const changedCodes = ['vault_changed', 'vault_rolled_back']

/** An error of an unlock as a sentence. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError && error.code === 'rate_limited') {
    const wait = error.retryAfterMs === null ? 'some minutes' : duration(error.retryAfterMs)
    return `Too many wrong vault keys were tried. Wait ${wait}, and then try again. Until then the server refuses the right key too.`
  }
  return error instanceof Error ? error.message : String(error)
}

/** The submission of a form that opens the vault. `isAccepting` is the person's consent to a changed vault. */
export function useOpening(open: (isAccepting: boolean) => Promise<unknown>) {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const [isAccepting, setAccepting] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await open(isAccepting)
    } catch (reason) {
      setError(reason)
      setBusy(false)
    }
  }
  const isChanged = isAccepting || changedCodes.includes(codeOf(error) ?? '')
  const notice = (
    <>
      {error !== null && (
        <div role="alert">
          <Notice tone="bad">
            <p>{sentenceOf(error)}</p>
          </Notice>
        </div>
      )}
      {isChanged && (
        <Checkbox
          label="The keys were changed elsewhere on purpose, or this is the vault of another organization. Trust it as it is now."
          checked={isAccepting}
          onChange={setAccepting}
        />
      )}
    </>
  )
  return { submit: (event: Event) => void submit(event), isBusy, notice }
}

export function UnlockForm() {
  const [key, setKey] = useState('')
  const { submit, isBusy, notice } = useOpening((isAccepting) => change((calls) => calls.unlock(key, isAccepting)))
  return (
    <form class="stack" onSubmit={submit}>
      {notice}
      <TextField
        label="Vault key"
        type="password"
        value={key}
        onInput={setKey}
        hint="It stays in this page. The server gets a hash that opens nothing."
        required
        autoFocus
        isMono
      />
      <Button kind="primary" type="submit" disabled={isBusy || key === ''}>
        {isBusy ? 'Deriving the key…' : 'Unlock'}
      </Button>
    </form>
  )
}
