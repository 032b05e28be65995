// The ways in which a request fails at the other server, and the time limit of a request.
import { FetchRefused } from '../../core/web.ts'

export const timedOut = (): FetchRefused => new FetchRefused('The server did not answer completely in time.', 'timeout')
export const lost = (): FetchRefused =>
  new FetchRefused('The server closed the connection before its answer was complete.', 'connection_lost')
export const notHttp = (): FetchRefused => new FetchRefused("The server's answer is not valid HTTP.", 'bad_response')
export const tooLargeHead = (): FetchRefused => new FetchRefused("The server's answer has too large headers.", 'bad_response')
export const unusable = (): FetchRefused => new FetchRefused("The server's answer could not be used.", 'bad_response')

/** Runs the work under one time limit. After it, the signal is aborted, and every failure is `timedOut`. */
export async function withinTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), timeoutMs)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? timedOut() : error
  } finally {
    clearTimeout(timer)
  }
}
