// The vault page: sign-in, the locked vault, and the open one.
import { useSignal } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { Button, ButtonLink } from '../../elements/button.tsx'
import { Empty, Failure, Loading } from '../../elements/empty.tsx'
import { Logo } from '../../elements/logo.tsx'
import { Toasts } from '../../elements/toasts.tsx'
import { listenForShortcuts, useShortcuts } from '../../navigation/shortcuts.ts'
import { type Theme, theme } from '../../navigation/theme.ts'
import { consoleState } from '../../session/console-api.ts'
import { loadState } from '../../session/session.ts'
import { ShortcutHelp } from '../../shortcut-help.tsx'
import css from '../../styles/vault.css?inline'
import { secondsLeft, watchIdle } from './idle.ts'
import { KeySignIn } from './key-sign-in.tsx'
import { LockedVault } from './locked-vault.tsx'
import { OpenVault } from './open-vault.tsx'
import { caller, connect, isSavedPage, lock, prepare, serverAddress, vault } from './vault-worker.ts'

/** Starts the page. A saved page names the server in its head, and runs the script from a copy whose hash it has checked. */
export function startPage(): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets = [sheet]
  const server = document.querySelector<HTMLMetaElement>('meta[name="callsign-server"]')?.content
  const script = document.querySelector<HTMLScriptElement>('script[src]')?.src ?? ''
  prepare({ server: server ?? location.origin, script, isSaved: server !== undefined })
  const root = document.getElementById('app')
  // A saved page has written a line into it.
  root?.replaceChildren()
  if (root) render(<VaultPage />, root)
}

function VaultPage() {
  const isHelpOpen = useSignal(false)
  useEffect(watchIdle, [])
  useEffect(listenForShortcuts, [])
  useShortcuts('Everywhere', [
    { keys: '?', label: 'Show the shortcuts', run: () => (isHelpOpen.value = true) },
    { keys: 'l', label: 'Lock the vault', run: () => lock('asked') },
  ])
  return (
    <div class="vault-page">
      <VaultBar />
      <main class="vault-main">
        <Content />
      </main>
      <Toasts />
      {isHelpOpen.value && <ShortcutHelp onClose={() => (isHelpOpen.value = false)} />}
    </div>
  )
}

function Content() {
  const failure = useSignal<Error | null>(null)
  const begin = () => {
    failure.value = null
    startSession().catch((error: unknown) => {
      failure.value = error instanceof Error ? error : new Error(String(error))
    })
  }
  useEffect(begin, [])
  if (vault.value) return <OpenVault opened={vault.value} />
  if (caller.value) return <LockedVault caller={caller.value} />
  if (failure.value) return <Failure error={failure.value} onRetry={begin} />
  if (isSavedPage()) return <KeySignIn />
  if (consoleState.value && !consoleState.value.signed_in) return <SignedOut />
  return <Loading />
}

async function startSession(): Promise<void> {
  if (isSavedPage()) return
  await loadState()
  if (consoleState.peek()?.signed_in) await connect(null)
}

function SignedOut() {
  const link = (
    <ButtonLink kind="primary" href="/console/?next=/console/vault">
      Sign in
    </ButtonLink>
  )
  return (
    <Empty icon="vault" title="Sign in to the console first" action={link}>
      The server returns the encrypted secrets to signed-in members and API keys only.
    </Empty>
  )
}

const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' }

function VaultBar() {
  return (
    <header class="vault-bar">
      <span class="brand">
        <Logo />
        Vault
      </span>
      {caller.value && <span class="faint truncate hide-small">{caller.value.name}</span>}
      {isSavedPage() && <span class="faint truncate hide-small">saved page for {serverAddress()}</span>}
      <div class="actions">
        <Countdown />
        <Button
          kind="quiet"
          icon={theme.value === 'light' ? 'sun' : theme.value === 'dark' ? 'moon' : 'screen'}
          label={`Theme: ${theme.value}`}
          onClick={() => (theme.value = nextTheme[theme.value])}
        />
        {!isSavedPage() && (
          <ButtonLink kind="quiet" icon="back" href="/console/">
            Console
          </ButtonLink>
        )}
      </div>
    </header>
  )
}

/** Below this the remaining time is announced. */
const soonSeconds = 30

function Countdown() {
  const left = secondsLeft.value
  if (left === null) return null
  return (
    <>
      <span class={`countdown${left <= soonSeconds ? ' soon' : ''}`}>
        <span class="hide-small">Locks in </span>
        {Math.floor(left / 60)}:{String(left % 60).padStart(2, '0')}
      </span>
      <span class="visually-hidden" role="status">
        {left <= soonSeconds ? `The vault locks in less than ${soonSeconds} seconds.` : ''}
      </span>
      <Button icon="vault" onClick={() => lock('asked')}>
        Lock
      </Button>
    </>
  )
}
