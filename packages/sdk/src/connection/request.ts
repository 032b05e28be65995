// Sends one request to the server, with address, key, time limit, safe retries, and errors as classes.
import { queryText } from '@callsign/contract/query-text'
import { ApiError, ConnectionError } from '../errors.ts'
import { fetchByEnvironment } from './proxy.ts'

export type Fetch = (input: string, init: RequestInit) => Promise<Response>

export type ConnectionOptions = {
  /** The server's address, such as `https://callsign.example`. A path before `/api/v1` is kept. */
  url: string
  /** An organization key, an agent key, or a console token. It is sent in a header, never in a URL. */
  apiKey: string
  fetch?: Fetch
  /** The time limit of one attempt in milliseconds, including the response body. Default 60,000. */
  timeoutMs?: number
  /** Maximum retries of a repeatable request. Default 2. */
  retriesMax?: number
}

/** Options of a single request. */
export type RequestOptions = {
  signal?: AbortSignal
  timeoutMs?: number
  /** Identifies this operation, so that repeating the call does not repeat it. By default the client creates a key for its own retries. */
  idempotencyKey?: string
}

export type Question = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** The path below `/api/v1`, created by `path`. */
  path: string
  query?: Record<string, unknown> | undefined
  body?: unknown
  /** True if the operation takes an Idempotency-Key, so that it may be repeated. */
  isKeyed?: boolean
  options?: RequestOptions | undefined
}

/** The maximum size of a response. Unlocking a full vault returns about 25 MB, a raw message 25 MB. */
const replyBytesMax = 64 * 1024 * 1024
/** A longer Retry-After is passed to the caller instead of waiting for it. */
const retryAfterMsMax = 30_000
const backoffMs = { first: 250, max: 5_000 }
const transientStatuses = [408, 429, 500, 502, 503, 504]

