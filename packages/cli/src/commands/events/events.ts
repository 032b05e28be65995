// events list|socket-token.
import type { CallsignEvent } from '@callsign/sdk'
import { type Command, listOptions, listQuery, type Option, orderOf, several, text, type Values } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'

/** Filters of the event log and of its stream. */
export const eventFilters: Record<string, Option> = {
  agent: { type: 'string', value: 'HANDLE', about: 'Only events of this agent.' },
  event: { type: 'string', multiple: true, value: 'TYPE', about: 'Only events of this type, such as email.received. Repeatable.' },
}

/** The types of the filter, as the API takes them. */
export const readTypes = (values: Values): { types?: string } => {
  const types = several(values, 'event')
  return types.length > 0 ? { types: types.join(',') } : {}
}

export const eventCommands: Command[] = [
  {
    words: 'events list',
    about: 'Lists events, newest first. With --oldest, the ID of the last one is the --cursor of the next request.',
    example: 'callsign events list --event email.received --event email.bounced',
    operations: ['listEvents'],
    options: {
      ...eventFilters,
      since: {
        type: 'string',
        value: 'TIME',
        about: 'Only events since this time in ISO 8601. With --oldest, --cursor takes precedence.',
      },
      oldest: { type: 'boolean', about: 'Oldest first, to continue where a program stopped.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const [agent, since] = [text(values, 'agent'), text(values, 'since')]
      const query = {
        ...listQuery(values),
        ...readTypes(values),
        ...orderOf(values),
        ...(agent !== undefined && { agent }),
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

/** The agent and the subject, text or name that the event is about. */
export function aboutOf({ data }: CallsignEvent): string {
  const [about] = ['subject', 'text', 'domain', 'phone_number', 'id'].map((name) => data[name]).filter((one) => typeof one === 'string')
  const agent = typeof data.agent_handle === 'string' ? `${data.agent_handle}: ` : ''
  return `${agent}${about ?? ''}`
}
