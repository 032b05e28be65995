// Calls the console's own endpoints below /console/api, which need the session cookie and not an API key.
import { signal } from '@preact/signals'

/** The part of a person or an agent in this organization. */
export type Role = 'owner' | 'operator' | 'reviewer' | 'agent'

export type Member = { id: string; email: string | null; name: string; role: Role; last_sign_in_at: string | null }

export type Session = {
  id: string
  csrf: string
  expires_at: string
  member: Member | null
  agent: { handle: string } | null
  role: Role
}

export type ConsoleState = {
  signed_in: boolean
  setup_needed: boolean
  sign_in: { password: boolean; passkey: boolean; oidc: { name: string } | null }
  version: string
  session: Session | null
}

/** The server's answer about this browser. null until it arrived. */
export const consoleState = signal<ConsoleState | null>(null)

/** An error response of /console/api. */
export class ConsoleError extends Error {
  readonly status: number
  readonly code: string
  /** The fields of a refused body, as in errors of the API. */
  readonly details: unknown
  constructor(status: number, code: string, message: string, details?: unknown) {
    super(message)
    this.name = 'ConsoleError'
    this.status = status
    this.code = code
    this.details = details
  }
}

/** Sends one request below /console/api and returns its JSON body. */
export async function consoleCall<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  const csrf = consoleState.peek()?.session?.csrf
  if (method !== 'GET' && csrf) headers['X-Callsign-CSRF'] = csrf
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const response = await fetch(`/console/api/${path}`, {
    method,
    headers,
    credentials: 'same-origin',
    redirect: 'manual',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new ConsoleError(0, 'connection_failed', `The server did not answer: ${cause instanceof Error ? cause.message : String(cause)}`)
  })
  const text = await response.text()
  const answer = readJson(text) as (T & { error?: { code?: string; message?: string; details?: unknown } }) | undefined
  if (response.ok) return answer as T
  const message = answer?.error?.message ?? `The server answered ${response.status}.`
  throw new ConsoleError(response.status, answer?.error?.code ?? `http_${response.status}`, message, answer?.error?.details)
}

function readJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
