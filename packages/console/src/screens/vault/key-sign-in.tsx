// Sign-in of a saved page. It has no cookie of the server, so it takes an API key, which stays in memory.
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { TextField } from '../../elements/fields.tsx'
import { connect, serverAddress } from './vault-worker.ts'

export function KeySignIn() {
  const [key, setKey] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await connect(key.trim())
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason))
      setBusy(false)
    }
  }
  const hint = 'An organization key, or an agent key with the scope vault:read. It stays in the memory of this page.'
  return (
    <form class="vault-card" onSubmit={(event) => void submit(event)}>
      <h1>Sign in to {new URL(serverAddress()).host}</h1>
      <p class="muted">This page was saved and runs a script whose hash it has checked. The session of the console does not reach it.</p>
      {error && (
        <div role="alert">
          <Notice tone="bad">{error}</Notice>
        </div>
      )}
      <TextField
        label="API key"
        type="password"
        value={key}
        onInput={setKey}
        hint={hint}
        placeholder="svc_live_…"
        required
        autoFocus
        isMono
      />
      <Button kind="primary" type="submit" disabled={isBusy || key.trim() === ''}>
        Sign in
      </Button>
    </form>
  )
}
