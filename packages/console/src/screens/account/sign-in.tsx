// The sign-in page for passwords, passkeys, single sign-on and API keys.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { TextField } from '../../elements/fields.tsx'
import { Logo } from '../../elements/logo.tsx'
import type { ConsoleState } from '../../session/console-api.ts'
import { type OneTimeLink, oneTimeLink, signInByLink } from '../../session/one-time-link.ts'
import { signInWithPasskey } from '../../session/passkey.ts'
import { signIn } from '../../session/session.ts'

type SignInProps = { state: ConsoleState; failure: Error | null }

export function SignIn({ state, failure }: SignInProps) {
  const [ownError, setError] = useState<Error | null>(null)
  const error = ownError ?? failure
  const link = oneTimeLink.value
  const [isBusy, setBusy] = useState(false)
  const [isByKey, setByKey] = useState(!state.sign_in.password)
  const run = async (work: () => Promise<void>) => {
    setBusy(true)
    setError(null)
    try {
      await work()
    } catch (reason) {
      setError(reason instanceof Error ? reason : new Error(String(reason)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="sign-in">
      <main class="card">
        <div class="brand">
          <Logo />
          Callsign
        </div>
        <h1>Sign in</h1>
        <p class="muted">
          {state.setup_needed ? (
            <>
              Open the one-time link that the server printed at its first start. <code>callsignd console-link</code> prints another.
            </>
          ) : (
            'Supervise the mail, calls, tunnels and secrets of your agents.'
          )}
        </p>
        {error && (
          <div role="alert" class="sign-in-error">
            <Notice tone="bad">{error.message}</Notice>
          </div>
        )}
        {link ? (
          <LinkForm link={link} isBusy={isBusy} run={run} />
        ) : (
          <>
            {isByKey ? <KeyForm isBusy={isBusy} run={run} /> : <PasswordForm isBusy={isBusy} run={run} />}
            <OtherWays state={state} isBusy={isBusy} run={run}>
              <Button kind="quiet" onClick={() => setByKey(!isByKey)}>
                {isByKey ? 'Use email and password' : 'Use an API key'}
              </Button>
            </OtherWays>
          </>
        )}
      </main>
    </div>
  )
}

type OtherWaysProps = FormProps & { state: ConsoleState; children: ComponentChildren }

/** The ways besides the form. `children` switches the form, when there are two. */
function OtherWays({ state, isBusy, run, children }: OtherWaysProps) {
  const { password, passkey, oidc } = state.sign_in
  return (
    <div class="ways">
      {(passkey || oidc || password) && <span class="or">or</span>}
      {passkey && (
        <Button icon="keys" disabled={isBusy} onClick={() => void run(signInWithPasskey)}>
          Use a passkey
        </Button>
      )}
      {oidc && <ButtonLink href="/console/api/sign-in/oidc">Continue with {oidc.name}</ButtonLink>}
      {password && children}
      {!state.setup_needed && (
        <p class="faint">
          Locked out? Run <code>callsignd console-link</code> on the server.
        </p>
      )}
    </div>
  )
}

type FormProps = { isBusy: boolean; run: (work: () => Promise<void>) => Promise<void> }

/** Names what the link signs in to, so that a link of a stranger does not open the stranger's organization unseen. */
function LinkForm({ link, isBusy, run }: FormProps & { link: OneTimeLink }) {
  return (
    <div class="stack">
      <p>
        This link signs you in to <strong>{link.organization_name}</strong> as {link.member ?? 'its owner'}.
      </p>
      <Button kind="primary" disabled={isBusy} onClick={() => void run(() => signInByLink(link))}>
        Sign in to {link.organization_name}
      </Button>
      <Button kind="quiet" disabled={isBusy} onClick={() => (oneTimeLink.value = null)}>
        Sign in another way
      </Button>
    </div>
  )
}

function PasswordForm({ isBusy, run }: FormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    void run(() => signIn('password', { email, password }))
  }
  return (
    <form onSubmit={submit}>
      <TextField label="Email" type="email" value={email} onInput={setEmail} autoComplete="username" required autoFocus />
      <TextField label="Password" type="password" value={password} onInput={setPassword} autoComplete="current-password" required />
      <Button kind="primary" type="submit" disabled={isBusy}>
        Sign in
      </Button>
    </form>
  )
}

function KeyForm({ isBusy, run }: FormProps) {
  const [key, setKey] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    void run(() => signIn('key', { api_key: key.trim() }))
  }
  const hint = 'An organization key sees everything. An agent key sees its own mailbox.'
  return (
    <form onSubmit={submit}>
      <TextField
        label="API key"
        type="password"
        value={key}
        onInput={setKey}
        placeholder="svc_live_…"
        hint={hint}
        autoComplete="off"
        required
        autoFocus
        isMono
      />
      <Button kind="primary" type="submit" disabled={isBusy}>
        Sign in
      </Button>
    </form>
  )
}
