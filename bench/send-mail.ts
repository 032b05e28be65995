// POST one mail, committed to disk before it is answered, against a bare Fastify route that parses the same body and answers the same bytes.
import { ask, makeDirectory, startCallsign } from './harness/callsign-server.ts'
import { reportRatios } from './harness/goals.ts'
import { fillMailboxes, messageText, sender, waitForDelivery } from './harness/messages.ts'
import { compare, startBare } from './harness/side-by-side.ts'
import { printHead } from './harness/table.ts'

const directories = [makeDirectory(), makeDirectory()] as const
const accepting = await startCallsign(directories[0].path, { settings: { CALLSIGN_ROLES: 'api,smtp' } })
const whole = await startCallsign(directories[1].path)
try {
  const path = '/api/v1/mail/send'
  const body = { agent: sender, to: ['somebody@example.net'], subject: 'A message', text: messageText(1) }
  for (const server of [accepting, whole]) await fillMailboxes(server, server.key as string, 0)
  const answer = JSON.stringify(await ask(whole, whole.key as string, 'POST', path, body))
  const bare = await startBare({ method: 'POST', path, status: 201, answer })
  const request = { method: 'POST' as const, body: JSON.stringify(body) }
  const headersFor = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
  try {
    printHead('POST one mail', [
      `POST ${path}: ${Buffer.byteLength(request.body)} bytes to one recipient outside, organization key, embedded PostgreSQL, fsync on.`,
      'Accepting: until the 201, the message and its delivery job committed. With delivery: the same, and its worker hands each message to the',
      'simulator transport meanwhile; the processor time is of both. The next measurement begins when everything is delivered.',
    ])
    const ratios = await compare([
      { name: 'bare Fastify', pid: bare.pid, request: { ...request, url: bare.url + path, headers: headersFor('none') } },
      {
        name: 'callsign, accepting',
        pid: accepting.pid,
        request: { ...request, url: accepting.url + path, headers: headersFor(accepting.key as string) },
      },
      {
        name: 'callsign, with delivery',
        pid: whole.pid,
        request: { ...request, url: whole.url + path, headers: headersFor(whole.key as string) },
        waitForRest: () => waitForDelivery(whole, whole.key as string),
      },
    ])
    reportRatios('send', ratios.get('callsign, accepting') ?? [])
  } finally {
    await bare.stop()
  }
} finally {
  await Promise.all([accepting.stop(), whole.stop()])
  for (const directory of directories) directory.remove()
}
