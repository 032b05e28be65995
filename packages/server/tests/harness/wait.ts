// Waiting for what a server does in its own time: asks again and again until it is so, or says what it waited for in vain.

/** Resolves with the first result of `ask` that is neither null, undefined nor false; rejects naming `what` after `limitMs`. */
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
 * Starts to measure; the function it returns ends it and says how many milliseconds have passed. What this process waited for the processor
 * meanwhile, because of other work on the machine, does not count; what it waited for anything else, and what it computed, does.
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
