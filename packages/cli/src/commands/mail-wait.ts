// mail wait.
import { type Command, count, text, type Values } from '../command.ts'
import type { Output } from '../output.ts'
import { UsageError } from '../usage-error.ts'

type Found = { codes: { kind: string; value: string }[] }

/** Options of every wait. */
export const waitOptions = {
  from: { type: 'string', value: 'TEXT', about: 'From this sender.' },
  timeout: { type: 'string', value: 'SECONDS', about: 'How long, 60 unless told otherwise.' },
  after: { type: 'string', value: 'TIME', about: 'What came after this time counts too, such as 2026-03-14T09:30:00Z.' },
  code: { type: 'boolean', about: 'Waits for a one-time code, and prints it alone.' },
  link: { type: 'boolean', about: 'Waits for a confirmation link, and prints it alone.' },
} as const

const secondsDefault = 60

/** What a wait asks the server for. Throws UsageError. */
export function waitQuery(values: Values) {
  if (values.code === true && values.link === true) throw new UsageError('--code and --link exclude one another.')
  const [from, after] = [text(values, 'from'), text(values, 'after')]
  const kind = values.code === true ? ('one_time_code' as const) : values.link === true ? ('confirmation_link' as const) : undefined
  return {
    timeout: count(values, 'timeout') ?? secondsDefault,
    ...(from !== undefined && { from }),
    ...(after !== undefined && { after }),
    ...(kind !== undefined && { code_kind: kind }),
  }
}

/** Says what came, or its code alone; 1 when nothing did. */
export function tellWait<T extends Found>(
  output: Output,
  values: Values,
  wanted: { code_kind?: string },
  found: T | null,
  tell: (found: T) => string,
): number {
  if (found === null) {
    output.failure({ code: 'timeout', message: 'Nothing came in time.' })
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
    about: 'Waits for the next message; --code prints its code and nothing else.',
    options: {
      ...waitOptions,
      to: { type: 'string', value: 'ADDRESS', about: 'To this address, such as one with a +tag.' },
      subject: { type: 'string', value: 'TEXT', about: 'With this in its subject.' },
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
