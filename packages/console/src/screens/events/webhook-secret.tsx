// The dialog that shows a new secret once.
import { OnceDialog } from '../../elements/once-dialog.tsx'

/** Shows a new secret once. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <OnceDialog title="Signing secret" name="secret" value={secret} onClose={onClose}>
      <p>Check the signature of every request with it, for example with verifyWebhook of the SDK.</p>
    </OnceDialog>
  )
}
