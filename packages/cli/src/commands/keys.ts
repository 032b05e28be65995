// keys list|create|revoke.
import { type Command, listOptions, listQuery, several, text } from '../command.ts'
import { table } from '../output.ts'
import { UsageError } from '../usage-error.ts'

export const keyCommands: Command[] = [
  {
    words: 'keys list',
    about: 'Lists keys, newest first, including revoked ones.',
    options: listOptions,
    async run({ client, output }, values) {
      const page = await (await client()).keys.list(listQuery(values))
      const stateOf = (key: { revoked_at: string | null }) => (key.revoked_at ? 'revoked' : 'active')
      output.result(page, () =>
        table(
          ['ID', 'NAME', 'FOR', 'SCOPES', 'LAST 4', 'STATE'],
          page.data.map((key) => [key.id, key.name, key.agent_handle ?? 'organization', key.scopes.join(' '), key.last4, stateOf(key)]),
        ),
      )
      if (page.next_cursor && !output.isJson) output.note(`More: --cursor ${page.next_cursor}`)
      return 0
    },
  },
  {
    words: 'keys create',
    takes: 'NAME',
    about: 'Creates a key and prints it once.',
    options: {
      agent: { type: 'string', value: 'HANDLE', about: 'Restrict the key to this agent. Defaults to the whole organization.' },
      scope: { type: 'string', multiple: true, value: 'SCOPE', about: 'vault:read, for agent keys. Repeatable.' },
      'expires-at': { type: 'string', value: 'TIME', about: 'The expiry time in ISO 8601.' },
    },
    async run({ client, output }, values, [name = '']) {
      const agent = text(values, 'agent')
      const scopes = several(values, 'scope')
      if (scopes.some((scope) => scope !== 'vault:read')) throw new UsageError('--scope must be vault:read.')
      const expires = text(values, 'expires-at')
      const key = await (await client()).keys.create({
        name,
        ...(agent !== undefined && { type: 'agent' as const, agent_handle: agent }),
        ...(scopes.length > 0 && { scopes: scopes as 'vault:read'[] }),
        ...(expires !== undefined && { expires_at: expires }),
      })
      output.result(key, () => key.key)
      if (!output.isJson) output.note(`Store the key ${key.id} "${key.name}" now. It is not shown again.`)
      return 0
    },
  },
  {
    words: 'keys revoke',
    takes: 'ID',
    about: 'Revokes a key. The next request with it is rejected.',
    async run({ client, output }, _values, [id = '']) {
      const revoked = await (await client()).keys.revoke(id)
      output.result(revoked, () => `${id} is revoked.`)
      return 0
    },
  },
]
