// events list|socket-token.
import type { CallsignEvent } from '@callsign/sdk'
import { type Command, type Option, several, type Values } from '../../command.ts'
import { listCommand, listOptions, orderOf } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'

/** Filters of the event log and of its stream. */
export const eventFilters: Record<string, Option> = {
  agent: { type: 'string', value: 'HANDLE', field: 'agent', about: 'Only events of this agent.' },
  event: { type: 'string', multiple: true, value: 'TYPE', about: 'Only events of this type, such as email.received. Repeatable.' },
}

/** The types of the filter, as the API takes them. */
export const readTypes = (values: Values): { types?: string } => {
  const types = several(values, 'event')
  return types.length > 0 ? { types: types.join(',') } : {}
}

export const eventCommands: Command[] = [
  listCommand({
    words: 'events list',
    about: 'Lists events, newest first. With --oldest, the ID of the last one is the --cursor of the next request.',
    example: 'callsign events list --event email.received --event email.bounced',
    operations: ['listEvents'],
    options: {
      ...eventFilters,
      since: {
        type: 'string',
        value: 'TIME',
        field: 'since',
        about: 'Only events since this time in ISO 8601. With --oldest, --cursor takes precedence.',
      },
      oldest: { type: 'boolean', about: 'Oldest first, to continue where a program stopped.' },
      ...listOptions,
    },
    call: (client, query, _given, values) => client.events.list({ ...query, ...readTypes(values), ...orderOf(values) }),
    columns: {
      ID: (one) => one.id,
      WHEN: (one) => ago(one.timestamp),
      TYPE: (one) => one.type,
      ABOUT: aboutOf,
    },
  }),
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
