// Memory for bytes that only pass through: freed by small collections, soon, and never by collecting everything that the program keeps.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEveryMs = 100
const grownBytesMax = 8 * 1024 * 1024

let passedBytes = 0
let look = () => {}

/**
 * Node reads sockets into buffers of 64 KB outside V8's heap. V8 makes a full collection, of 50 ms and more, for every 32 MB of them: most of what a
 * transfer through a tunnel costs. Here it counts them with the rest of the heap, and a collection of the young frees them when they have grown.
 */
export function freePassingBuffers(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  // Room for them above what is in use: a limit that a full collection sets right above it makes the next one due with the next few megabytes.
  setFlagsFromString('--heap-growing-percent=100')
  // A small collection is done sooner than other threads have been woken up to help, and waits for them where processors are busy.
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  let left = 0
  look = () => {
    passedBytes = 0
    const { arrayBuffers } = process.memoryUsage()
    if (arrayBuffers > left + grownBytesMax) {
      collect({ type: 'minor' })
      left = process.memoryUsage().arrayBuffers
    } else left = Math.min(left, arrayBuffers)
  }
  setInterval(look, lookEveryMs).unref()
}

/** Counts bytes that pass through in buffers of their own: where they are many, the next look may not wait for the clock. */
export function notePassing(bytes: number): void {
  passedBytes += bytes
  if (passedBytes > grownBytesMax) look()
}
