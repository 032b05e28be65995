// events list|socket-token.
import type { CallsignEvent } from '@callsign/sdk'
import { type Command, listOptions, listQuery, type Option, text } from '../command.ts'
import { table } from '../output.ts'
import { ago } from '../times.ts'

/** Filters of the event log and of its stream. */
export const eventFilters: Record<string, Option> = {
  agent: { type: 'string', value: 'HANDLE', about: 'Only events of this agent.' },
  types: { type: 'string', value: 'TYPES', about: 'Only these event types, separated by commas.' },
}

export const eventCommands: Command[] = [
  {
    words: 'events list',
    about: 'Lists events, oldest first by default. The ID of the last one is the --cursor of the next request.',
    example: 'callsign events list --types email.received,email.bounced',
    operations: ['listEvents'],
    options: {
      ...eventFilters,
      since: {
        type: 'string',
        value: 'TIME',
        about: 'Start with the events of this time in ISO 8601. Without --newest, --cursor takes precedence.',
      },
      newest: { type: 'boolean', about: 'Newest first.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const [agent, types, since] = [text(values, 'agent'), text(values, 'types'), text(values, 'since')]
      const order = values.newest === true ? { order: 'desc' as const } : {}
      const query = {
        ...listQuery(values),
        ...order,
        ...(agent !== undefined && { agent }),
        ...(types !== undefined && { types }),
        ...(since !== undefined && { since }),
      }
      const page = await (await client()).events.list(query)
      output.result(page, () =>
        table(
          ['ID', 'WHEN', 'TYPE', 'ABOUT'],
          page.data.map((one) => [one.id, ago(one.timestamp), one.type, aboutOf(one)]),
          output.width,
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'events socket-token',
    about: 'Creates a token that opens a WebSocket of events within 60 seconds, for a page that must not have the key.',
    example: 'callsign events socket-token',
    operations: ['createSocketToken'],
    async run({ client, output }) {
      const created = await (await client()).events.createSocketToken()
      output.result(created, () => created.token)
      return 0
    },
  },
]

/** The subject, text or id of the object of an event. */
function aboutOf({ data }: CallsignEvent): string {
  const [about] = ['subject', 'text', 'domain', 'phone_number', 'id'].map((name) => data[name]).filter((one) => typeof one === 'string')
  const agent = typeof data.agent_handle === 'string' ? `${data.agent_handle}: ` : ''
  return `${agent}${about ?? ''}`
}
