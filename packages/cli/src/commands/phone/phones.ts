// phone list|provision|show|messages|read|wait|release.
import { type Command, needed, switchOf, text } from '../../command.ts'
import { listCommand, listOptions } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'
import { printFound, waitOptions, waitQuery } from '../mail/mail-wait.ts'

const countries = ['US', 'CA'] as const
const types = ['local', 'toll_free'] as const

export const phoneCommands: Command[] = [
  listCommand({
    words: 'phone list',
    about: 'Lists phone numbers, newest first.',
    example: 'callsign phone list',
    operations: ['listPhoneNumbers'],
    call: (client, query) => client.phone.list(query),
    columns: {
      NUMBER: (one) => one.phone_number,
      AGENT: (one) => one.agent_handle,
      TEXTS: (one) => one.sms_status,
      REGION: (one) => one.region || one.type,
      PROVIDER: (one) => one.provider,
    },
  }),
  {
    words: 'phone provision',
    takes: 'HANDLE',
    about: 'Buys a phone number for an agent.',
    example: 'callsign phone provision sales --area-code 212',
    operations: ['provisionPhoneNumber'],
    options: {
      country: { type: 'string', value: 'COUNTRY', choices: countries, about: 'US or CA. Defaults to US.' },
      type: { type: 'string', value: 'TYPE', choices: types, about: 'local or toll_free. Defaults to local.' },
      region: { type: 'string', value: 'REGION', about: 'A state or province, such as NY.' },
      'area-code': { type: 'string', value: 'CODE', about: 'An area code, such as 212. Not together with --region.' },
    },
    async run({ client, output }, values, [handle = '']) {
      const [country, type, region, areaCode] = ['country', 'type', 'region', 'area-code'].map((name) => text(values, name))
      const number = await (await client()).phone.provision({
        agent_handle: handle,
        // The server rejects all other values with a message of its own.
        ...(country !== undefined && { country_code: country as (typeof countries)[number] }),
        ...(type !== undefined && { type: type as (typeof types)[number] }),
        ...(region !== undefined && { region }),
        ...(areaCode !== undefined && { area_code: areaCode }),
      })
      output.result(number, () => `${number.agent_handle} has ${number.phone_number}. Texts are ${number.sms_status}.`)
      return 0
    },
  },
  {
    words: 'phone show',
    takes: 'NUMBER',
    about: 'Shows one phone number, given by its id or in E.164.',
    example: 'callsign phone show +12125550100',
    operations: ['getPhoneNumber'],
    async run({ client, output }, _values, [number = '']) {
      const one = await (await client()).phone.get(number)
      output.result(one, () =>
        [
          `number    ${one.phone_number}`,
          `id        ${one.id}`,
          `agent     ${one.agent_handle}`,
          `texts     ${one.sms_status}${one.sms_error ? `: ${one.sms_error.detail}` : ''}`,
          `type      ${one.type}, ${[one.region, one.country_code].filter(Boolean).join(', ')}`,
          `provider  ${one.provider}`,
          `created   ${one.created_at}`,
        ].join('\n'),
      )
      return 0
    },
  },
  listCommand({
    words: 'phone messages',
    takes: 'NUMBER',
    about: 'Lists the texts of a number, newest first.',
    example: 'callsign phone messages +12125550100 --unread',
    operations: ['listSmsMessages'],
    options: {
      read: { type: 'boolean', about: 'Only read texts.' },
      unread: { type: 'boolean', about: 'Only unread texts.' },
      from: { type: 'string', value: 'NUMBER', field: 'from', about: 'Only texts from this number.' },
      ...listOptions,
    },
    call: (client, query, [number = ''], values) => client.phone.messages(number, { ...switchOf(values, 'read', 'is_read'), ...query }),
    columns: {
      ID: (one) => one.id,
      FROM: (one) => one.from_number,
      TIME: (one) => ago(one.created_at),
      TEXT: (one) => (one.media.length > 0 ? `${one.text} [${one.media.length} files]` : one.text),
    },
  }),
  {
    words: 'phone read',
    takes: 'MESSAGE',
    about: 'Shows one text.',
    example: 'callsign phone read sms_01jq8 --number +12125550100',
    operations: ['getSmsMessage', 'updateSmsMessage'],
    options: {
      number: { type: 'string', value: 'NUMBER', about: 'The receiving number.' },
      'mark-read': { type: 'boolean', about: 'Mark it as read.' },
    },
    async run({ client, output }, values, [id = '']) {
      const number = needed(values, 'number')
      const { phone } = await client()
      const message =
        values['mark-read'] === true ? await phone.updateMessage(number, id, { is_read: true }) : await phone.message(number, id)
      output.result(message, () =>
        [
          `From: ${message.from_number}`,
          `To: ${message.to_numbers.join(', ')}`,
          `Date: ${message.created_at}`,
          ...message.media.map((file) => `File: ${file.content_type}, ${file.size_bytes} bytes`),
          '',
          message.text,
        ].join('\n'),
      )
      return 0
    },
  },
  {
    words: 'phone wait',
    takes: 'NUMBER',
    about: 'Waits for the next text. A text that arrived since your previous command counts. --code prints only its code.',
    example: 'callsign phone wait +12125550100 --code',
    operations: ['waitForSms'],
    options: { ...waitOptions, text: { type: 'string', value: 'TEXT', about: 'Only texts that contain this.' } },
    async run(context, values, [number = '']) {
      const { client, output, lastCommand } = context
      const words = text(values, 'text')
      const callsign = await client()
      const query = { ...waitQuery(context, values, number), ...(words !== undefined && { text: words }) }
      const { message, cursor } = await callsign.phone.wait(number, query)
      if (message) lastCommand.waited(number, cursor)
      return printFound(output, values, query, message, (one) => `${one.id} from ${one.from_number}: ${one.text}`)
    },
  },
  {
    words: 'phone release',
    takes: 'NUMBER',
    about: 'Returns a number to its provider and deletes its texts.',
    example: 'callsign phone release +12125550100',
    operations: ['releasePhoneNumber'],
    async run({ client, output }, _values, [number = '']) {
      const done = await (await client()).phone.release(number)
      output.result(done, () => `${number} is released.`)
      return 0
    },
  },
]
