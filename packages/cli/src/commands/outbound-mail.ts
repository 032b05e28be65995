// mail send|reply.
import { type Command, needed, several, text } from '../command.ts'
import { bodyOptions, keyed, keyOption, readBody, recipientOptions } from '../mail-body.ts'
import { UsageError } from '../usage-error.ts'

export const outboundMailCommands: Command[] = [
  {
    words: 'mail send',
    about: 'Sends a message from an agent.',
    options: {
      agent: { type: 'string', value: 'HANDLE', about: 'The sending agent.' },
      ...recipientOptions,
      subject: { type: 'string', value: 'TEXT', about: 'The subject.' },
      thread: { type: 'string', value: 'ID', about: 'The thread to continue.' },
      ...bodyOptions,
      ...keyOption,
    },
    async run(context, values) {
      const agent = needed(values, 'agent')
      const [to, cc, bcc] = [several(values, 'to'), several(values, 'cc'), several(values, 'bcc')]
      if (to.length === 0) throw new UsageError('--to is required.')
      const subject = needed(values, 'subject')
      const thread = text(values, 'thread')
      const body = await readBody(context, values)
      if (body.text === undefined) throw new UsageError('--text or --text-file is required.')
      const message = {
        agent,
        to,
        subject,
        text: body.text,
        ...(body.html !== undefined && { html: body.html }),
        ...(cc.length > 0 && { cc }),
        ...(bcc.length > 0 && { bcc }),
        ...(thread !== undefined && { thread_id: thread }),
      }
      const queued = await (await context.client()).mail.send(message, keyed(values))
      context.output.result(queued, () => `${queued.id} is ${queued.status}.`)
      return 0
    },
  },
  {
    words: 'mail reply',
    takes: 'ID',
    about: 'Replies to a message in its thread.',
    options: {
      mailbox: { type: 'string', value: 'MAILBOX', about: 'The address or handle of the mailbox.' },
      all: { type: 'boolean', about: 'Reply to all recipients.' },
      automatic: { type: 'boolean', about: 'Mark it as an automatic reply (RFC 3834). It goes to the sender alone, at most once a day.' },
      ...bodyOptions,
      ...keyOption,
    },
    async run(context, values, [id = '']) {
      const mailbox = needed(values, 'mailbox')
      const body = await readBody(context, values)
      if (body.text === undefined && body.html === undefined) throw new UsageError('--text, --text-file or --html-file is required.')
      const reply = { ...body, ...(values.all === true && { reply_all: true }), ...(values.automatic === true && { automatic: true }) }
      const sent = await (await context.client()).messages.reply(mailbox, id, reply, keyed(values))
      context.output.result(sent, () => `${sent.id} is queued.`)
      return 0
    },
  },
]
