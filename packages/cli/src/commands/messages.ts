// mail list|read|search.
import type { MessageItem } from '@callsign/sdk'
import { type Command, listOptions, listQuery, needed, text } from '../command.ts'
import { table } from '../output.ts'

const rowsOf = (messages: MessageItem[]): string =>
  table(
    ['ID', 'WHEN', 'FROM', 'SUBJECT'],
    messages.map((one) => [one.id, one.created_at, one.from, one.subject]),
  )

export const messageCommands: Command[] = [
  {
    words: 'mail list',
    about: 'Lists mail, newest first.',
    options: {
      agent: { type: 'string', value: 'HANDLE', about: 'Only mail of this agent.' },
      thread: { type: 'string', value: 'ID', about: 'Only mail of this thread.' },
      ...listOptions,
    },
    async run({ client, output }, values) {
      const agent = text(values, 'agent')
      const thread = text(values, 'thread')
      const query = { ...listQuery(values), ...(agent !== undefined && { agent }), ...(thread !== undefined && { thread_id: thread }) }
      const list = await (await client()).mail.list(query)
      output.result(list, () => rowsOf(list.messages))
      if (list.next_cursor && !output.isJson) output.note(`More: --cursor ${list.next_cursor}`)
      return 0
    },
  },
  {
    words: 'mail read',
    takes: 'ID',
    about: 'Shows one message. It stays unread without --mark-read.',
    options: {
      mailbox: { type: 'string', value: 'MAILBOX', about: 'The address or handle of the mailbox.' },
      'mark-read': { type: 'boolean', about: 'Mark it as read.' },
    },
    async run({ client, output }, values, [id = '']) {
      const mailbox = needed(values, 'mailbox')
      const { messages } = await client()
      const message = await messages.get(mailbox, id)
      if (values['mark-read'] === true) await messages.update(mailbox, id, { is_read: true })
      output.result(message, () =>
        [
          `From: ${message.from}`,
          `To: ${message.to.join(', ')}`,
          ...(message.cc.length > 0 ? [`Cc: ${message.cc.join(', ')}`] : []),
          `Date: ${message.created_at}`,
          `Subject: ${message.subject}`,
          ...message.attachments.map((file) => `Attachment: ${file.filename} (${file.content_type}, ${file.size_bytes} bytes)`),
          ...message.flags.map((flag) => `Warning: ${flag.reason}`),
          '',
          message.text,
        ].join('\n'),
      )
      return 0
    },
  },
  {
    words: 'mail search',
    takes: 'QUERY',
    about: 'Searches a mailbox. Quote phrases, exclude words with -, and combine alternatives with OR.',
    options: { mailbox: { type: 'string', value: 'MAILBOX', about: 'The address or handle of the mailbox.' }, ...listOptions },
    async run({ client, output }, values, [q = '']) {
      const page = await (await client()).messages.search(needed(values, 'mailbox'), { q, ...listQuery(values) })
      output.result(page, () => rowsOf(page.data))
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
]
