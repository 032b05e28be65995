// audit list.
import type { Command } from '../../command.ts'
import { listCommand } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'

export const auditCommands: Command[] = [
  listCommand({
    words: 'audit list',
    about: 'Lists the audit log, newest first. It needs an organization key.',
    example: 'callsign audit list --limit 10',
    operations: ['listAudit'],
    call: (client, query) => client.audit.list(query),
    columns: {
      WHEN: (one) => ago(one.created_at),
      ACTION: (one) => one.action,
      TARGET: (one) => one.target_id ?? '-',
      ACTOR: (one) => one.actor_id ?? one.actor_type,
      REQUEST: (one) => one.request_id ?? '-',
    },
  }),
]
