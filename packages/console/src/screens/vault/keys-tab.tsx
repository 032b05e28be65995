// The keys of the vault, with the change of the vault key, rotation, recovery codes and the saved page.
import type { VaultKey } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Copy, Id } from '../../elements/copy.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { Facts } from '../../elements/facts.tsx'
import { FormDialog } from '../../elements/form-dialog.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Table } from '../../elements/table.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { NewKeyFields } from './new-key.tsx'
import type { OpenedVault } from './protocol.ts'
import { RotateDialog } from './rotate-dialog.tsx'
import { caller, change, hasStoredPins, isSavedPage, vaultCalls } from './vault-worker.ts'

export function KeysTab({ opened }: { opened: OpenedVault }) {
  return (
    <div class="vault-tab">
      <Facts
        items={[
          ['Vault', <Id key="id" id={opened.id} />],
          ['Fingerprint', <Copy key="fingerprint" value={opened.fingerprint} name="fingerprint" />],
          ['Key version', opened.keyVersion],
          ['Pins', hasStoredPins.value ? 'in this browser' : 'in memory, because the browser stores nothing for this page'],
        ]}
      />
      <p class="muted">
        Compare the fingerprint with that of callsign vault unlock on another machine. It is equal for everyone with the right key.
      </p>
      {caller.value?.role === 'owner' && <OwnerKeys opened={opened} />}
      {!isSavedPage() && <SavedPage />}
    </div>
  )
}

function OwnerKeys({ opened }: { opened: OpenedVault }) {
  const keys = useQuery('vault-keys', async () => (await vaultCalls()).keys())
  const [dialog, setDialog] = useState<'change' | 'rotate' | null>(null)
  const close = () => {
    setDialog(null)
    invalidate('vault-keys')
  }
  return (
    <>
      <section class="vault-section" aria-label="Vault key">
        <h2>Vault key</h2>
        <p class="muted">The new key is for later unlocks. A client that has unlocked before keeps the organization key.</p>
        <Button icon="keys" onClick={() => setDialog('change')}>
          Change the vault key
        </Button>
      </section>
      <section class="vault-section" aria-label="Rotation">
        <h2>Rotation</h2>
        <p class="muted">
          Replaces the organization key, and encrypts every secret again, in one step. Rotate when an agent or a person with the key leaves.
        </p>
        <Button icon="refresh" onClick={() => setDialog('rotate')}>
          Rotate the keys
        </Button>
      </section>
      <section class="vault-section" aria-label="Recovery codes">
        <h2>Recovery codes</h2>
        <p class="muted">Each sets a new vault key once. A rotation makes new ones and ends the old ones.</p>
        <Loaded query={keys}>{(all) => <KeyTable keys={all} />}</Loaded>
      </section>
      {dialog === 'change' && <ChangeDialog onClose={close} />}
      {dialog === 'rotate' && <RotateDialog opened={opened} onClose={close} />}
    </>
  )
}

function ChangeDialog({ onClose }: { onClose: () => void }) {
  const [key, setKey] = useState<string | null>(null)
  return (
    <FormDialog
      title="Change the vault key"
      action="Change"
      isDisabled={key === null}
      done="The vault key is changed"
      onSubmit={() => change((calls) => calls.changeKey(key ?? ''))}
      onClose={onClose}
    >
      <NewKeyFields onChange={setKey} />
    </FormDialog>
  )
}

function KeyTable({ keys }: { keys: VaultKey[] }) {
  const [deleted, setDeleted] = useState<VaultKey | null>(null)
  const remove = async ({ id }: VaultKey) => {
    if (await attempt(async () => (await vaultCalls()).deleteKey(id), 'The recovery code is deleted')) invalidate('vault-keys')
  }
  return (
    <>
      <Table
        name="Keys of the vault"
        items={keys}
        keyOf={(key) => key.id}
        columns={[
          { title: 'Type', cell: (key) => <Badge tone={key.key_type === 'primary' ? 'accent' : 'neutral'}>{key.key_type}</Badge> },
          { title: 'Id', cell: (key) => <Id id={key.id} /> },
          { title: 'Created', cell: (key) => <Time at={key.created_at} />, isMinor: true },
          { title: 'Last used', cell: (key) => (key.last_used_at ? <Time at={key.last_used_at} /> : 'never') },
          {
            title: '',
            cell: (key) =>
              key.key_type === 'recovery' && (
                <Button size="small" kind="danger" onClick={() => setDeleted(key)}>
                  Delete
                </Button>
              ),
          },
        ]}
      />
      {deleted && (
        <Confirm
          title="Delete this recovery code?"
          text="The code no longer opens the vault. This cannot be undone."
          action="Delete"
          isDanger
          onConfirm={() => void remove(deleted)}
          onClose={() => setDeleted(null)}
        />
      )}
    </>
  )
}

function SavedPage() {
  return (
    <section class="vault-section" aria-label="Saved page">
      <h2>Saved page</h2>
      <p class="muted">
        The server sends the script of this page, so it could send another one that steals the key. A saved page checks the hash of the
        script before it runs. Compare its hash with <code>callsignd console-hashes</code> of a release, open it from your disk, and sign in
        with an API key.
      </p>
      <ButtonLink icon="download" href="/console/vault-loader.html" download="callsign-vault.html">
        Save the page
      </ButtonLink>
    </section>
  )
}
