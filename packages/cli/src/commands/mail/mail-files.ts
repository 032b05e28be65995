// mail raw|share|shares|unshare|attachments.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchByEnvironment } from '@callsign/sdk'
import { type Command, text } from '../../command.ts'
import { listOptions, listQuery } from '../../list-command.ts'
import { table } from '../../terminal/output.ts'
import { UsageError } from '../../usage-error.ts'
import { mailboxOptions } from './mailbox.ts'
import { locateMessage } from './messages.ts'

const downloadMsMax = 60_000

/** A name without folders, control characters and leading dots, because the sender chose it. Numbered, so that names cannot collide. */
const safeName = (name: string, index: number): string =>
  `${index + 1}-${name
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression removes them
    .replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]/g, '_')
    .replace(/^\.+/, '')
    .slice(-100)}`

export const mailFileCommands: Command[] = [
  {
    words: 'mail raw',
    takes: 'ID',
    about: 'Prints a message as it was received or sent (RFC 5322).',
    example: 'callsign mail raw msg_01jq8 > message.eml',
    operations: ['getRawMessage', 'getMessage'],
    options: mailboxOptions,
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const bytes = await client.messages.raw(mailbox, id)
      if (context.output.isJson) context.output.result({ id, raw: Buffer.from(bytes).toString('base64') }, () => '')
      else context.output.bytes(bytes)
      return 0
    },
  },
  {
    words: 'mail share',
    takes: 'ID',
    about: 'Prints a link to a page with a message, for people without a key. The link is valid for 48 hours.',
    example: 'callsign mail share msg_01jq8 --expires-in 3600',
    operations: ['shareMessage'],
    options: {
      'expires-in': { type: 'string', value: 'SECONDS', about: 'The seconds until the link expires, at most 604800.' },
      ...mailboxOptions,
    },
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const seconds = text(values, 'expires-in')
      const shared = await client.messages.share(mailbox, id, seconds === undefined ? {} : { expires_in_seconds: Number(seconds) })
      context.output.result(shared, () => shared.url)
      return 0
    },
  },
  {
    words: 'mail shares',
    takes: 'ID',
    about: 'Lists the links to a message that have not expired, newest first.',
    example: 'callsign mail shares msg_01jq8',
    operations: ['listMessageShares'],
    options: { ...mailboxOptions, ...listOptions },
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const page = await client.messages.shares(mailbox, id, listQuery(values))
      context.output.result(page, (width) =>
        table(
          ['ID', 'ACTIVE', 'EXPIRES', 'BY'],
          page.data.map((link) => [link.id, link.is_active ? 'yes' : 'no', link.expires_at, link.created_by]),
          width,
        ),
      )
      if (page.next_cursor && !context.output.isJson) context.output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'mail unshare',
    takes: 'ID LINK_ID',
    about: 'Revokes a link to a message. Other links to the message stay valid.',
    example: 'callsign mail unshare msg_01jq8 shr_01jq8',
    operations: ['unshareMessage'],
    options: mailboxOptions,
    async run(context, values, [id = '', linkId = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      context.output.result(await client.messages.unshare(mailbox, id, linkId), () => `${linkId} is revoked.`)
      return 0
    },
  },
  {
    words: 'mail attachments',
    takes: 'ID',
    about: 'Lists the attachments of a message, prints the text of one, or saves all into a folder. It never overwrites a file.',
    example: 'callsign mail attachments msg_01jq8 --save downloads',
    operations: ['getMessage', 'downloadAttachment', 'getAttachmentText'],
    options: {
      save: { type: 'string', value: 'FOLDER', about: 'Save every attachment into this folder.' },
      text: { type: 'string', value: 'ATTACHMENT_ID', about: 'Print the text of this attachment as Markdown.' },
      ...mailboxOptions,
    },
    async run(context, values, [id = '']) {
      const { client, mailbox } = await locateMessage(context, values, id)
      const attachmentId = text(values, 'text')
      if (attachmentId !== undefined) {
        const found = await client.messages.attachmentText(mailbox, id, attachmentId)
        context.output.result(found, () => found.text)
        return 0
      }
      const found = await client.messages.get(mailbox, id)
      const folder = text(values, 'save')
      if (folder === undefined) {
        context.output.result({ data: found.attachments }, (width) =>
          table(
            ['FILE', 'TYPE', 'BYTES', 'ID'],
            found.attachments.map((file) => [file.filename, file.content_type, String(file.size_bytes), file.id]),
            width,
          ),
        )
        return 0
      }
      await mkdir(folder, { recursive: true })
      const saved: { id: string; file: string }[] = []
      for (const [index, { id: attachment, filename, url }] of found.attachments.entries()) {
        const file = join(folder, safeName(filename, index))
        await writeNew(file, await download(filename, url))
        saved.push({ id: attachment, file })
      }
      context.output.result({ data: saved }, () => saved.map(({ file }) => file).join('\n'))
      return 0
    },
  },
]

async function download(filename: string, url: string | null): Promise<Uint8Array> {
  if (url === null) throw new Error(`${filename} does not have a download link.`)
  const response = await fetchByEnvironment(url, { signal: AbortSignal.timeout(downloadMsMax), redirect: 'error' })
  if (!response.ok) throw new Error(`Downloading ${filename} failed with status ${response.status}.`)
  return new Uint8Array(await response.arrayBuffer())
}

async function writeNew(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(file, bytes, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new UsageError(`${file} exists already. Give another folder with --save.`)
    throw error
  }
}
