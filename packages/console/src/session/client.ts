// The SDK client of the page. Each request carries the current token of the session.
import { Callsign } from '@callsign/sdk'
import { signal } from '@preact/signals'
import { bearerToken, endSession } from './session.ts'

/** The state of the event stream. */
export const streamState = signal<'connecting' | 'live' | 'lost'>('connecting')

async function authorizedFetch(input: string, init: RequestInit): Promise<Response> {
  const isStream = input.includes('/events/stream')
  if (isStream) streamState.value = 'connecting'
  try {
    let response = await send(input, init, await bearerToken())
    if (response.status === 401) response = await send(input, init, await bearerToken(true))
    if (response.status === 401) endSession()
    if (isStream) streamState.value = response.ok ? 'live' : 'lost'
    return response
  } catch (error) {
    if (isStream) streamState.value = 'lost'
    throw error
  }
}

function send(input: string, init: RequestInit, token: string): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${token}`)
  return fetch(input, { ...init, headers, credentials: 'omit', cache: 'no-store' })
}

export const client = new Callsign({ url: location.origin, apiKey: 'session', fetch: authorizedFetch, timeoutMs: 30_000 })
