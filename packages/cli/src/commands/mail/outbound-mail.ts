// mail send|reply|forward.
import { type Command, needed, several, text } from '../../command.ts'
import { UsageError } from '../../usage-error.ts'
import {
  attachOption,
  bodyOptions,
  fromOption,
  keyed,
  keyOption,
  readAttachments,
  readBody,
  readCopies,
  readFrom,
  recipientOptions,
} from '../drafts/mail-body.ts'
import { reportSent } from '../events/delivery-report.ts'
import { chooseMailbox, mailboxOptions } from './mailbox.ts'
import { markOptions, readMarks } from './marks.ts'
import { findMessage, locateMessage } from './messages.ts'

export const outboundMailCommands: Command[] = [
  {
    words: 'mail send',
    about:
      'Sends a message from an agent. Prints the result of the first delivery attempt, or "queued" after 5 seconds. With --json it does not wait.',
    example: "callsign mail send --agent sales --to ada@example.com --subject Hello --text 'Do you ship to Norway?'",
    operations: ['sendMail', 'getMessage'],
    options: {
      agent: { type: 'string', value: 'HANDLE', about: 'The sending agent. Defaults to that of the key, or the only one.' },
      ...recipientOptions,
      subject: { type: 'string', value: 'TEXT', about: 'The subject.' },
      thread: { type: 'string', value: 'ID', about: 'The thread to continue.' },
      ...fromOption,
      ...bodyOptions,
      ...attachOption,
      ...markOptions,
      ...keyOption,
    },
    async run(context, values) {
      const to = several(values, 'to')
      if (to.length === 0) throw new UsageError('--to is required. Give the address of a recipient.')
      const subject = needed(values, 'subject')
      const thread = text(values, 'thread')
      const body = await readBody(context, values)
      if (body.text === undefined && body.html === undefined) throw new UsageError('--text, --text-file or --html-file is required.')
      const files = await readAttachments(values)
      const client = await context.client()
      const agent = await chooseMailbox(client, values)
      const message = { agent, to, subject, ...body }
      const more = {
        ...readFrom(values),
        ...readCopies(values),
        ...readMarks(values),
        ...(thread !== undefined && { thread_id: thread }),
        ...files,
      }
      const queued = await client.mail.send({ ...message, ...more }, keyed(values))
      return reportSent(client, context.output, agent, queued)
    },
  },
  {
    words: 'mail reply',
    takes: '[ID]',
    about: 'Replies to a message in its thread, from the mailbox that has it. Without an ID it answers the latest message of the mailbox.',
    example: "callsign mail reply msg_01jq8 --text 'We do, within a week.'",
    operations: ['replyToMessage', 'getMessage'],
    options: {
      ...mailboxOptions,
      all: { type: 'boolean', about: 'Reply to all recipients.' },
      automatic: { type: 'boolean', about: 'Mark it as an automatic reply (RFC 3834). It goes to the sender alone, at most once a day.' },
      ...fromOption,
      ...bodyOptions,
      ...attachOption,
      ...markOptions,
      ...keyOption,
    },
    async run(context, values, [id]) {
      const body = await readBody(context, values)
      if (body.text === undefined && body.html === undefined) throw new UsageError('--text, --text-file or --html-file is required.')
      const files = await readAttachments(values)
      const { client, mailbox, message } = await findMessage(context, values, id)
      const more = {
        ...readFrom(values),
        ...readMarks(values),
        ...(values.all === true && { reply_all: true }),
        ...(values.automatic === true && { automatic: true }),
      }
      const sent = await client.messages.reply(mailbox, message, { ...body, ...more, ...files }, keyed(values))
      return reportSent(client, context.output, mailbox, sent)
    },
  },
  {
    words: 'mail forward',
    takes: 'ID',
    about: 'Forwards a message with its attachments, below your text, from the mailbox that has it.',
    example: "callsign mail forward msg_01jq8 --to ada@example.com --text 'For your files.'",
    operations: ['forwardMessage', 'getMessage'],
    options: {
      ...mailboxOptions,
      ...recipientOptions,
      subject: { type: 'string', value: 'TEXT', about: 'A subject of its own. Defaults to the subject with Fwd.' },
      'no-attachments': { type: 'boolean', about: "Leave the message's attachments out." },
      ...fromOption,
      ...bodyOptions,
      ...attachOption,
      ...markOptions,
      ...keyOption,
    },
    async run(context, values, [id = '']) {
      const to = several(values, 'to')
      if (to.length === 0) throw new UsageError('--to is required. Give the address of a recipient.')
      const subject = text(values, 'subject')
      const body = { ...(await readBody(context, values)), ...(await readAttachments(values)) }
      const { client, mailbox } = await locateMessage(context, values, id)
      const more = {
        ...readFrom(values),
        ...readMarks(values),
        ...(subject !== undefined && { subject }),
        ...(values['no-attachments'] === true && { forward_attachments: false }),
      }
      const sent = await client.messages.forward(mailbox, id, { to, ...readCopies(values), ...body, ...more }, keyed(values))
      return reportSent(client, context.output, mailbox, sent)
    },
  },
]
