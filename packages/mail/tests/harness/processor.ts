// Limits of processor time for machines of any speed. They hold for one on which the work below takes 10 ms.

const referenceMs = 10
const text =
  'Received: from mx.example (mx.example [192.0.2.1]) by mail.example with ESMTP id 4711; <b>=?utf-8?q?t=C3=A9xt?=</b>\r\n'.repeat(3000)

/** Reads a text in the ways of a mail parser: by pattern, by character and as bytes. */
function work(): number {
  let sum = 0
  for (const { 0: word } of text.matchAll(/[a-z0-9]+(?=[ .>])/gi)) sum += word.length
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) | 0
  return sum + Buffer.from(Buffer.from(text).toString('base64'), 'base64').indexOf('none')
}

/**
 * Processor time of this thread so far, in milliseconds. Linux brings the time of a thread up to date at a tick of 4 ms, and when the time of
 * its process is read.
 */
export function threadMs(): number {
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Processor time of this thread for a piece of work, in milliseconds, and its result. */
export async function measureThread<T>(run: () => T): Promise<{ ms: number; result: Awaited<T> }> {
  const beforeMs = threadMs()
  const result = await run()
  return { ms: threadMs() - beforeMs, result }
}

/**
 * The least processor time of `rounds` runs, because compilation, collected garbage and other processes add to some of them.
 * A run of less than `enoughMs` is the last.
 */
export async function leastThreadMs(run: () => unknown, { rounds = 3, enoughMs = 0 } = {}): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds && least >= enoughMs; round++) least = Math.min(least, (await measureThread(run)).ms)
  return least
}

/** A limit in milliseconds, as many times longer as this machine is slower now than the one of the limit, and no shorter. */
export async function allowedMs(limitMs: number): Promise<number> {
  return limitMs * Math.max(1, (await leastThreadMs(work, { rounds: 5 })) / referenceMs)
}
