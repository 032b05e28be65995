// HTTP client for an iMessage provider at the address set by the operator. Bounded in time and size, and explicit about unknown outcomes.
import type { Agent } from 'undici'

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

/** Errors that occur before the first byte of a request is written. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** Ignores the environment, including proxy settings, and does not follow redirects. */
export function createImessageClient(userAgent: string): ImessageClient {
  /** Opened at the first request, because undici takes 6 MB and most servers never call a supplier. */
  let agent: Agent | null = null
  let isClosed = false
  const options: Agent.Options = {
    connectTimeout: 5_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 32 * 1024,
    keepAliveTimeout: 4_000,
    allowH2: false,
  }
  return {
    async ask({ method, url, headers = {}, json, body, timeoutMs = timeoutMsUsual, bytesMax = bytesMaxUsual }) {
      const undici = await import('undici')
      if (isClosed) return { kind: 'failed', isUnsent: true, detail: 'the server stops' }
      agent ??= new undici.Agent(options)
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await undici.request(url, {
          method,
          dispatcher: agent,
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
        const code = error instanceof Error && 'code' in error ? String(error.code) : ''
        const detail = signal.aborted ? `no answer within ${timeoutMs} ms` : code || (error as Error).name
        return { kind: 'failed', isUnsent: unsentCodes.has(code), detail }
      }
    },
    async close() {
      isClosed = true
      await agent?.destroy()
    },
  }
}

/** The JSON of an answer, or null when it is malformed. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}

/** A member of a provider's answer, which may have any shape. */
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
  return typeof found === 'string' && found !== '' ? found : null
}

export const listMember = (value: unknown, ...path: (string | number)[]): unknown[] => {
  const found = member(value, ...path)
  return Array.isArray(found) ? found : []
}

/** Retry-After in whole seconds, as milliseconds. Null for any other form. */
export const retryAfterMs = (text: string | null): number | null => (text !== null && /^\d{1,5}$/.test(text) ? Number(text) * 1000 : null)
