// The signed-in person: name, password and passkeys.
import { useEffect, useState } from 'preact/hooks'
import { invalidate, useQuery } from '../../cache/query.ts'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { consoleCall, consoleState } from '../../session/console-api.ts'
import { loadState, session } from '../../session/session.ts'
import { Passkeys } from './passkeys.tsx'

export function Profile() {
  return (
    <div class="overview-columns">
      <NameForm />
      <PasswordForm />
      <Passkeys />
      <Provider />
    </div>
  )
}

/** The member signed in here is the one that the provider signs in from now on. */
function Provider() {
  const oidc = consoleState.value?.sign_in.oidc
  if (!oidc || !session.value?.member) return null
  return (
    <section class="card">
      <header>
        <h2>{oidc.name}</h2>
      </header>
      <div class="body stack">
        <p>Continue once from here, so that {oidc.name} signs you in to this organization.</p>
        <ButtonLink href="/console/api/sign-in/oidc">Continue with {oidc.name}</ButtonLink>
      </div>
    </section>
  )
}

function NameForm() {
  const member = session.value?.member
  const [name, setName] = useState(member?.name ?? '')
  const [email, setEmail] = useState(member?.email ?? '')
  // The password form saves a first address as well.
  useEffect(() => setEmail(member?.email ?? ''), [member?.email])
  const save = async () => {
    // A member without an address may save the name alone.
    await consoleCall('PATCH', 'me', { name, ...(email || member?.email ? { email } : {}) })
    await loadState()
  }
  return (
    <Form class="card" done="Saved" onSubmit={save}>
      <header>
        <h2>You</h2>
      </header>
      <div class="body stack">
        <TextField label="Name" path="/name" value={name} onInput={setName} autoComplete="name" />
        <TextField label="Email" path="/email" type="email" value={email} onInput={setEmail} autoComplete="email" />
        <Button kind="primary" type="submit">
          Save
        </Button>
      </div>
    </Form>
  )
}

/** A password is entered with an e-mail address, so a member without one enters both here. */
function PasswordForm() {
  const hasEmail = Boolean(session.value?.member?.email)
  const me = useQuery('me', () => consoleCall<{ has_password: boolean }>('GET', 'me')).data.value
  const [email, setEmail] = useState('')
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const save = async () => {
    if (!hasEmail) {
      await consoleCall('PATCH', 'me', { email })
      await loadState()
    }
    await consoleCall('PUT', 'me/password', { password, ...(current ? { current_password: current } : {}) })
    invalidate('overview', 'me')
    setCurrent('')
    setPassword('')
  }
  return (
    <Form class="card" done="The password is set" conflictPath="/email" onSubmit={save}>
      <header>
        <h2>Password</h2>
      </header>
      <div class="body stack">
        {!hasEmail && (
          <TextField
            label="Email to sign in with"
            path="/email"
            type="email"
            value={email}
            onInput={setEmail}
            autoComplete="username"
            required
          />
        )}
        <TextField
          label="Current password"
          path="/current_password"
          type="password"
          value={current}
          onInput={setCurrent}
          autoComplete="current-password"
          hint={me?.has_password === false && 'Empty if you have none yet.'}
        />
        <TextField
          label="New password"
          path="/password"
          type="password"
          value={password}
          onInput={setPassword}
          autoComplete="new-password"
          required
        />
        <Button kind="primary" type="submit">
          Set password
        </Button>
      </div>
    </Form>
  )
}
