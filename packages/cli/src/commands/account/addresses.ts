// addresses list|create|set-primary|delete.
import { type Command, clientIdOption, readClientId, text } from '../../command.ts'
import { listCommand } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'

export const addressCommands: Command[] = [
  listCommand({
    words: 'addresses list',
    takes: 'HANDLE',
    about: 'Lists the addresses of an agent, newest first.',
    example: 'callsign addresses list sales',
    operations: ['listAddresses'],
    call: (client, query, [handle = '']) => client.addresses.list(handle, query),
    columns: {
      ADDRESS: (one) => one.email_address,
      KIND: (one) => (one.is_primary ? 'primary' : one.is_catch_all ? 'catch-all' : 'alias'),
      CREATED: (one) => ago(one.created_at),
    },
  }),
  {
    words: 'addresses create',
    takes: 'HANDLE [LOCAL]',
    about:
      'Adds an address to an agent. LOCAL is the part before the @, generated if you omit it. Give * for the catch-all address of a domain.',
    example: 'callsign addresses create sales jane.doe --domain acme.example',
    operations: ['createAddress'],
    options: {
      domain: { type: 'string', value: 'DOMAIN', about: 'A verified custom domain, or the mail domain. Defaults to the default domain.' },
      primary: { type: 'boolean', about: 'Make it the primary address.' },
      ...clientIdOption,
    },
    async run({ client, output }, values, [handle = '', localPart]) {
      const domain = text(values, 'domain')
      const address = await (await client()).addresses.create(handle, {
        ...(localPart !== undefined && { local_part: localPart }),
        ...(domain !== undefined && { domain }),
        ...(values.primary === true && { is_primary: true }),
        ...readClientId(values),
      })
      output.result(address, () => `${address.agent_handle} has the address ${address.email_address}.`)
      return 0
    },
  },
  {
    words: 'addresses set-primary',
    takes: 'HANDLE ADDRESS',
    about: 'Makes an address the primary one, from which mail is sent by default.',
    example: 'callsign addresses set-primary sales jane.doe@acme.example',
    operations: ['setPrimaryAddress'],
    async run({ client, output }, _values, [handle = '', address = '']) {
      const primary = await (await client()).addresses.setPrimary(handle, address)
      output.result(primary, () => `${primary.email_address} is the primary address of ${primary.agent_handle}.`)
      return 0
    },
  },
  {
    words: 'addresses delete',
    takes: 'HANDLE ADDRESS',
    about: 'Deletes an address, except the primary one. Only this organization can create it again.',
    example: 'callsign addresses delete sales jane.doe@acme.example',
    operations: ['deleteAddress'],
    async run({ client, output }, _values, [handle = '', address = '']) {
      const deleted = await (await client()).addresses.delete(handle, address)
      output.result(deleted, () => `${address} is deleted.`)
      return 0
    },
  },
]
