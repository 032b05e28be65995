// init and open: the first steps on a machine, and the console.
import { spawn } from 'node:child_process'
import { ApiError, Callsign } from '@callsign/sdk'
import { type Command, type Context, text, type Values } from '../command.ts'
import { writeLogin } from '../session/login-file.ts'

const localServer = 'http://localhost:8080'
const firstHandle = 'sales'

/** Server and key of the options or the environment. Asks for the others. */
async function readAccess({ input, environment }: Context, values: Values): Promise<{ url: string; apiKey: string }> {
  const url = text(values, 'url') || environment.CALLSIGN_URL || (await input.ask('Address of the server', localServer, 'use --url.'))
  const file = text(values, 'api-key-file')
  const given = file !== undefined ? await input.file(file) : environment.CALLSIGN_API_KEY
  const apiKey = given || (await input.hidden('API key', 'use --api-key-file or CALLSIGN_API_KEY.'))
  return { url: url.replace(/\/+$/, ''), apiKey: apiKey.trim() }
}

/** The agent with this handle, which is created if it does not exist. */
async function ensureAgent(client: Callsign, handle: string) {
  try {
    return await client.identities.get(handle)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return client.identities.create({ agent_handle: handle })
  }
}

/** Delivers a first message from the simulator. False on a server without one. */
async function deliverWelcome(client: Callsign, handle: string): Promise<boolean> {
  try {
    await client.simulator.mail({ to: handle, subject: 'Welcome', text: `This is the first message in the mailbox of ${handle}.` })
    return true
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return false
    throw error
  }
}

/** The program that opens an address in the browser of the user. */
function openerOf(environment: NodeJS.ProcessEnv): [string, ...string[]] {
  if (environment.BROWSER) return [environment.BROWSER]
  if (process.platform === 'darwin') return ['open']
  return process.platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open']
}

export const firstStepCommands: Command[] = [
  {
    words: 'init',
    takes: '[HANDLE]',
    about:
      'Takes the first steps. It asks for server and key, verifies and stores them, creates an agent, and puts a first message into its mailbox. An agent that exists is kept.',
    example: 'callsign init sales',
    operations: ['getCaller', 'getIdentity', 'createIdentity', 'simulateMail'],
    async run(context, values, [given]) {
      const { output, input, folder } = context
      const access = await readAccess(context, values)
      const client = new Callsign(access)
      const me = await client.me()
      await writeLogin(folder, access)
      const handle = me.key.agent_handle ?? given ?? (await input.ask('Handle of your agent', firstHandle, 'give HANDLE.'))
      const agent = await ensureAgent(client, handle)
      const hasMail = me.key.type === 'organization' && (await deliverWelcome(client, handle))
      const next = [
        ...(hasMail ? [`callsign mail read --agent ${handle}    # its first message`] : []),
        `callsign listen --agent ${handle} --exec cat    # its events as they arrive`,
        'callsign open    # the console',
      ]
      const lines = [
        `Logged in to ${access.url} as ${me.organization_name}.`,
        `${handle} has mail at ${agent.mailbox_address}.`,
        '',
        'Next:',
      ]
      output.result({ url: access.url, organization_name: me.organization_name, agent, has_mail: hasMail }, () =>
        [...lines, ...next.map((line) => `  ${line}`)].join('\n'),
      )
      return 0
    },
  },
  {
    words: 'open',
    about: 'Opens the console in your browser, and prints its address. Without a terminal it only prints the address.',
    example: 'callsign open',
    operations: [],
    async run({ login, output, environment }) {
      const url = new URL('/console/', (await login()).url).href
      if (output.terminal) {
        const [program, ...values] = openerOf(environment)
        // The address is printed anyway, so a machine without a browser needs no message.
        spawn(program, [...values, url], { stdio: 'ignore', detached: true })
          .once('error', () => {})
          .unref()
      }
      output.result({ url }, () => url)
      return 0
    },
  },
]
