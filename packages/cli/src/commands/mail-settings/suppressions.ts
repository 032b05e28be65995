// suppressions list|add|rm.
import { type Command, text } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'

const sources = ['manual', 'bounce', 'complaint'] as const

export const suppressionCommands: Command[] = [
  listCommand({
    words: 'suppressions list',
    about: 'Lists suppressed addresses, newest first.',
    example: 'callsign suppressions list --source bounce',
    operations: ['listSuppressions'],
    options: {
      address: { type: 'string', value: 'ADDRESS', field: 'email_address', about: 'Only this address.' },
      id: { type: 'string', value: 'ID', field: 'id', about: 'Only the entry with this id.' },
      source: { type: 'string', value: 'SOURCE', field: 'source', choices: sources, about: 'manual, bounce or complaint.' },
      ...listOptions,
    },
    call: (client, query) => client.suppressions.list(query),
    columns: {
      ADDRESS: (one) => one.email_address,
      SOURCE: (one) => one.source,
      SINCE: (one) => ago(one.created_at),
      REASON: (one) => one.reason ?? '',
    },
  }),
  {
    words: 'suppressions add',
    takes: 'ADDRESS',
    about: 'Adds an address to the list, so that no more mail is sent to it.',
    example: "callsign suppressions add ada@example.com --reason 'Asked by telephone'",
    operations: ['createSuppression'],
    options: { reason: { type: 'string', value: 'TEXT', about: 'The reason, for the list.' } },
    async run({ client, output }, values, [address = '']) {
      const reason = text(values, 'reason')
      const suppression = await (await client()).suppressions.create({ email_address: address, ...(reason !== undefined && { reason }) })
      output.result(suppression, () => `${suppression.email_address} is suppressed. No more mail is sent to it.`)
      return 0
    },
  },
  {
    words: 'suppressions rm',
    takes: 'ADDRESS',
    about: 'Removes an address from the list.',
    example: 'callsign suppressions rm ada@example.com',
    operations: ['deleteSuppression'],
    async run({ client, output }, _values, [address = '']) {
      const deleted = await (await client()).suppressions.delete(address)
      output.result(deleted, () => `${address} is not suppressed any more. Mail is sent to it again.`)
      return 0
    },
  },
]
