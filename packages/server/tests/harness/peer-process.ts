// What every mail server has that tests start as a process of their own: a free port, a greeting, an end.
import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * A port that nobody listened on a moment ago, and that nobody is given by chance before it is used: it lies below those that the system hands
 * out to connections and to whoever listens on port 0.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Whether an SMTP server says 220 on this port of the loopback. */
export const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.once('data', (chunk) => {
      resolve(String(chunk).startsWith('220 '))
      socket.end('QUIT\r\n')
    })
  })

/** Ends it with a SIGTERM, and resolves when it has gone. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
