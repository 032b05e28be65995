// Waiting for what arrives: one request after another, each beginning where the one before ended, so that nothing falls between them.
import { type Connection, type RequestOptions, sleep } from './request.ts'

/** The longest that the server keeps one request waiting, in seconds. */
const secondsMax = 60
const secondsDefault = 30
/** What an answer may take beyond its waiting. */
const marginMs = 15_000

/** Before the next request. */
const pauseMs = { same: 500, further: 10 }

/** Waits as long as `timeout` says, however many requests that takes. Resolves with the last answer; what was awaited is null in it when the time is up. */
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
  // From now on: the place is asked for first, so that a request that is lost on its way can be repeated from there.
  let cursor = given ?? (after === undefined ? (await ask(0, {})).cursor : undefined)
  for (;;) {
    const left = Math.max(0, deadline - performance.now())
    const reply = await ask(Math.min(secondsMax, Math.ceil(left / 1000)), cursor === undefined ? { after } : { cursor })
    if (isFound(reply) || performance.now() >= deadline) return reply
    // A server that is about to stop answers at once; one that got further wants to be asked again.
    await sleep(reply.cursor === cursor ? pauseMs.same : pauseMs.further, options.signal)
    cursor = reply.cursor
  }
}
