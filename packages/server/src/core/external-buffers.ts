// Bounds the memory of buffers, which are outside V8's heap.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookEveryMs = 100
const grownBytesMax = 8 * 1024 * 1024

/**
 * Small buffers are slices of blocks of this size, and one kept slice keeps its block. With Node's 64 KB, a cache of small items held almost
 * twice its bytes.
 */
const poolBytes = 8 * 1024

/** Makes small buffers share small blocks. */
export function shrinkBufferPool(): void {
  Buffer.poolSize = poolBytes
}

let passedBytes = 0
let look = () => {}

/**
 * Node reads sockets into buffers of 64 KB outside V8's heap. V8 makes a full collection of 50 ms or more per 32 MB of them, which is most
 * of the cost of a transfer through a tunnel.
 * Here they count as part of the heap, and minor collections free them early as they grow.
 */
export function freeExternalBuffers(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  // Leaves room for them above the live heap: half of it. A full collection otherwise sets a limit so close that a few more megabytes
  // trigger the next one.
  setFlagsFromString('--heap-growing-percent=50')
  // A minor collection is faster than waking helper threads, which also have to wait for busy processors.
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

/** Counts relayed bytes in buffers of their own. Large amounts are checked at once, not at the next timer. */
export function notePassing(bytes: number): void {
  passedBytes += bytes
  if (passedBytes > grownBytesMax) look()
}
