// audit list.
import { type Command, listOptions, listQuery } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'

export const auditCommands: Command[] = [
  {
    words: 'audit list',
    about: 'Lists the audit log, newest first. It needs an organization key.',
    example: 'callsign audit list --limit 10',
    operations: ['listAudit'],
    options: listOptions,
    async run({ client, output }, values) {
      const page = await (await client()).audit.list(listQuery(values))
      output.result(page, (width) =>
        table(
          ['WHEN', 'ACTION', 'TARGET', 'ACTOR', 'REQUEST'],
          page.data.map((one) => [
            ago(one.created_at),
            one.action,
            one.target_id ?? '-',
            one.actor_id ?? one.actor_type,
            one.request_id ?? '-',
          ]),
          width,
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
]
