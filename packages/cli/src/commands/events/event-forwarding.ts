// Posts events to a local address as signed webhooks.
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { type CallsignEvent, fetchByEnvironment, signWebhook } from '@callsign/sdk'
import { UsageError } from '../../usage-error.ts'

/** The server's own timeout for an endpoint. */
const postTimeoutMs = 15_000
/** While the target refuses connections, for example during a restart, the same event is retried. */
const refusedPauseMs = 1000
const refusedTriesMax = 10

export type Forwarded = { id: string; type: string; status: number; duration_ms: number; error: string | null }

/** Throws UsageError for anything but an address. */
export function readTarget(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new UsageError('--forward-to must be an http:// or https:// address.')
  return url.href
}

/** The signing secret of this machine, created once and readable by its owner only. */
export async function keepSecret(path: string): Promise<string> {
  try {
    await writeFile(path, `whsec_${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return (await readFile(path, 'utf8')).trim()
}

/** Posts one event with the bytes and headers of a webhook. */
export async function forward(target: string, secret: string, event: CallsignEvent): Promise<Forwarded> {
  const body = JSON.stringify(event)
  for (let attempt = 1; ; attempt++) {
    const startedMs = performance.now()
    const done = (status: number, error: string | null): Forwarded => ({
      id: event.id,
      type: event.type,
      status,
      duration_ms: Math.round(performance.now() - startedMs),
      error,
    })
    try {
      const response = await fetchByEnvironment(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(await signWebhook(secret, event.id, body)) },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(postTimeoutMs),
      })
      await response.body?.cancel()
      return done(response.status, null)
    } catch (error) {
      const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
      if (cause?.code !== 'ECONNREFUSED' || attempt === refusedTriesMax) return done(0, cause?.code ?? (error as Error).name)
      await new Promise((resolve) => setTimeout(resolve, refusedPauseMs))
    }
  }
}
