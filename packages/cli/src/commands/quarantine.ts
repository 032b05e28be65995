// quarantine list|release|rm for messages that the guardrails of a mailbox have quarantined.
import { type Command, listOptions, listQuery } from '../command.ts'
import { table } from '../output.ts'

export const quarantineCommands: Command[] = [
  {
    words: 'quarantine list',
    takes: 'MAILBOX',
    about: 'Lists quarantined messages of a mailbox, newest first, with the reason for each.',
    options: listOptions,
    async run({ client, output }, values, [mailbox = '']) {
      const page = await (await client()).messages.list(mailbox, { status: 'quarantined', ...listQuery(values) })
      output.result(page, () =>
        table(
          ['ID', 'WHEN', 'FROM', 'SUBJECT', 'WHY', 'FLAGS'],
          page.data.map((one) => [
            one.id,
            one.created_at,
            one.from,
            one.subject,
            one.guardrail?.reason ?? '',
            one.flags.map((flag) => flag.type).join(' '),
          ]),
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'quarantine release',
    takes: 'MAILBOX ID',
    about: 'Releases a message from quarantine. It is listed from then on, and email.received is emitted.',
    async run({ client, output }, _values, [mailbox = '', id = '']) {
      const released = await (await client()).messages.release(mailbox, id)
      output.result(released, () => `${released.id} is ${released.status}.`)
      return 0
    },
  },
  {
    words: 'quarantine rm',
    takes: 'MAILBOX ID',
    about: 'Deletes a quarantined message permanently. Other messages are not deleted.',
    async run({ client, output }, _values, [mailbox = '', id = '']) {
      const { messages } = await client()
      const { status } = await messages.get(mailbox, id)
      if (status !== 'quarantined') throw new Error(`${id} is not in quarantine. Its status is ${status}.`)
      const deleted = await messages.delete(mailbox, id)
      output.result(deleted, () => `${deleted.id} is deleted.`)
      return 0
    },
  },
]
