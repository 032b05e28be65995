// Connections that arrive while the process is busy and the server then stops.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, Server } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { acceptWaiting } from './accept-waiting.ts'

/** Sends ten requests, prints that it has connected, and prints the result of each request. */
const clients = `
const { connect } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const shared = new Int32Array(workerData.shared)
let left = 10
const said = []
for (let i = 0; i < 10; i++) {
  const socket = connect(workerData.port, '127.0.0.1')
  let text = ''
  socket.on('connect', () => {
    socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
    Atomics.add(shared, 0, 1)
    Atomics.notify(shared, 0)
  })
  socket.on('data', (bytes) => { text += bytes })
  socket.on('error', (error) => { text = error.code })
  socket.on('close', () => { said.push(text); if (--left === 0) parentPort.postMessage(said) })
}`

test('only clients that have connected are served', async () => {
  const server = createServer((_request, response) => response.end('served'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const shared = new SharedArrayBuffer(4)
  const connected = new Int32Array(shared)
  const worker = new Worker(clients, { eval: true, workerData: { port, shared } })
  const said = once(worker, 'message')
  await once(worker, 'online')
  // Blocks until all ten have connected, so that none has been accepted.
  for (let have = 0; have < 10; have = Atomics.load(connected, 0)) Atomics.wait(connected, 0, have)
  await acceptWaiting(server)
  const closed = new Promise<void>((resolve) => Server.prototype.close.call(server, () => resolve()))
  const [answers] = (await said) as [string[]]
  expect(answers.map((text) => text.slice(-6))).toEqual(Array(10).fill('served'))
  await closed
  const refused = await fetch(`http://127.0.0.1:${port}/`).catch((error: Error) => (error.cause as { code: string }).code)
  expect(refused).toBe('ECONNREFUSED')
  await worker.terminate()
})
