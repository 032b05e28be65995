// Waits with a series of requests. Each starts where the previous one ended, so that no arrival is missed.
import { type Connection, type RequestOptions, sleep } from './request.ts'

/** The server's maximum wait per request, in seconds. */
const secondsMax = 60
const secondsDefault = 30
/** The time limit of a response in addition to its wait. */
const marginMs = 15_000

/** The pause before the next request. */
const pauseMs = { same: 500, further: 10 }

/** Waits up to `timeout` seconds with as many requests as needed. Resolves with the last answer, in which the item is null after a timeout. */
export async function waitUntil<R extends { cursor: string }>(
  connection: Connection,
  path: string,
  query: Record<string, unknown> & { timeout?: number; after?: string; cursor?: string },
  isFound: (reply: R) => boolean,
  options: RequestOptions = {},
): Promise<R> {
  const { timeout = secondsDefault, after, cursor: given, ...filter } = query
  const deadline = performance.now() + timeout * 1000
  const ask = (seconds: number, from: { after?: string | undefined; cursor?: string | undefined }) =>
    connection.request<R>({
      method: 'GET',
      path,
      query: { ...filter, ...from, timeout: seconds },
      options: { ...options, timeoutMs: options.timeoutMs ?? seconds * 1000 + marginMs },
    })
  // The starting cursor is requested first, so that a lost request can be repeated from there.
  let cursor = given ?? (after === undefined ? (await ask(0, {})).cursor : undefined)
  for (;;) {
    const left = Math.max(0, deadline - performance.now())
    const reply = await ask(Math.min(secondsMax, Math.ceil(left / 1000)), cursor === undefined ? { after } : { cursor })
    if (isFound(reply) || performance.now() >= deadline) return reply
    // A server that is shutting down answers immediately with the same cursor. If the cursor advanced, the next request follows sooner.
    await sleep(reply.cursor === cursor ? pauseMs.same : pauseMs.further, options.signal)
    cursor = reply.cursor
  }
}
