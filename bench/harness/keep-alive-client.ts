// Posts one body repeatedly over one keep-alive connection with minimal work, because the load runs on the measured machine.
import { once } from 'node:events'
import { connect } from 'node:net'

export type KeepAliveClient = {
  /** Sends one request at a time. Resolves when the answer is the expected one, and rejects with any other answer. */
  post: () => Promise<void>
  close: () => void
}

/** Connects to the server of `url`, whose answers have Content-Length. `wanted` is the required status of each answer. */
export async function openKeepAliveClient(url: string, key: string, body: Buffer, wanted: number): Promise<KeepAliveClient> {
  const { hostname, port, host, pathname } = new URL(url)
  const head = [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${key}`, 'Content-Type: application/json']
  const request = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`), body])
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let answer = ''
  let waiting: PromiseWithResolvers<void> | null = null
  const finish = (failure: Error | null): void => {
    answer = ''
    if (failure) waiting?.reject(failure)
    else waiting?.resolve()
    waiting = null
  }
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
    const end = answer.indexOf('\r\n\r\n')
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(answer)?.[1])
    if (end === -1 || answer.length < end + 4 + length) return
    finish(answer.startsWith(`HTTP/1.1 ${wanted} `) ? null : new Error(`answered ${answer.slice(9, 12)}`))
  })
  socket.on('error', finish)
  socket.on('close', () => finish(new Error('the server closed a connection')))
  return {
    post() {
      waiting = Promise.withResolvers<void>()
      socket.write(request)
      return waiting.promise
    },
    close: () => socket.destroy(),
  }
}
