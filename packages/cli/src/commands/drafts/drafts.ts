// drafts list|create|show|edit|versions|review|message|reject|rm|send. The approver of a draft views it and sends exactly that version.
import type { Draft } from '@callsign/sdk'
import { type Command, type Context, clientIdOption, count, type Option, readClientId, several, text, type Values } from '../../command.ts'
import { listQuery } from '../../list-command.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import { reportSent } from '../events/delivery-report.ts'
import { chooseMailbox, locate, mailboxOptions, readAgentFilter } from '../mail/mailbox.ts'
import { markChangeOptions, markOptions, readLabels, readMarkChange, readMarks } from '../mail/marks.ts'
import { shownDraft, shownReview } from './draft-text.ts'
import { atVersion, bodyOptions, keyed, keyOption, readBody, recipientOptions, versionOption } from './mail-body.ts'

const fieldOptions: Record<string, Option> = {
  ...recipientOptions,
  subject: { type: 'string', value: 'TEXT', about: 'The subject.' },
  ...bodyOptions,
  at: { type: 'string', value: 'TIME', about: 'Schedule sending for this time, such as 2027-01-31T09:00:00+01:00.' },
}

/** The values of --clear with the field names of the API. */
const clearable = { to: 'to', cc: 'cc', bcc: 'bcc', subject: 'subject', text: 'text', html: 'html', at: 'send_at' } as const

type Fields = { to?: string[]; cc?: string[]; bcc?: string[]; subject?: string; text?: string; html?: string; send_at?: string }

async function readFields(context: Context, values: Values): Promise<Fields> {
  const [to, cc, bcc] = [several(values, 'to'), several(values, 'cc'), several(values, 'bcc')]
  const [subject, at] = [text(values, 'subject'), text(values, 'at')]
  return {
    ...(to.length > 0 && { to }),
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    ...(subject !== undefined && { subject }),
    ...(await readBody(context, values)),
    ...(at !== undefined && { send_at: at }),
  }
}

/** Maps the fields to clear to null. Throws UsageError for unknown fields, and for fields that are also set. */
function readCleared(values: Values, set: Fields): { [Name in keyof Fields]?: null } {
  const cleared: { [Name in keyof Fields]?: null } = {}
  for (const word of several(values, 'clear')) {
    if (!Object.hasOwn(clearable, word)) throw new UsageError(`--clear must be one of ${Object.keys(clearable).join(', ')}.`)
    const name = clearable[word as keyof typeof clearable]
    if (set[name] !== undefined) throw new UsageError(`${word} cannot be both set and cleared.`)
    cleared[name] = null
  }
  return cleared
}

const listed = (drafts: Draft[]): string =>
  table(
    ['ID', 'VERSION', 'UPDATED', 'TO', 'SUBJECT', 'SEND AT'],
    drafts.map((one) => [
      one.id,
      String(one.version),
      ago(one.updated_at),
      one.to.join(', '),
      one.subject ?? '',
      one.send_error ? `not sent: ${one.send_error}` : ago(one.send_at),
    ]),
  )

const scheduled = ({ send_at }: Draft): string => (send_at ? `, to be sent at ${send_at}` : '')

const waiting = ({ approval }: Draft): string => (approval?.status === 'requested' ? ', and waits for the approval of a person' : '')

/** Finds the mailbox of a draft, unless it is given. */
export async function locateDraft(context: Context, values: Values, given: string | undefined, id: string) {
  const client = await context.client()
  const find = () => client.drafts.getById(id)
  return { client, mailbox: await locate(client, values, { mailbox: given, id, kind: 'draft', find }) }
}

