// tunnel TARGET, and tunnels list|show|set|requests|replay.
import type { Callsign, ListenOptions, TunnelChange } from '@callsign/sdk'
import { type Command, type Context, count, oneOf, several, text, type Values } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { readBytes } from '../../session/files.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import { RequestTable } from './request-table.ts'

type ReplayChanges = NonNullable<Parameters<Callsign['tunnels']['replay']>[2]>

const transports = ['auto', 'upgrade', 'web-socket'] as const
const statuses = ['active', 'suspended', 'disabled'] as const
const captures = ['off', 'headers', 'bodies'] as const

export const tunnelCommands: Command[] = [
  {
    words: 'tunnel',
    takes: 'TARGET',
    about: "Serves an agent's public address from a local port or address, until you interrupt it.",
    example: 'callsign tunnel 3000 --agent sales',
    operations: ['getTunnel'],
    options: {
      agent: { type: 'string', value: 'HANDLE', about: 'The agent whose address is served. With an agent key, defaults to its own agent.' },
      'host-header': {
        type: 'string',
        value: 'HOST',
        about: 'The Host header sent to the target. Defaults to its own address. `preserve` keeps the original Host.',
      },
      connections: { type: 'string', value: 'N', about: 'Number of connections to keep open, 1-8. Defaults to 2.' },
      'allow-remote': { type: 'boolean', about: 'Allow a TARGET on another machine.' },
      'no-tls-verify': { type: 'boolean', about: 'Accept any certificate of an https:// TARGET, such as a self-signed one.' },
      proxy: { type: 'string', value: 'URL', about: 'An HTTP proxy, or `none`. Defaults to HTTPS_PROXY and related variables.' },
      transport: { type: 'string', value: 'NAME', choices: transports, about: 'auto, upgrade or web-socket.' },
      'ca-file': { type: 'string', value: 'FILE', about: 'A PEM file with an additional certificate authority to trust.' },
    },
    run: async (context, values, [target = '']) => serve(context, values, target),
  },
  listCommand({
    words: 'tunnels list',
    about: 'Lists tunnels, newest first.',
    example: 'callsign tunnels list',
    operations: ['listTunnels'],
    options: {
      ...listOptions,
      status: { type: 'string', value: 'STATUS', field: 'status', choices: statuses, about: 'active, suspended or disabled.' },
    },
    call: (client, query) => client.tunnels.list(query),
    next: ({ has_more, data }) => (has_more ? data.at(-1)?.id : null),
    columns: {
      HANDLE: (one) => one.agent_handle,
      ADDRESS: (one) => one.local_url ?? one.public_url,
      STATUS: (one) => one.status,
      CLIENTS: (one) => String(one.connected_clients),
      'LAST REQUEST': (one) => ago(one.last_request_at),
    },
  }),
  {
    words: 'tunnels show',
    takes: 'HANDLE',
    about: 'Shows one tunnel.',
    example: 'callsign tunnels show sales',
    operations: ['getTunnel'],
    async run({ client, output }, _values, [handle = '']) {
      const one = await (await client()).tunnels.get(handle)
      output.result(one, () =>
        [
          `handle        ${one.agent_handle}`,
          `id            ${one.id}`,
          `address       ${one.local_url ?? one.public_url}`,
          ...(one.local_url ? [`with HTTPS    ${one.public_url} (needs a certificate)`] : []),
          `status        ${one.status}`,
          `clients       ${one.connected_clients}`,
          `last request  ${one.last_request_at ?? '-'}`,
          `capture       ${one.capture}`,
        ].join('\n'),
      )
      return 0
    },
  },
  {
    words: 'tunnels set',
    takes: 'HANDLE',
    about: 'Sets the status of a tunnel, or the captured parts of its requests.',
    example: 'callsign tunnels set sales --capture headers',
    operations: ['updateTunnel'],
    options: {
      status: { type: 'string', value: 'STATUS', choices: statuses, about: 'active, suspended or disabled.' },
      capture: { type: 'string', value: 'MODE', choices: captures, about: 'off, headers or bodies.' },
    },
    async run({ client, output }, values, [handle = '']) {
      const status = oneOf(values, 'status', statuses)
      const capture = oneOf(values, 'capture', captures)
      if (!status && !capture) throw new UsageError('--status or --capture is required.')
      const one = await (await client()).tunnels.update(handle, { ...(status && { status }), ...(capture && { capture }) })
      output.result(one, () => `${one.local_url ?? one.public_url} is ${one.status}, capture ${one.capture}.`)
      return 0
    },
  },
  listCommand({
    words: 'tunnels requests',
    takes: 'HANDLE',
    about: 'Lists the latest requests through a tunnel, newest first.',
    example: 'callsign tunnels requests sales',
    operations: ['listTunnelRequests'],
    call: (client, query, [handle = '']) => client.tunnels.requests(handle, query),
    columns: {
      ID: (one) => one.id,
      WHEN: (one) => ago(one.created_at),
      METHOD: (one) => one.method,
      PATH: (one) => one.path,
      STATUS: (one) => one.error ?? String(one.status ?? '-'),
      MS: (one) => String(one.duration_ms),
    },
  }),
  {
    words: 'tunnels replay',
    takes: 'HANDLE REQUEST',
    about: 'Sends a captured request through the tunnel again, with changes if you give some.',
    example: "callsign tunnels replay sales treq_01jq8 --path '/orders?test=1'",
    operations: ['replayTunnelRequest'],
    options: {
      method: { type: 'string', value: 'METHOD', about: 'Another method, such as PUT.' },
      path: { type: 'string', value: 'PATH', about: 'Another path with its query.' },
      header: { type: 'string', multiple: true, value: "'NAME: VALUE'", about: 'Replaces all captured headers. Repeatable.' },
      'body-file': { type: 'string', value: 'FILE', about: 'A file with another body.' },
    },
    async run({ client, output }, values, [handle = '', id = '']) {
      const one = await (await client()).tunnels.replay(handle, id, await readChanges(values))
      output.result(one, () => `${one.method} ${one.path} ${one.error ?? one.status} ${one.duration_ms} ms`)
      return 0
    },
  },
]

