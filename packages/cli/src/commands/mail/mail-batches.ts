// mail send-batch|get|update.
import type { Callsign } from '@callsign/sdk'
import { type Command, type Option, several, switchOf, type Values } from '../../command.ts'
import { table } from '../../terminal/output.ts'
import { UsageError } from '../../usage-error.ts'
import { keyed, keyOption } from '../drafts/mail-body.ts'
import { markChangeOptions, readMarkChange } from './marks.ts'
import { messageTable } from './messages.ts'

type Batch = Parameters<Callsign['mail']['sendBatch']>[0]

const idOption: Record<string, Option> = { id: { type: 'string', multiple: true, value: 'ID', about: 'A message. Repeatable, up to 500.' } }

function readIds(values: Values): string[] {
  const ids = several(values, 'id')
  if (ids.length === 0) throw new UsageError('--id is required. Give the id of a message, once or more often.')
  return ids
}

/** The messages of a file: a JSON array of bodies of POST /mail/send. The server checks each. */
function readMessages(content: string, file: string): Batch['messages'] {
  try {
    const messages: unknown = JSON.parse(content)
    if (Array.isArray(messages)) return messages
  } catch {
    // Reported below, like JSON of another form.
  }
  throw new UsageError(`${file} must be a JSON array of messages, each with agent, to, subject and text.`)
}

export const mailBatchCommands: Command[] = [
  {
    words: 'mail send-batch',
    takes: 'FILE',
    about: 'Sends up to 100 messages, from a JSON array in a file or - for standard input. Without --permissive it sends all or none.',
    example: 'callsign mail send-batch orders.json',
    operations: ['sendBatch'],
    options: { permissive: { type: 'boolean', about: 'Send what can be sent, and report the rest.' }, ...keyOption },
    async run(context, values, [file = '']) {
      const messages = readMessages(await context.input.file(file), file)
      const client = await context.client()
      const mode = values.permissive === true ? 'permissive' : 'strict'
      const sent = await client.mail.sendBatch({ messages, mode }, keyed(values))
      context.output.result(sent, () =>
        table(
          ['INDEX', 'STATUS', 'ID', 'ERROR'],
          sent.data.map((one) => [String(one.index), one.status, one.id ?? '', one.error?.message ?? '']),
          context.output.width,
        ),
      )
      return sent.refused > 0 ? 1 : 0
    },
  },
  {
    words: 'mail get',
    about: 'Gets up to 500 messages of any mailbox.',
    example: 'callsign mail get --id msg_01jq8 --id msg_01jq9',
    operations: ['getMessages'],
    options: idOption,
    async run(context, values) {
      const ids = readIds(values)
      const client = await context.client()
      const found = await client.mail.getMessages({ ids })
      const lines = await messageTable(client, context.output, found.data)
      context.output.result(found, () => lines)
      if (!context.output.isJson) {
        if (found.missing.length > 0) context.output.note(`Not found: ${found.missing.join(', ')}`)
        if (found.left.length > 0) context.output.note(`Left for the next request: ${found.left.join(', ')}`)
      }
      return 0
    },
  },
  {
    words: 'mail update',
    about: 'Changes flags, labels, tags and metadata of up to 500 messages of any mailbox, or moves them to the trash, all at once.',
    example: 'callsign mail update --id msg_01jq8 --id msg_01jq9 --read --add invoices',
    operations: ['updateMessages'],
    options: {
      ...idOption,
      read: { type: 'boolean', about: 'Mark them as read.' },
      unread: { type: 'boolean', about: 'Mark them as unread.' },
      star: { type: 'boolean', about: 'Add the star.' },
      unstar: { type: 'boolean', about: 'Remove the star.' },
      trash: { type: 'boolean', about: 'Move them to the trash.' },
      untrash: { type: 'boolean', about: 'Take them out of the trash.' },
      add: { type: 'string', multiple: true, value: 'LABEL', about: 'A label to add. Repeatable.' },
      remove: { type: 'string', multiple: true, value: 'LABEL', about: 'A label to remove. Repeatable.' },
      ...markChangeOptions,
    },
    async run(context, values) {
      const [add, remove] = [several(values, 'add'), several(values, 'remove')]
      const change = {
        ...switchOf(values, 'read', 'is_read'),
        ...switchOf(values, 'star', 'is_starred'),
        ...switchOf(values, 'trash', 'is_trashed'),
        ...(add.length > 0 && { add_labels: add }),
        ...(remove.length > 0 && { remove_labels: remove }),
        ...readMarkChange(values),
      }
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. Give an option such as --read, --trash or --add.')
      const ids = readIds(values)
      const client = await context.client()
      const changed = await client.mail.updateMessages({ ids, ...change })
      const missing = changed.missing.length > 0 ? ` Not found: ${changed.missing.join(', ')}.` : ''
      context.output.result(changed, () => `Changed ${changed.data.length} messages.${missing}`)
      return 0
    },
  },
]
