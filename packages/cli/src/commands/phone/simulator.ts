// sim mail|sms|advance|fault|outbox simulates a mail server, a phone, a carrier and faults.
import { type SimulatedMailSample, simulatedMailSamples } from '@callsign/sdk'
import { type Command, count, needed, oneOf, several, text } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { readBytes } from '../../session/files.ts'
import { table } from '../../terminal/output.ts'
import { ago } from '../../terminal/times.ts'
import { attachOption, readAttachments } from '../drafts/mail-body.ts'

const samples = Object.keys(simulatedMailSamples) as SimulatedMailSample[]

const typesByExtension: Record<string, string> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  pdf: 'application/pdf',
  png: 'image/png',
}

/** Reads a file as media of a text. */
async function readMedia(path: string): Promise<{ content: string; content_type?: string }> {
  const bytes = await readBytes(path)
  const type = typesByExtension[path.split('.').at(-1)?.toLowerCase() ?? '']
  return { content: bytes.toString('base64'), ...(type !== undefined && { content_type: type }) }
}

export const simulatorCommands: Command[] = [
  {
    words: 'sim mail',
    takes: '[TEXT]',
    about: 'Delivers a message to an agent from an external mail server.',
    example: 'callsign sim mail --to sales --sample hidden_text',
    operations: ['simulateMail'],
    options: {
      to: { type: 'string', value: 'AGENT', about: 'The handle or the address of the agent.' },
      from: { type: 'string', value: 'ADDRESS', about: "The sender. Defaults to 'Ada Park <ada@people.example>'." },
      subject: { type: 'string', value: 'TEXT', about: 'The subject.' },
      'html-file': { type: 'string', value: 'FILE', about: 'A file with the HTML.' },
      ...attachOption,
      sample: { type: 'string', value: 'NAME', choices: samples, about: 'A prepared message that tries to deceive the agent.' },
    },
    async run({ client, input, output }, values, [words]) {
      const [from, subject, htmlFile] = [text(values, 'from'), text(values, 'subject'), text(values, 'html-file')]
      const sample = oneOf(values, 'sample', samples)
      const sent = await (await client()).simulator.mail({
        to: needed(values, 'to'),
        ...(words !== undefined && { text: words }),
        ...(from !== undefined && { from }),
        ...(subject !== undefined && { subject }),
        ...(htmlFile !== undefined && { html: await input.file(htmlFile) }),
        ...(await readAttachments(values)),
        ...(sample && { sample }),
      })
      output.result(sent, () => `${sent.message_id} is ${sent.status} in the mailbox of ${sent.agent_handle}.`)
      return 0
    },
  },
  {
    words: 'sim sms',
    takes: '[TEXT]',
    about: 'Sends a text to a simulated number from an external phone.',
    example: "callsign sim sms 'Your code is 492816' --to +12125550100",
    operations: ['simulateSms'],
    options: {
      to: { type: 'string', value: 'NUMBER', about: 'The number of the agent, such as +12125550100.' },
      from: { type: 'string', value: 'NUMBER', about: 'The sender. Defaults to +15555550100.' },
      media: { type: 'string', multiple: true, value: 'FILE', about: 'A file to attach. Repeatable.' },
    },
    async run({ client, output }, values, [words]) {
      const to = needed(values, 'to')
      const from = text(values, 'from')
      const media = await Promise.all(several(values, 'media').map(readMedia))
      const sent = await (await client()).simulator.sms({
        to,
        ...(words !== undefined && { text: words }),
        ...(from !== undefined && { from }),
        ...(media.length > 0 && { media }),
      })
      output.result(sent, () => (sent.message_id ? `${to} received ${sent.message_id}.` : `The text is ${sent.status}.`))
      return 0
    },
  },
  {
    words: 'sim advance',
    takes: 'NUMBER',
    about: 'Makes a pending simulated number ready for texts.',
    example: 'callsign sim advance +12125550100',
    operations: ['advanceNumber'],
    options: { fail: { type: 'boolean', about: 'Make it fail instead.' } },
    async run({ client, output }, values, [number = '']) {
      const done = await (await client()).simulator.advanceNumber(number, { to: values.fail === true ? 'assignment_failed' : 'ready' })
      output.result(done, () => `${done.phone_number} is ${done.sms_status}.`)
      return 0
    },
  },
  {
    words: 'sim fault',
    takes: 'PROVIDER STEP FAULT',
    about: 'Makes the next calls of a simulated provider fail, for example phone webhook drop.',
    example: 'callsign sim fault phone webhook drop --times 2',
    operations: ['setFault'],
    options: { times: { type: 'string', value: 'N', about: 'Number of calls to fail. 0 removes the fault. Defaults to 1.' } },
    async run({ client, output }, values, [provider = '', op = '', fail = '']) {
      const times = count(values, 'times')
      const { faults } = await (await client()).simulator.setFault({
        provider: provider as 'phone' | 'imessage',
        op,
        fail,
        ...(times !== undefined && { times }),
      })
      output.result({ faults }, (width) =>
        table(
          ['PROVIDER', 'STEP', 'FAULT', 'TIMES'],
          faults.map((one) => [one.provider, one.op, one.fail, String(one.times)]),
          width,
        ),
      )
      return 0
    },
  },
  listCommand({
    words: 'sim outbox',
    about: 'Lists the messages sent to external phones, newest first.',
    example: 'callsign sim outbox',
    operations: ['listOutbox'],
    options: { to: { type: 'string', value: 'NUMBER', field: 'to', about: 'Only messages to this phone.' }, ...listOptions },
    call: (client, query) => client.simulator.outbox(query),
    columns: {
      TO: (one) => one.to,
      FROM: (one) => one.from,
      TIME: (one) => ago(one.created_at),
      TEXT: (one) => one.text,
    },
  }),
]
