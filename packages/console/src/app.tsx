// Chooses between sign-in page and shell, and loads the screen of the current address.
import { useSignal } from '@preact/signals'
import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { clearEvents } from './cache/live.ts'
import { clearLists } from './cache/pages.ts'
import { clearCache } from './cache/query.ts'
import { ButtonLink } from './elements/button.tsx'
import { Empty, Failure, Loading } from './elements/empty.tsx'
import { Screen } from './elements/screen.tsx'
import { Toasts } from './elements/toasts.tsx'
import { loadCode } from './load-code.ts'
import { addressOf, place, setQuery } from './navigation/place.ts'
import type { ScreenEntry, ScreenProps } from './screen-entry.ts'
import { SignIn } from './screens/account/sign-in.tsx'
import { homeOf, screens } from './screens.ts'
import { consoleState } from './session/console-api.ts'
import { readLink } from './session/one-time-link.ts'
import { followReturnAddress, keepReturnAddress } from './session/return-address.ts'
import { loadState, role } from './session/session.ts'
import { Shell } from './shell.tsx'

/** Refusals of the provider's sign-in, which arrive as a parameter of the address. */
const signInErrors: Record<string, string> = {
  oidc_failed: 'The provider did not confirm the sign-in. Try again.',
  oidc_not_a_member:
    'No member has this address, or the provider has not verified it. Ask an owner to invite you. If several organizations have your address, sign in another way first, and continue from your profile.',
  rate_limited: 'Too many attempts to sign in. Try again in 15 minutes.',
}

/** Loads the state, and shows the one-time link if the address has one. */
async function start(): Promise<void> {
  keepReturnAddress()
  const refused = signInErrors[place.peek().query.get('sign_in_error') ?? '']
  setQuery({ sign_in_error: undefined })
  await loadState()
  if (refused && !consoleState.peek()?.signed_in) throw new Error(refused)
  await readLink()
}

export function App() {
  const failure = useSignal<Error | null>(null)
  const run = (work: () => Promise<void>) => {
    failure.value = null
    work().catch((error: unknown) => {
      failure.value = error instanceof Error ? error : new Error(String(error))
    })
  }
  const begin = () => run(start)
  useEffect(() => {
    begin()
    // A link that is opened in a page that is open already changes the fragment alone.
    const follow = () => run(readLink)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const state = consoleState.value
  useEffect(() => {
    if (state?.signed_in) {
      followReturnAddress()
      return
    }
    clearCache()
    clearLists()
    clearEvents()
  }, [state?.signed_in])
  return (
    <>
      {state === null ? (
        failure.value && <Failure error={failure.value} onRetry={begin} />
      ) : state.signed_in ? (
        <Shell>
          <CurrentScreen />
        </Shell>
      ) : (
        <SignIn state={state} failure={failure.value} />
      )}
      <Toasts />
    </>
  )
}

const loaded = new Map<string, ComponentType<ScreenProps>>()

function CurrentScreen() {
  const [name = homeOf(role.value), ...parts] = place.value.parts
  const entry = screens.find((screen) => screen.name === name)
  if (!entry?.load || !entry.roles.includes(role.value)) return <NoScreen />
  return (
    <Boundary key={name}>
      <LoadedScreen name={entry.name} load={entry.load} parts={parts} />
    </Boundary>
  )
}

/** An address that leads nowhere, or to a screen that this role does not have. */
function NoScreen() {
  const home = <ButtonLink href={addressOf('/')}>Go to the start</ButtonLink>
  return (
    <Screen title="Not found">
      <Empty icon="search" title="This address does not lead to a screen" action={home}>
        The address is misspelt, or your role does not include the screen.
      </Empty>
    </Screen>
  )
}

type LoadedScreenProps = { name: string; load: NonNullable<ScreenEntry['load']>; parts: string[] }

function LoadedScreen({ name, load, parts }: LoadedScreenProps) {
  const error = useSignal<Error | null>(null)
  const Screen = useSignal<{ component: ComponentType<ScreenProps> } | null>(null)
  const known = loaded.get(name)
  const begin = () => {
    error.value = null
    loadCode(load).then(
      (module) => {
        loaded.set(name, module.default)
        Screen.value = { component: module.default }
      },
      (reason: Error) => {
        error.value = reason
      },
    )
  }
  useEffect(() => {
    if (!known) begin()
  }, [name])
  const Component = known ?? Screen.value?.component
  if (Component) return <Component parts={parts} />
  return error.value ? <Failure error={error.value} onRetry={begin} /> : <Loading />
}

/** Keeps an error of one screen away from the navigation. */
class Boundary extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null }

  static override getDerivedStateFromError(error: Error) {
    return { error }
  }

  render() {
    const { error } = this.state
    return error ? <Failure error={error} onRetry={() => this.setState({ error: null })} /> : this.props.children
  }
}
