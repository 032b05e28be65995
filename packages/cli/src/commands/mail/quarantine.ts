// quarantine list|release|rm for messages that the guardrails of a mailbox have quarantined.
import type { Command } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'
import { chooseMailbox, mailboxOptions } from './mailbox.ts'
import { locateMessage } from './messages.ts'

export const quarantineCommands: Command[] = [
  listCommand({
    words: 'quarantine list',
    takes: '[MAILBOX]',
    about: 'Lists quarantined messages of a mailbox, newest first, with the reason for each.',
    example: 'callsign quarantine list sales',
    operations: ['listMessages'],
    options: { ...mailboxOptions, ...listOptions },
    call: async (client, query, [mailbox], values) =>
      client.messages.list(await chooseMailbox(client, values, mailbox), { status: 'quarantined', ...query }),
    columns: {
      ID: (one) => one.id,
      WHEN: (one) => ago(one.created_at),
      FROM: (one) => one.from,
      SUBJECT: (one) => one.subject,
      REASON: (one) => one.guardrail?.reason ?? '',
      FLAGS: (one) => one.flags.map((flag) => flag.type).join(' '),
    },
  }),
  {
    words: 'quarantine release',
    takes: '[MAILBOX] ID',
    about: 'Releases a message from quarantine. It is listed from then on, and email.received is emitted.',
    example: 'callsign quarantine release msg_01jq8',
    operations: ['releaseMessage', 'getMessage'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id, given)
      const released = await client.messages.release(mailbox, id)
      context.output.result(released, () => `${released.id} is ${released.status}.`)
      return 0
    },
  },
  {
    words: 'quarantine rm',
    takes: '[MAILBOX] ID',
    about: 'Deletes a quarantined message permanently. Other messages are not deleted.',
    example: 'callsign quarantine rm msg_01jq8',
    operations: ['deleteMessage', 'getMessage'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id, given)
      const { status } = await client.messages.get(mailbox, id)
      if (status !== 'quarantined') throw new Error(`${id} is not in quarantine. Its status is ${status}.`)
      const deleted = await client.messages.delete(mailbox, id)
      context.output.result(deleted, () => `${deleted.id} is deleted.`)
      return 0
    },
  },
]
