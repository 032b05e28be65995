// HTTP client for one supplier at the address set by the operator. Bounded in time and size, without redirects, and explicit about unknown
// outcomes.
import { openHttpPool, readFailure } from './http-pool.ts'
import { readJson } from './json-members.ts'

export type SupplierOptions = {
  /** Without a trailing slash. A path in it is kept. */
  baseUrl: string
  headers: Record<string, string>
  userAgent: string
  timeoutMs?: number
}

export type SupplierRequest = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Relative to the base URL. */
  path: string
  query?: [string, string][]
  json?: unknown
  form?: [string, string][]
}

/**
 * `answered` is any status, with the body as JSON, or null when it is malformed. `failed` means that there was no complete answer.
 * `isUnsent` is true when the request certainly did not reach the supplier, so that it had no effect.
 */
export type SupplierAnswer = { kind: 'answered'; status: number; body: unknown } | { kind: 'failed'; isUnsent: boolean; detail: string }

export type SupplierClient = { ask(request: SupplierRequest): Promise<SupplierAnswer>; close(): Promise<void> }

const bodyBytesMax = 4 * 1024 * 1024

/** A client of one supplier. The operator chose the address, so it may be private. */
export function createSupplierClient({ baseUrl, headers, userAgent, timeoutMs = 15_000 }: SupplierOptions): SupplierClient {
  const pool = openHttpPool({ connectTimeout: Math.min(5_000, timeoutMs), maxResponseSize: bodyBytesMax, keepAliveTimeout: 10_000 })
  return {
    async ask({ method, path, query = [], json, form }) {
      const url = new URL(`${baseUrl}${path}`)
      for (const [name, value] of query) url.searchParams.append(name, value)
      const body = json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : null
      const type = json !== undefined ? 'application/json' : form ? 'application/x-www-form-urlencoded' : null
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), timeoutMs)
      try {
        const answer = await pool.request(url, {
          method,
          signal: controller.signal,
          headers: { accept: 'application/json', 'user-agent': userAgent, ...headers, ...(type ? { 'content-type': type } : {}) },
          body,
        })
        const text = await answer.body.text()
        return { kind: 'answered', status: answer.statusCode, body: readJson(text) }
      } catch (error) {
        const { isUnsent, reason } = readFailure(error)
        const detail = controller.signal.aborted ? `no answer within ${timeoutMs} ms` : reason || (error as Error).message
        return { kind: 'failed', isUnsent, detail }
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => pool.close(),
  }
}
