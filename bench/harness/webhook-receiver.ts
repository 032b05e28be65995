// Endpoint of the webhook figures, in its own process. It counts posts, answers at once, and hangs on paths that ask for it.
import { createServer } from 'node:http'

/**
 * Requests of the parent, to reset the counters or to report them. Latencies start at the `timestamp` of the body. They are null when this path has
 * not received any.
 */
export type ReceiverAsk = 'reset' | 'tell'
export type ReceiverTold = { url: string; count: number; firstMs: number; lastMs: number; latenciesMs: number[] }

let count = 0
let firstMs = 0
let lastMs = 0
let latenciesMs: number[] = []
const timestampPattern = /"timestamp":"([^"]+)"/

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    // Neither counted nor answered, so the sender has to give up by itself.
    if (request.url?.startsWith('/hang')) return
    const atMs = Date.now()
    if (count++ === 0) firstMs = atMs
    lastMs = atMs
    const timestamp = timestampPattern.exec(Buffer.concat(chunks).toString('latin1', 0, 300))?.[1]
    if (timestamp) latenciesMs.push(atMs - Date.parse(timestamp))
    response.writeHead(200, { 'content-length': 2 }).end('ok')
  })
})
server.keepAliveTimeout = 60_000

server.listen(0, '127.0.0.1', () => {
  const address = server.address() as { port: number }
  const url = `http://127.0.0.1:${address.port}`
  process.on('message', (ask: ReceiverAsk) => {
    if (ask === 'reset') {
      count = 0
      latenciesMs = []
    }
    process.send?.({ url, count, firstMs, lastMs, latenciesMs: ask === 'tell' ? latenciesMs : [] } satisfies ReceiverTold)
  })
  process.send?.({ url, count, firstMs, lastMs, latenciesMs: [] } satisfies ReceiverTold)
})
process.once('disconnect', () => process.exit(0))
