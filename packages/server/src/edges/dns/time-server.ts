// Asks an NTP server for the time (RFC 4330).
import { createSocket } from 'node:dgram'
import { nowMs } from '../../core/clock.ts'

const packetBytes = 48
/** Seconds from 1900, where NTP begins, to 1970. */
const ntpEpochSeconds = 2_208_988_800

/** Milliseconds by which this machine's clock is ahead of the server's. Rejects without an answer within `timeoutMs`. */
export function measureClock(host: string, port: number, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    const stop = (report: () => void) => {
      clearTimeout(timer)
      socket.close()
      report()
    }
    const timer = setTimeout(() => stop(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`))), timeoutMs)
    const question = Buffer.alloc(packetBytes)
    // Version 4, client.
    question[0] = 0b00_100_011
    let askedMs = 0
    socket.once('error', (error) => stop(() => reject(error)))
    socket.on('message', (answer) => {
      // A server with stratum 0 has no time to give.
      if (answer.length < packetBytes || (answer[0]! & 7) !== 4 || answer[1] === 0) return
      const answeredMs = nowMs()
      const seconds = answer.readUInt32BE(40) + answer.readUInt32BE(44) / 2 ** 32
      stop(() => resolve(Math.round((askedMs + answeredMs) / 2 - (seconds - ntpEpochSeconds) * 1000)))
    })
    // A connected socket gets answers from this server only, and learns of a closed port. Node reports a failed lookup to this callback.
    socket.connect(port, host, (error?: Error) => {
      if (error) return stop(() => reject(error))
      askedMs = nowMs()
      socket.send(question)
    })
  })
}
