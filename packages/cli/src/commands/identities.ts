// identities list|create|show|delete.
import { type Command, listOptions, listQuery, text } from '../command.ts'
import { table } from '../output.ts'

export const identityCommands: Command[] = [
  {
    words: 'identities list',
    about: 'Lists identities, newest first.',
    options: listOptions,
    async run({ client, output }, values) {
      const page = await (await client()).identities.list(listQuery(values))
      output.result(page, () =>
        table(
          ['HANDLE', 'MAILBOX', 'NAME'],
          page.data.map((one) => [one.agent_handle, one.mailbox_address, one.display_name]),
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'identities create',
    takes: 'HANDLE',
    about: 'Makes an identity with its mailbox.',
    options: {
      name: { type: 'string', value: 'TEXT', about: 'The name shown in mail.' },
      description: { type: 'string', value: 'TEXT', about: 'What it is for.' },
      domain: { type: 'string', value: 'DOMAIN', about: 'A verified custom domain, or the mail domain; else the default.' },
    },
    async run({ client, output }, values, [handle = '']) {
      const name = text(values, 'name')
      const description = text(values, 'description')
      const domain = text(values, 'domain')
      const identity = await (await client()).identities.create({
        agent_handle: handle,
        ...(name !== undefined && { display_name: name }),
        ...(description !== undefined && { description }),
        ...(domain !== undefined && { domain }),
      })
      output.result(identity, () => `${identity.agent_handle} has mail at ${identity.mailbox_address}.`)
      return 0
    },
  },
  {
    words: 'identities show',
    takes: 'HANDLE',
    about: 'Shows one identity.',
    async run({ client, output }, _values, [handle = '']) {
      const one = await (await client()).identities.get(handle)
      output.result(one, () =>
        [
          `handle       ${one.agent_handle}`,
          `id           ${one.id}`,
          `name         ${one.display_name}`,
          `description  ${one.description ?? ''}`,
          `mailbox      ${one.mailbox_address}`,
          `tunnel       ${one.tunnel.public_url} (${one.tunnel.status})`,
          `created      ${one.created_at}`,
        ].join('\n'),
      )
      return 0
    },
  },
  {
    words: 'identities delete',
    takes: 'HANDLE',
    about: 'Deletes an identity with its mailbox, messages, keys and grants. Its handle stays taken.',
    async run({ client, output }, _values, [handle = '']) {
      await (await client()).identities.delete(handle)
      output.result({ agent_handle: handle, deleted: true }, () => `${handle} is deleted.`)
      return 0
    },
  },
]
