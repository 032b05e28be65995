// The dialog that shows a new secret once.
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Dialog } from '../../elements/dialog.tsx'

/** Shows a new secret once. */
export function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title="Signing secret" footer={<Button onClick={onClose}>I have stored it</Button>} onClose={onClose}>
      <div class="stack">
        <Notice tone="warn">Store the secret now. It is not shown again.</Notice>
        <Copy value={secret} name="secret" />
        <p>Check the signature of every request with it, for example with verifyWebhook of the SDK.</p>
      </div>
    </Dialog>
  )
}
