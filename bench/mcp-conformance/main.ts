// Runs the conformance suite of the Model Context Protocol against a Callsign server, for both protocol revisions.
//
// usage: npm run conformance
// Prints the table of scenarios. Fails on a failure that baseline.yaml does not expect, and on a stale entry.
import { spawn } from 'node:child_process'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { makeDirectory, startCallsign } from '../harness/callsign-server.ts'

const suite = join(import.meta.dirname, '..', '..', 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')

/** The scenarios that each revision requires. */
const runs: { revision: string; args: string[] }[] = [
  { revision: '2026-07-28', args: ['--requirements', '2026-07-28'] },
  { revision: '2025-11-25', args: ['--suite', 'active', '--spec-version', '2025-11-25'] },
]

const directory = makeDirectory()
const server = await startCallsign(directory.path)
const proxy = await startKeyProxy(new URL(server.url), await createAgentKey())
try {
  for (const { revision, args } of runs) {
    console.log(`\nMCP ${revision}`)
    const results = join(directory.path, `results-${revision}`)
    const code = await runSuite([
      'server',
      '--url',
      `${proxy.url}/mcp`,
      ...args,
      '--expected-failures',
      join(import.meta.dirname, `baseline-${revision}.yaml`),
      '-o',
      results,
    ])
    if (code !== 0) process.exitCode = 1
  }
} finally {
  proxy.close()
  await server.stop()
  directory.remove()
}

async function createAgentKey(): Promise<string> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`)
    return (await response.json()) as { key: string }
  }
  await post('/identities', { agent_handle: 'sales' })
  return (await post('/keys', { name: 'Conformance', type: 'agent', agent_handle: 'sales' })).key
}

/** The suite cannot send a key, so this proxy adds it. */
async function startKeyProxy(target: URL, key: string): Promise<{ url: string; close: () => void }> {
  const listener = createServer((incoming, response) => {
    const options = {
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, authorization: `Bearer ${key}` },
    }
    const forwarded = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return { url: `http://localhost:${(listener.address() as AddressInfo).port}`, close: () => listener.close() }
}

/** Prints the summary of the suite, and resolves with its exit code. */
function runSuite(args: string[]): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [suite, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => {
      console.log(output.slice(output.indexOf('=== SUMMARY ===')).trim())
      resolve(code)
    })
  })
}
