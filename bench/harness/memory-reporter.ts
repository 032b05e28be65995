// Loaded into a measured server with --import. Appends its memory to the file of BENCH_MEMORY_FILE as one JSON line per period.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** In bytes, as `process.memoryUsage` returns them. */
export type MemoryLine = { atMs: number; rss: number; heapTotal: number; heapUsed: number; external: number; arrayBuffers: number }

const { BENCH_MEMORY_FILE: file, BENCH_MEMORY_MS: everyMs } = process.env

// Worker threads inherit the option, and report nothing, because `rss` counts the whole process.
if (file && isMainThread) {
  const write = (): void => {
    const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage()
    const line: MemoryLine = { atMs: performance.now(), rss, heapTotal, heapUsed, external, arrayBuffers }
    appendFileSync(file, `${JSON.stringify(line)}\n`)
  }
  setInterval(write, Number(everyMs)).unref()
}
