// suppressions list|add|rm.
import { type Command, listOptions, listQuery, text } from '../command.ts'
import { table } from '../output.ts'
import { UsageError } from '../usage-error.ts'

const sources = ['manual', 'bounce', 'complaint'] as const

export const suppressionCommands: Command[] = [
  {
    words: 'suppressions list',
    about: 'Lists suppressed addresses, newest first.',
    options: {
      address: { type: 'string', value: 'ADDRESS', about: 'Only this address.' },
      source: { type: 'string', value: 'SOURCE', about: 'manual, bounce or complaint.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const [address, wanted] = [text(values, 'address'), text(values, 'source')]
      const source = sources.find((one) => one === wanted)
      if (wanted !== undefined && !source) throw new UsageError(`--source must be one of ${sources.join(', ')}.`)
      const query = { ...listQuery(values), ...(address !== undefined && { email_address: address }), ...(source && { source }) }
      const page = await (await client()).suppressions.list(query)
      output.result(page, () =>
        table(
          ['ADDRESS', 'SOURCE', 'SINCE', 'REASON'],
          page.data.map((one) => [one.email_address, one.source, one.created_at, one.reason ?? '']),
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
    options: { reason: { type: 'string', value: 'TEXT', about: 'Why.' } },
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
    async run({ client, output }, _values, [address = '']) {
      const deleted = await (await client()).suppressions.delete(address)
      output.result(deleted, () => `${address} is not suppressed any more. Mail is sent to it again.`)
      return 0
    },
  },
]
