// Released buffers are freed by minor collections. Runs in a process of its own, because heap settings are per process.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/**
 * Runs statements after `freeExternalBuffers()` and returns their output. `fullCollections()` returns the number of full collections so far.
 */
async function run(statements: string): Promise<string> {
  const script = `
    import { constants, PerformanceObserver } from 'node:perf_hooks'
    import { setTimeout as sleep } from 'node:timers/promises'
    import { freeExternalBuffers, notePassing } from ${JSON.stringify(join(import.meta.dirname, 'external-buffers.ts'))}
    freeExternalBuffers()
    let full = 0
    const count = (list) => { for (const { detail } of list.getEntries()) full += Number(detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) }
    const observer = new PerformanceObserver(count)
    observer.observe({ entryTypes: ['gc'] })
    const fullCollections = () => (count({ getEntries: () => observer.takeRecords() }), full)
    ${statements}`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 })
  return stdout.trim()
}

test('24 MB that pass through are freed soon, and not by a full collection', async () => {
  // Less than the amount that triggers a collection in V8. Ends when the buffers are freed.
  const full = await run(`
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 384; i++) new Uint8Array(64 * 1024).fill(1)
    while (process.memoryUsage().arrayBuffers - before > 8e6) await sleep(20)
    console.log(fullCollections())`)
  expect(Number(full)).toBe(0)
})

test('400 MB that are noted as they pass are freed on the way, whatever the clock says', async () => {
  // All within one iteration of the event loop. Ends with the most that was held at once.
  const held = await run(`
    let most = 0
    for (let i = 0; i < 6400; i++) {
      notePassing(new Uint8Array(64 * 1024).length)
      if (i % 64 === 63) most = Math.max(most, process.memoryUsage().arrayBuffers)
    }
    console.log(most)`)
  // About 24 MB, and more when the thread on which V8 frees them waits for a processor. Without the reports to V8 it is 130 MB.
  expect(Number(held)).toBeLessThan(64e6)
})
