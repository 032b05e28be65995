// labels list|create|update|delete.
import { type Command, clientIdOption, type Option, readClientId, text } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { UsageError } from '../../usage-error.ts'
import { chooseMailbox, mailboxOptions } from './mailbox.ts'

const color: Option = { type: 'string', value: '#RRGGBB', about: 'The color of the label.' }

export const labelCommands: Command[] = [
  listCommand({
    words: 'labels list',
    about: 'Lists the labels of a mailbox, newest first.',
    example: 'callsign labels list --agent sales',
    operations: ['listLabels'],
    options: { ...mailboxOptions, ...listOptions },
    call: async (client, query, _given, values) => client.labels.list(await chooseMailbox(client, values), query),
    columns: {
      ID: (label) => label.id,
      NAME: (label) => label.name,
      COLOR: (label) => label.color,
    },
  }),
  {
    words: 'labels create',
    takes: 'NAME',
    about: 'Defines a label with a color. Messages and threads may have labels that are not defined.',
    example: "callsign labels create invoice --color '#E93D82' --agent sales",
    operations: ['createLabel'],
    options: { ...mailboxOptions, color, ...clientIdOption },
    async run(context, values, [name = '']) {
      const client = await context.client()
      const own = text(values, 'color')
      const mailbox = await chooseMailbox(client, values)
      const label = await client.labels.create(mailbox, { name, ...(own !== undefined && { color: own }), ...readClientId(values) })
      context.output.result(label, () => `${label.id} ${label.name}`)
      return 0
    },
  },
  {
    words: 'labels update',
    takes: 'ID',
    about: 'Changes the name or the color of a label. Messages and threads get the new name.',
    example: 'callsign labels update lbl_01jq8 --name paid --agent sales',
    operations: ['updateLabel'],
    options: { ...mailboxOptions, name: { type: 'string', value: 'NAME', about: 'The new name.' }, color },
    async run(context, values, [id = '']) {
      const [name, own] = [text(values, 'name'), text(values, 'color')]
      if (name === undefined && own === undefined) throw new UsageError('Give --name or --color.')
      const client = await context.client()
      const change = { ...(name !== undefined && { name }), ...(own !== undefined && { color: own }) }
      const label = await client.labels.update(await chooseMailbox(client, values), id, change)
      context.output.result(label, () => `${label.id} ${label.name} ${label.color}`)
      return 0
    },
  },
  {
    words: 'labels delete',
    takes: 'ID',
    about: 'Deletes a label, and removes it from messages and threads.',
    example: 'callsign labels delete lbl_01jq8 --agent sales',
    operations: ['deleteLabel'],
    options: mailboxOptions,
    async run(context, values, [id = '']) {
      const client = await context.client()
      const deleted = await client.labels.delete(await chooseMailbox(client, values), id)
      context.output.result(deleted, () => `${id} is deleted.`)
      return 0
    },
  },
]
