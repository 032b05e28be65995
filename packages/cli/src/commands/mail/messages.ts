// mail list|read|search|label|mark|trash|restore|delete.
import type { Callsign, Message, MessageSummary } from '@callsign/sdk'
import { type Command, type Context, several, switchOf, text, type Values } from '../../command.ts'
import { listOptions, listQuery } from '../../list-command.ts'
import { type Output, table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import { chooseMailbox, handlesOf, locate, mailboxOptions } from './mailbox.ts'
import { markFilterOptions, readMarkFilters } from './marks.ts'
import { messageFilterOptions, oneMailboxFilters, readMessageFilters } from './message-filters.ts'

/** The state that matters to a person: unread or not for received mail, the delivery for sent mail. */
const stateOf = (one: MessageSummary): string => (one.direction === 'outbound' ? one.status : one.is_read ? 'read' : 'unread')

const otherSide = (one: MessageSummary): string => (one.direction === 'outbound' ? `to ${one.to.join(', ')}` : one.from)

/** A table of messages with their mailboxes. */
export async function messageTable(client: Callsign, output: Output, messages: MessageSummary[]): Promise<string> {
  if (output.isJson) return ''
  const handles = await handlesOf(
    client,
    messages.map((one) => one.mailbox_id),
  )
  return table(
    ['ID', 'MAILBOX', 'DIR', 'STATE', 'WHEN', 'WITH', 'SUBJECT'],
    messages.map((one) => [
      one.id,
      handles.get(one.mailbox_id) ?? one.mailbox_id,
      one.direction === 'outbound' ? 'out' : 'in',
      stateOf(one),
      ago(one.created_at),
      otherSide(one),
      one.labels.length > 0 ? `${one.subject} [${one.labels.join(', ')}]` : one.subject,
    ]),
    output.width,
  )
}

async function list({ client, output }: Context, values: Values): Promise<number> {
  const callsign = await client()
  const filters = readMessageFilters(values)
  const onlyOne = oneMailboxFilters(values)
  const reason = onlyOne.length > 0 ? `${onlyOne.join(', ')} can filter the mail of one mailbox only.` : undefined
  const [thread, agent, mailbox] = [text(values, 'thread'), text(values, 'agent'), text(values, 'mailbox')]
  const view: 'standard' | 'summary' = output.isJson ? 'standard' : 'summary'
  const query = { ...listQuery(values), view, ...(thread !== undefined && { thread_id: thread }) }
  const page =
    onlyOne.length > 0 || mailbox !== undefined
      ? await callsign.messages.list(await chooseMailbox(callsign, values, undefined, reason), { ...query, ...filters })
      : await callsign.mail.list({ ...query, ...filters, ...(agent !== undefined && { agent }) })
  const lines = await messageTable(callsign, output, page.data)
  output.result(page, () => lines)
  if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
  return 0
}

/** The message as a person reads it, with warnings before the text. */
const shown = (message: Message): string =>
  [
    `From: ${message.from}`,
    `To: ${message.to.join(', ')}`,
    ...(message.cc.length > 0 ? [`Cc: ${message.cc.join(', ')}`] : []),
    `Date: ${message.created_at}`,
    `Subject: ${message.subject}`,
    ...(message.labels.length > 0 ? [`Labels: ${message.labels.join(', ')}`] : []),
    ...message.attachments.map((file) => `Attachment: ${file.filename} (${file.content_type}, ${file.size_bytes} bytes)`),
    ...message.codes.map((code) => `${code.kind === 'one_time_code' ? 'Code' : 'Link'}: ${code.value}`),
    ...message.flags.map((flag) => `Warning: ${flag.reason}`),
    '',
    message.text,
  ].join('\n')

/** Finds the mailbox of a message, unless it is given. */
export async function locateMessage(
  context: Context,
  values: Values,
  id: string,
  given?: string,
): Promise<{ client: Callsign; mailbox: string }> {
  const client = await context.client()
  const find = async () => (await client.mail.getMessages({ ids: [id] })).data[0]
  return { client, mailbox: await locate(client, values, { mailbox: given, id, kind: 'message', find }) }
}

const listCommands: Command[] = [
  {
    words: 'mail list',
    about: 'Lists mail of every mailbox, newest first. Filters such as --unread need --agent when there are several mailboxes.',
    example: 'callsign mail list --agent sales --unread',
    operations: ['listMail', 'listMessages', 'listMailboxes'],
    options: {
      ...mailboxOptions,
      thread: { type: 'string', value: 'ID', about: 'Only mail of this thread.' },
      ...messageFilterOptions,
      ...listOptions,
    },
    run: list,
  },
  {
    words: 'mail search',
    takes: 'QUERY',
    about: 'Searches a mailbox, newest first. Quote phrases, exclude words with -, and combine alternatives with OR.',
    example: "callsign mail search 'invoice OR receipt' --agent sales",
    operations: ['searchMessages'],
    options: { ...mailboxOptions, ...markFilterOptions, ...listOptions },
    async run({ client, output }, values, [q = '']) {
      const callsign = await client()
      const page = await callsign.messages.search(await chooseMailbox(callsign, values), {
        q,
        ...readMarkFilters(values),
        ...listQuery(values),
      })
      const lines = await messageTable(callsign, output, page.data)
      output.result(page, () => lines)
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
]

const changeCommands: Command[] = [
  {
    words: 'mail label',
    takes: 'ID',
    about: 'Adds labels to a message, or removes them. Without an option it lists them.',
    example: 'callsign mail label msg_01jq8 --add invoices --remove new',
    operations: ['updateMessage'],
    options: {
      add: { type: 'string', multiple: true, value: 'LABEL', about: 'A label to add. Repeatable.' },
      remove: { type: 'string', multiple: true, value: 'LABEL', about: 'A label to remove. Repeatable.' },
      ...mailboxOptions,
    },
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const [add, remove] = [several(values, 'add'), several(values, 'remove')]
      const change = { ...(add.length > 0 && { add_labels: add }), ...(remove.length > 0 && { remove_labels: remove }) }
      const changed =
        Object.keys(change).length > 0 ? await client.messages.update(mailbox, id, change) : await client.messages.get(mailbox, id)
      const { is_read, is_starred, labels } = changed
      context.output.result({ id, is_read, is_starred, labels }, () =>
        labels.length > 0 ? `${id} has the labels ${labels.join(', ')}.` : `${id} does not have a label.`,
      )
      return 0
    },
  },
  {
    words: 'mail mark',
    takes: 'ID',
    about: 'Marks a message as read or unread, or adds or removes its star.',
    example: 'callsign mail mark msg_01jq8 --read --star',
    operations: ['updateMessage'],
    options: {
      read: { type: 'boolean', about: 'Mark it as read.' },
      unread: { type: 'boolean', about: 'Mark it as unread.' },
      star: { type: 'boolean', about: 'Add the star.' },
      unstar: { type: 'boolean', about: 'Remove the star.' },
      ...mailboxOptions,
    },
    async run(context, values, [id = '']) {
      const change = { ...switchOf(values, 'read', 'is_read'), ...switchOf(values, 'star', 'is_starred') }
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. Give --read, --unread, --star or --unstar.')
      const { client, mailbox } = await locateMessage(context, values, id)
      const changed = await client.messages.update(mailbox, id, change)
      const words = [changed.is_read ? 'read' : 'unread', ...(changed.is_starred ? ['starred'] : [])]
      context.output.result(changed, () => `${id} is ${words.join(' and ')}.`)
      return 0
    },
  },
  {
    words: 'mail trash',
    takes: 'ID',
    about: 'Moves a message to the trash, where it stays for 30 days.',
    example: 'callsign mail trash msg_01jq8',
    operations: ['trashMessage'],
    options: mailboxOptions,
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const moved = await client.messages.trash(mailbox, id)
      context.output.result(moved, () => `${id} is in the trash. Take it out with callsign mail restore ${id}.`)
      return 0
    },
  },
  {
    words: 'mail restore',
    takes: 'ID',
    about: 'Takes a message out of the trash.',
    example: 'callsign mail restore msg_01jq8',
    operations: ['restoreMessage'],
    options: mailboxOptions,
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const moved = await client.messages.restore(mailbox, id)
      context.output.result(moved, () => `${id} is out of the trash.`)
      return 0
    },
  },
  {
    words: 'mail delete',
    takes: 'ID',
    about: 'Deletes a message and its attachments permanently.',
    example: 'callsign mail delete msg_01jq8',
    operations: ['deleteMessage'],
    options: mailboxOptions,
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const deleted = await client.messages.delete(mailbox, id)
      context.output.result(deleted, () => `${id} is deleted.`)
      return 0
    },
  },
]

