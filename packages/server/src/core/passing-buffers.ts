// Memory for bytes that only pass through: freed by small collections, soon, and never by collecting everything that the program keeps.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEveryMs = 100
const grownBytesMax = 8 * 1024 * 1024

/**
 * Node reads sockets into buffers of 64 KB outside V8's heap. V8 makes a full collection, of 50 ms and more, for every 32 MB of them: most of what a
 * transfer through a tunnel costs. Here it counts them with the rest of the heap, and a collection of the young frees them when they have grown.
 */
export function freePassingBuffers(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  let left = 0
  const look = () => {
    const { arrayBuffers } = process.memoryUsage()
    if (arrayBuffers > left + grownBytesMax) {
      collect({ type: 'minor' })
      left = process.memoryUsage().arrayBuffers
    } else left = Math.min(left, arrayBuffers)
  }
  setInterval(look, lookEveryMs).unref()
}
