// login, logout, whoami.
import { Callsign } from '@callsign/sdk'
import { type Command, text } from '../../command.ts'
import { removeLogin, writeLogin } from '../../session/login-file.ts'
import { UsageError } from '../../usage-error.ts'

export const accountCommands: Command[] = [
  {
    words: 'login',
    about:
      'Verifies server and key and stores them in a file that only you can read. The key comes from --api-key-file, CALLSIGN_API_KEY or a prompt.',
    example: 'callsign login --url http://localhost:8080',
    operations: ['getCaller'],
    async run({ output, input, environment, folder }, values) {
      const url = text(values, 'url') ?? environment.CALLSIGN_URL
      if (!url) throw new UsageError('The address of the server is missing. Give --url or CALLSIGN_URL.')
      const file = text(values, 'api-key-file')
      const given = file !== undefined ? await input.file(file) : environment.CALLSIGN_API_KEY
      const apiKey = (given || (await input.hidden('API key', 'use --api-key-file or CALLSIGN_API_KEY.'))).trim()
      const me = await new Callsign({ url, apiKey }).me()
      const written = await writeLogin(folder, { url, apiKey })
      output.result({ url, file: written, ...me }, () => `Logged in to ${url} as ${me.organization_name} (${me.role}).`)
      return 0
    },
  },
  {
    words: 'logout',
    about: 'Removes the stored server and key. The key stays valid until you run callsign keys revoke.',
    example: 'callsign logout',
    operations: [],
    async run({ output, folder }) {
      await removeLogin(folder)
      output.result({ logged_out: true }, () => 'Logged out.')
      return 0
    },
  },
  {
    words: 'whoami',
    about: 'Shows the organization and agent that the key belongs to.',
    example: 'callsign whoami',
    operations: ['getCaller'],
    async run({ client, output }) {
      const me = await (await client()).me()
      const scope = me.key.agent_handle ? `agent ${me.key.agent_handle}` : 'whole organization'
      output.result(me, () => `${me.organization_name} (${me.organization_id})\n${me.role}, key "${me.key.name}" ${me.key.id}, ${scope}`)
      return 0
    },
  },
]
