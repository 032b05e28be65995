// mcp connects an MCP client that starts programs to the server.
import { setTimeout as wait } from 'node:timers/promises'
import { toolsets } from '@callsign/sdk'
import { type Command, several } from '../command.ts'
import { runBridge } from './mcp-bridge.ts'

export const mcpCommands: Command[] = [
  {
    words: 'mcp',
    about:
      'Serves the tools of the server over standard input and output, for MCP clients that start a program. Server and key come from the login, the environment or the options. It waits for a server that restarts.',
    example: 'callsign mcp --toolset mail --read-only',
    operations: [],
    options: {
      toolset: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        choices: toolsets,
        about: 'Only these tools, and whoami. Repeatable. Defaults to all.',
      },
      'read-only': { type: 'boolean', about: 'Only tools that change nothing.' },
      agent: { type: 'string', multiple: true, value: 'HANDLE', about: 'With a key of several agents, only this one. Repeatable.' },
    },
    async run(context, values) {
      const login = await context.login()
      const url = new URL(`${login.url.replace(/\/+$/, '')}/mcp`)
      const chosen = several(values, 'toolset')
      if (chosen.length > 0) url.searchParams.set('toolsets', chosen.join(','))
      if (values['read-only'] === true) url.searchParams.set('read_only', '1')
      const agents = several(values, 'agent')
      if (agents.length > 0) url.searchParams.set('agent', agents.join(','))
      const signal = context.interruption()
      await runBridge({
        url,
        apiKey: login.apiKey,
        input: context.input.stream(),
        write: (line) => context.output.raw(`${line}\n`),
        note: (line) => context.output.note(line),
        signal,
        wait: async (ms) => {
          await wait(ms, undefined, { signal })
        },
      })
      return 0
    },
  },
]