export const draftCommands: Command[] = [
  {
    words: 'drafts list',
    takes: '[MAILBOX]',
    about: 'Lists the drafts of a mailbox, newest update first.',
    example: 'callsign drafts list sales',
    operations: ['listDrafts', 'listAllDrafts'],
    options: {
      all: { type: 'boolean', about: 'The drafts of every mailbox, or of that of --agent, newest first.' },
      thread: { type: 'string', value: 'ID', about: 'With --all: only drafts that answer a message of this thread.' },
      cursor: { type: 'string', value: 'CURSOR', about: 'With --all: next_cursor of the previous page.' },
      limit: { type: 'string', value: 'N', about: 'Maximum number of items, 1-100.' },
      offset: { type: 'string', value: 'N', about: 'Without --all: number of items to skip.' },
      ...mailboxOptions,
    },
    async run({ client, output }, values, [mailbox]) {
      const [limit, offset] = [count(values, 'limit'), count(values, 'offset')]
      const callsign = await client()
      if (values.all === true) {
        if (offset !== undefined) throw new UsageError('--all and --offset are mutually exclusive. Give --cursor instead.')
        const all = await callsign.drafts.listAll({
          ...readAgentFilter(values, mailbox),
          ...(values.thread !== undefined && { thread_id: String(values.thread) }),
          ...listQuery(values),
        })
        output.result(all, () => listed(all.data))
        if (all.next_cursor && !output.isJson) output.note(`More: --cursor ${all.next_cursor}`)
        return 0
      }
      if (values.thread !== undefined) throw new UsageError('--thread requires --all.')
      if (values.cursor !== undefined) throw new UsageError('--cursor requires --all. Give --offset instead.')
      const page = await callsign.drafts.list(await chooseMailbox(callsign, values, mailbox), {
        ...(limit !== undefined && { limit }),
        ...(offset !== undefined && { offset }),
      })
      output.result(page, () => listed(page.drafts))
      const next = page.offset + page.drafts.length
      if (page.drafts.length > 0 && next < page.count && !output.isJson) output.note(`More: --offset ${next}`)
      return 0
    },
  },
  {
    words: 'drafts create',
    takes: '[MAILBOX]',
    about: 'Creates a draft. You can set every field later.',
    example: 'callsign drafts create sales --to ada@example.com --subject Offer --text-file offer.txt',
    operations: ['createDraft'],
    options: {
      ...fieldOptions,
      'in-reply-to': { type: 'string', value: 'ID', about: 'The message to answer. Recipients and subject default to those of the reply.' },
      all: { type: 'boolean', about: 'Reply to all recipients of --in-reply-to.' },
      forward: { type: 'string', value: 'ID', about: 'The message to forward, with its attachments.' },
      ...markOptions,
      ...clientIdOption,
      ...mailboxOptions,
      ...keyOption,
    },
    async run(context, values, [mailbox]) {
      const [answered, forwarded] = [text(values, 'in-reply-to'), text(values, 'forward')]
      if (values.all === true && answered === undefined) throw new UsageError('--all requires --in-reply-to.')
      const body = {
        ...(await readFields(context, values)),
        ...(answered !== undefined && { in_reply_to: answered }),
        ...(values.all === true && { reply_all: true }),
        ...(forwarded !== undefined && { forward_of: forwarded }),
        ...readMarks(values),
        ...readClientId(values),
      }
      const client = await context.client()
      const draft = await client.drafts.create(await chooseMailbox(client, values, mailbox), body, keyed(values))
      context.output.result(draft, () => `${draft.id} is a draft at version ${draft.version}${scheduled(draft)}${waiting(draft)}.`)
      return 0
    },
  },
  {
    words: 'drafts show',
    takes: '[MAILBOX] ID',
    about: 'Shows the full content of a draft, and its version.',
    example: 'callsign drafts show drf_01jq8',
    operations: ['getDraft', 'getDraftById'],
    options: mailboxOptions,
    async run({ client, output }, values, [given, id = '']) {
      const { drafts } = await client()
      const mailbox = given ?? text(values, 'mailbox') ?? text(values, 'agent')
      const draft = await (mailbox === undefined ? drafts.getById(id) : drafts.get(mailbox, id))
      output.result(draft, () => shownDraft(draft))
      const path = mailbox === undefined ? draft.id : `${mailbox} ${draft.id}`
      if (!output.isJson) output.note(`To send exactly this version, run callsign drafts send ${path} --version ${draft.version}`)
      return 0
    },
  },
  {
    words: 'drafts edit',
    takes: '[MAILBOX] ID',
    about: 'Changes the given fields of a draft.',
    example: "callsign drafts edit drf_01jq8 --subject 'A better offer'",
    operations: ['updateDraft'],
    options: {
      ...fieldOptions,
      label: { type: 'string', multiple: true, value: 'LABEL', about: 'A label. Repeatable. Replaces the earlier ones.' },
      ...markChangeOptions,
      clear: {
        type: 'string',
        multiple: true,
        value: 'FIELD',
        about: `Empties ${Object.keys(clearable).join(', ')}. Repeatable.`,
      },
      ...versionOption,
      ...mailboxOptions,
    },
    async run(context, values, [given, id = '']) {
      const version = atVersion(values)
      const set = await readFields(context, values)
      const change = { ...set, ...readLabels(values), ...readMarkChange(values), ...readCleared(values, set) }
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. Give a field, or clear one with --clear.')
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const draft = await client.drafts.update(mailbox, id, { ...change, ...version })
      context.output.result(draft, () => `${draft.id} is at version ${draft.version}${scheduled(draft)}.`)
      return 0
    },
  },
  {
    words: 'drafts versions',
    takes: '[MAILBOX] ID',
    about: 'Lists the earlier versions of a draft, newest first.',
    example: 'callsign drafts versions drf_01jq8',
    operations: ['listDraftVersions', 'getDraftById'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const page = await client.drafts.versions(mailbox, id)
      const rows = page.data.map((one) => [String(one.version), one.created_at, one.written_by, one.to.join(', '), one.subject ?? ''])
      context.output.result(page, (width) => table(['VERSION', 'WRITTEN', 'BY', 'TO', 'SUBJECT'], rows, width))
      return 0
    },
  },
  {
    words: 'drafts review',
    takes: '[MAILBOX] ID',
    about: 'Shows the message that a draft would be sent as, with warnings.',
    example: 'callsign drafts review drf_01jq8',
    operations: ['reviewDraft', 'getDraftById'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const review = await client.drafts.review(mailbox, id)
      context.output.result(review, () => shownReview(review))
      return 0
    },
  },
  {
    words: 'drafts message',
    takes: '[MAILBOX] ID',
    about: 'Prints the id of the message that a sent draft became.',
    example: 'callsign drafts message sales drf_01jq8',
    operations: ['getDraftMessage'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const client = await context.client()
      const sent = await client.drafts.message(await chooseMailbox(client, values, given), id)
      context.output.result(sent, () => sent.message_id)
      return 0
    },
  },
  {
    words: 'drafts reject',
    takes: '[MAILBOX] ID',
    about: 'Deletes a draft and reports the reason to its agent.',
    example: 'callsign drafts reject drf_01jq8 --reason "The date is wrong."',
    operations: ['rejectDraft', 'getDraftById'],
    options: {
      ...mailboxOptions,
      ...versionOption,
      reason: { type: 'string', value: 'TEXT', about: 'The reason, which the agent receives.' },
    },
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const reason = text(values, 'reason')
      const rejected = await client.drafts.reject(mailbox, id, { ...atVersion(values), ...(reason !== undefined && { reason }) })
      context.output.result(rejected, () => `${rejected.id} is rejected.`)
      return 0
    },
  },
  {
    words: 'drafts rm',
    takes: '[MAILBOX] ID',
    about: 'Deletes a draft and cancels its scheduled send.',
    example: 'callsign drafts rm drf_01jq8',
    operations: ['deleteDraft', 'getDraftById'],
    options: mailboxOptions,
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const deleted = await client.drafts.delete(mailbox, id)
      context.output.result(deleted, () => `${deleted.id} is deleted.`)
      return 0
    },
  },
  {
    words: 'drafts send',
    takes: '[MAILBOX] ID',
    about: 'Sends a draft once. It becomes a message.',
    example: 'callsign drafts send drf_01jq8 --version 3',
    operations: ['sendDraft', 'getMessage'],
    options: { ...versionOption, ...mailboxOptions, ...keyOption },
    async run(context, values, [given, id = '']) {
      const { client, mailbox } = await locateDraft(context, values, given, id)
      const sent = await client.drafts.send(mailbox, id, atVersion(values), keyed(values))
      return reportSent(client, context.output, mailbox, sent, `${id} is sent as ${sent.id}.`)
    },
  },
]
