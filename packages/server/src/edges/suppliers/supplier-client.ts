// HTTP to one supplier at the address that the operator set: bounded in time and size, no redirects, and honest about what may have happened.
import { Agent, request } from 'undici'

export type SupplierOptions = {
  /** Without a slash at its end; a path in it is kept. */
  baseUrl: string
  headers: Record<string, string>
  userAgent: string
  timeoutMs?: number
}

export type SupplierRequest = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** From the base URL on. */
  path: string
  query?: [string, string][]
  json?: unknown
  form?: [string, string][]
}

/**
 * `answered`: any status, with the body as JSON, or null when it is none. `failed`: no whole answer came; `isUnsent` is true when the request
 * surely never reached the supplier, so that nothing can have happened there.
 */
export type SupplierAnswer = { kind: 'answered'; status: number; body: unknown } | { kind: 'failed'; isUnsent: boolean; detail: string }

export type SupplierClient = { ask(request: SupplierRequest): Promise<SupplierAnswer>; close(): Promise<void> }

const bodyBytesMax = 4 * 1024 * 1024
const headerBytesMax = 32 * 1024

/** Errors that come before the first byte of a request is written. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** A client of one supplier. Takes nothing from the environment, so no proxy either; the operator chose the address, so it may be a private one. */
export function createSupplierClient({ baseUrl, headers, userAgent, timeoutMs = 15_000 }: SupplierOptions): SupplierClient {
  const dispatcher = new Agent({
    connectTimeout: Math.min(5_000, timeoutMs),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headerBytesMax,
    maxResponseSize: bodyBytesMax,
    keepAliveTimeout: 10_000,
    allowH2: false,
  })
  return {
    async ask({ method, path, query = [], json, form }) {
      const url = new URL(`${baseUrl}${path}`)
      for (const [name, value] of query) url.searchParams.append(name, value)
      const body = json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : null
      const type = json !== undefined ? 'application/json' : form ? 'application/x-www-form-urlencoded' : null
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), timeoutMs)
      try {
        const answer = await request(url, {
          method,
          dispatcher,
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
    close: () => dispatcher.destroy(),
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A member of what a supplier answered, however little it is what was expected. */
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
