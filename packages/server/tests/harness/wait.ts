// Waits for asynchronous results of a server. It polls a condition, and names it when the time limit passes.

/** Resolves with the first result of `ask` that is neither null, undefined nor false. Rejects with `what` in the message after `limitMs`. */
export async function waitFor<T>(
  what: string,
  ask: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  limitMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const found = await ask()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}

const tickMs = 10

/**
 * Starts a stopwatch. The returned function stops it and gives the milliseconds. Time that this process waited for the processor, because of other
 * work on the machine, is not counted. Other waiting time and computation are counted.
 */
export function startStopwatch(): () => number {
  let [passedMs, lastMs, lastUsage] = [0, performance.now(), process.cpuUsage()]
  const count = () => {
    const [nowMs, { user, system }] = [performance.now(), process.cpuUsage(lastUsage)]
    passedMs += Math.min(nowMs - lastMs, 2 * tickMs + (user + system) / 1000)
    lastMs = nowMs
    lastUsage = process.cpuUsage()
  }
  const timer = setInterval(count, tickMs)
  return () => {
    clearInterval(timer)
    count()
    return passedMs
  }
}
