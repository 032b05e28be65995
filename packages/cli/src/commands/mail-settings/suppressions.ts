// suppressions list|add|rm.
import { type Command, listOptions, listQuery, oneOf, text } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'

const sources = ['manual', 'bounce', 'complaint'] as const

export const suppressionCommands: Command[] = [
  {
    words: 'suppressions list',
    about: 'Lists suppressed addresses, newest first.',
    example: 'callsign suppressions list --source bounce',
    operations: ['listSuppressions'],
    options: {
      address: { type: 'string', value: 'ADDRESS', about: 'Only this address.' },
      id: { type: 'string', value: 'ID', about: 'Only the entry with this id.' },
      source: { type: 'string', value: 'SOURCE', choices: sources, about: 'manual, bounce or complaint.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const [address, id, source] = [text(values, 'address'), text(values, 'id'), oneOf(values, 'source', sources)]
      const query = {
        ...listQuery(values),
        ...(address !== undefined && { email_address: address }),
        ...(id !== undefined && { id }),
        ...(source && { source }),
      }
      const page = await (await client()).suppressions.list(query)
      output.result(page, (width) =>
        table(
          ['ADDRESS', 'SOURCE', 'SINCE', 'REASON'],
          page.data.map((one) => [one.email_address, one.source, ago(one.created_at), one.reason ?? '']),
          width,
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
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
