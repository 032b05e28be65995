// Memory of gateway and client with 1,000 open event streams, and with 100 visitors that stopped reading a large download.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from './stage/process-tree.ts'
import { printHead, printTable } from './stage/table.ts'
import { makeStage, startNodeProxy, startSsh, startTunnel, type Way } from './stage/tunnel-peers.ts'

const streams = 1000
const stalled = 100
const block = Buffer.alloc(256 * 1024, 's')
const open = new Set<ServerResponse>()

const target = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
  if (incoming.url === '/events') {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.write('data: hello\n\n')
    open.add(outgoing)
    outgoing.on('close', () => open.delete(outgoing))
    return
  }
  outgoing.writeHead(200)
  let left = 50 * 1024 * 1024
  const more = () => {
    while (left > 0 && !outgoing.destroyed) {
      left -= block.length
      if (!outgoing.write(block)) return void outgoing.once('drain', more)
    }
    outgoing.end()
  }
  more()
})
target.listen(0, '127.0.0.1')
await once(target, 'listening')
const { port } = target.address() as { port: number }

const memoryOf = (way: Way): number[] => way.pids.map((pid) => readMemory(pid).node.pss)

async function visitors(way: Way, count: number, path: string, isReading: boolean): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect(way.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${way.host}\r\n\r\n`)
    if (isReading) socket.resume()
    else socket.pause()
    sockets.push(socket)
  }
  return sockets
}

const stage = makeStage()
try {
  const ways = [stage.keep(await startNodeProxy(port))]
  const ssh = await startSsh(stage.folder, port)
  if (ssh) ways.push(stage.keep(ssh))
  ways.push(stage.keep(await startTunnel(port)))
  printHead('Memory of a tunnel', [
    `Growth of PSS in MB: gateway (or proxy, sshd) + client, with ${streams} open event streams and with ${stalled} visitors that stopped reading 50 MB each.`,
  ])
  const rows: string[][] = []
  for (const way of ways) {
    const row = [way.name]
    for (const [count, path, isReading] of [
      [streams, '/events', true],
      [stalled, '/large', false],
    ] as const) {
      const before = memoryOf(way)
      const sockets = await visitors(way, count, path, isReading)
      if (path === '/events') for (let i = 0; i < 200 && open.size < count; i++) await sleep(50)
      await sleep(2000)
      const after = memoryOf(way)
      row.push(after.map((mb, i) => (mb - (before[i] as number)).toFixed(0)).join(' + '))
      if (path === '/events') row.push(String(open.size))
      for (const socket of sockets) socket.destroy()
      await sleep(1500)
    }
    rows.push(row)
  }
  printTable(['way', `${streams} streams`, 'open', `${stalled} stalled`], rows)
} finally {
  await stage.stop()
  target.close()
  target.closeAllConnections()
}
