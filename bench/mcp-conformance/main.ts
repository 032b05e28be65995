// Runs the conformance suite of the Model Context Protocol against a Callsign server, against its MCP edge with the suite's own fixture tools, and
// against its authorization server.
//
// usage: npm run conformance
// Prints the tables of scenarios. Fails on a failure that no baseline expects, and on a stale entry of a baseline.
import { join } from 'node:path'
import Fastify from 'fastify'
import type { ApiCalls } from '../../packages/server/src/core/api-call.ts'
import type { Caller } from '../../packages/server/src/core/caller.ts'
import { mountMcp } from '../../packages/server/src/edges/mcp/pages.ts'
import { makeDirectory, startCallsign } from '../harness/callsign-server.ts'
import { createFixtureServer } from './fixtures.ts'
import { allowAccess, runSuite, startKeyProxy } from './suite.ts'

/** The scenarios that each revision requires. */
const revisions: { revision: string; args: string[] }[] = [
  { revision: '2026-07-28', args: ['--requirements', '2026-07-28'] },
  { revision: '2025-11-25', args: ['--suite', 'active', '--spec-version', '2025-11-25'] },
]
const callbackPort = 3917

const refuse = () => Promise.reject(new Error('The fixtures call no operation.'))
const noOperations: ApiCalls = {
  withKeyOf: () => ({ call: refuse, follow: refuse }),
  as: () => ({ call: refuse, follow: refuse }),
  authenticate: refuse,
}

const directory = makeDirectory()
const server = await startCallsign(directory.path)
try {
  const key = await createAgentKey()
  await runServerScenarios('product', server.url, key)
  const fixtures = await startFixtureEdge()
  await runServerScenarios('edge', fixtures.url, 'any')
  await fixtures.close()
  await runAuthorizationScenarios()
} finally {
  await server.stop()
  directory.remove()
}

/** A run with the baseline of this name and revision. */
async function runServerScenarios(name: string, url: string, key: string): Promise<void> {
  const proxy = await startKeyProxy(new URL(url), key)
  for (const { revision, args } of revisions) {
    console.log(`\nMCP ${revision}, ${name}`)
    const baseline = ['--expected-failures', join(import.meta.dirname, `baseline-${name}-${revision}.yaml`)]
    const results = join(directory.path, `results-${name}-${revision}`)
    const code = await runSuite(['server', '--url', `${proxy.url}/mcp`, ...args, ...baseline, '-o', results], '=== SUMMARY ===')
    if (code !== 0) process.exitCode = 1
  }
  proxy.close()
}

/** The MCP edge of the product, with the fixtures in place of the product's tools. */
async function startFixtureEdge(): Promise<{ url: string; close: () => Promise<void> }> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  let url = ''
  mountMcp(app, {
    version: '1',
    publicUrl: () => url,
    hostNames: [],
    authenticate: async () => ({ caller: { keyId: 'key_fixture', scopes: [], agents: null } as unknown as Caller, grant: null }),
    narrow: async (caller) => caller,
    challenge: () => 'Bearer',
    approvalKey: Buffer.alloc(32),
    createServer: createFixtureServer,
    tools: {
      apiCalls: noOperations,
      admitBody: () => undefined,
      readToken: async (_request, find) => (await find('any', { address: '127.0.0.1', userAgent: '' })) ?? refuse(),
      limitCaller: () => undefined,
      openToPages: () => () => {},
    },
  })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { url, close: () => app.close() }
}

async function runAuthorizationScenarios(): Promise<void> {
  console.log('\nAuthorization server')
  const registered = await fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [`http://127.0.0.1:${callbackPort}/callback`] }),
  })
  const { client_id: clientId } = (await registered.json()) as { client_id: string }
  let isAllowed = false
  const args = ['authorization', '--url', server.url, '--client-id', clientId, '--resource', `${server.url}/mcp`]
  const code = await runSuite([...args, '--port', String(callbackPort)], 'Access the following', (output) => {
    const asked = new RegExp(`^${server.url}/oauth/authorize\\?\\S+$`, 'm').exec(output)?.[0]
    if (isAllowed || asked === undefined) return
    isAllowed = true
    void allowAccess(asked, { url: server.url, key: server.key as string })
  })
  if (code !== 0) process.exitCode = 1
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
