// threads list|show.
import { type Command, listOptions, listQuery } from '../command.ts'
import { chooseMailbox, locate, mailboxOptions } from '../mailbox.ts'
import { table } from '../output.ts'
import { ago } from '../times.ts'

export const threadCommands: Command[] = [
  {
    words: 'threads list',
    takes: '[MAILBOX]',
    about: 'Lists the threads of a mailbox, latest message first.',
    example: 'callsign threads list sales',
    operations: ['listThreads'],
    options: { ...mailboxOptions, ...listOptions },
    async run({ client, output }, values, [mailbox]) {
      const callsign = await client()
      const page = await callsign.threads.list(await chooseMailbox(callsign, values, mailbox), listQuery(values))
      output.result(page, () =>
        table(
          ['ID', 'MESSAGES', 'LAST', 'SUBJECT'],
          page.data.map((one) => [one.id, String(one.message_count), ago(one.last_message_at), one.subject]),
          output.width,
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'threads show',
    takes: 'ID',
    about: 'Shows the messages of a thread, oldest first, without quoted text.',
    example: 'callsign threads show thrd_01jq8',
    operations: ['getThread'],
    options: mailboxOptions,
    async run({ client, output }, values, [id = '']) {
      const callsign = await client()
      const get = (mailbox: string) => callsign.threads.get(mailbox, id)
      const found = await get(await locate(callsign, output, values, { id, kind: 'thread', get }))
      output.result(found, () =>
        [
          `Subject: ${found.subject.replace(/\s+/g, ' ')}`,
          ...found.messages.map((one) => `\n${one.from}, ${one.created_at}, ${one.id}\n\n${one.extracted_text || one.text}`),
        ].join('\n'),
      )
      return 0
    },
  },
]
