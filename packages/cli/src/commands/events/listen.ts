// listen delivers events to a program on this machine, without a public address.
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Callsign } from '@callsign/sdk'
import { type Command, type Context, count, text, type Values } from '../../command.ts'
import { UsageError } from '../../usage-error.ts'
import { recordFailed, runCommand } from './event-command.ts'
import { forward, keepSecret, readTarget } from './event-forwarding.ts'
import { EventProgress } from './event-progress.ts'
import { EventRunner } from './event-runner.ts'
import { aboutOf, eventFilters, readTypes } from './events.ts'

const retriesDefault = 5
const concurrencyMax = 100

type Query = { agent?: string; types?: string; after?: string; transport?: 'websocket' }

const execOnly = ['concurrency', 'debounce', 'retries', 'state']

export const listenCommands: Command[] = [
  {
    words: 'listen',
    about:
      'Prints events as they happen, until you interrupt it. With --exec it runs a command for each event, and continues without a gap after a restart. With --forward-to it posts them to a local address as signed webhooks.',
    example: "callsign listen --exec 'node handle.js' --event email.received --agent sales",
    operations: ['streamEvents', 'getCaller'],
    options: {
      exec: { type: 'string', value: 'COMMAND', about: 'A shell command. It gets the event as one line of JSON on standard input.' },
      'forward-to': { type: 'string', value: 'URL', about: 'The target of webhooks, such as http://localhost:3000/hook.' },
      ...eventFilters,
      after: { type: 'string', value: 'EVENT', about: 'Start after this event. Defaults to new events only.' },
      websocket: { type: 'boolean', about: 'Read events from a WebSocket, for a network that cuts off long responses. Requires Node 22.' },
      concurrency: { type: 'string', value: 'N', about: 'Commands at once, 1-100. Defaults to 1. Each thread has one at a time.' },
      debounce: {
        type: 'string',
        value: 'SECONDS',
        about: 'Wait until a thread had no event for this time, then run the command once, with one line per event.',
      },
      retries: {
        type: 'string',
        value: 'N',
        about: `Further attempts when the command fails, with exponential backoff from 1 to 60 seconds. Defaults to ${retriesDefault}. Then the event is added to the state file with .failed.`,
      },
      state: {
        type: 'string',
        value: 'FILE',
        about: 'Where to keep the position. Defaults to a file per server, command and filter beside the login.',
      },
      count: { type: 'string', value: 'N', about: 'Exit after this number of events.' },
    },
    async run(context, values) {
      const [command, target] = [text(values, 'exec'), text(values, 'forward-to')]
      if (command !== undefined && target !== undefined)
        throw new UsageError('--exec and --forward-to are mutually exclusive. Give one of them.')
      const [agent, after] = [text(values, 'agent'), text(values, 'after')]
      const query = {
        ...(agent !== undefined && { agent }),
        ...readTypes(values),
        ...(after !== undefined && { after }),
        ...(values.websocket === true && { transport: 'websocket' as const }),
      }
      if (command !== undefined) return runForEach(context, values, command, query)
      const unused = execOnly.find((name) => values[name] !== undefined)
      if (unused !== undefined) throw new UsageError(`--${unused} needs --exec.`)
      return target === undefined ? printEach(context, values, query) : forwardEach(context, values, target, query)
    },
  },
]

/** Names the agents whose events arrive, which are those of the organization without --agent and with an organization key. */
function nameOf({ agent }: Query, { key, organization_name }: Awaited<ReturnType<Callsign['me']>>): string {
  const agents = agent === undefined ? key.agent_handles : [agent.replace(/^@/, '')]
  return agents.length === 0 ? organization_name : `${agents.join(', ')} in ${organization_name}`
}

/** Prints a line per event, or its JSON. */
async function printEach({ client, output, interruption }: Context, values: Values, query: Query): Promise<number> {
  const limit = count(values, 'count')
  const callsign = await client()
  output.note(`Events of ${nameOf(query, await callsign.me())}, as they happen. Ctrl-C ends this.`)
  const signal = interruption()
  let printed = 0
  for await (const event of callsign.events.follow({ ...query, signal, onReset: (lost) => noteReset(output, lost) })) {
    if (output.isJson) output.line(event)
    else output.result(event, () => `${event.timestamp.slice(11, 19)}  ${event.id}  ${event.type}  ${aboutOf(event)}`)
    printed++
    if (limit !== undefined && printed >= limit) break
  }
  return 0
}

