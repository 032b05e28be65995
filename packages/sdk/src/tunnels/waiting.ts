// Promises to wait on in the tunnel client.

const pollMs = 20

export type Deferred<T = void> = { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void }

/** Creates a promise with the functions that end it. */
export function createDeferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Resolves after `ms`, or when the signal fires. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}

/** Polls until the condition holds. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => setTimeout(resolve, pollMs))
}
