// Megabytes a second through a tunnel, down and up, on loopback and on a line with a round trip of 50 ms; against ssh -R and a Node proxy.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { readOptions } from './stage/side-by-side.ts'
import { printHead, printTable, withSpread } from './stage/table.ts'
import { makeStage, startChild, startNodeProxy, startSsh, startTunnel, type Way } from './stage/tunnel-peers.ts'

const { rounds } = readOptions()
const bytes = 100 * 1024 * 1024
const oneWayMs = 25
const block = Buffer.alloc(256 * 1024, 't')

/** Gives and takes bytes as fast as they go. */
const target = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
  if (incoming.method === 'POST') {
    incoming.resume()
    incoming.on('end', () => outgoing.end('ok'))
    return
  }
  outgoing.writeHead(200, { 'content-length': bytes })
  let left = bytes
  const more = () => {
    while (left > 0) {
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

function move(way: Way, isUp: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now()
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: way.port,
        method: isUp ? 'POST' : 'GET',
        headers: { host: way.host, ...(isUp ? { 'content-length': bytes } : {}) },
        agent: false,
      },
      (answer) => {
        if (answer.statusCode !== 200) return reject(new Error(`${way.name}: ${answer.statusCode}`))
        answer.resume()
        answer.on('end', () => resolve(bytes / 1e6 / ((performance.now() - startMs) / 1000)))
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    if (!isUp) return void outgoing.end()
    let left = bytes
    const more = () => {
      while (left > 0) {
        left -= block.length
        if (!outgoing.write(block)) return void outgoing.once('drain', more)
      }
      outgoing.end()
    }
    more()
  })
}

const stage = makeStage()
const slow = async (to: number) => {
  const { child, answer } = await startChild<{ port: number }>('delay.ts', { port: to, delayMs: oneWayMs })
  stage.keep({ stop: async () => void child.kill() })
  return answer.port
}
try {
  const direct: Way = { name: 'directly', port, host: 'localhost', pids: [], stop: async () => {} }
  const near = [direct, stage.keep(await startNodeProxy(port))]
  const ssh = await startSsh(`${stage.folder}/near`, port)
  if (ssh) near.push(stage.keep(ssh))
  near.push(stage.keep(await startTunnel(port)))
  const far: Way[] = []
  const farSsh = await startSsh(`${stage.folder}/far`, port, slow)
  if (farSsh) far.push(stage.keep(farSsh))
  far.push(stage.keep(await startTunnel(port, slow)))
  printHead('Bytes through a tunnel', [
    `One transfer of ${bytes / 1024 / 1024} MB at a time. The slow line is between client and gateway, ${2 * oneWayMs} ms there and back.`,
  ])
  const rows: string[][] = []
  for (const [line, ways] of [
    ['loopback', near],
    [`${2 * oneWayMs} ms`, far],
  ] as const) {
    const down = new Map<Way, number[]>(ways.map((way) => [way, []]))
    const up = new Map<Way, number[]>(ways.map((way) => [way, []]))
    for (let round = 0; round < rounds; round++) {
      for (const way of ways) {
        down.get(way)?.push(await move(way, false))
        up.get(way)?.push(await move(way, true))
      }
    }
    for (const way of ways) rows.push([line, way.name, withSpread(down.get(way) as number[]), withSpread(up.get(way) as number[])])
  }
  printTable(['line', 'way', 'MB/s down', 'MB/s up'], rows)
} finally {
  await stage.stop()
  target.close()
  target.closeAllConnections()
}