async function forwardEach({ client, output, folder }: Context, values: Values, given: string, query: Query): Promise<number> {
  const target = readTarget(given)
  const limit = count(values, 'count')
  const callsign = await client()
  // Reports a wrong server or key before the first event.
  const caller = await callsign.me()
  const secret = await keepSecret(join(folder, 'listen-secret'))
  output.note(
    `Events of ${nameOf(query, caller)} go to ${target}. They are signed with this secret, which stays the same on this machine:\n${secret}`,
  )
  let forwarded = 0
  for await (const event of callsign.events.follow({ ...query, onReset: (lost) => noteReset(output, lost) })) {
    const result = await forward(target, secret, event)
    output.result(result, () => `${result.type} ${result.id} ${result.error ?? result.status} ${result.duration_ms} ms`)
    forwarded++
    if (limit !== undefined && forwarded >= limit) break
  }
  return 0
}

function readNumbers(values: Values) {
  const concurrency = count(values, 'concurrency') ?? 1
  if (concurrency < 1 || concurrency > concurrencyMax) throw new UsageError(`--concurrency must be a number from 1 to ${concurrencyMax}.`)
  const debounceMs = (count(values, 'debounce') ?? 0) * 1000
  return { concurrency, debounceMs, retriesMax: count(values, 'retries') ?? retriesDefault, limit: count(values, 'count') }
}

const noteReset = (output: Context['output'], lost: string): void =>
  output.note(`The server has lost event ${lost} in a failover or a restore. Events since then may come again.`)

async function runForEach(context: Context, values: Values, command: string, query: Query): Promise<number> {
  const { output, environment } = context
  const { limit, ...numbers } = readNumbers(values)
  const callsign = await context.client()
  const caller = await callsign.me()
  const consumer = createHash('sha256')
    .update(JSON.stringify([caller.organization_id, command, query.agent, query.types]))
    .digest('hex')
  const state = resolve(text(values, 'state') ?? join(context.folder, 'listen', `${consumer.slice(0, 16)}.json`))
  const progress = await EventProgress.open(state)
  try {
    if (progress.after !== undefined && query.after !== undefined)
      throw new UsageError(`${state} has a position already. Omit --after, or delete the file to start at another event.`)
    output.note(`Events of ${nameOf(query, caller)} run the command. The position is kept in ${state}`)
    const stopped = new AbortController()
    const signal = AbortSignal.any([context.interruption(), stopped.signal])
    let handled = 0
    const runner = new EventRunner({
      ...numbers,
      signal,
      run: (events, attempt) => runCommand(command, events, attempt, environment, output),
      async finish(events, reason) {
        try {
          if (reason !== null) await recordFailed(`${state}.failed`, events, reason, output)
          await progress.finish(events.map(({ id }) => id))
        } catch (error) {
          stopped.abort(error)
          throw error
        }
        handled += events.length
        if (limit !== undefined && handled >= limit) stopped.abort()
      },
    })
    const after = progress.after ?? query.after
    if (after !== undefined) await progress.begin(after)
    const follow = { ...query, signal, ...(after !== undefined && { after }) }
    // The first start keeps its starting point, so that a restart before the first event misses none.
    const onStart = (start: string) => void progress.begin(start).catch((error: Error) => stopped.abort(error))
    const onReset = async (lost: string, start: string) => {
      noteReset(output, lost)
      await progress.reset(start).catch((error: Error) => stopped.abort(error))
    }
    try {
      for await (const event of callsign.events.follow({ ...follow, onStart, onReset })) {
        const isDone = progress.isDone(event.id)
        progress.read(event.id)
        if (!isDone) await runner.add(event)
      }
    } finally {
      if (!signal.aborted) stopped.abort()
      await runner.drain()
    }
    if (stopped.signal.reason instanceof Error && stopped.signal.reason.name !== 'AbortError') throw stopped.signal.reason
    return 0
  } finally {
    await progress.close()
  }
}