/** The parts that replace those of a captured request. */
async function readChanges(values: Values): Promise<ReplayChanges> {
  const [method, path, bodyFile] = [text(values, 'method'), text(values, 'path'), text(values, 'body-file')]
  const headers = several(values, 'header').map((field): [string, string] => {
    const colon = field.indexOf(':')
    if (colon < 1) throw new UsageError(`--header '${field}' has no colon. Write 'Name: value'.`)
    return [field.slice(0, colon).trim(), field.slice(colon + 1).trim()]
  })
  return {
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...(path !== undefined && { path }),
    ...(headers.length > 0 && { headers }),
    ...(bodyFile !== undefined && { body: (await readBytes(bodyFile)).toString('base64') }),
  }
}

async function ownHandle(callsign: Callsign): Promise<string> {
  const { key } = await callsign.me()
  if (key.agent_handle === null) throw new UsageError('--agent is required, because this key belongs to the whole organization.')
  return key.agent_handle
}

async function serve({ client, output, interruption }: Context, values: Values, target: string): Promise<number> {
  const transport = oneOf(values, 'transport', transports)
  const connections = count(values, 'connections')
  if (connections !== undefined && (connections < 1 || connections > 8)) throw new UsageError('--connections must be a number from 1 to 8.')
  const hostHeader = text(values, 'host-header')
  const proxy = text(values, 'proxy')
  const caFile = text(values, 'ca-file')
  const callsign = await client()
  const handle = text(values, 'agent') ?? (await ownHandle(callsign))
  const view = new RequestTable(output)
  const interrupted = interruption()
  const options: ListenOptions = {
    signal: interrupted,
    onRequest: (request) => view.add(request),
    onChange: (change) => (output.isJson ? output.line(jsonOf(change)) : view.say(sentenceOf(change))),
    ...(transport && { transport }),
    ...(connections !== undefined && { connections }),
    ...(hostHeader !== undefined && { hostHeader }),
    ...(values['allow-remote'] === true && { allowRemote: true }),
    ...(values['no-tls-verify'] === true && { verifyTarget: false }),
    ...(proxy !== undefined && { proxy: proxy === 'none' ? null : proxy }),
    ...(caFile !== undefined && { ca: (await readBytes(caFile)).toString() }),
  }
  try {
    const listener = await callsign.tunnels.listen(handle, target, options)
    if (!output.isJson) view.say(`${listener.localUrl ?? listener.publicUrl} leads to ${listener.target}`)
    await listener.done
    return 0
  } catch (error) {
    if (interrupted.aborted) return 0
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  } finally {
    view.close()
  }
}

/** Prints the change with the field names of the API, such as `{"event": "connected", "public_url": …}`. */
function jsonOf({ state, ...about }: TunnelChange): Record<string, unknown> {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const pairs = Object.entries(about).map(([name, value]) => [snake(name), value])
  return { event: state.replaceAll('-', '_'), ...Object.fromEntries(pairs) }
}

function sentenceOf(change: TunnelChange): string {
  switch (change.state) {
    case 'connected':
      return `Connected (${change.connection}${change.transport === 'web-socket' ? ', WebSocket' : ''}).`
    case 'draining':
      return `Connection ${change.connection} is moving: ${change.reason}`
    case 'target-unreachable':
      return `${change.target} cannot be reached: ${change.reason}${/certificate/i.test(change.reason) ? ' (--no-tls-verify takes any certificate)' : ''}`
    default:
      return `Connection ${change.connection} was lost (${change.reason}). Retrying in ${(change.retryInMs / 1000).toFixed(1)} seconds.`
  }
}
