// The passkeys of the signed-in person, with a form that adds one.
import { useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Confirm } from '../../elements/dialog.tsx'
import { TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { Time } from '../../elements/time.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { consoleCall } from '../../session/console-api.ts'
import { addPasskey } from '../../session/passkey.ts'

type Passkey = { id: string; name: string; created_at: string; last_used_at: string | null }

/** Browsers offer passkeys on secure pages with a host name, not at an IP address. */
const isSupported = 'PublicKeyCredential' in globalThis && !/^[\d.]+$|^\[/.test(location.hostname)

export function Passkeys() {
  const passkeys = useQuery('passkeys', async () => (await consoleCall<{ passkeys: Passkey[] }>('GET', 'me/passkeys')).passkeys)
  const [name, setName] = useState('')
  const [removed, setRemoved] = useState<Passkey | null>(null)
  const add = async () => {
    await addPasskey(name.trim() || 'Passkey')
    setName('')
    invalidate('overview')
    await passkeys.reload()
  }
  const remove = async ({ id }: Passkey) => {
    if (await attempt(() => consoleCall('DELETE', `me/passkeys/${id}`), 'The passkey is removed')) await passkeys.reload()
  }
  return (
    <Form class="card" done="The passkey is added" onSubmit={add}>
      <header>
        <h2>Passkeys</h2>
      </header>
      <div class="body stack">
        <Loaded query={passkeys}>
          {(all) => (
            <ul class="stack" aria-label="Passkeys">
              {all.map((passkey) => (
                <li key={passkey.id} class="row">
                  <span class="grow truncate">{passkey.name}</span>
                  <span class="faint">{passkey.last_used_at ? <Time at={passkey.last_used_at} /> : 'never used'}</span>
                  <Button size="small" kind="quiet" icon="trash" label={`Remove ${passkey.name}`} onClick={() => setRemoved(passkey)} />
                </li>
              ))}
            </ul>
          )}
        </Loaded>
        {isSupported ? (
          <>
            <TextField label="Name of the passkey" path="/name" value={name} onInput={setName} placeholder="Laptop" />
            <Button kind="primary" type="submit">
              Add a passkey
            </Button>
          </>
        ) : (
          <Notice>Passkeys need a host name and TLS. Open the console at its public URL.</Notice>
        )}
      </div>
      {removed && (
        <Confirm
          title={`Remove ${removed.name}?`}
          text="This passkey no longer signs you in."
          action="Remove"
          isDanger
          onConfirm={() => void remove(removed)}
          onClose={() => setRemoved(null)}
        />
      )}
    </Form>
  )
}
