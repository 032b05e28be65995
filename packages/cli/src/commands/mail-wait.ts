// mail wait.
import { type Command, count, text, type Values } from '../command.ts'
import type { Output } from '../output.ts'
import { UsageError } from '../usage-error.ts'

type Found = { codes: { kind: string; value: string }[] }

/** Options of every wait. */
export const waitOptions = {
  from: { type: 'string', value: 'TEXT', about: 'From this sender.' },
  timeout: { type: 'string', value: 'SECONDS', about: 'Maximum time to wait. Defaults to 60.' },
  after: { type: 'string', value: 'TIME', about: 'Include messages that arrived after this time, such as 2026-03-14T09:30:00Z.' },
  code: { type: 'boolean', about: 'Wait for a one-time code and print only the code.' },
  link: { type: 'boolean', about: 'Wait for a confirmation link and print only the link.' },
} as const

const secondsDefault = 60

/** Creates the query of a wait. Throws UsageError. */
export function waitQuery(values: Values) {
  if (values.code === true && values.link === true) throw new UsageError('--code and --link are mutually exclusive. Give one of them.')
  const [from, after] = [text(values, 'from'), text(values, 'after')]
  const kind = values.code === true ? ('one_time_code' as const) : values.link === true ? ('confirmation_link' as const) : undefined
  return {
    timeout: count(values, 'timeout') ?? secondsDefault,
    ...(from !== undefined && { from }),
    ...(after !== undefined && { after }),
    ...(kind !== undefined && { code_kind: kind }),
  }
}

/** Prints the message, or its code alone. Returns 1 if no message arrived. */
export function tellWait<T extends Found>(
  output: Output,
  values: Values,
  wanted: { code_kind?: string },
  found: T | null,
  tell: (found: T) => string,
): number {
  if (found === null) {
    output.failure({ code: 'timeout', message: 'No match arrived in time. Increase --timeout or check the filters.' })
    return 1
  }
  const code = found.codes.find((one) => one.kind === wanted.code_kind)
  output.result(found, () => (code && (values.code === true || values.link === true) ? code.value : tell(found)))
  return 0
}

export const mailWaitCommands: Command[] = [
  {
    words: 'mail wait',
    takes: 'MAILBOX',
    about: 'Waits for the next message. --code prints only its code.',
    options: {
      ...waitOptions,
      to: { type: 'string', value: 'ADDRESS', about: 'To this address, such as one with a +tag.' },
      subject: { type: 'string', value: 'TEXT', about: 'With this text in its subject.' },
    },
    async run({ client, output }, values, [mailbox = '']) {
      const [to, subject] = [text(values, 'to'), text(values, 'subject')]
      const query = { ...waitQuery(values), ...(to !== undefined && { to }), ...(subject !== undefined && { subject }) }
      const callsign = await client()
      output.progress(`Waiting for mail to ${mailbox}.`)
      const { message } = await callsign.mailboxes.wait(mailbox, query)
      return tellWait(output, values, query, message, (one) =>
        [`${one.id} from ${one.from}: ${one.subject}`, ...one.codes.map((code) => `${code.kind.replaceAll('_', ' ')}: ${code.value}`)].join(
          '\n',
        ),
      )
    },
  },
]
