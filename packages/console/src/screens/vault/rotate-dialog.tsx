// Rotates the keys of the vault. New key and recovery codes are stored by the person first, so an interruption loses neither.
import { generateRecoveryCode } from '@callsign/sdk/vault'
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Dialog } from '../../elements/dialog.tsx'
import { Checkbox } from '../../elements/fields.tsx'
import { codeOf } from './calls.ts'
import { NewKeyFields, RecoveryCodes } from './new-key.tsx'
import type { OpenedVault } from './protocol.ts'
import { change, rotation } from './vault-worker.ts'

const recoveryCodesUsual = 4

type Step = 'key' | 'codes' | 'running' | 'done'

export function RotateDialog({ opened, onClose }: { opened: OpenedVault; onClose: () => void }) {
  const [step, setStep] = useState<Step>('key')
  const [key, setKey] = useState<string | null>(null)
  const [codes] = useState(() => Array.from({ length: recoveryCodesUsual }, generateRecoveryCode))
  const [isStored, setStored] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [withoutMissing, setWithoutMissing] = useState(false)
  const rotate = async () => {
    setStep('running')
    setError(null)
    try {
      await change((calls) => calls.rotate(key ?? '', codes, withoutMissing))
      setStep('done')
    } catch (reason) {
      setError(reason)
      setStep('codes')
    } finally {
      rotation.value = null
    }
  }
  return (
    <Dialog
      title="Rotate the keys"
      footer={
        <Footer
          step={step}
          isReady={step === 'key' ? key !== null : isStored}
          onNext={() => setStep('codes')}
          onRotate={() => void rotate()}
          onClose={onClose}
        />
      }
      onClose={step === 'running' ? () => undefined : onClose}
    >
      {step === 'key' && (
        <>
          <p>
            {opened.secrets.length} {opened.secrets.length === 1 ? 'secret' : 'secrets'} will be encrypted again. Other clients then have to
            accept the change.
          </p>
          <NewKeyFields onChange={setKey} />
        </>
      )}
      {step === 'codes' && (
        <>
          {error !== null && <RotationError error={error} isAccepted={withoutMissing} onAccept={setWithoutMissing} />}
          <RecoveryCodes codes={codes} onStored={setStored} />
        </>
      )}
      {step === 'running' && <Progress />}
      {step === 'done' && (
        <Notice tone="good">
          The keys are rotated. The vault has key version {opened.keyVersion}, and its fingerprint is{' '}
          <span class="mono">{opened.fingerprint}</span>.
        </Notice>
      )}
    </Dialog>
  )
}

type FooterProps = { step: Step; isReady: boolean; onNext: () => void; onRotate: () => void; onClose: () => void }

function Footer({ step, isReady, onNext, onRotate, onClose }: FooterProps) {
  if (step === 'running') return <Button disabled>Rotating…</Button>
  if (step === 'done') {
    return (
      <Button kind="primary" onClick={onClose}>
        Done
      </Button>
    )
  }
  return (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" disabled={!isReady} onClick={step === 'key' ? onNext : onRotate}>
        {step === 'key' ? 'Next' : 'Rotate'}
      </Button>
    </>
  )
}

const stepLabels = { encrypt: 'Encrypting the secrets', derive: 'Deriving the keys', send: 'Sending to the server' }

function Progress() {
  const { step, done, total } = rotation.value ?? { step: 'encrypt' as const, done: 0, total: 0 }
  const text = step === 'send' ? stepLabels.send : `${stepLabels[step]}, ${done} of ${total}`
  return (
    <div class="stack">
      <p role="status">{text}</p>
      <progress aria-label="Rotation" {...(step === 'send' ? {} : { value: done, max: Math.max(total, 1) })} />
      <p class="muted">Nothing is changed until the server has stored everything at once. Keep the page open.</p>
    </div>
  )
}

type ErrorProps = { error: unknown; isAccepted: boolean; onAccept: (isAccepted: boolean) => void }

/** After a lost answer the result is unknown, and the next unlock shows it. */
function RotationError({ error, isAccepted, onAccept }: ErrorProps) {
  const isUnknown = codeOf(error) === 'connection_failed' || codeOf(error) === 'timeout'
  return (
    <div role="alert">
      <Notice tone="bad">
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {isUnknown && <p>The rotation may have been done nevertheless. Lock the vault, and try the new vault key first.</p>}
      </Notice>
      {codeOf(error) === 'secrets_missing' && (
        <Checkbox label="Rotate without them. They are lost then." checked={isAccepted} onChange={onAccept} />
      )}
    </div>
  )
}