export const messageCommands: Command[] = [
  ...listCommands,
  {
    words: 'mail read',
    takes: '[ID]',
    about:
      'Shows one message, found in any mailbox. Without an ID it shows the latest message of the mailbox. It stays unread without --mark-read.',
    example: 'callsign mail read msg_01jq8 --mark-read',
    operations: ['getMessage', 'updateMessage'],
    options: { ...mailboxOptions, 'mark-read': { type: 'boolean', about: 'Mark it as read.' } },
    async run(context, values, [id]) {
      const { client, mailbox, message } = await findMessage(context, values, id)
      const found = await client.messages.get(mailbox, message)
      if (values['mark-read'] === true) await client.messages.update(mailbox, found.id, { is_read: true })
      context.output.result(found, () => shown(found))
      return 0
    },
  },
  ...changeCommands,
]

/** The message with this id in the mailbox that has it, or without an id the latest received message of the chosen mailbox. */
export async function findMessage(
  context: Context,
  values: Values,
  id: string | undefined,
): Promise<{ client: Callsign; mailbox: string; message: string }> {
  if (id !== undefined) return { ...(await locateMessage(context, values, id)), message: id }
  const client = await context.client()
  const mailbox = await chooseMailbox(client, values)
  const { data } = await client.messages.list(mailbox, { direction: 'inbound', limit: 1 })
  if (!data[0]) throw new UsageError(`${mailbox} does not have received mail. Give the ID of a message.`)
  return { client, mailbox, message: data[0].id }
}
