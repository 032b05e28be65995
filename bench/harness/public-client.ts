// Many public clients of a tunnel in one process. They open event streams that are read, or downloads that stall. Reports the number that got a first
// byte.
import { connect, type Socket } from 'node:net'

export type VisitTask = { port: number; host: string; target: string; count: number; isStalled: boolean }
/** `begun` counts those whose answer began with 200 within the time. */
export type VisitResult = { begun: number }

const beginWithinMs = 15_000
const sockets: Socket[] = []

function visit({ port, host, target, isStalled }: VisitTask): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  return new Promise((resolve) => {
    socket.once('data', (chunk) => {
      if (isStalled) socket.pause()
      else socket.resume()
      resolve(chunk.toString('latin1').startsWith('HTTP/1.1 200'))
    })
    socket.once('error', () => resolve(false))
    setTimeout(() => resolve(false), beginWithinMs)
  })
}

process.on('message', async (task: VisitTask) => {
  const begun = await Promise.all(Array.from({ length: task.count }, () => visit(task)))
  process.send?.({ begun: begun.filter(Boolean).length } satisfies VisitResult)
})
process.once('disconnect', () => process.exit(0))
