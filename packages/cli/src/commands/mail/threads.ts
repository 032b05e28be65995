// threads list|show|update|delete|restore.
import type { ThreadPage } from '@callsign/sdk'
import { type Command, type Context, oneOf, several, switchOf, text, type Values } from '../../command.ts'
import { listOptions, listQuery } from '../../list-command.ts'
import { oneLine, table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import { chooseMailbox, mailboxOptions, readAgentFilter } from './mailbox.ts'
import { metadataChangeOptions, metadataFilterOption, readMetadataChange, readMetadataFilter } from './marks.ts'

const movableFolders = ['inbox', 'archive', 'spam', 'trash'] as const
const listedFolders = [...movableFolders, 'sent', 'scheduled'] as const

type Thread = ThreadPage['data'][number]

/** One line about a changed thread. */
const stateOf = ({ id, folder, labels, unread_count }: Thread): string =>
  `${id} is in ${folder} with ${unread_count} unread${labels.length > 0 ? ` and the labels ${labels.join(', ')}` : ''}.`

/** The filters, in one mailbox and in all. */
function readFilters(values: Values) {
  const [label, participant, subject, q] = [
    text(values, 'label'),
    text(values, 'participant'),
    text(values, 'subject'),
    text(values, 'search'),
  ]
  const [after, before] = [text(values, 'after'), text(values, 'before')]
  const folder = oneOf(values, 'folder', listedFolders)
  const { is_read } = switchOf(values, 'read', 'is_read')
  return {
    ...(folder && { folder }),
    ...(is_read !== undefined && { is_unread: !is_read }),
    ...(label !== undefined && { label }),
    ...(participant !== undefined && { participant }),
    ...(subject !== undefined && { subject }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
    ...(q !== undefined && { q }),
    ...readMetadataFilter(values),
  }
}

async function list({ client, output }: Context, values: Values, mailbox: string | undefined): Promise<number> {
  const callsign = await client()
  const query = { ...listQuery(values), ...readFilters(values) }
  const page =
    values.all === true
      ? await callsign.threads.listAll({ ...query, ...readAgentFilter(values, mailbox) })
      : await callsign.threads.list(await chooseMailbox(callsign, values, mailbox), query)
  output.result(page, () =>
    table(
      ['ID', 'MESSAGES', 'UNREAD', 'FOLDER', 'LAST', 'SUBJECT'],
      page.data.map((one) => [
        one.id,
        String(one.message_count),
        String(one.unread_count),
        one.folder,
        ago(one.last_message_at),
        one.labels.length > 0 ? `${one.subject} [${one.labels.join(', ')}]` : one.subject,
      ]),
      output.width,
    ),
  )
  if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
  return 0
}

const changeCommands: Command[] = [
  {
    words: 'threads update',
    takes: 'ID',
    about: 'Moves a thread to a folder, marks it as read or unread, or changes its labels and metadata.',
    example: 'callsign threads update thrd_01jq8 --folder archive --read',
    operations: ['updateThread'],
    options: {
      folder: { type: 'string', value: 'FOLDER', choices: movableFolders, about: `The folder: ${movableFolders.join(', ')}.` },
      read: { type: 'boolean', about: 'Mark its messages as read.' },
      unread: { type: 'boolean', about: 'Mark its received messages as unread.' },
      add: { type: 'string', multiple: true, value: 'LABEL', about: 'A label to add. Repeatable.' },
      remove: { type: 'string', multiple: true, value: 'LABEL', about: 'A label to remove. Repeatable.' },
      ...metadataChangeOptions,
    },
    async run({ client, output }, values, [id = '']) {
      const [folder, add, remove] = [oneOf(values, 'folder', movableFolders), several(values, 'add'), several(values, 'remove')]
      const change = {
        ...(folder && { folder }),
        ...switchOf(values, 'read', 'is_read'),
        ...(add.length > 0 && { add_labels: add }),
        ...(remove.length > 0 && { remove_labels: remove }),
        ...readMetadataChange(values),
      }
      if (Object.keys(change).length === 0)
        throw new UsageError('Nothing to change. Give an option such as --folder, --read, --add or --metadata.')
      const changed = await (await client()).threads.update(id, change)
      output.result(changed, () => stateOf(changed))
      return 0
    },
  },
  {
    words: 'threads delete',
    takes: 'ID',
    about: 'Moves a thread to the trash, where it stays for 30 days.',
    example: 'callsign threads delete thrd_01jq8',
    operations: ['deleteThread'],
    options: { permanent: { type: 'boolean', about: 'Delete it at once. This cannot be undone.' } },
    async run({ client, output }, values, [id = '']) {
      const deleted = await (await client()).threads.delete(id, values.permanent === true ? { permanent: true } : {})
      output.result(deleted, () =>
        deleted.permanent ? `${id} is deleted.` : `${id} is in the trash. Take it out with callsign threads restore ${id}.`,
      )
      return 0
    },
  },
  {
    words: 'threads restore',
    takes: 'ID',
    about: 'Takes a thread out of the trash, into the folder where it was.',
    example: 'callsign threads restore thrd_01jq8',
    operations: ['restoreThread'],
    async run({ client, output }, _values, [id = '']) {
      const restored = await (await client()).threads.restore(id)
      output.result(restored, () => stateOf(restored))
      return 0
    },
  },
]

export const threadCommands: Command[] = [
  {
    words: 'threads list',
    takes: '[MAILBOX]',
    about: 'Lists the threads of a mailbox, latest message first.',
    example: 'callsign threads list sales --unread',
    operations: ['listThreads', 'listAllThreads'],
    options: {
      all: { type: 'boolean', about: 'The threads of every mailbox, or of that of --agent.' },
      folder: {
        type: 'string',
        value: 'FOLDER',
        choices: listedFolders,
        about: `Only this folder: ${listedFolders.join(', ')}. Without it, spam and trash are left out.`,
      },
      label: { type: 'string', value: 'LABEL', about: 'Only threads with this label.' },
      read: { type: 'boolean', about: 'Only threads without unread messages.' },
      unread: { type: 'boolean', about: 'Only threads with unread messages.' },
      participant: { type: 'string', value: 'ADDRESS', about: 'Only threads with this author or recipient.' },
      subject: { type: 'string', value: 'TEXT', about: 'Only threads with this in the subject.' },
      after: { type: 'string', value: 'TIME', about: 'Only threads whose latest message is after this time in ISO 8601.' },
      before: { type: 'string', value: 'TIME', about: 'Only threads whose latest message is before this time in ISO 8601.' },
      ...metadataFilterOption,
      search: { type: 'string', value: 'QUERY', about: 'Only threads with a message that matches, as in mail search.' },
      ...mailboxOptions,
      ...listOptions,
    },
    run: (context, values, [mailbox]) => list(context, values, mailbox),
  },
  {
    words: 'threads show',
    takes: 'ID',
    about: 'Shows the messages of a thread, oldest first, without quoted text.',
    example: 'callsign threads show thrd_01jq8',
    operations: ['getThread', 'getThreadById'],
    options: mailboxOptions,
    async run({ client, output }, values, [id = '']) {
      const callsign = await client()
      const mailbox = text(values, 'mailbox') ?? text(values, 'agent')
      const found = await (mailbox === undefined ? callsign.threads.getById(id) : callsign.threads.get(mailbox, id))
      output.result(found, () =>
        [
          `Subject: ${oneLine(found.subject)}`,
          ...found.messages.map((one) => `\n${one.from}, ${one.created_at}, ${one.id}\n\n${one.extracted_text || one.text}`),
        ].join('\n'),
      )
      return 0
    },
  },
  ...changeCommands,
]
