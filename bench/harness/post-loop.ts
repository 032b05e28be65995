// Upper limit of the webhook figures. Posts the same body over keep-alive connections with Node's own client, as fast as it is answered.
import { Agent, request } from 'node:http'

export type PostLoop = { url: string; body: string; connections: number; count: number }

process.once('message', async ({ url, body, connections, count }: PostLoop) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const bytes = Buffer.from(body)
  let left = count
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(
        url,
        { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': bytes.length } },
        (response) => {
          response.resume()
          response.once('end', resolve)
        },
      )
      outgoing.once('error', reject)
      outgoing.end(bytes)
    })
  const startedMs = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left-- > 0) await post()
    }),
  )
  process.send?.({ perSecond: (count * 1000) / (performance.now() - startedMs) })
  agent.destroy()
})
process.once('disconnect', () => process.exit(0))
