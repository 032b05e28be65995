// The longest wait of another tenant's small request while something large runs, in time and in work of the shared thread.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { threadMs } from '../../../mail/tests/harness/processor.ts'
import type { Harness } from './start.ts'

/** A request of the attacker. `times` sends it at once that many times. */
export type Attack = { method: string; path: string; key?: string | null; body?: string; times?: number }

/**
 * `turnMs`: processor time of the longest turn of the server's event loop, which other processes do not lengthen. `waitMs`: the longest
 * `GET /me` of the other tenant. `answers`: statuses and sizes of the attacker's answers.
 */
export type Waited = { turnMs: number; waitMs: number; answers: { status: number; bytes: number }[] }

/** Sends requests from a thread of its own, so that their cost is not counted as the server's. */
const sending = `
const { parentPort, workerData } = require('node:worker_threads')
parentPort.on('message', async () => {
  const answers = await Promise.all(workerData.map(async ({ url, init }) => {
    const response = await fetch(url, init)
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength }
  }))
  parentPort.postMessage(answers)
})`

/** A thread that has the requests. Copying large ones to it takes time of the server's thread, and is done before anything is measured. */
async function startSender(harness: Harness, attacks: Attack[]): Promise<Worker> {
  const requests = attacks.flatMap(({ method, path, key = harness.organizationKey, body, times = 1 }) =>
    Array.from({ length: times }, () => ({
      url: /^https?:/.test(path) ? path : `${harness.baseUrl}${path}`,
      init: {
        method,
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      },
    })),
  )
  const worker = new Worker(sending, { eval: true, workerData: requests })
  await once(worker, 'online')
  return worker
}

async function attack(worker: Worker): Promise<Waited['answers']> {
  worker.postMessage('attack')
  const [answers] = (await once(worker, 'message')) as [Waited['answers']]
  await worker.terminate()
  return answers
}

/** Runs the attacks while the other tenant sends `GET /me` again and again. */
export async function longestWait(harness: Harness, otherKey: string, attacks: Attack[]): Promise<Waited> {
  const sender = await startSender(harness, attacks)
  const waited = { turnMs: 0, waitMs: 0 }
  let isOver = false
  const watchTurns = async () => {
    let beforeMs = threadMs()
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      const nowMs = threadMs()
      waited.turnMs = Math.max(waited.turnMs, nowMs - beforeMs)
      beforeMs = nowMs
    }
  }
  const askMe = async () => {
    while (!isOver) {
      const startedMs = performance.now()
      await harness.expectApi(200, 'GET', '/me', { key: otherKey })
      waited.waitMs = Math.max(waited.waitMs, performance.now() - startedMs)
    }
  }
  const watching = [watchTurns(), askMe()]
  const answers = await attack(sender).finally(() => {
    isOver = true
  })
  await Promise.all(watching)
  return { ...waited, answers }
}
