// keys list|create|rename|revoke.
import { type Key, type Scope, type ScopePreset, scopePresets, scopes } from '@callsign/sdk'
import { type Command, several, text } from '../../command.ts'
import { listCommand } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'

function stateOf({ revoked_at, expires_at }: Key): 'revoked' | 'expired' | 'active' {
  if (revoked_at) return 'revoked'
  return expires_at && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active'
}

const scopesShown = 2

/** The first scopes and the number of the others. An organization key has up to 30. */
function scopesOf({ scopes: held }: Key): string {
  if (held.length === 0) return 'default'
  const others = held.length - scopesShown
  return [...held.slice(0, scopesShown), ...(others > 0 ? [`+${others}`] : [])].join(' ')
}

export const keyCommands: Command[] = [
  listCommand({
    words: 'keys list',
    about:
      'Lists keys and connected apps, newest first, including revoked ones. Of many scopes it shows the first two, and --json has all.',
    example: 'callsign keys list',
    operations: ['listKeys'],
    call: (client, query) => client.keys.list(query),
    columns: {
      ID: (key) => key.id,
      NAME: (key) => (key.connected_app ? `${key.name} (app, ${key.connected_app.host ?? 'not verified'})` : key.name),
      FOR: (key) => key.agent_handles.join(' ') || 'organization',
      SCOPES: scopesOf,
      'LAST 4': (key) => key.last4,
      'LAST USED': (key) => (key.last_used_at ? ago(key.last_used_at) : 'never'),
      FROM: (key) => key.last_used_ip ?? '',
      EXPIRES: (key) => (key.expires_at ? ago(key.expires_at) : 'never'),
      'ALLOWED FROM': (key) => key.allowed_ips.join(' ') || 'any address',
      STATE: stateOf,
    },
  }),
  {
    words: 'keys create',
    takes: 'NAME',
    about: 'Creates a key and prints it once.',
    example: "callsign keys create 'Reader of Ada' --agent sales --preset read_only --allow-ip 192.0.2.0/24",
    operations: ['createKey'],
    options: {
      agent: {
        type: 'string',
        multiple: true,
        value: 'HANDLE',
        about: 'Restrict the key to this agent. Repeatable. Defaults to the whole organization.',
      },
      scope: {
        type: 'string',
        multiple: true,
        value: 'SCOPE',
        choices: scopes,
        about: 'A scope of the key. Repeatable. Without any, an organization key has all, and an agent key has the default of agents.',
      },
      preset: {
        type: 'string',
        value: 'NAME',
        choices: Object.keys(scopePresets),
        about: 'Add a named list of scopes.',
      },
      'allow-ip': {
        type: 'string',
        multiple: true,
        value: 'CIDR',
        about: 'Accept the key only from this address or range. Repeatable.',
      },
      'expires-at': { type: 'string', value: 'TIME', about: 'The expiry time in ISO 8601.' },
    },
    async run({ client, output }, values, [name = '']) {
      const agents = several(values, 'agent')
      const wanted = several(values, 'scope')
      const preset = text(values, 'preset')
      const ranges = several(values, 'allow-ip')
      const expires = text(values, 'expires-at')
      const key = await (await client()).keys.create({
        name,
        ...(agents.length === 0 ? { type: 'organization' as const } : { type: 'agent' as const, agent_handles: agents }),
        ...(wanted.length > 0 && { scopes: wanted as Scope[] }),
        ...(preset !== undefined && { preset: preset as ScopePreset }),
        ...(ranges.length > 0 && { allowed_ips: ranges }),
        ...(expires !== undefined && { expires_at: expires }),
      })
      output.result(key, () => key.key)
      if (!output.isJson) output.note(`Store the key ${key.id} "${key.name}" now. It is not shown again.`)
      return 0
    },
  },
  {
    words: 'keys rename',
    takes: 'ID NAME',
    about: 'Renames a key.',
    example: "callsign keys rename key_01jq8 'Reader of Ada'",
    operations: ['updateKey'],
    async run({ client, output }, _values, [id = '', name = '']) {
      const key = await (await client()).keys.update(id, { name })
      output.result(key, () => `${id} is named "${key.name}".`)
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
