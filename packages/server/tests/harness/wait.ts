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
