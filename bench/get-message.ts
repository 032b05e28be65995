// GETs one message, against a bare Fastify route with the same bytes. The goal is half of its requests per second.
import { join } from 'node:path'
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { reportRatios } from './harness/goals.ts'
import { fillMailboxes, receiver } from './harness/messages.ts'
import { compare, startBare } from './harness/side-by-side.ts'
import { printHead } from './harness/table.ts'

const directory = makeDirectory()
const server = await startCallsign(directory.path)
try {
  const key = server.key as string
  await fillMailboxes(server, key, 100)
  const list = await ask<{ messages: { id: string }[] }>(server, key, 'GET', `/api/v1/mail/messages?agent=${receiver}&limit=50`)
  const id = list.messages[25]?.id as string
  const path = `/api/v1/mailboxes/${receiver}@agents.localhost/messages/${id}`
  const answer = JSON.stringify(await ask(server, key, 'GET', path))
  const route = { method: 'GET', path: '/api/v1/mailboxes/:email_address/messages/:message_id', status: 200, answer } as const
  const bare = await startBare(route)
  const select = { host: join(directory.path, 'postgres'), text: 'SELECT text FROM messages WHERE id = $1', values: [id] }
  const bareSelect = await startBare({ ...route, select })
  try {
    printHead('GET one message', [
      `GET /api/v1/mailboxes/{address}/messages/{id}: ${Buffer.byteLength(answer)} bytes, an inbound message, organization key, embedded PostgreSQL.`,
      'One SELECT: bare Fastify that waits for one prepared lookup by primary key on the same PostgreSQL, the least that an answer which is',
      'never stale can cost. Callsign looks up the key, with its organization, and the message, with its mailbox, on every request.',
    ])
    const headers = { authorization: `Bearer ${key}` }
    const ratios = await compare([
      { name: 'bare Fastify', pid: bare.pid, request: { url: bare.url + path, method: 'GET', headers } },
      {
        name: 'bare Fastify, one SELECT',
        pid: bareSelect.pid,
        databasePid: server.pid,
        request: { url: bareSelect.url + path, method: 'GET', headers },
      },
      { name: 'callsign', pid: server.pid, request: { url: server.url + path, method: 'GET', headers } },
    ])
    reportRatios('get', ratios.get('callsign') ?? [])
  } finally {
    await Promise.all([bare.stop(), bareSelect.stop()])
  }
} finally {
  await server.stop()
  directory.remove()
}
