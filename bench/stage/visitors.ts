// Visitors for the tunnel figures, in a process of their own: connections that ask for one path again and again and note how long each answer took.
import { connect } from 'node:net'

export type VisitorLoad = { port: number; host: string; path: string; connections: number; seconds: number; answerBytes: number }
/** Milliseconds. */
export type VisitorResult = { perSecond: number; p50: number; p99: number; failed: number }

process.on('message', async ({ port, host, path, connections, seconds, answerBytes }: VisitorLoad) => {
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const times: number[] = []
  let failed = 0
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<void>((resolve) => {
          const socket = connect(port, '127.0.0.1')
          socket.setNoDelay(true)
          let sentMs = 0
          let head = ''
          let left = -1
          const ask = () => {
            sentMs = performance.now()
            if (sentMs > endMs) {
              socket.destroy()
              resolve()
              return
            }
            head = ''
            left = -1
            socket.write(request)
          }
          socket.on('connect', ask)
          socket.on('data', (chunk) => {
            let bytes = chunk.length
            if (left < 0) {
              head += chunk.toString('latin1')
              const end = head.indexOf('\r\n\r\n')
              if (end < 0) return
              if (!head.startsWith('HTTP/1.1 200')) failed++
              left = answerBytes
              bytes = head.length - end - 4
            }
            left -= bytes
            if (left > 0) return
            times.push(performance.now() - sentMs)
            ask()
          })
          const fail = () => {
            if (performance.now() < endMs) failed++
            resolve()
          }
          socket.on('error', fail)
          socket.on('close', fail)
        }),
    ),
  )
  const sorted = Float64Array.from(times).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  process.send?.({
    perSecond: (times.length * 1000) / (performance.now() - startMs),
    p50: at(0.5),
    p99: at(0.99),
    failed,
  } satisfies VisitorResult)
})
process.once('disconnect', () => process.exit(0))
