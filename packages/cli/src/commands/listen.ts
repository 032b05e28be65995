// listen delivers events to a program on this machine as signed webhooks, without a public address.
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CallsignEvent, signWebhook } from '@callsign/sdk'
import { type Command, count, needed, text } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/** The server's own timeout for an endpoint. */
const postTimeoutMs = 15_000
/** While the target refuses connections, for example during a restart, the same event is retried. */
const refusedPauseMs = 1000
const refusedTriesMax = 10

type Forwarded = { id: string; type: string; status: number; duration_ms: number; error: string | null }

export const listenCommands: Command[] = [
  {
    words: 'listen',
    about: 'Delivers events to a local address as signed webhooks, until you interrupt it.',
    options: {
      'forward-to': { type: 'string', value: 'URL', about: 'The target, such as http://localhost:3000/hook.' },
      agent: { type: 'string', value: 'HANDLE', about: 'Only events of this agent.' },
      types: { type: 'string', value: 'TYPES', about: 'Only these event types, separated by commas.' },
      after: { type: 'string', value: 'EVENT', about: 'Start after this event. Defaults to new events only.' },
      count: { type: 'string', value: 'N', about: 'Exit after this number of events.' },
    },
    async run({ client, output, folder }, values) {
      const target = readTarget(needed(values, 'forward-to'))
      const limit = count(values, 'count')
      const [agent, types, after] = [text(values, 'agent'), text(values, 'types'), text(values, 'after')]
      const callsign = await client()
      // Reports a wrong server or key before the first event.
      const { organization_name } = await callsign.me()
      const secret = await keepSecret(join(folder, 'listen-secret'))
      output.note(
        `Events of ${organization_name} go to ${target}. They are signed with this secret, which stays the same on this machine:\n${secret}`,
      )
      const query = { ...(agent !== undefined && { agent }), ...(types !== undefined && { types }), ...(after !== undefined && { after }) }
      let forwarded = 0
      for await (const event of callsign.events.follow(query)) {
        const result = await forward(target, secret, event)
        output.result(result, () => `${result.type} ${result.id} ${result.error ?? result.status} ${result.duration_ms} ms`)
        forwarded++
        if (limit !== undefined && forwarded >= limit) break
      }
      return 0
    },
  },
]

function readTarget(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new UsageError('--forward-to must be an http:// or https:// address.')
  return url.href
}

/** The signing secret of this machine, created once and readable by its owner only. */
async function keepSecret(path: string): Promise<string> {
  try {
    await writeFile(path, `whsec_${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return (await readFile(path, 'utf8')).trim()
}

/** Posts one event with the bytes and headers of a webhook. */
async function forward(target: string, secret: string, event: CallsignEvent): Promise<Forwarded> {
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
      const response = await fetch(target, {
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
