// The locked vault: unlock it, recover it, or create it.
import type { VaultStatus } from '@callsign/sdk'
import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Facts } from '../../elements/facts.tsx'
import { codeOf } from './calls.ts'
import { InitializeVault } from './initialize-vault.tsx'
import type { Caller } from './protocol.ts'
import { RecoverVault } from './recover-vault.tsx'
import { UnlockForm } from './unlock-form.tsx'
import { hasStoredPins, type LockReason, lockReason, vaultCalls } from './vault-worker.ts'

const reasons: Record<LockReason, string> = {
  asked: 'The vault is locked.',
  idle: 'The vault was locked after 5 minutes without use.',
  hidden: 'The vault was locked because the page was hidden for a minute.',
  left: 'The vault was locked because the page was left.',
}

export function LockedVault({ caller }: { caller: Caller }) {
  const [status, setStatus] = useState<VaultStatus | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isRecovering, setRecovering] = useState(false)
  const load = () => {
    setError(null)
    vaultCalls()
      .then((calls) => calls.status())
      .then(setStatus, setError)
  }
  useEffect(load, [])
  if (caller.role === 'reviewer') return <NoRight />
  if (error) return codeOf(error) === 'insufficient_scope' ? <NoScope /> : <Failure error={error} onRetry={load} />
  if (!status) return <Loading />
  const isOwner = caller.role === 'owner'
  if (!status.initialized) return isOwner ? <InitializeVault /> : <NoVault />
  return (
    <div class="vault-card">
      <h1>{isRecovering ? 'Use a recovery code' : 'Unlock the vault'}</h1>
      {lockReason.value && <p class="muted">{reasons[lockReason.value]}</p>}
      {status.isKeyChangePending && <PendingChange />}
      {isRecovering ? <RecoverVault /> : <UnlockForm />}
      {isOwner && (
        <Button kind="quiet" onClick={() => setRecovering(!isRecovering)}>
          {isRecovering ? 'Use the vault key' : 'Use a recovery code'}
        </Button>
      )}
      <VaultFacts status={status} />
    </div>
  )
}

function PendingChange() {
  return (
    <Notice tone="warn">
      This browser started to change the keys and did not see the result. Try the new vault key first. If it does not open the vault, the
      change did not reach the server, and the old key does.
    </Notice>
  )
}

function VaultFacts({ status }: { status: VaultStatus }) {
  const { fingerprint, recoveryKeysRemaining: codes } = status
  return (
    <Facts
      items={[
        ['Secrets', status.secretsCount],
        ...(codes === null ? [] : [['Recovery codes', codes] as [string, number]]),
        ['Fingerprint', fingerprint === null ? 'not seen in this browser yet' : <span class="mono">{fingerprint}</span>],
        ...(hasStoredPins.value
          ? []
          : [['Pins', 'kept until this page is closed, because the browser stores nothing for it'] as [string, string]]),
      ]}
    />
  )
}

const NoRight = () => (
  <Empty icon="vault" title="Your role cannot open the vault">
    Owners and operators open it. Ask an owner to change your role.
  </Empty>
)

const NoScope = () => (
  <Empty icon="vault" title="This key cannot read the vault">
    An agent key needs the scope vault:read, and sees the secrets that are granted to its agent.
  </Empty>
)

const NoVault = () => (
  <Empty icon="vault" title="This organization does not have a vault yet">
    An owner creates it, on this page or with <code>callsign vault init</code>.
  </Empty>
)
