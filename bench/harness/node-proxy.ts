// A plain reverse proxy of node:http with keep-alive connections, in its own process. It is the tunnel-free peer of the tunnel figures.
import { Agent, request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const originPort = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

const server = createServer((request, response) => {
  const { method, url, headers } = request
  const onward = ask({ agent, host: '127.0.0.1', port: originPort, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode as number, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
})
server.keepAliveTimeout = 600_000
server.requestTimeout = 0
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.once('disconnect', () => process.exit(0))
