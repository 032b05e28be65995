// Buffers that nobody holds any more are freed by small collections; in a process of its own, because it is about the whole of one.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** 24 MB: less than what V8 collects for by itself. Ends when they are freed. */
const script = `
  import { constants, PerformanceObserver } from 'node:perf_hooks'
  import { setTimeout as sleep } from 'node:timers/promises'
  import { freePassingBuffers } from ${JSON.stringify(join(import.meta.dirname, 'passing-buffers.ts'))}
  freePassingBuffers()
  let full = 0
  const count = (list) => { for (const { detail } of list.getEntries()) full += Number(detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) }
  const observer = new PerformanceObserver(count)
  observer.observe({ entryTypes: ['gc'] })
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 384; i++) new Uint8Array(64 * 1024).fill(1)
  while (process.memoryUsage().arrayBuffers - before > 8e6) await sleep(20)
  count({ getEntries: () => observer.takeRecords() })
  console.log(full)
`

test('24 MB that pass through are freed soon, and not by a full collection', async () => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 })
  expect(Number(stdout)).toBe(0)
})
