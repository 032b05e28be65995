// The signed-in person: name, password and passkeys.
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { TextField } from '../../elements/fields.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { consoleCall } from '../../session/console-api.ts'
import { loadState, session } from '../../session/session.ts'
import { Passkeys } from './passkeys.tsx'

export function Profile() {
  return (
    <div class="overview-columns">
      <NameForm />
      <PasswordForm />
      <Passkeys />
    </div>
  )
}

function NameForm() {
  const member = session.value?.member
  const [name, setName] = useState(member?.name ?? '')
  const [email, setEmail] = useState(member?.email ?? '')
  const save = async (event: Event) => {
    event.preventDefault()
    if (await attempt(() => consoleCall('PATCH', 'me', { name, email }), 'Saved')) await loadState()
  }
  return (
    <form class="card" onSubmit={(event) => void save(event)}>
      <header>
        <h2>You</h2>
      </header>
      <div class="body stack">
        <TextField label="Name" value={name} onInput={setName} autoComplete="name" />
        <TextField label="Email" type="email" value={email} onInput={setEmail} autoComplete="email" />
        <Button kind="primary" type="submit">
          Save
        </Button>
      </div>
    </form>
  )
}

function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const save = async (event: Event) => {
    event.preventDefault()
    const body = { password, ...(current ? { current_password: current } : {}) }
    if (!(await attempt(() => consoleCall('PUT', 'me/password', body), 'The password is set'))) return
    setCurrent('')
    setPassword('')
  }
  return (
    <form class="card" onSubmit={(event) => void save(event)}>
      <header>
        <h2>Password</h2>
      </header>
      <div class="body stack">
        <TextField
          label="Current password"
          type="password"
          value={current}
          onInput={setCurrent}
          autoComplete="current-password"
          hint="Empty if you have none yet."
        />
        <TextField label="New password" type="password" value={password} onInput={setPassword} autoComplete="new-password" required />
        <Button kind="primary" type="submit">
          Set password
        </Button>
      </div>
    </form>
  )
}
