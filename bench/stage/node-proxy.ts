// The plain peer of the tunnel figures: a reverse proxy of a few lines on Node, without a tunnel.
import { Agent, createServer, request } from 'node:http'

process.once('message', ({ port }: { port: number }) => {
  const agent = new Agent({ keepAlive: true })
  const server = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
    const onward = request(
      { host: '127.0.0.1', port, path: incoming.url, method: incoming.method, headers: incoming.headers, agent },
      (answer) => {
        outgoing.writeHead(answer.statusCode as number, answer.rawHeaders)
        answer.pipe(outgoing)
      },
    )
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }))
})
process.once('disconnect', () => process.exit(0))
