// usage list.
import { type Command, listOptions, listQuery, oneOf, text } from '../../command.ts'
import { table } from '../../terminal/output.ts'

const subjects = ['organization', 'agent', 'domain'] as const

export const usageCommands: Command[] = [
  {
    words: 'usage list',
    about: 'Lists the counts of mail per day, newest day first. It needs an organization key.',
    example: 'callsign usage list --by agent --from 2026-03-01',
    operations: ['listUsage'],
    options: {
      by: { type: 'string', value: 'SUBJECT', choices: subjects, about: 'Count the organization, each agent or each domain.' },
      agent: { type: 'string', value: 'HANDLE', about: 'Only this agent.' },
      domain: { type: 'string', value: 'DOMAIN', about: 'Only this domain.' },
      from: { type: 'string', value: 'DATE', about: 'The first day in UTC, YYYY-MM-DD. The default is 29 days before the last one.' },
      to: { type: 'string', value: 'DATE', about: 'The last day in UTC, YYYY-MM-DD. The default is today.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const by = oneOf(values, 'by', subjects)
      const agent = text(values, 'agent')
      const domain = text(values, 'domain')
      const from = text(values, 'from')
      const to = text(values, 'to')
      const page = await (await client()).usage.list({
        ...(by !== undefined && { by }),
        ...(agent !== undefined && { agent_handle: agent }),
        ...(domain !== undefined && { domain }),
        ...(from !== undefined && { start_date: from }),
        ...(to !== undefined && { end_date: to }),
        ...listQuery(values),
      })
      output.result(page, (width) =>
        table(
          ['DATE', 'FOR', 'RECEIVED', 'QUARANTINED', 'QUEUED', 'SENT', 'DELIVERED', 'BOUNCED', 'FAILED', 'COMPLAINED'],
          page.data.map(({ date, agent_handle, domain, messages }) => [
            date,
            agent_handle ?? domain ?? 'organization',
            ...[
              messages.received,
              messages.quarantined,
              messages.queued,
              messages.sent,
              messages.delivered,
              messages.bounced,
              messages.failed,
              messages.complained,
            ].map(String),
          ]),
          width,
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
]
