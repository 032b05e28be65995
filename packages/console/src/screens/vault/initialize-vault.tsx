// Creates the vault of the organization, and shows its recovery codes once.
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { NewKeyFields, RecoveryCodes } from './new-key.tsx'
import type { OpenedVault } from './protocol.ts'
import { useOpening } from './unlock-form.tsx'
import { change, vaultCalls } from './vault-worker.ts'

type Made = { vault: OpenedVault; recoveryCodes: string[] }

export function InitializeVault() {
  const [key, setKey] = useState<string | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  const { submit, isBusy, notice } = useOpening(async () => setMade(await (await vaultCalls()).initialize(key ?? '')))
  if (made) return <StoreCodes made={made} />
  return (
    <form class="vault-card wide" onSubmit={submit}>
      <h1>Create the vault</h1>
      <p class="muted">
        Secrets are encrypted in this page. The server stores ciphertext and cannot read it. Without the vault key and every recovery code,
        the secrets are lost.
      </p>
      {notice}
      <NewKeyFields onChange={setKey} />
      <Button kind="primary" type="submit" disabled={isBusy || key === null}>
        {isBusy ? 'Deriving the keys…' : 'Create the vault'}
      </Button>
    </form>
  )
}

function StoreCodes({ made }: { made: Made }) {
  const [isStored, setStored] = useState(false)
  return (
    <div class="vault-card wide">
      <h1>Store the recovery codes</h1>
      <Notice tone="good">The vault is created.</Notice>
      <RecoveryCodes codes={made.recoveryCodes} onStored={setStored} />
      <Button kind="primary" disabled={!isStored} onClick={() => void change(async () => made.vault)}>
        Open the vault
      </Button>
    </div>
  )
}
