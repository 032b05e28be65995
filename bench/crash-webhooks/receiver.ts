// Endpoint of the crash run. It records every post by its webhook-id, and is slow, busy or broken at random.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyWebhook } from '@callsign/contract/webhook-signature'
import type { Random } from '../crash/random.ts'

/** Posts with one webhook-id. `taken` counts those answered 2xx. */
export type Posted = { type: string; subject: string; posts: number; taken: number; hashes: Set<string> }

const delayMsMax = 150
const busyShare = 0.05
const brokenShare = 0.03

export async function startPostReceiver(random: Random, report: (problem: string) => void) {
  const posted = new Map<string, Posted>()
  let secret = ''
  let inFlight = 0
  const server = createServer((request, response) => {
    inFlight++
    response.once('close', () => inFlight--)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.once('end', async () => {
      const body = Buffer.concat(chunks)
      const event = await verifyWebhook<{ id: string; type: string; data: { subject: string } }>(
        { body, headers: request.headers },
        secret,
      ).catch((error: Error) => report(`a post that does not verify: ${error.message}`))
      if (!event) return response.writeHead(400).end()
      const id = request.headers['webhook-id'] as string
      if (event.id !== id) report(`webhook-id ${id} carries event ${event.id}`)
      const one = posted.get(id) ?? { type: event.type, subject: event.data.subject, posts: 0, taken: 0, hashes: new Set<string>() }
      posted.set(id, one)
      one.posts++
      one.hashes.add(createHash('sha256').update(body).digest('hex'))
      const kind = random.isHit(busyShare) ? 'busy' : random.isHit(brokenShare) ? 'broken' : 'good'
      setTimeout(
        () => {
          if (kind === 'broken') return response.destroy()
          if (kind === 'good') one.taken++
          response.writeHead(kind === 'good' ? 200 : 503).end('seen')
        },
        random.whole(0, delayMsMax),
      )
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    posted,
    inFlight: () => inFlight,
    setSecret: (given: string) => {
      secret = given
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
