// Kept connections to one supplier. undici loads at the first request, because it takes 6 MB and most servers never call a supplier.
import type { Agent, Dispatcher } from 'undici'

export type HttpPool = {
  /** Does not follow redirects. Rejects as undici does, and with a `PoolClosed` after `close`. */
  request(url: URL, options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>): Promise<Dispatcher.ResponseData>
  close(): Promise<void>
}

class PoolClosed extends Error {}

/** Errors that occur before the first byte of a request is written. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** Opens a pool. Ignores the environment, including proxy settings. */
export function openHttpPool(options: Agent.Options): HttpPool {
  let agent: Agent | null = null
  let isClosed = false
  return {
    async request(url, requestOptions) {
      const undici = await import('undici')
      if (isClosed) throw new PoolClosed('the server stops')
      agent ??= new undici.Agent({ maxHeaderSize: 32 * 1024, headersTimeout: 0, bodyTimeout: 0, allowH2: false, ...options })
      return undici.request(url, { ...requestOptions, dispatcher: agent })
    },
    async close() {
      isClosed = true
      await agent?.destroy()
    },
  }
}

/**
 * Reads the outcome of a failed request. `isUnsent` is true when it certainly did not reach the supplier, so that it had no effect. `reason` is the
 * error's code, and empty for an error without one.
 */
export function readFailure(error: unknown): { isUnsent: boolean; reason: string } {
  if (error instanceof PoolClosed) return { isUnsent: true, reason: error.message }
  const reason = error instanceof Error && 'code' in error ? String(error.code) : ''
  return { isUnsent: unsentCodes.has(reason), reason }
}
