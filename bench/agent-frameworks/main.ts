// Runs the tools of the SDK in the agent frameworks from npm, with a scripted model that calls a tool and then ends.
//
// usage: npm run frameworks
// Installs the frameworks into node_modules/.cache once, and prints one line per framework.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, startCallsign } from '../harness/callsign-server.ts'

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
  'zod@4',
]

mkdirSync(project, { recursive: true })
writeFileSync(join(project, 'package.json'), '{"name": "frameworks", "private": true, "type": "module"}')
const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
  cwd: project,
  stdio: 'inherit',
})
if (installed.status !== 0) throw new Error('npm install failed')
// Beside the frameworks, so that it imports them.
cpSync(join(import.meta.dirname, 'agents.mjs'), join(project, 'agents.mjs'))

const directory = makeDirectory()
const server = await startCallsign(directory.path)
try {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
    const response = await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`)
    return (await response.json()) as { key: string }
  }
  await post('/identities', { agent_handle: 'sales' })
  const { key } = await post('/keys', { name: 'Frameworks', type: 'agent', agent_handle: 'sales' })
  const run = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(project, 'agents.mjs')], {
    env: {
      ...process.env,
      CALLSIGN_URL: server.url,
      CALLSIGN_API_KEY: key,
      CALLSIGN_SDK: join(root, 'packages', 'sdk', 'src', 'tools', 'index.ts'),
    },
    stdio: 'inherit',
  })
  process.exitCode = run.status ?? 1
} finally {
  await server.stop()
  directory.remove()
}
