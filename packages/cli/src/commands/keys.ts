// keys list|create|revoke.
import { type AgentScope, agentScopes } from '@callsign/sdk'
import { type Command, listOptions, listQuery, several, text } from '../command.ts'
import { table } from '../output.ts'
import { ago } from '../times.ts'

export const keyCommands: Command[] = [
  {
    words: 'keys list',
    about: 'Lists keys and connected apps, newest first, including revoked ones.',
    example: 'callsign keys list',
    operations: ['listKeys'],
    options: listOptions,
    async run({ client, output }, values) {
      const page = await (await client()).keys.list(listQuery(values))
      const stateOf = (key: { revoked_at: string | null }) => (key.revoked_at ? 'revoked' : 'active')
      output.result(page, () =>
        table(
          ['ID', 'NAME', 'FOR', 'SCOPES', 'LAST 4', 'CREATED', 'STATE'],
          page.data.map((key) => [
            key.id,
            key.connected_app ? `${key.name} (app, ${key.connected_app.host ?? 'not verified'})` : key.name,
            key.agent_handle ?? 'organization',
            key.scopes.join(' '),
            key.last4,
            ago(key.created_at),
            stateOf(key),
          ]),
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
    example: "callsign keys create 'Laptop of Ada' --agent sales",
    operations: ['createKey'],
    options: {
      agent: { type: 'string', value: 'HANDLE', about: 'Restrict the key to this agent. Defaults to the whole organization.' },
      scope: {
        type: 'string',
        multiple: true,
        value: 'SCOPE',
        choices: agentScopes,
        about: 'A scope of an agent key, vault:read or quarantine:read. Repeatable.',
      },
      'expires-at': { type: 'string', value: 'TIME', about: 'The expiry time in ISO 8601.' },
    },
    async run({ client, output }, values, [name = '']) {
      const agent = text(values, 'agent')
      const wanted = several(values, 'scope')
      const expires = text(values, 'expires-at')
      const key = await (await client()).keys.create({
        name,
        ...(agent === undefined ? { type: 'organization' as const } : { type: 'agent' as const, agent_handle: agent }),
        ...(wanted.length > 0 && { scopes: wanted as AgentScope[] }),
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
    example: 'callsign keys revoke key_01jq8',
    operations: ['revokeKey'],
    async run({ client, output }, _values, [id = '']) {
      const revoked = await (await client()).keys.revoke(id)
      output.result(revoked, () => `${id} is revoked.`)
      return 0
    },
  },
]
