// Signs in and out, and keeps the short-lived token with which the page calls the API.
import { computed } from '@preact/signals'
import { ConsoleError, type ConsoleState, consoleCall, consoleState, type Role } from './console-api.ts'

/** The token is renewed when less than this is left of it. */
const renewBeforeMs = 60_000

let token: { value: string; expiresAt: number } | null = null
let renewal: Promise<string> | null = null

/** The first owner. Name and address are empty until the person enters them. */
export const unnamed = 'Owner'

export const memberName = ({ name, email }: { name: string; email: string | null }): string => name || email || unnamed

export const session = computed(() => consoleState.value?.session ?? null)
export const role = computed<Role>(() => session.value?.role ?? 'reviewer')

/** Operators and owners change settings, rules and domains. Reviewers read, approve and release. */
export const canOperate = computed(() => role.value === 'owner' || role.value === 'operator')
/** Reviewers change neither messages nor drafts. They approve, reject and release. */
export const canWrite = computed(() => role.value !== 'reviewer')
export const canReview = computed(() => role.value !== 'agent')

export async function loadState(): Promise<void> {
  consoleState.value = await consoleCall<ConsoleState>('GET', 'state')
}

/** Signs in by one of the ways of `/console/api/sign-in`. The answer is the new state. */
export async function signIn(way: 'link' | 'password' | 'key' | 'passkey', body: unknown): Promise<void> {
  consoleState.value = await consoleCall<ConsoleState>('POST', `sign-in/${way}`, body)
}

export async function signOut(): Promise<void> {
  // The page stops its requests first, because the server refuses them from now on.
  const isSignedOut = consoleCall('POST', 'sign-out')
  endSession()
  await isSignedOut
  await loadState()
}

/** Shows the sign-in page after the server has ended the session. */
export function endSession(): void {
  token = null
  const state = consoleState.peek()
  if (state) consoleState.value = { ...state, signed_in: false, session: null }
}

/** Returns a token for the API. Concurrent callers share one renewal. `isRejected` drops the current token. */
export function bearerToken(isRejected = false): Promise<string> {
  if (!consoleState.peek()?.signed_in) return Promise.reject(new Error('You are signed out.'))
  if (isRejected) token = null
  if (token && token.expiresAt - Date.now() > renewBeforeMs) return Promise.resolve(token.value)
  renewal ??= renew().finally(() => {
    renewal = null
  })
  return renewal
}

async function renew(): Promise<string> {
  try {
    const answer = await consoleCall<{ token: string; expires_at: string }>('POST', 'token')
    token = { value: answer.token, expiresAt: Date.parse(answer.expires_at) }
    return answer.token
  } catch (error) {
    if (error instanceof ConsoleError && (error.status === 401 || error.status === 403)) endSession()
    throw error
  }
}