/** Fills a path template with values, each escaped as one segment. Throws on values that would change the path, which are the empty text, `.` and `..`. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((text, part, i) => {
    const value = values[i - 1] as string
    if (value === '' || value === '.' || value === '..') throw new TypeError(`"${value}" cannot be a segment of a path`)
    return text + encodeURIComponent(value) + part
  })
}

export class Connection {
  /** Normalizes the server's address and removes a slash at its end. */
  readonly address: string
  readonly #apiKey: string
  readonly #fetch: Fetch
  readonly #timeoutMs: number
  readonly #retriesMax: number

  constructor(options: ConnectionOptions) {
    const url = new URL(options.url)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError('url must begin with http:// or https://')
    if (url.username || url.password) throw new TypeError('url must not carry a user name or password')
    if (/\/api\/v1\/*$/.test(url.pathname)) throw new TypeError('url must be given without /api/v1, which is added')
    if (!/^[\x21-\x7e]+$/.test(options.apiKey)) throw new TypeError('apiKey must be printable ASCII without spaces')
    this.address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
    this.#apiKey = options.apiKey
    this.#fetch = options.fetch ?? fetchByEnvironment
    this.#timeoutMs = options.timeoutMs ?? 60_000
    this.#retriesMax = options.retriesMax ?? 2
  }

  /** The key itself, for connections other than requests. */
  get bearerToken(): string {
    return this.#apiKey
  }

  /** The public id inside a Callsign key, or null for any other token. It is not secret. */
  get keyId(): string | null {
    return /^svc_live_([0-9A-Za-z]{16})[0-9A-Za-z]{49}$/.exec(this.#apiKey)?.[1] ?? null
  }

  /** Returns the JSON body of success, or undefined if the response has none. */
  async request<T>(question: Question): Promise<T> {
    const bytes = await this.requestBytes(question)
    if (bytes.length === 0) return undefined as T
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as T
    } catch {
      throw new ConnectionError('reply_unusable', 'The response is not JSON. Check that the address is that of a Callsign server.')
    }
  }

  /** Returns the unparsed body of success. */
  async requestBytes(question: Question): Promise<Uint8Array<ArrayBuffer>> {
    const key = question.options?.idempotencyKey ?? (question.isKeyed ? randomName() : undefined)
    const isRepeatable = question.method === 'GET' || question.method === 'DELETE' || (question.isKeyed === true && key !== undefined)
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(question, key)
      } catch (error) {
        const waitMs = this.#waitBefore(error, attempt, isRepeatable)
        if (waitMs === null) throw error
        await sleep(waitMs, question.options?.signal)
      }
    }
  }

  /** The address of a WebSocket below `/api/v1`. */
  streamAddress(path: string, query: Record<string, unknown>): string {
    return `${this.address.replace(/^http/, 'ws')}/api/v1${path}${queryText(query)}`
  }

  /** Returns a streaming response body. The time limit applies to the headers. The request is not retried. */
  async open(path: string, query: Record<string, unknown>, signal: AbortSignal | undefined): Promise<ReadableStream<Uint8Array>> {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), this.#timeoutMs)
    try {
      const response = await this.#fetch(`${this.address}/api/v1${path}${queryText(query)}`, {
        method: 'GET',
        headers: { Authorization: `Bearer ${this.#apiKey}`, Accept: 'text/event-stream' },
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
      })
      if (response.status === 200 && response.body) return response.body
      throw readError(response, await readBody(response))
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ApiError || error instanceof ConnectionError) throw error
      throw new ConnectionError('connection_failed', `${this.address} did not answer: ${reasonOf(error)}`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Milliseconds until the next attempt, or null if there must not be one. */
  #waitBefore(error: unknown, attempt: number, isRepeatable: boolean): number | null {
    if (attempt >= this.#retriesMax) return null
    const backoff = Math.min(backoffMs.max, backoffMs.first * 2 ** attempt) * (0.5 + Math.random() / 2)
    if (error instanceof ApiError) {
      // A 429 guarantees that nothing was done, so even a change may be repeated.
      const isWorthIt =
        error.status === 429 || (isRepeatable && (transientStatuses.includes(error.status) || error.code === 'idempotency_in_progress'))
      if (!isWorthIt || (error.retryAfterMs ?? 0) > retryAfterMsMax) return null
      return Math.max(backoff, error.retryAfterMs ?? 0)
    }
    const isTransient = error instanceof ConnectionError && (error.code === 'connection_failed' || error.code === 'timeout')
    return isTransient && isRepeatable ? backoff : null
  }

  async #attempt(question: Question, idempotencyKey: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const caller = question.options?.signal
    caller?.throwIfAborted()
    const timeout = AbortSignal.timeout(question.options?.timeoutMs ?? this.#timeoutMs)
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#apiKey}`, Accept: 'application/json, */*;q=0.5' }
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey
    // Redirects are never followed, because they would send the key and the body to another place.
    const init: RequestInit = {
      method: question.method,
      headers,
      redirect: 'manual',
      signal: caller ? AbortSignal.any([caller, timeout]) : timeout,
    }
    if (question.body !== undefined) {
      headers['Content-Type'] = 'application/json'
      init.body = JSON.stringify(question.body)
    }
    let response: Response
    let bytes: Uint8Array<ArrayBuffer>
    try {
      response = await this.#fetch(`${this.address}/api/v1${question.path}${queryText(question.query)}`, init)
      bytes = await readBody(response)
    } catch (error) {
      caller?.throwIfAborted()
      if (error instanceof ConnectionError) throw error
      if (timeout.aborted) throw new ConnectionError('timeout', `${this.address} did not answer completely in time.`, { cause: error })
      throw new ConnectionError('connection_failed', `${this.address} did not answer: ${reasonOf(error)}`, { cause: error })
    }
    if (response.status >= 200 && response.status < 300) return bytes
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      throw new ConnectionError(
        'reply_unusable',
        `${this.address} answered with a redirect, which is not followed. Use the address that it leads to.`,
      )
    }
    throw readError(response, bytes)
  }
}

async function readBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > replyBytesMax) {
      await reader.cancel()
      throw new ConnectionError('reply_too_large', `The answer is larger than ${replyBytesMax} bytes.`)
    }
    chunks.push(value)
  }
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

/** Parses the server's error, or creates one from the status if an intermediary answered. */
function readError(response: Response, bytes: Uint8Array): ApiError {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const fields = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null,
  }
  try {
    const { error } = JSON.parse(new TextDecoder().decode(bytes)) as { error?: Record<string, unknown> }
    if (typeof error?.code === 'string' && typeof error.message === 'string') {
      const requestId = typeof error.request_id === 'string' ? error.request_id : fields.requestId
      return new ApiError({ ...fields, requestId, code: error.code, message: error.message, details: error.details })
    }
  } catch {
    // Not sent by Callsign, so only the status is used.
  }
  return new ApiError({
    ...fields,
    code: `http_${response.status}`,
    message: `The server answered ${response.status}.`,
    details: undefined,
  })
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const code = (cause as { code?: unknown }).code
  return cause.message || (typeof code === 'string' ? code : cause.name)
}

/** 128 random bits in hexadecimal. `crypto.randomUUID` is missing on pages without TLS. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Resolves after this number of milliseconds. Rejects when the signal fires. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
  })
}
