// Sends requests as fast as they are answered, in its own process, with autocannon.
import autocannon from 'autocannon'

export type Load = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | undefined
  connections: number
  seconds: number
}

/** `p99` in milliseconds. `failed` counts answers other than 2xx, errors and timeouts. */
export type LoadResult = { requests: number; seconds: number; p99: number; failed: number }

process.on('message', async (load: Load) => {
  const { url, method, headers, body, connections, seconds } = load
  const result = await autocannon({ url, method, headers, connections, duration: seconds, ...(body === undefined ? {} : { body }) })
  const { non2xx, errors, timeouts, latency } = result
  const requests = result.requests.total
  process.send?.({
    requests,
    seconds: result.duration,
    p99: latency.p99,
    failed: non2xx + errors + timeouts,
  } satisfies LoadResult)
})
process.once('disconnect', () => process.exit(0))
