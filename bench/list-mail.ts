// GET a list of 50 messages, with their texts and as summaries, against a bare Fastify route that answers the same bytes.
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { reportRatios } from './harness/goals.ts'
import { fillMailboxes } from './harness/messages.ts'
import { compare, startBare } from './harness/side-by-side.ts'
import { printHead } from './harness/table.ts'

const directory = makeDirectory()
const server = await startCallsign(directory.path)
try {
  const key = server.key as string
  await fillMailboxes(server, key, 100)
  const headers = { authorization: `Bearer ${key}` }
  for (const [figure, query] of [
    ['list', 'limit=50'],
    ['summary', 'limit=50&view=summary'],
  ] as const) {
    const path = `/api/v1/mail/messages?${query}`
    const answer = JSON.stringify(await ask(server, key, 'GET', path))
    const bare = await startBare({ method: 'GET', path: '/api/v1/mail/messages', status: 200, answer })
    try {
      printHead('GET a list of 50 messages', [
        `GET ${path}: ${Buffer.byteLength(answer)} bytes, inbound and outbound messages of 1.5 KB of text each, organization key, embedded PostgreSQL.`,
      ])
      const ratios = await compare([
        { name: 'bare Fastify', pid: bare.pid, request: { url: bare.url + path, method: 'GET', headers } },
        { name: 'callsign', pid: server.pid, request: { url: server.url + path, method: 'GET', headers } },
      ])
      reportRatios(figure, ratios.get('callsign') ?? [])
    } finally {
      await bare.stop()
    }
  }
} finally {
  await server.stop()
  directory.remove()
}
