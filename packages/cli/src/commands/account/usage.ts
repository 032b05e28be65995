// usage list.
import type { Command } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'

const subjects = ['organization', 'agent', 'domain'] as const

export const usageCommands: Command[] = [
  listCommand({
    words: 'usage list',
    about: 'Lists the counts of mail per day, newest day first. It needs an organization key.',
    example: 'callsign usage list --by agent --from 2026-03-01',
    operations: ['listUsage'],
    options: {
      by: { type: 'string', value: 'SUBJECT', field: 'by', choices: subjects, about: 'Count the organization, each agent or each domain.' },
      agent: { type: 'string', value: 'HANDLE', field: 'agent_handle', about: 'Only this agent.' },
      domain: { type: 'string', value: 'DOMAIN', field: 'domain', about: 'Only this domain.' },
      from: {
        type: 'string',
        value: 'DATE',
        field: 'start_date',
        about: 'The first day in UTC, YYYY-MM-DD. The default is 29 days before the last one.',
      },
      to: { type: 'string', value: 'DATE', field: 'end_date', about: 'The last day in UTC, YYYY-MM-DD. The default is today.' },
      ...listOptions,
    },
    call: (client, query) => client.usage.list(query),
    columns: {
      DATE: (one) => one.date,
      FOR: (one) => one.agent_handle ?? one.domain ?? 'organization',
      RECEIVED: ({ messages }) => String(messages.received),
      QUARANTINED: ({ messages }) => String(messages.quarantined),
      QUEUED: ({ messages }) => String(messages.queued),
      SENT: ({ messages }) => String(messages.sent),
      DELIVERED: ({ messages }) => String(messages.delivered),
      BOUNCED: ({ messages }) => String(messages.bounced),
      FAILED: ({ messages }) => String(messages.failed),
      COMPLAINED: ({ messages }) => String(messages.complained),
    },
  }),
]
