// mail wait, and the options and output of every wait.
import type { Callsign, Message } from '@callsign/sdk'
import { type Command, type Context, count, text, type Values } from '../../command.ts'
import type { WaitStart } from '../../session/last-command.ts'
import type { Output } from '../../terminal/output.ts'
import { UsageError } from '../../usage-error.ts'
import { chooseMailbox, mailboxOptions } from './mailbox.ts'

type Found = { codes: { kind: string; value: string }[] }

/** Options of every wait. */
export const waitOptions = {
  from: { type: 'string', value: 'TEXT', about: 'From this sender.' },
  timeout: { type: 'string', value: 'SECONDS', about: 'Maximum time to wait. Defaults to 60.' },
  after: {
    type: 'string',
    value: 'TIME',
    about:
      'Include messages that arrived after this time, such as 2026-03-14T09:30:00Z or 5m for 5 minutes ago. now waits for new ones only. Defaults to your previous command, at most 10 minutes ago.',
  },
  code: { type: 'boolean', about: 'Wait for a one-time code and print only the code.' },
  link: { type: 'boolean', about: 'Wait for a confirmation link and print only the link.' },
} as const

const secondsDefault = 60
const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

type Start = { after?: string; cursor?: string; sinceMs: number | null }

/** The start of a wait from --after, otherwise from the previous command. Throws UsageError. */
function readStart(values: Values, byDefault: WaitStart): Start {
  const given = text(values, 'after')
  if (given === 'now') return { sinceMs: null }
  if (given === undefined) return byDefault ?? { sinceMs: null }
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(given) ?? []
  const sinceMs = amount === undefined ? Date.parse(given) : Date.now() - Number(amount) * 1000 * (secondsPer[unit] as number)
  if (Number.isNaN(sinceMs))
    throw new UsageError(`--after must be a time such as 2026-03-14T09:30:00Z, a duration such as 5m, or now, not "${given}".`)
  return { after: amount === undefined && /T.*(Z|[+-]\d\d:\d\d)$/.test(given) ? given : new Date(sinceMs).toISOString(), sinceMs }
}

/** Creates the query of a wait for a mailbox or number, and says on a terminal from when it counts. Throws UsageError. */
export function waitQuery({ output, lastCommand }: Context, values: Values, target: string) {
  if (values.code === true && values.link === true) throw new UsageError('--code and --link are mutually exclusive. Give one of them.')
  const from = text(values, 'from')
  const kind = values.code === true ? ('one_time_code' as const) : values.link === true ? ('confirmation_link' as const) : undefined
  const timeout = count(values, 'timeout') ?? secondsDefault
  const { sinceMs, ...start } = readStart(values, lastCommand.waitStart(target))
  const since = sinceMs === null ? 'from now on' : `since ${new Date(sinceMs).toTimeString().slice(0, 8)}`
  output.progress(`Waiting up to ${timeout} s for a message to ${target} ${since}.`)
  return { timeout, ...(from !== undefined && { from }), ...start, ...(kind !== undefined && { code_kind: kind }) }
}

/** Prints the message, or its code alone. Returns 1 if no message arrived. */
export function printFound<T extends Found>(
  output: Output,
  values: Values,
  query: { code_kind?: string; timeout: number },
  found: T | null,
  shown: (found: T) => string,
  unmatched = '',
): number {
  if (found === null) {
    const filters = ['from', 'to', 'subject', 'text', 'code', 'link']
      .filter((name) => values[name] !== undefined)
      .map((name) => `--${name}`)
    const check = filters.length > 0 ? ` or check ${filters.join(', ')}` : ''
    const message = `No message arrived within ${query.timeout} s. Increase --timeout, include older ones with --after${check}.${unmatched}`
    output.failure({ code: 'timeout', message })
    return 1
  }
  const code = found.codes.find((one) => one.kind === query.code_kind)
  output.result(found, () => (code && (values.code === true || values.link === true) ? code.value : shown(found)))
  return 0
}

/** A sentence about the first message that arrived and did not pass the filters. */
async function describeUnmatched(
  client: Callsign,
  mailbox: string,
  { after, cursor }: { after?: string; cursor?: string },
): Promise<string> {
  const start = cursor !== undefined ? { cursor } : after !== undefined ? { after } : null
  if (!start) return ''
  const { message } = await client.mailboxes.wait(mailbox, { ...start, timeout: 0 })
  return message ? ` ${message.id} from ${message.from} arrived, but does not match.` : ''
}

export const mailWaitCommands: Command[] = [
  {
    words: 'mail wait',
    takes: '[MAILBOX]',
    about:
      'Waits for the next message. A message that arrived since your previous command counts, so that a reply is not missed. --code prints only its code.',
    example: 'callsign mail wait sales --code --timeout 120',
    operations: ['waitForMessage'],
    options: {
      ...waitOptions,
      to: { type: 'string', value: 'ADDRESS', about: 'To this address, such as one with a +tag.' },
      subject: { type: 'string', value: 'TEXT', about: 'With this text in its subject.' },
      ...mailboxOptions,
    },
    async run(context, values, [given]) {
      const { client, output, lastCommand } = context
      const callsign = await client()
      const mailbox = await chooseMailbox(callsign, values, given)
      const [to, subject] = [text(values, 'to'), text(values, 'subject')]
      const query = {
        ...waitQuery(context, values, mailbox),
        ...(to !== undefined && { to }),
        ...(subject !== undefined && { subject }),
      }
      const { message, cursor } = await callsign.mailboxes.wait(mailbox, query)
      if (message) lastCommand.waited(mailbox, cursor)
      const unmatched = message ? '' : await describeUnmatched(callsign, mailbox, query)
      const shown = (one: Message) =>
        [
          `${one.id} from ${one.from}: ${one.subject}`,
          ...one.codes.map(({ kind, value }) => `${kind.replaceAll('_', ' ')}: ${value}`),
        ].join('\n')
      const code = printFound(output, values, query, message, shown, unmatched)
      if (message && values.code !== true && values.link !== true) output.progress(`Read it with callsign mail read ${message.id}`)
      return code
    },
  },
]
