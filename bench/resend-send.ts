// Sends one mail through the API of Resend, against our own API on the same server. The goal is at most 1.1 times its latency.
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { reportRatios } from './harness/goals.ts'
import { fillMailboxes, messageText, sender } from './harness/messages.ts'
import { compare } from './harness/side-by-side.ts'
import { printHead } from './harness/table.ts'

const directory = makeDirectory()
// Without a worker, so that deliveries do not compete with the requests.
const server = await startCallsign(directory.path, { settings: { CALLSIGN_ROLES: 'api,smtp' } })
try {
  const key = server.key as string
  await fillMailboxes(server, key, 0)
  const address = `${sender}@agents.localhost`
  const paths = { own: `/api/v1/mailboxes/${address}/messages`, resend: '/compat/resend/emails' }
  const body = { from: address, to: ['somebody@example.net'], subject: 'A message', text: messageText(1) }
  for (const path of Object.values(paths)) await ask(server, key, 'POST', path, body)
  printHead('Send one mail through the API of Resend', [
    `POST ${paths.resend} against POST ${paths.own}: ${Buffer.byteLength(JSON.stringify(body))} bytes to one recipient outside, embedded PostgreSQL,`,
    'fsync on. The ratio is of requests per second in a closed loop, so the latency of the layer is 1 / ratio of our own.',
  ])
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = { method: 'POST' as const, body: JSON.stringify(body), headers }
  const ratios = await compare([
    { name: 'our own API', pid: server.pid, request: { ...request, url: server.url + paths.own } },
    { name: 'API of Resend', pid: server.pid, request: { ...request, url: server.url + paths.resend } },
  ])
  reportRatios('resend', ratios.get('API of Resend') ?? [], (ratio) => 1 / ratio)
} finally {
  await server.stop()
  directory.remove()
}
