// The one-time link in the address. Its organization is shown, and a button signs in, because anyone may have sent the link.
import { signal } from '@preact/signals'
import { consoleCall, consoleState } from './console-api.ts'
import { signIn } from './session.ts'

export type OneTimeLink = { token: string; organization_name: string; member: string | null }

/** The link that waits for the button. */
export const oneTimeLink = signal<OneTimeLink | null>(null)

const prefix = '#link='

/** Takes the link out of the address and the history, and shows it. A page that is signed in ignores it. */
export async function readLink(): Promise<void> {
  const token = location.hash.startsWith(prefix) ? location.hash.slice(prefix.length) : ''
  if (token === '') return
  history.replaceState(history.state, '', location.pathname + location.search)
  if (consoleState.peek()?.signed_in) return
  oneTimeLink.value = null
  oneTimeLink.value = { token, ...(await consoleCall<Omit<OneTimeLink, 'token'>>('POST', 'sign-in/link/describe', { token })) }
}

/** Signs in with the link that is shown. It is gone afterwards, also after a refusal. */
export async function signInByLink({ token }: OneTimeLink): Promise<void> {
  oneTimeLink.value = null
  await signIn('link', { token })
}
