// callsign mcp: the stdio bridge, driven by the official client and by raw lines.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../contract/src/tools/tool-table.ts'
import { type Harness, type Json, startHarness } from '../../server/tests/harness/start.ts'
import { runBridge } from '../src/commands/mcp-bridge.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
let harness: Harness
let key: string

beforeAll(async () => {
  harness = await startHarness()
  await harness.createAgent('sales')
  key = await harness.agentKey('sales')
})
afterAll(() => harness?.stop())

describe.each<[string, 'legacy' | { pin: string }]>([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
])('the official client over stdio, %s', (_name, mode) => {
  test('lists the tools, calls one and reads a prompt', async () => {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', main, 'mcp', '--toolset', 'mail'],
      env: { PATH, NODE_COMPILE_CACHE, HOME: harness.dataDir, CALLSIGN_URL: harness.publicUrl, CALLSIGN_API_KEY: key },
    })
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(transport)
    const wanted = tools.filter(({ name, toolset }) => name === 'whoami' || toolset === 'mail')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(wanted.map(({ name }) => name))
    expect((await client.callTool({ name: 'whoami', arguments: {} })).content).toMatchObject([
      { text: expect.stringContaining('agent: sales') },
    ])
    expect((await client.getPrompt({ name: 'triage' })).messages).toHaveLength(1)
    await client.close()
  })
})

/** A bridge to a server that answers with `handle`, and the lines that it writes. */
async function startBridge(handle: (request: IncomingMessage, body: Json, response: ServerResponse) => void, port = 0) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => handle(request, JSON.parse(Buffer.concat(chunks).toString()), response))
  })
  const listen = () => once(server.listen(port, '127.0.0.1'), 'listening')
  await listen()
  const address = server.address() as AddressInfo
  const input = new PassThrough()
  const [lines, notes, waits]: [Json[], string[], number[]] = [[], [], []]
  const stop = new AbortController()
  const written = new PassThrough()
  let beforeWait = async () => {}
  const done = runBridge({
    url: new URL(`http://127.0.0.1:${address.port}/mcp`),
    apiKey: 'svc_live_test',
    input,
    write: (line) => {
      lines.push(JSON.parse(line))
      written.write('x')
    },
    note: (text) => notes.push(text),
    signal: stop.signal,
    wait: async (ms) => {
      waits.push(ms)
      await beforeWait()
    },
  })
  return {
    lines,
    notes,
    waits,
    send: (message: Json) => input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    nextLine: () => once(written, 'data'),
    onWait: (work: () => Promise<void>) => {
      beforeWait = work
    },
    server: {
      close: () => new Promise((resolve) => server.close(resolve)),
      listen: () => once(server.listen(address.port, '127.0.0.1'), 'listening'),
    },
    async end() {
      input.end()
      await done
      server.close()
    },
  }
}

const reply = (response: ServerResponse, message: Json, type = 'application/json') =>
  response.writeHead(200, { 'content-type': type }).end(type === 'application/json' ? JSON.stringify(message) : message)

describe('the bridge', () => {
  test('sends the key, and the headers of each revision', async () => {
    const seen: Json[] = []
    const bridge = await startBridge(({ headers }, body, response) => {
      seen.push(headers)
      reply(response, { jsonrpc: '2.0', id: body.id, result: body.method === 'initialize' ? { protocolVersion: '2025-11-25' } : {} })
    })
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
    bridge.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    bridge.send({ jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri: 'callsign://sales/messages/ü', _meta } })
    await bridge.end()
    expect(bridge.lines.map(({ id }) => id).sort()).toEqual([1, 2, 3])
    expect(seen[0]).toMatchObject({ authorization: 'Bearer svc_live_test' })
    expect(seen[0]).not.toHaveProperty('mcp-protocol-version')
    const second = seen.find((headers) => headers['mcp-protocol-version'] === '2025-11-25')
    expect(second).not.toHaveProperty('mcp-method')
    const third = seen.find((headers) => headers['mcp-protocol-version'] === '2026-07-28')
    expect(third).toMatchObject({
      'mcp-method': 'resources/read',
      'mcp-name': `=?base64?${Buffer.from('callsign://sales/messages/ü').toString('base64')}?=`,
    })
  })

  test('passes on server-sent events one by one', async () => {
    const events =
      'event: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "method":"notifications/progress"}\r\n\r\n: ping\n\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
    const bridge = await startBridge((_request, _body, response) => reply(response, events, 'text/event-stream'))
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' })
    await bridge.end()
    expect(bridge.lines).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ])
  })

  test('answers a refused key and a line that is not JSON with an error', async () => {
    const bridge = await startBridge((_request, _body, response) =>
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"Send an API key."}}'),
    )
    bridge.send('hello')
    bridge.send({ jsonrpc: '2.0', id: 7, method: 'tools/list' })
    await bridge.end()
    expect(bridge.lines).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: 7, error: { code: -32000 } },
    ])
    expect(bridge.lines[1].error.message).toContain('Send an API key.')
  })

  test('waits for a server that restarts, and gives up after the last wait', async () => {
    const bridge = await startBridge((_request, body, response) => reply(response, { jsonrpc: '2.0', id: body.id, result: {} }))
    await bridge.server.close()
    bridge.onWait(async () => {
      if (bridge.waits.length === 2) await bridge.server.listen()
    })
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    await bridge.nextLine()
    expect(bridge.waits).toEqual([1000, 2000])
    await bridge.server.close()
    bridge.onWait(async () => {})
    bridge.waits.length = 0
    bridge.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    await bridge.end()
    expect(bridge.waits).toEqual([1000, 2000, 4000, 8000, 16_000])
    expect(bridge.lines[1]).toMatchObject({ id: 2, error: { message: expect.stringContaining('ECONNREFUSED') } })
  })

  test('closes the response of a cancelled request, which is not answered', async () => {
    const closed = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const bridge = await startBridge((_request, body, response) => {
      if (body.method !== 'tools/call') return reply(response, { jsonrpc: '2.0', id: body.id, result: {} })
      response.once('close', closed.resolve)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      arrived.resolve()
    })
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' })
    await arrived.promise
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await closed.promise
    await bridge.end()
    expect(bridge.lines.filter(({ id }) => id === 1)).toEqual([])
  })
})
