// HTTP client for an iMessage provider at the address set by the operator. Bounded in time and size, and explicit about unknown outcomes.
import { openHttpPool, readFailure } from './http-pool.ts'

export type ImessageRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: URL
  headers?: Record<string, string>
  json?: unknown
  body?: Buffer
  timeoutMs?: number
  bytesMax?: number
}

/**
 * `answered` is any status. `failed` means that there was no complete answer. `isUnsent` is true when the request certainly did not reach
 * the provider, so that it had no effect.
 * `detail` does not contain a URL, because that of a BlueBubbles server contains its password.
 */
export type ImessageAnswer =
  | { kind: 'answered'; status: number; retryAfter: string | null; contentType: string; bytes: Buffer }
  | { kind: 'failed'; isUnsent: boolean; detail: string }

export type ImessageClient = { ask(request: ImessageRequest): Promise<ImessageAnswer>; close(): Promise<void> }

const timeoutMsUsual = 15_000
const bytesMaxUsual = 16 * 1024 * 1024

/** A client of one provider. */
export function createImessageClient(userAgent: string): ImessageClient {
  const pool = openHttpPool({ connectTimeout: 5_000, keepAliveTimeout: 4_000 })
  return {
    async ask({ method, url, headers = {}, json, body, timeoutMs = timeoutMsUsual, bytesMax = bytesMaxUsual }) {
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await pool.request(url, {
          method,
          signal,
          headers: { 'user-agent': userAgent, ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
          body: json === undefined ? (body ?? null) : JSON.stringify(json),
        })
        const chunks: Buffer[] = []
        let size = 0
        for await (const chunk of answer.body as AsyncIterable<Buffer>) {
          size += chunk.length
          if (size > bytesMax) {
            answer.body.destroy()
            return { kind: 'failed', isUnsent: false, detail: `the answer is larger than ${bytesMax} bytes` }
          }
          chunks.push(chunk)
        }
        const textOf = (name: string): string => String(answer.headers[name] ?? '')
        const retryAfter = textOf('retry-after') || null
        return {
          kind: 'answered',
          status: answer.statusCode,
          retryAfter,
          contentType: textOf('content-type'),
          bytes: Buffer.concat(chunks, size),
        }
      } catch (error) {
        const { isUnsent, reason } = readFailure(error)
        const detail = signal.aborted ? `no answer within ${timeoutMs} ms` : reason || (error as Error).name
        return { kind: 'failed', isUnsent, detail }
      }
    },
    close: () => pool.close(),
  }
}

/** Retry-After in whole seconds, as milliseconds. Null for any other form. */
export const retryAfterMs = (text: string | null): number | null => (text !== null && /^\d{1,5}$/.test(text) ? Number(text) * 1000 : null)
