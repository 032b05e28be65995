// suppressions list|add|rm.
import { type Command, listOptions, listQuery, text } from '../command.ts'
import { table } from '../output.ts'
import { UsageError } from '../usage-error.ts'

const sources = ['manual', 'bounce', 'complaint'] as const

export const suppressionCommands: Command[] = [
  {
    words: 'suppressions list',
    about: 'Lists addresses that mail does not go to any more, newest first.',
    options: {
      address: { type: 'string', value: 'ADDRESS', about: 'This address alone.' },
      source: { type: 'string', value: 'SOURCE', about: 'manual, bounce or complaint.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const [address, wanted] = [text(values, 'address'), text(values, 'source')]
      const source = sources.find((one) => one === wanted)
      if (wanted !== undefined && !source) throw new UsageError(`--source takes ${sources.join(', ')}.`)
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
    about: 'Puts an address on the list: no mail goes to it any more.',
    options: { reason: { type: 'string', value: 'TEXT', about: 'Why.' } },
    async run({ client, output }, values, [address = '']) {
      const reason = text(values, 'reason')
      const suppression = await (await client()).suppressions.create({ email_address: address, ...(reason !== undefined && { reason }) })
      output.result(suppression, () => `${suppression.email_address} gets no more mail.`)
      return 0
    },
  },
  {
    words: 'suppressions rm',
    takes: 'ADDRESS',
    about: 'Takes an address off the list.',
    async run({ client, output }, _values, [address = '']) {
      const deleted = await (await client()).suppressions.delete(address)
      output.result(deleted, () => `${address} gets mail again.`)
      return 0
    },
  },
]
