// The most memory of the test's process, seen by a thread of its own: the main thread pays nothing for being watched.
import { Worker } from 'node:worker_threads'

const code = `
const { workerData } = require('node:worker_threads')
const most = new Float64Array(workerData)
setInterval(() => { most[0] = Math.max(most[0], process.memoryUsage.rss()) }, 20)
`

/**
 * Watches the resident memory of this process every 20 ms.
 * Resolves when the watch runs. `end` resolves to the most bytes above those of the beginning.
 */
export async function watchMemory(): Promise<{ end: () => Promise<number> }> {
  const shared = new SharedArrayBuffer(8)
  const worker = new Worker(code, { eval: true, workerData: shared })
  await new Promise((resolve) => worker.once('online', resolve))
  const before = process.memoryUsage.rss()
  return {
    end: async () => {
      await worker.terminate()
      return Math.max(process.memoryUsage.rss(), new Float64Array(shared)[0] as number) - before
    },
  }
}
