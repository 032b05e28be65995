// HTTP client for one supplier at the address set by the operator. Bounded in time and size, without redirects, and explicit about unknown
// outcomes.
import type { Agent } from 'undici'

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
const headerBytesMax = 32 * 1024

/** Errors that occur before the first byte of a request is written. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** A client of one supplier. Ignores the environment, including proxy settings. The operator chose the address, so it may be private. */
export function createSupplierClient({ baseUrl, headers, userAgent, timeoutMs = 15_000 }: SupplierOptions): SupplierClient {
  /** Opened at the first request, because undici takes 6 MB and most servers never call a supplier. */
  let agent: Agent | null = null
  let isClosed = false
  const options: Agent.Options = {
    connectTimeout: Math.min(5_000, timeoutMs),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headerBytesMax,
    maxResponseSize: bodyBytesMax,
    keepAliveTimeout: 10_000,
    allowH2: false,
  }
  return {
    async ask({ method, path, query = [], json, form }) {
      const url = new URL(`${baseUrl}${path}`)
      for (const [name, value] of query) url.searchParams.append(name, value)
      const body = json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : null
      const type = json !== undefined ? 'application/json' : form ? 'application/x-www-form-urlencoded' : null
      const undici = await import('undici')
      if (isClosed) return { kind: 'failed', isUnsent: true, detail: 'the server stops' }
      agent ??= new undici.Agent(options)
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), timeoutMs)
      try {
        const answer = await undici.request(url, {
          method,
          dispatcher: agent,
          signal: controller.signal,
          headers: { accept: 'application/json', 'user-agent': userAgent, ...headers, ...(type ? { 'content-type': type } : {}) },
          body,
        })
        const text = await answer.body.text()
        return { kind: 'answered', status: answer.statusCode, body: readJson(text) }
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : ''
        const detail = controller.signal.aborted ? `no answer within ${timeoutMs} ms` : code || (error as Error).message
        return { kind: 'failed', isUnsent: unsentCodes.has(code), detail }
      } finally {
        clearTimeout(timer)
      }
    },
    async close() {
      isClosed = true
      await agent?.destroy()
    },
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A member of a supplier's answer, which may have any shape. */
export function member(value: unknown, ...path: (string | number)[]): unknown {
  let at = value
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Record<string | number, unknown>)[step]
  }
  return at
}

export const textMember = (value: unknown, ...path: (string | number)[]): string | null => {
  const found = member(value, ...path)
  return typeof found === 'string' ? found : null
}

export const listMember = (value: unknown, ...path: (string | number)[]): unknown[] => {
  const found = member(value, ...path)
  return Array.isArray(found) ? found : []
}
