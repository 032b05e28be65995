// Runs the tools of the SDK and the MCP endpoint in the agent frameworks from npm. A scripted model signs up at a site, stores a password and replies
// under approval. Then the command line of the MCP Inspector lists and calls tools.
//
// usage: npm run frameworks
// Installs the frameworks into node_modules/.cache once. Prints one line per framework, and the size of the tool list in tokens.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, type CallsignServer, makeDirectory, startCallsign } from '../harness/callsign-server.ts'

const root = join(import.meta.dirname, '..', '..')
const project = join(root, 'node_modules', '.cache', 'callsign', 'frameworks')
const packages = [
  'ai@7',
  '@openai/agents@0.20',
  '@langchain/core@1',
  'langchain@1',
  '@mastra/core@1',
  '@langchain/mcp-adapters@1',
  '@ai-sdk/mcp@2',
  '@modelcontextprotocol/inspector@2',
  'gpt-tokenizer@4',
  'zod@4',
]

mkdirSync(project, { recursive: true })
writeFileSync(join(project, 'package.json'), '{"name": "frameworks", "private": true, "type": "module"}')
const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
  cwd: project,
  stdio: 'inherit',
})
if (installed.status !== 0) throw new Error('npm install failed')
// Beside the frameworks, so that they import them.
for (const file of ['agents.mjs', 'scenario.mjs']) cpSync(join(import.meta.dirname, file), join(project, file))

const directory = makeDirectory()
const server = await startCallsign(directory.path)
try {
  const run = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(project, 'agents.mjs')], {
    env: {
      ...process.env,
      CALLSIGN_URL: server.url,
      CALLSIGN_API_KEY: server.key as string,
      CALLSIGN_SMTP_PORT: String(server.smtpPort),
      CALLSIGN_CLIENT_DIR: join(directory.path, 'client'),
      CALLSIGN_SDK: join(root, 'packages', 'sdk', 'src'),
    },
    stdio: 'inherit',
  })
  process.exitCode = run.status ?? 1
  await runInspector(server)
} finally {
  await server.stop()
  directory.remove()
}

/** The command line of the MCP Inspector, which speaks the endpoint's protocol by itself. */
async function runInspector({ url, key }: CallsignServer): Promise<void> {
  const own = key as string
  await ask(server, own, 'POST', '/api/v1/identities', { agent_handle: 'inspector' })
  const made = await ask<{ key: string }>(server, own, 'POST', '/api/v1/keys', { name: 'I', type: 'agent', agent_handle: 'inspector' })
  const runs: [string[], string][] = [
    [['--method', 'tools/list'], '"mail_send"'],
    [['--method', 'tools/call', '--tool-name', 'whoami'], 'inspector@agents.localhost'],
  ]
  for (const [args, expected] of runs) {
    const target = ['--cli', `${url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${made.key}`]
    const { stdout, stderr } = spawnSync('npx', ['mcp-inspector', ...target, ...args], { cwd: project, encoding: 'utf8' })
    const isRight = stdout.includes(expected)
    if (!isRight) process.exitCode = 1
    console.log(`${isRight ? 'ok    ' : 'FAILED'}  Inspector, ${args[1]}${isRight ? '' : `\n${stdout}${stderr}`}`)
  }
}
